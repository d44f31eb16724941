"""The limits skill: what people often ask for that nothing here can do, and what would make it possible."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

from hark.builtin.skills.tables import plain, table
from hark.plugins import Session, Turn, fallback
from hark.skills import Skill, intent

_NAMES: Final = Path(__file__).parent / "names"
_PRIORITY: Final = 96
"""After every fallback that may help: a skill for lights or music never has to fight this one."""
_SUBJECTS: Final = (
    "stories",
    "calls",
    "home",
    "music",
    "messages",
    "news",
    "orders",
    "calendar",
    "phone",
    "speed",
    "money",
    "navigation",
    "other",
)

_Forms = Mapping[str, Sequence[tuple[str, ...]]]
"""Alternatives, each of parts that all have to be said, by the first word of the first part."""


async def _wanted(_skill: LimitsSkill, utterances: Sequence[str], lang: str, _session: Session) -> bool:
    return any(subject_of(text, lang) is not None for text in utterances)


def subject_of(text: str, lang: str) -> str | None:
    """What kind of request this is, of those that nothing here can do; None for everything else."""
    said = plain(text)
    words, whole = said.split(), f"^ {said} "
    talk, asks, subjects = _phrases(lang)
    if _has(words, whole, talk) and not _has(words, whole, asks):
        return None  # "the lights went out" is no request
    return next((subject for subject, phrases in subjects if _has(words, whole, phrases)), None)


def _has(words: Sequence[str], said: str, phrases: _Forms) -> bool:
    # Every utterance that nothing claimed comes here: most have none of the words.
    for word in words:
        for phrase in phrases.get(word, ()):
            if all(part in said for part in phrase):
                return True
    return False


@lru_cache(maxsize=8)
def _phrases(lang: str) -> tuple[_Forms, _Forms, tuple[tuple[str, _Forms], ...]]:
    """How talk begins, how requests begin that look like talk, and the subjects."""
    words = table(_NAMES, "subjects", lang)
    talk, asks, *subjects = (_by_word(_alternatives(words.get(key, ()))) for key in ("talk", "asks", *_SUBJECTS))
    return talk, asks, tuple(zip(_SUBJECTS, subjects, strict=True))


def _by_word(forms: Iterable[tuple[str, ...]]) -> _Forms:
    found: dict[str, list[tuple[str, ...]]] = {}
    for form in forms:
        found.setdefault(form[0].removeprefix("^").split()[0], []).append(form)
    return found


def _alternatives(forms: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Each form is parts that all have to be said: "send + message"; after `^` at the beginning."""
    for form in forms:
        yield tuple(("^ " if part.strip().startswith("^") else " ") + plain(part) + " " for part in form.split("+"))


class LimitsSkill(Skill):
    """Answers requests for lights, music, calls and the like when nothing can fulfil them, and says what could."""

    id = "limits.skill"
    reads_late = True

    @intent(file="limits")
    def limits(self, turn: Turn) -> None:
        """What it cannot do, and why."""
        turn.say("limits")

    @fallback(_PRIORITY, when=_wanted)
    def cannot(self, turn: Turn) -> None:
        """Say what is missing."""
        subject = subject_of(turn.utterance, turn.lang)
        turn.say(subject or "orders")
