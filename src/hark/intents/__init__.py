"""What people may say: sentence templates, and finding the intent an utterance means. No bus, no files."""

from hark.intents.grammar import MAX_COMPARED, MAX_SENTENCES, TemplateError, expand, phrases, sentences
from hark.intents.registration import Rejected, Skipped, TemplateIntent
from hark.intents.template import LOOSE, NORMAL, STRICT, Found, Overlap, TemplatePool, explain, lookup, overlaps
from hark.intents.text import words

__all__ = [
    "LOOSE",
    "MAX_COMPARED",
    "MAX_SENTENCES",
    "NORMAL",
    "STRICT",
    "Found",
    "Overlap",
    "Rejected",
    "Skipped",
    "TemplateError",
    "TemplateIntent",
    "TemplatePool",
    "expand",
    "explain",
    "lookup",
    "overlaps",
    "phrases",
    "sentences",
    "words",
]
