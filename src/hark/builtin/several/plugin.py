"""Several commands in one utterance: "turn off the lights and lock the door"."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import count
from pathlib import Path
from typing import Final

from hark.builtin.candidates import explained_words
from hark.intents import words
from hark.intents.locale import Locale, MissingResource
from hark.intents.text import EDGES
from hark.plugins import Declined, Match, Message, PipelinePlugin, Round, Session, Turn, handles
from hark.spec import topics

_MARK: Final = "hark_part"
"""Context key that names one command of several; its end marker carries the key."""
_NOT_OF_A_PART: Final = ("skill_id", "pipeline_id", "utterance_id")
"""Context keys of the whole that are not of its parts."""
_SEVERAL: Final = "several"
_CLEAR: Final = 2
"""A part is clearly a command if so many of its words are words of a sentence of its intent, outside its slots."""

Phrases = Mapping[str, Sequence[tuple[str, ...]]]
"""Phrases by their first word, the longest first."""


class Several(PipelinePlugin):
    """Claims an utterance where each part of it, at "and", "then" or a comma, would be claimed on its own.

    Its handler says the parts one after the other: each is an utterance with an end marker of its own, and the next
    begins when that has come. An utterance that fits one intent as it is written stays whole, unless its first part
    fits more words of a sentence, or its further parts are clearly commands: "add milk and eggs" is one command, "add
    milk to my list and tell me a joke" is two. Behind words such as "say" and "remind me" all stays together.
    """

    id = "several"
    quick = True

    @dataclass(frozen=True)
    class Settings:
        enabled: bool = True
        """Whether utterances are divided."""
        most: int = 4
        """The most commands in one utterance."""
        longest: float = 300.0
        """Seconds that one of them may take before the next is said anyway."""

    settings: Settings

    async def start(self) -> None:
        self._numbers = count(1)
        self._waiting: dict[str, asyncio.Future[Message]] = {}
        self._follows = False

    def match(
        self,
        utterances: Sequence[str],
        lang: str,
        session: Session,  # noqa: ARG002 - the round has it
        round: Round | None = None,
    ) -> Match | Declined | None:
        """The parts in slots, where there are several and each is a command."""
        if round is None or not self.settings.enabled:
            return None
        reason = ""
        for utterance in utterances:
            places = _places(utterance, lang)
            if not places:
                continue
            parts = self._parts(utterance.split(), 0, places[:8], self.settings.most, round, lang)
            if parts is None:
                reason = reason or "its parts are no commands"
                continue
            whole = round.would_match(utterance, strict=True)
            if whole is not None and self._fits_better(whole, parts, round, lang):
                return Declined(f"{whole.topic} fits all of it")
            texts = {f"part_{number}": part.utterance for number, part in enumerate(parts, 1)}
            return self.claim(_SEVERAL, lang=lang, utterance=utterance, slots=texts)
        return Declined(reason) if reason else None

    def _fits_better(self, whole: Match, parts: Sequence[Match], round: Round, lang: str) -> bool:
        """Whether one command fits the whole better than the parts do.

        Its slots may have taken a command: "set a timer for five minutes and lock the door". So it does not if each
        further part is clearly a command, unless what stands before them may be followed by anything.
        """
        own = [explained_words(part, lang) for part in parts]
        if explained_words(whole, lang) < own[0]:
            return False
        if explained_words(whole, lang) >= sum(own) or _keeps_together(parts[0].utterance, lang):
            return True
        further = [round.would_match(part.utterance, strict=True) for part in parts[1:]]
        return any(part is None or explained_words(part, lang) < _CLEAR for part in further)

    def _parts(
        self, tokens: list[str], start: int, places: Sequence[tuple[int, int]], most: int, round: Round, lang: str
    ) -> list[Match] | None:
        """The claims on the parts from `start` on; None where there is no division into commands."""
        for number, (begin, end) in enumerate(places):
            if most < 2:
                return None
            first = round.would_match(_text(tokens[start:begin]))
            if first is None:
                continue
            rest = self._parts(tokens, end, places[number + 1 :], most - 1, round, lang)
            if rest is None:
                last = round.would_match(_text(tokens[end:]))
                rest = None if last is None else [last]
            if rest is not None:
                return [first, *rest]
        return None

    @handles(_SEVERAL)
    async def one_by_one(self, turn: Turn) -> None:
        """Say each part, and wait for its end marker."""
        if not self._follows:  # most assistants see a thousand single commands before the first of these
            self._follows = True
            self.host.on(topics.UTTERANCE_HANDLED, self._ended)
        for number in range(1, self.settings.most + 1):
            text = turn.slots.get(f"part_{number}")
            if text is None:
                return
            ended = await self._say(turn, text)
            if ended is not None and ended.session is not None:
                turn.session = ended.session  # the next part is said in the session as this one left it

    async def _say(self, turn: Turn, text: str) -> Message | None:
        mark = f"{turn.message.utterance_id}-{next(self._numbers)}"
        said = turn.derive(topics.UTTERANCE_HANDLE, {"utterances": [text], "lang": turn.lang})
        ended: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._waiting[mark] = ended
        try:
            self.host.send(said.carrying(**{_MARK: mark, **dict.fromkeys(_NOT_OF_A_PART)}))
            async with self.host.clock.timeout(self.settings.longest):
                return await ended
        except TimeoutError:
            self.host.log.warning("no end of %r within %g s", text, self.settings.longest)
            return None
        finally:
            del self._waiting[mark]

    def _ended(self, marker: Message) -> None:
        mark = marker.context.get(_MARK)
        waiting = self._waiting.get(mark) if isinstance(mark, str) else None
        if waiting is not None and not waiting.done():
            waiting.set_result(marker)


def _text(tokens: Sequence[str]) -> str:
    return " ".join(tokens).strip(" ,;")


def _places(utterance: str, lang: str) -> list[tuple[int, int]]:
    """Where conjunctions begin and end, in tokens; not at the edges of the utterance. A comma is one without tokens."""
    known = _phrases("conjunction", lang)
    tokens = utterance.split()
    said = [token.strip(EDGES) for token in utterance.casefold().split()]
    if known.keys().isdisjoint(said[1:-1]) and "," not in utterance:
        return []
    places: list[tuple[int, int]] = []
    at = 1
    while at < len(said) - 1:
        size = next((len(one) for one in known.get(said[at], ()) if tuple(said[at : at + len(one)]) == one), 0)
        if 0 < size < len(said) - at:
            places.append((at, at + size))
        elif tokens[at - 1].endswith(","):
            places.append((at, at))
        at += max(size, 1)
    return places


def _keeps_together(text: str, lang: str) -> bool:
    """Whether a part has words after which anything may be meant."""
    said = f" {' '.join(words(text, lang))} "
    return any(f" {' '.join(phrase)} " in said for phrases in _phrases("whole", lang).values() for phrase in phrases)


@lru_cache(maxsize=64)
def _phrases(name: str, lang: str) -> Phrases:
    found: dict[str, list[tuple[str, ...]]] = {}
    try:
        for phrase in sorted(_locale().phrases(name, lang), key=len, reverse=True):
            found.setdefault(phrase[0], []).append(phrase)
    except MissingResource:
        return {}
    return found


@cache
def _locale() -> Locale:
    return Locale(Path(__file__).parent / "locale")  # when it is first needed, not when this is imported
