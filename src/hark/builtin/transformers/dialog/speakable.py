"""Answers as they should be spoken."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from hark import hints
from hark.intents.speech import can_spell_numbers, plain_text, speakable
from hark.plugins import Ctx, DialogTransformer


class Speakable(DialogTransformer):
    """Writes out numbers, dates, times, units, currencies and abbreviations, and drops markdown and emoji.

    Numbers, dates and units in ten languages; markup in all. Without the extra, numbers stay figures.
    """

    id = "speakable"
    priority = 60
    quick = True

    @dataclass(frozen=True)
    class Settings:
        """What is written out."""

        markup: bool = True
        """Whether markdown, HTML tags, addresses of web pages and emoji are dropped."""
        words: bool = True
        """Whether figures, units and abbreviations are written out."""

    settings: Settings

    async def start(self) -> None:
        await asyncio.to_thread(self._load)

    def _load(self) -> None:
        """Read the words of the assistant's languages: the first call is to be as quick as the next."""
        for lang in self.host.langs:
            speakable("1 km, 2026-01-01", lang)

    def transform(self, text: str, ctx: Ctx) -> str:
        if not self.settings.words:
            return plain_text(text) if self.settings.markup else text
        lang = ctx.lang or ctx.session.output_lang or ctx.session.lang or self.host.lang
        return speakable(text, lang, markup=self.settings.markup)

    def problem(self) -> str:
        if self.settings.words and not can_spell_numbers():
            return f"numbers stay figures: {hints.install_extra('speakable')}"
        return ""
