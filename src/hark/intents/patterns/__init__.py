"""Templates as they are compared with what was said: which sentences of theirs fit, without making the others."""

from hark.intents.patterns.compiled import SAMPLES, Anchor, Pattern, anchors, compiled, is_always, sampled, slots_of
from hark.intents.patterns.pattern import PatternGraph, PatternSentence, SentenceParts, Span

__all__ = [
    "SAMPLES",
    "Anchor",
    "Pattern",
    "PatternGraph",
    "PatternSentence",
    "SentenceParts",
    "Span",
    "anchors",
    "compiled",
    "is_always",
    "sampled",
    "slots_of",
]
