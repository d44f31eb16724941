"""What people may say: sentence templates, and finding the intent an utterance means. No bus, no files."""

from hark.intents.definition import TemplateIntent
from hark.intents.grammar import MAX_SENTENCES, TemplateError, expand, phrases, sentences
from hark.intents.matching import Found, lookup
from hark.intents.pool import TemplatePool
from hark.intents.registration import Rejected, Skipped
from hark.intents.text import words

__all__ = [
    "MAX_SENTENCES",
    "Found",
    "Rejected",
    "Skipped",
    "TemplateError",
    "TemplateIntent",
    "TemplatePool",
    "expand",
    "lookup",
    "phrases",
    "sentences",
    "words",
]
