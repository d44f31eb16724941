"""Corrections: "no, I meant New York" and "not the kitchen, the bedroom" run the last intent again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from hark.intents.locale import Locale, MissingResource
from hark.intents.numerals import can_be_number
from hark.intents.template.features import fillers
from hark.intents.text import EDGES
from hark.plugins import Declined, Match, Message, PipelinePlugin, Round, Session
from hark.spec import topics

_SESSIONS: Final = 1_000
"""Sessions whose last intent is remembered."""
_LONGEST: Final = 12
"""An utterance with more words is no correction."""
_NOT_CORRECTED: Final = frozenset({"stop", "global_stop", "response", "converse", "fallback", "several"})

Phrases = tuple[tuple[str, ...], ...]


class LastIntent(NamedTuple):
    """What an utterance in a session ran last."""

    topic: str
    utterance: str
    slots: tuple[tuple[str, str], ...]
    at: float


class _Words(NamedTuple):
    """The phrases of one language, the longest first."""

    meant: Phrases
    not_that: Phrases
    but: Phrases
    instead: Phrases
    signals: frozenset[str]
    """Words that every correction has one of: most utterances have none."""


class _Guess(NamedTuple):
    """The last utterance as it may have been meant."""

    text: str
    slot: str = ""
    """The slot that has to be filled then, if it is known."""
    check: str = ""
    """The same with a word that nobody means: where that fits as well, the new words prove nothing."""


_ANYTHING: Final = "xylograph"
"""Stands for the words in `_Guess.check`."""

CORRECTED: Final = "correction.value"
"""The slot by which a handler sees that it is called in place of its call before."""


class Correction(PipelinePlugin):
    """Claims for the last intent of the session with the corrected words in the place of the wrong ones.

    The sentence as it should have been said has to be claimed for the same intent. Without wrong words, "I meant" takes
    the place of a slot; where no slot takes it, what was meant may be another command. After a mere "no" or "actually"
    the new words have to be like the old ones: a number for a number, a word of them, or a known value of the slot.
    """

    id = "correction"
    quick = True

    @dataclass(frozen=True)
    class Settings:
        enabled: bool = True
        """Whether corrections are understood."""
        seconds: float = 60.0
        """How long after an intent it can be corrected."""

    settings: Settings

    async def start(self) -> None:
        self._last: dict[str, LastIntent] = {}
        self.host.on(topics.INTENT_MATCHED, self._matched)

    def match(
        self, utterances: Sequence[str], lang: str, session: Session, round: Round | None = None
    ) -> Match | Declined | None:
        """The last intent, corrected."""
        last = self._last.get(session.session_id)
        if last is None or round is None or not self.settings.enabled:
            return None
        known = _known(lang)
        if known is None or self.host.clock.wall() - last.at > self.settings.seconds:
            return None
        is_one = False
        for utterance in utterances:
            said = _folded(utterance)
            if not 1 < len(said) <= _LONGEST or known.signals.isdisjoint(said):
                continue
            for guess in _corrected(utterance.split(), said, last, known, lang):
                is_one = True
                found = round.would_match(guess.text, strict=bool(guess.check))
                if found is not None and found.topic == last.topic and guess.slot in ("", *found.slots):
                    if guess.check and round.would_match(guess.check, strict=True) is not None:
                        continue
                    return found.replace(slots={**found.slots, CORRECTED: "yes"}, note="corrected")
            meant = _after(said, known.meant)
            command = round.would_match(" ".join(utterance.split()[meant:]), strict=True) if meant else None
            if command is not None:
                return command.replace(note="said instead")
        return Declined("the last intent does not take this in the place of what was said") if is_one else None

    def _matched(self, message: Message) -> None:
        data = message.data
        if data.get("intent_name") in _NOT_CORRECTED:
            return
        slots = tuple((slot, value) for slot, value in data["slots"].items() if "." not in slot)
        topic = f"{data['skill_id']}:{data['intent_name']}"
        self._last.pop(message.session_id, None)
        self._last[message.session_id] = LastIntent(topic, data["utterance"], slots, self.host.clock.wall())
        if len(self._last) > _SESSIONS:
            del self._last[next(iter(self._last))]

    def known_intents(self, session_id: str) -> list[dict[str, str]]:  # noqa: ARG002 - the same for all
        """None of its own: it claims for others."""
        return []


def _corrected(tokens: list[str], said: list[str], last: LastIntent, known: _Words, lang: str) -> Iterator[_Guess]:
    """The last utterance as it may have been meant, the likeliest first."""
    before = _folded(last.utterance)
    meant = _after(said, known.meant)
    if not meant and (start := _after(said, known.not_that)):
        # The wrong words are those of the last utterance: not the kitchen | the bedroom.
        for end in range(len(said) - 1, start, -1):
            at = _find(said[start:end], before)
            if at is not None:
                right = end + _after(said[end:], known.but)
                yield _Guess(_replaced(last, at, end - start, tokens[right:], said[right:]))
                return
    for middle in range(meant + 1, len(said) - 1):
        # The bedroom | not the kitchen.
        wrong = middle + _after(said[middle:], known.not_that)
        at = _find(said[wrong:], before) if wrong > middle else None
        if at is not None:
            yield _Guess(_replaced(last, at, len(said) - wrong, tokens[meant:middle], said[meant:middle]))
            return
    is_sure, end = bool(meant), len(said)
    if not meant:
        # No, the bedroom | I mean.
        end -= _after(said[::-1], [phrase[::-1] for phrase in known.meant])
        is_sure, meant = end < len(said), _after(said[:end], known.instead)
    if not is_sure and not meant:
        return
    new = said[meant:end]
    places = [(at, slot, value) for slot, value in last.slots if (at := _find(_folded(value), before)) is not None]
    for at, slot, value in sorted(places, reverse=True):  # what is corrected was most often said last
        old = _folded(value)
        text = _replaced(last, at, len(old), tokens[meant:end], new)
        check = (
            ""
            if is_sure or _are_alike(old, new, before, lang)
            else _replaced(last, at, len(old), [_ANYTHING], [_ANYTHING])
        )
        yield _Guess(text, slot, check)


def _are_alike(old: list[str], new: list[str], before: list[str], lang: str) -> bool:
    """Whether both are a number of the same thing, or have a word in common that is no filler."""
    telling = [word for word in new if word not in fillers(lang)]
    others = [word for word in telling if not can_be_number([word], lang)]
    if any(can_be_number([word], lang) for word in old):
        return len(others) < len(telling) and set(others) <= set(before)
    return not set(old).isdisjoint(others)


def _replaced(last: LastIntent, at: int, size: int, tokens: list[str], said: list[str]) -> str:
    """The last utterance with `tokens` in the place of `size` words; words that stand around them are not repeated."""
    old = last.utterance.split()
    folded = _folded(last.utterance)
    overlap = next((n for n in range(min(at, len(said) - 1), 0, -1) if folded[at - n : at] == said[:n]), 0)
    after = folded[at + size :]
    repeated = next((n for n in range(min(len(after), len(said) - overlap - 1), 0, -1) if after[:n] == said[-n:]), 0)
    return " ".join([*old[:at], *tokens[overlap : len(tokens) - repeated], *old[at + size :]]).strip(" ,;")


def _folded(text: str) -> list[str]:
    """The words for comparison, one for each token."""
    return [token.strip(EDGES) for token in text.casefold().split()]


def _find(wanted: list[str], said: list[str]) -> int | None:
    size = len(wanted)
    places = (at for at in range(len(said) - size + 1) if said[at : at + size] == wanted)
    return next(places, None) if size else None


def _after(said: list[str], phrases: Sequence[tuple[str, ...]]) -> int:
    """How many words the phrase has that `said` begins with, if something follows; else 0."""
    return next((len(one) for one in phrases if len(one) < len(said) and tuple(said[: len(one)]) == one), 0)


@lru_cache(maxsize=64)
def _known(lang: str) -> _Words | None:
    try:
        meant, not_that, but, instead = (
            tuple(sorted(_locale().phrases(name, lang), key=len, reverse=True))
            for name in ("meant", "not_that", "but", "instead")
        )
    except MissingResource:
        return None
    signals = frozenset(phrase[-1] for phrase in (*meant, *not_that, *instead))
    return _Words(meant, not_that, but, instead, signals)


@cache
def _locale() -> Locale:
    return Locale(Path(__file__).parent / "locale")  # when it is first needed, not when this is imported
