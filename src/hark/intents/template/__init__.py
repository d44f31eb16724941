"""The template engine: sentences as written, and sentences like them."""

from hark.intents.template.claims import NORMAL, STRICT
from hark.intents.template.explain import (
    Explanation,
    Knowledge,
    Nearest,
    Overlap,
    Theft,
    Word,
    explain,
    overlaps,
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
    "TemplatePool",
    "Theft",
    "Word",
    "explain",
    "lookup",
    "overlaps",
    "thefts",
]
