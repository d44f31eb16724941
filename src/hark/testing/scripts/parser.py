"""From the text of a script to its conversations."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import msgspec

from hark.app.settings.check import nearest
from hark.model.files import read_file
from hark.model.lang import is_tag
from hark.testing.scripts.errors import LineError, ScriptError, ScriptMistake
from hark.testing.scripts.pattern import Pattern, UserText
from hark.testing.scripts.script import (
    HERE,
    NOTHING,
    AssistantRestarts,
    Conversation,
    EventHappens,
    HarkIsSilent,
    HarkSays,
    HarkSaysMore,
    LanguageChanges,
    NeverSaid,
    Script,
    ScriptHead,
    ScriptStep,
    TimePasses,
    UserSays,
)
from hark.testing.scripts.times import read_moment, read_pause


def with_key(head: ScriptHead, key: str, text: str) -> ScriptHead:
    """`head` with the value of one line; raises `LineError`."""
    if not text:
        raise LineError(f"{key}: has no value", "write a value behind the colon, or remove the line")
    return msgspec.structs.replace(head, **{key: KEYS[key](text)})


def lang_tag(text: str) -> str:
    """A language tag; raises `LineError`."""
    if not is_tag(text) or len(text.partition("-")[0]) > 3:  # "german" has the form of a tag, and is none
        raise LineError(f"{text!r} is not a language tag", "write one such as en-US or de-DE")
    return text


def _lang_tags(text: str) -> tuple[str, ...]:
    return tuple(map(lang_tag, _listed(text)))


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part for part in map(str.strip, text.split(",")) if part)


def _zone(text: str) -> str:
    # Only here: it is slow to import.
    from zoneinfo import ZoneInfo

    try:
        ZoneInfo(text)
    except (KeyError, ValueError, OSError):
        remedy = "write one such as Europe/Lisbon or UTC"
        raise LineError(f"the time zone {text!r} is not known here", remedy) from None
    return text


def _skills(text: str) -> tuple[str, ...]:
    return () if text == NOTHING else _listed(text)


KEYS: Final[dict[str, Callable[[str], Any]]] = {
    "language": lang_tag,
    "languages": _lang_tags,
    "timezone": _zone,
    "now": read_moment,
    "skills": _skills,
    "settings": str,
}
"""The keys of a head, each with the parser of its value."""


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


def read_step(number: int, line: str) -> ScriptStep:
    """The step of a line; raises `LineError`."""
    if line.startswith("["):
        return _pause(number, line)
    silence = _SILENCE.fullmatch(line)
    if silence is not None:
        return HarkIsSilent(number, _device(silence["device"]))
    found = _LINE.fullmatch(line)
    word = found["word"].lower() if found is not None else ""
    if found is None or word not in _READ:
        raise LineError(f"this cannot be read: {line[:60]}", _meant(word))
    how = (found["how"] or "").lower()
    if how == "asks" and word != "hark":
        raise LineError("only Hark asks", "write hark asks: and the question")
    if how == "interrupts" and word != "user":
        raise LineError("only a user interrupts", "write user interrupts: and what is said while Hark talks")
    if found["device"] is not None and word not in _ON_A_DEVICE:
        raise LineError(f"{word}: is not about a device", f"write {word}: without ({found['device']})")
    if not found["text"]:
        raise LineError(f"{word}: says nothing", "write it behind the colon; for silence, write: hark says nothing")
    if how == "asks":
        return HarkSays(number, _device(found["device"]), Pattern(found["text"]), asks=True)
    if how == "interrupts":
        return UserSays(number, _device(found["device"]), UserText(found["text"]), interrupts=True)
    return _READ[word](number, _device(found["device"]), found["text"])


def _pause(number: int, line: str) -> ScriptStep:
    if not line.endswith("]"):
        raise LineError("a [ is not closed", "end the line with a ]")
    told = line[1:-1].strip()
    return AssistantRestarts(number) if told.lower() == "restart" else TimePasses(number, read_pause(told))


def _device(name: str | None) -> str:
    if name is None:
        return HERE
    told = name.strip()
    if _DEVICE.fullmatch(told) is None:
        raise LineError(f"({name}) is not the name of a device", "write a word or two, such as (kitchen)")
    return told


def _user(number: int, device: str, text: str) -> ScriptStep:
    return UserSays(number, device, UserText(text))


def _hark(number: int, device: str, text: str) -> ScriptStep:
    return HarkSaysMore(number, device) if text in _REST else HarkSays(number, device, Pattern(text))


def _language(number: int, device: str, text: str) -> ScriptStep:
    return LanguageChanges(number, device, lang_tag(text))


def _never(number: int, _device: str, text: str) -> ScriptStep:
    return NeverSaid(number, Pattern(text))


def _happens(number: int, _device: str, text: str) -> EventHappens:
    topic, *values = (part.strip() for part in text.split(","))
    if _TOPIC.fullmatch(topic) is None:
        raise LineError(f"{topic!r} is not a topic", "write one such as timer.skill:set, or ovos.intent.unmatched")
    found = [_VALUE.fullmatch(value) for value in values]
    if not all(found):
        raise LineError("this cannot be read", "write values as in happens: timer.skill:set, minutes = 5")
    return EventHappens(number, topic, tuple((value[1], Pattern(value[2])) for value in found if value is not None))


def _never_happens(number: int, device: str, text: str) -> ScriptStep:
    told = _happens(number, device, text)
    return EventHappens(number, told.topic, told.values, never=True)


_READ: Final[dict[str, Callable[[int, str, str], ScriptStep]]] = {
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


_COMMENT: Final = re.compile(r"(?:^|(?<=\s))#.*")
_TITLE: Final = re.compile(r"==+(.*?)==+")
_KEY: Final = re.compile(rf"({'|'.join(KEYS)})\s*:\s*(.*)", re.IGNORECASE)


def read_script(path: Path) -> Script:
    """The script in a file; raises `ScriptError`."""
    try:
        text = read_file(path).decode("utf-8-sig")
    except FileNotFoundError:
        raise ScriptError(str(path), [ScriptMistake(0, "there is no such file", "name a script")]) from None
    except OSError as error:
        raise ScriptError(
            str(path), [ScriptMistake(0, f"it cannot be read: {error.strerror}", "name a script")]
        ) from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ScriptError(str(path), [ScriptMistake(line, "this is not UTF-8", "save the file in UTF-8")]) from None
    return parse(text, str(path))


def parse(text: str, where: str = "script") -> Script:
    """The script in a text; raises `ScriptError` with all mistakes."""
    reader = _Reader()
    lines = tuple(text.split("\n"))
    for number, line in enumerate(lines, 1):
        content = _COMMENT.sub("", line).strip()
        try:
            if content:
                reader.read(number, content)
        except LineError as wrong:
            reader.mistakes.append(ScriptMistake(number, wrong.wrong, wrong.remedy))
    reader.end()
    if not reader.conversations and not reader.mistakes:
        reader.mistakes.append(ScriptMistake(0, "the script is empty", "write a line such as user: what time is it"))
    if reader.mistakes:
        raise ScriptError(where, reader.mistakes)
    return Script(where, lines, tuple(reader.conversations))


class _Reader:
    """Reads lines into conversations."""

    def __init__(self) -> None:
        self.mistakes: list[ScriptMistake] = []
        self.conversations: list[Conversation] = []
        self._common = ScriptHead()
        """The head of the file, which applies to every conversation in it."""
        self._titles: set[str] = set()
        self._begin("", 1)

    def read(self, number: int, line: str) -> None:
        """Read a line that is not empty; raises `LineError`."""
        title = _TITLE.fullmatch(line)
        if title is not None:
            self.end()
            self._begin(title[1].strip(), number)
            if not self._name or self._name in self._titles:
                raise LineError("a conversation needs a name of its own", "write one as in == Adding milk ==")
            self._titles.add(self._name)
            return
        key = _KEY.fullmatch(line)
        if key is not None and (key[1].lower() != "language" or not self._steps):
            self._head_line(key[1].lower(), key[2])
            return
        step = read_step(number, line)
        self._check_names(step)
        self._steps.append(step)

    def end(self) -> None:
        """End the open conversation; what comes before the first title is the head of all."""
        if self._steps:
            self.conversations.append(Conversation(self._name, self._head, tuple(self._steps), self._began))
        elif not self._name:
            self._common = self._head
        elif not self.mistakes:
            wrong = f"the conversation {self._name!r} is empty"
            self.mistakes.append(ScriptMistake(self._began, wrong, "write it, or remove the title"))

    def _begin(self, name: str, number: int) -> None:
        self._name = name
        self._began = number
        self._head = self._common
        self._keys: set[str] = set()
        self._steps: list[ScriptStep] = []
        self._captured: set[str] = set()

    def _head_line(self, key: str, text: str) -> None:
        if self._steps:
            raise LineError(f"{key}: stands in the middle", "put it at the head, before the conversation")
        if key in self._keys:
            raise LineError(f"{key}: is said twice", "remove one of the two lines")
        self._keys.add(key)
        self._head = with_key(self._head, key, text)

    def _check_names(self, step: ScriptStep) -> None:
        """Utterances of users may use only what was captured before."""
        if isinstance(step, UserSays):
            for name in sorted(step.text.names - self._captured):
                remedy = "capture it in a line hark: before this one, or write \\{ for a brace"
                raise LineError(f"nothing was captured as {{{name}}}", remedy)
        elif isinstance(step, HarkSays):
            self._captured |= step.text.names
        elif isinstance(step, EventHappens) and not step.never:
            self._captured |= {name for _, value in step.values for name in value.names}
