"""The keyword matcher: claims what holds the words some skill asked for, in whatever order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from hark.builtin.registrations import RegisteredMatcher, Share
from hark.intents.keyword import DEFAULT_FLOOR, KeywordPool, lookup_keywords
from hark.plugins import Declined, Match, Round, Session


class KeywordMatcher(RegisteredMatcher):
    """Consumes keyword registrations (INTENT-4) and claims what has all the vocabularies that an intent asks for.

    A pipeline entry may set `floor`, or `mode` to "strict", "normal" or "loose".
    """

    id = "keyword"
    quick = True
    method = "keyword"
    modes: ClassVar[Mapping[str, float]] = {"strict": 0.5, "normal": DEFAULT_FLOOR, "loose": 0.0}

    @dataclass(frozen=True)
    class Settings(RegisteredMatcher.Settings):
        """What a deployer may set."""

        floor: Share = DEFAULT_FLOOR
        """The share of the words, 0 to 1, that an intent has to explain; a pipeline entry may say otherwise."""

    settings: Settings

    def __init__(self) -> None:
        self._pool = KeywordPool()
        super().__init__(self._pool)

    def match(
        self, utterances: Sequence[str], lang: str, session: Session, round: Round | None = None
    ) -> Match | Declined:
        """As promised by `PipelinePlugin`: the first candidate that means something the session can reach."""
        floor, reason = self.floor(round), ""
        for utterance in utterances:
            found = lookup_keywords(self._pool, utterance, lang, session, self.host.clock.wall, floor)
            if not isinstance(found, str):
                intent = found.intent
                return Match(intent.skill_id, intent.intent_name, intent.lang, utterance, found.slots)
            reason = reason or found
        return Declined(reason)
