"""How much of an utterance a claim explains."""

from __future__ import annotations

from hark.intents import words
from hark.plugins import Match


def explained_words(match: Match, lang: str) -> int:
    """The words of the utterance that are in no slot: those of the intent's own sentence."""
    filled = sum(len(words(value, lang)) for slot, value in match.slots.items() if "." not in slot)
    return len(words(match.utterance, lang)) - filled
