"""What the words of a turn say of times, lengths and names."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Final

from hark.builtin.skills.shopping.skill import as_said
from hark.builtin.skills.spoken_numbers import number_in
from hark.builtin.skills.timers.when import When, find_duration, find_when
from hark.intents.locale import Locale, MissingResource
from hark.plugins import Turn

_MOST_MINUTES: Final = 24 * 60


class TurnReader:
    """Reads what is said in a turn, by the vocabularies of its language.

    Times are read on a thread: a long sentence has many parts to be tried, and the first one loads a language.
    """

    def __init__(self, turn: Turn, locale: Locale, now: datetime) -> None:
        self._turn = turn
        self._locale = locale
        self._now = now

    async def duration(self, text: str, *, bare: bool = False) -> tuple[timedelta | None, str]:
        """The length of time in `text`, and `text` without it. With `bare` a number alone is minutes."""
        return await asyncio.to_thread(self._duration, text, bare)

    def has_length(self, text: str, *, bare: bool = False) -> bool:
        """Whether a length of time is in `text`."""
        return self._duration(text, bare)[0] is not None

    async def when(self, text: str, *, bare: bool = False, soonest: bool = False, awake: bool = False) -> When:
        """The time in `text`, as `find_when` finds it; the two halves of a day only matter to a clock of 12 hours."""
        return await asyncio.to_thread(self.time_in, text, bare=bare, soonest=soonest, awake=awake)

    def time_in(self, text: str, *, bare: bool = False, soonest: bool = False, awake: bool = False) -> When:
        """As `when`, at once."""
        by_halves = self._turn.home.clock == 12
        zone = self._now.tzinfo or UTC
        soonest, awake = soonest and by_halves, awake and by_halves
        return find_when(text, self._turn.lang, self._now, zone, self.phrases, bare=bare, soonest=soonest, awake=awake)

    def says(self, vocabulary: str) -> bool:
        """Whether the words of a phrase of a vocabulary were said."""
        spoken = set(self._turn.utterance.casefold().split())
        return any(set(phrase) <= spoken for phrase in self.phrases(vocabulary))

    def name(self) -> str:
        """The name of a timer or an alarm, if it was given one: "pizza", but not "ten minutes"."""
        name = self.bare(as_said(self._turn.slots.get("name", ""), self._turn.utterance), "article")
        if not name or self.has_length(name):
            return ""
        when = self.time_in(name)
        return name if when.at is None and when.daily is None and when.day is None and not when.days else ""

    async def name_of_timer(self) -> str:
        """The name of a timer, which may also stand right before its length: "timer pasta nine minutes"."""
        if name := self.name():
            return name
        # No template has two slots with no word between them: the name is in the slot of the length.
        said = self._turn.slots.get("duration", "")
        _, rest = await self.duration(said)
        return self.bare(as_said(rest, self._turn.utterance), "article") if said.startswith(f"{rest} ") else ""

    def reminder(self) -> str:
        """What a reminder is about and when, in the user's own words; the words between the two belong to them."""
        turn = self._turn
        first, second = (as_said(turn.slots.get(slot, ""), turn.utterance) for slot in ("when", "rest"))
        between = turn.utterance.partition(first)[2].partition(second)[0] if first and second else ""
        known = {word for phrase in self.phrases("connector") for word in phrase}
        joins = {word.strip(",").casefold() for word in between.split()} <= known
        return " ".join((first, between if joins else "", second)).strip()

    def bare(self, text: str, vocabulary: str) -> str:
        """`text` without the phrases of a vocabulary before it."""
        rest = text.strip(" ,.!?").split()
        drop = sorted(self.phrases(vocabulary), key=len, reverse=True)
        trimmed = True
        while trimmed and rest:
            trimmed = False
            folded = [word.casefold().strip(",") for word in rest]
            for phrase in drop:
                size = len(phrase)
                if tuple(folded[:size]) == phrase:
                    rest, trimmed = rest[size:], True
                    break
                if size == 1 and folded[0].startswith(f"{phrase[0]}'"):  # "d'appeler"
                    rest, trimmed = [rest[0][len(phrase[0]) + 1 :], *rest[1:]], True
                    break
        return " ".join(rest).rstrip(",.!?")

    def phrases(self, vocabulary: str) -> frozenset[tuple[str, ...]]:
        """The phrases of a vocabulary, as words; none where the language has no such file."""
        try:
            return self._locale.phrases(vocabulary, self._turn.lang)
        except MissingResource:
            return frozenset()

    def _duration(self, text: str, bare: bool) -> tuple[timedelta | None, str]:
        lang = self._turn.lang
        found = find_duration(text, lang, self._now)
        if found[0] is None:  # "five more minutes"
            more = {phrase[0] for phrase in self.phrases("more")}
            found = find_duration(
                " ".join(word for word in text.split() if word.casefold() not in more), lang, self._now
            )
        if found[0] is None and bare:
            number = number_in(text, lang)
            if number is not None and 0 < number <= _MOST_MINUTES:
                return timedelta(minutes=float(number)), ""
        return found
