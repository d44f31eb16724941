"""A skill that tells its slots, and a matcher that finds its intent and no slots, as a model would."""

from __future__ import annotations

from collections.abc import Sequence

from hark.plugins import Match, PipelinePlugin, Session, Turn
from hark.skills import Skill, intent


class SlotReporter(Skill):
    """Tells which slots it was called with, and the utterance where something in it was hidden."""

    id = "reporter.skill"

    @intent("play {song} by {artist}", "find something")
    def report(self, turn: Turn) -> str:
        slots = ", ".join(f"{name} = {text}" for name, text in sorted(turn.slots.items()))
        return f"{slots}; {turn.utterance}" if "[" in turn.utterance else slots


class Classifier(PipelinePlugin):
    """Knows which intent is meant, and nothing of its slots."""

    id = "classifier"

    def match(self, utterances: Sequence[str], lang: str, session: Session) -> Match:
        return Match("reporter.skill", "report", lang, utterances[0])
