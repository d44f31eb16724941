"""One line of a conversation."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from hark.app.script.heads import lang_tag
from hark.app.script.mistakes import Wrong
from hark.app.script.pattern import Pattern, Speech
from hark.app.script.steps import (
    HERE,
    Answers,
    Chatters,
    Happens,
    IsSilent,
    NeverSaid,
    Passes,
    Restarts,
    Says,
    Speaks,
    Step,
)
from hark.app.script.times import read_pause
from hark.app.settings.mistakes import nearest

_AT: Final = r"(?:\s*\((?P<device>[^()]*)\))?"
_HOW: Final = r"(?:\s+(?P<how>asks|interrupts))?"
_LINE: Final = re.compile(rf"(?P<word>[^\W\d_]+(?: happens)?){_AT}{_HOW}\s*:\s*(?P<text>.*)", re.IGNORECASE)
_SILENCE: Final = re.compile(rf"hark{_AT}\s+says\s+nothing\.?", re.IGNORECASE)
_DEVICE: Final = re.compile(r"\w(?:[\w .-]*\w)?")
_TOPIC: Final = re.compile(r"[\w.*-]+(?::[\w.*-]+)*")
_VALUE: Final = re.compile(r"(\w+)\s*=\s*(.+)")
_REST: Final = ("...", "…")
_KINDS: Final = (
    "user:, user interrupts:, hark:, hark asks:, hark says nothing, happens:, never:, language: or [5 minutes later]"
)


def read_step(number: int, line: str) -> Step:
    """What a line says; raises `Wrong`."""
    if line.startswith("["):
        return _pause(number, line)
    silence = _SILENCE.fullmatch(line)
    if silence is not None:
        return IsSilent(number, _device(silence["device"]))
    found = _LINE.fullmatch(line)
    word = found["word"].lower() if found is not None else ""
    if found is None or word not in _READ:
        raise Wrong(f"this cannot be read: {line[:60]}", _meant(word))
    how = (found["how"] or "").lower()
    if how == "asks" and word != "hark":
        raise Wrong("only Hark asks", "write hark asks: and the question")
    if how == "interrupts" and word != "user":
        raise Wrong("only a user interrupts", "write user interrupts: and what is said while Hark talks")
    if found["device"] is not None and word not in _ON_A_DEVICE:
        raise Wrong(f"{word}: is not about a device", f"write {word}: without ({found['device']})")
    if not found["text"]:
        raise Wrong(f"{word}: says nothing", "write it behind the colon; for silence, write: hark says nothing")
    if how == "asks":
        return Answers(number, _device(found["device"]), Pattern(found["text"]), asks=True)
    if how == "interrupts":
        return Says(number, _device(found["device"]), Speech(found["text"]), interrupts=True)
    return _READ[word](number, _device(found["device"]), found["text"])


def _pause(number: int, line: str) -> Step:
    if not line.endswith("]"):
        raise Wrong("a [ is not closed", "end the line with a ]")
    told = line[1:-1].strip()
    return Restarts(number) if told.lower() == "restart" else Passes(number, read_pause(told))


def _device(name: str | None) -> str:
    if name is None:
        return HERE
    told = name.strip()
    if _DEVICE.fullmatch(told) is None:
        raise Wrong(f"({name}) is no name of a device", "write a word or two, such as (kitchen)")
    return told


def _user(number: int, device: str, text: str) -> Step:
    return Says(number, device, Speech(text))


def _hark(number: int, device: str, text: str) -> Step:
    return Chatters(number, device) if text in _REST else Answers(number, device, Pattern(text))


def _language(number: int, device: str, text: str) -> Step:
    return Speaks(number, device, lang_tag(text))


def _never(number: int, _device: str, text: str) -> Step:
    return NeverSaid(number, Pattern(text))


def _happens(number: int, _device: str, text: str) -> Happens:
    topic, *values = (part.strip() for part in text.split(","))
    if _TOPIC.fullmatch(topic) is None:
        raise Wrong(f"{topic!r} is no topic", "write one such as timer.skill:set, or ovos.intent.unmatched")
    found = [_VALUE.fullmatch(value) for value in values]
    if not all(found):
        raise Wrong("this cannot be read", "write values as in happens: timer.skill:set, minutes = 5")
    return Happens(number, topic, tuple((value[1], Pattern(value[2])) for value in found if value is not None))


def _never_happens(number: int, device: str, text: str) -> Step:
    told = _happens(number, device, text)
    return Happens(number, told.topic, told.values, never=True)


_READ: Final[dict[str, Callable[[int, str, str], Step]]] = {
    "user": _user,
    "hark": _hark,
    "language": _language,
    "happens": _happens,
    "never": _never,
    "never happens": _never_happens,
}
_ON_A_DEVICE: Final = ("user", "hark", "language")


def _meant(word: str) -> str:
    meant = nearest(word, _READ) if word else None
    return f"did you mean {meant}:?" if meant is not None else f"begin the line with {_KINDS}"
