"""The keyword intents there are."""

from __future__ import annotations

from hark.intents.keyword.definition import KeywordIntent
from hark.intents.keyword.index import PhraseIndex
from hark.intents.keyword.registration import read_keyword_intent
from hark.intents.pool import Pool
from hark.spec import topics


class KeywordPool(Pool[KeywordIntent, PhraseIndex]):
    """The keyword intents of all sessions. Templates and entities are none of its business (INTENT-3 §2, §4.4)."""

    def __init__(self) -> None:
        super().__init__(topics.REGISTER_KEYWORD, read_keyword_intent, PhraseIndex)
