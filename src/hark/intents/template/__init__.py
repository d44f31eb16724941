"""The template engine: sentences as written, and sentences like them."""

from hark.intents.template.asking import Found
from hark.intents.template.explain import Explanation, Knowledge, Nearest, Word, explain
from hark.intents.template.matching import LOOSE, NORMAL, STRICT, lookup
from hark.intents.template.overlaps import Overlap, overlaps
from hark.intents.template.pool import TemplatePool

__all__ = [
    "LOOSE",
    "NORMAL",
    "STRICT",
    "Explanation",
    "Found",
    "Knowledge",
    "Nearest",
    "Overlap",
    "TemplatePool",
    "Word",
    "explain",
    "lookup",
    "overlaps",
]
