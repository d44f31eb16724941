"""The template matcher: claims what fits a sentence some skill registered, or is like those sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hark.builtin.registrations import RegisteredMatcher, Share
from hark.intents import LOOSE, NORMAL, STRICT, Found, Overlap, TemplatePool, lookup, overlaps
from hark.plugins import Declined, Match, Round, Session


class TemplateMatcher(RegisteredMatcher):
    """Consumes template registrations (INTENT-4) and claims what fits a sentence as written, or else is like one.

    A pipeline entry may set `floor`, or `mode` to "strict" (as written only), "normal" or "loose".
    """

    id = "template"
    quick = True
    method = "template"
    modes = {"strict": STRICT, "normal": NORMAL, "loose": LOOSE}

    @dataclass(frozen=True)
    class Settings(RegisteredMatcher.Settings):
        """What a deployer may set."""

        floor: Share = NORMAL
        """The score, 0 to 1, that an intent has to reach; 1 is a sentence as written. A pipeline entry may say
        otherwise."""

    settings: Settings

    def __init__(self) -> None:
        self._pool = TemplatePool()
        super().__init__(self._pool)

    def match(
        self, utterances: Sequence[str], lang: str, session: Session, round: Round | None = None
    ) -> Match | Declined:
        """As promised by `PipelinePlugin`: the first candidate that fits something the session can reach.

        Any candidate that fits as written comes before one that is like something.
        """
        floor = self.floor(round)
        reason = ""
        for least in (STRICT, floor) if len(utterances) > 1 and floor < STRICT else (floor,):
            reason = ""
            for utterance in utterances:
                found = lookup(self._pool, utterance, lang, session, self.host.clock.wall, least)
                if isinstance(found, Found):
                    intent = found.intent
                    note = "" if found.score == 1.0 else f"score {found.score:.2f}, {least:.2f} needed"
                    return Match(intent.skill_id, intent.intent_name, intent.lang, utterance, found.slots, note=note)
                reason = reason or found
        return Declined(reason)

    def overlaps(self) -> list[Overlap]:
        """Sentences that two skills both claim."""
        return overlaps(self._pool)
