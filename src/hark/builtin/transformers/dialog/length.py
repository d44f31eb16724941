"""Keeping answers short."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Final

from msgspec import Meta

from hark.plugins import Ctx, DialogTransformer

_END: Final = re.compile("(?<=[.!?\u2026\u3002\uff01\uff1f])[\"'\u201d\u2019)\\]]*(?=\\s|$)")


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
        ends = [found.end() for found in _END.finditer(text, 0, most + 1) if found.end() <= most]
        if ends:
            kept = text[: ends[-1]]
        else:
            at = text.rfind(" ", 0, most)
            kept = text[: at if at > 0 else most].rstrip(" ,;:-") + "…"
        ctx.set("length.dropped", len(text) - len(kept))
        return f"{kept} {self.settings.ending}".strip()
