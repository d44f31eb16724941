"""Keyword intents: which vocabularies have to be said, in any order, and what they say (INTENT-3 §4)."""

from hark.intents.keyword.definition import KeywordIntent, Vocabulary, read_keyword_intent
from hark.intents.keyword.index import KeywordPool, PhraseIndex
from hark.intents.keyword.matching import (
    DEFAULT_FLOOR,
    Occurrences,
    PhraseAssignment,
    Spotted,
    best_assignment,
    lookup_keywords,
)

__all__ = [
    "DEFAULT_FLOOR",
    "KeywordIntent",
    "KeywordPool",
    "Occurrences",
    "PhraseAssignment",
    "PhraseIndex",
    "Spotted",
    "Vocabulary",
    "best_assignment",
    "lookup_keywords",
    "read_keyword_intent",
]
