"""Keyword intents: which vocabularies have to be said, in any order, and what they say (INTENT-3 §4)."""

from hark.intents.keyword.definition import KeywordIntent, Vocabulary
from hark.intents.keyword.index import PhraseIndex
from hark.intents.keyword.matching import DEFAULT_FLOOR, Spotted, lookup_keywords
from hark.intents.keyword.pool import KeywordPool
from hark.intents.keyword.reading import Occurrences, Reading, best_reading
from hark.intents.keyword.registration import read_keyword_intent

__all__ = [
    "DEFAULT_FLOOR",
    "KeywordIntent",
    "KeywordPool",
    "Occurrences",
    "PhraseIndex",
    "Reading",
    "Spotted",
    "Vocabulary",
    "best_reading",
    "lookup_keywords",
    "read_keyword_intent",
]
