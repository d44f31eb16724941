"""Keeping answers short."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Annotated, Final

from msgspec import Meta

from hark.model.sentences import sentences
from hark.plugins import Ctx, DialogTransformer

_PAUSES: Final = " ,;:-\u3001\uff0c\uff1a\uff1b"
_JOINED: Final = ("Mn", "Mc", "Me", "Cf", "Sk")
"""Categories of characters that belong to the one before them."""
_STOP: Final = re.compile(r"(?<=[.!?\u2026])[\"'\u201d\u2019)\]]*(?=\s|$)")


def _pause(text: str, most: int) -> int:
    """The last place in the second half of `most` characters where a text can be cut: not within a word, nor between
    what makes one letter; in languages without spaces, anywhere else.
    """
    at = max(text.rfind(pause, 0, most) for pause in _PAUSES)
    if at >= most // 2:
        return at
    while most > 1 and (unicodedata.category(text[most]) in _JOINED or text[most - 1] == "\u200d"):
        most -= 1
    return most


class LengthCap(DialogTransformer):
    """Ends an answer after the last sentence that fits; where not even the first one does, between two words."""

    id = "length"
    priority = 30
    quick = True

    @dataclass(frozen=True)
    class Settings:
        """How long is too long."""

        characters: Annotated[int, Meta(ge=20)] = 400
        """Characters an answer may have: about as many as are spoken in half a minute."""
        ending: str = ""
        """What is said after an answer that was cut, such as "There is more."."""

    settings: Settings

    def transform(self, text: str, ctx: Ctx) -> str:
        most = self.settings.characters
        if len(text) <= most:
            return text
        kept = text[: self._last_end(text, ctx.lang or self.host.lang)]
        if not kept:
            kept = text[: _pause(text, most)].rstrip(_PAUSES) + "…"
        ctx.set("length.dropped", len(text) - len(kept))
        return f"{kept} {self.settings.ending}".strip()

    def _last_end(self, text: str, lang: str) -> int:
        """Where the last sentence that fits ends; 0 where not even the first one does."""
        most, end = self.settings.characters, 0
        for sentence in sentences(text, lang, len(text)):
            after = text.index(sentence, end) + len(sentence)
            if after > most:
                break
            end = after
        # Where no capital follows a full stop, it is still the best place to stop.
        return end or max(
            (found.end() for found in _STOP.finditer(text, 0, most + 1) if found.end() <= most), default=0
        )
