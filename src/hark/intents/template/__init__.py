"""The template engine: sentences as written, and sentences like them."""

from hark.intents.template.claims import NORMAL, STRICT
from hark.intents.template.explain import (
    Explanation,
    Knowledge,
    Nearest,
    Overlap,
    Steps,
    Theft,
    Word,
    explain,
    overlap_steps,
    overlaps,
    theft_steps,
    thefts,
)
from hark.intents.template.matching import ALONE, LOOSE, lookup
from hark.intents.template.pool import TemplatePool
from hark.intents.template.query import Found

__all__ = [
    "ALONE",
    "LOOSE",
    "NORMAL",
    "STRICT",
    "Explanation",
    "Found",
    "Knowledge",
    "Nearest",
    "Overlap",
    "Steps",
    "TemplatePool",
    "Theft",
    "Word",
    "explain",
    "lookup",
    "overlap_steps",
    "overlaps",
    "theft_steps",
    "thefts",
]
