"""Normalises utterances as users type them and recognisers write them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hark.intents.text import contractions, straight_quotes
from hark.plugins import Ctx, UtteranceTransformer

_APOSTROPHED = re.compile(r"[^\W\d_]+'[^\W\d_]+")


class Normalize(UtteranceTransformer):
    """Single spaces, plain quotes, and contractions of the utterance's language written out ("what's", "what is").

    Case and punctuation stay: matchers fold them, and skills may need them. Candidates that become the same text are
    merged.
    """

    id = "normalize"
    priority = 10
    quick = True

    def transform(self, utterances: list[str], ctx: Ctx) -> list[str]:
        table = contractions(ctx.lang) if ctx.lang else {}
        normal = [_normal(utterance, table) for utterance in utterances]
        return list(dict.fromkeys(normal)) if len(normal) > 1 else normal


def _normal(text: str, table: Mapping[str, str]) -> str:
    text = " ".join(straight_quotes(text).split())
    if table and "'" in text:
        text = _APOSTROPHED.sub(lambda found: _long_form(found[0], table), text)
    return text


def _long_form(word: str, table: Mapping[str, str]) -> str:
    long = table.get(word.lower(), word)
    if long is word or not word[0].isupper():
        return long
    return long[0].upper() + long[1:]
