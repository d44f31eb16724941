"""Templates as they are compared with what was said: which sentences of theirs fit, without making the others."""

from hark.intents.patterns.anchors import Anchor, anchors
from hark.intents.patterns.compiled import SAMPLES, Pattern, compiled, is_always, sampled, slots_of
from hark.intents.patterns.line import Line
from hark.intents.patterns.shape import Shape, Span
from hark.intents.patterns.web import Web

__all__ = [
    "SAMPLES",
    "Anchor",
    "Line",
    "Pattern",
    "Shape",
    "Span",
    "Web",
    "anchors",
    "compiled",
    "is_always",
    "sampled",
    "slots_of",
]
