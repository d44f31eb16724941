"""The language of a text."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Annotated, Any

from msgspec import Meta

from hark.builtin.engines.extras import need
from hark.model.lang import by_primary
from hark.plugins import Ctx, UtteranceTransformer
from hark.plugins.engines import Unavailable


class WrittenLanguage(UtteranceTransformer):
    """Detects in which of the assistant's languages something was written, by py3langid (131 MB in memory)."""

    id = "language"
    priority = 5
    quick = True

    @dataclass(frozen=True)
    class Settings:
        """Which languages, and when to believe it."""

        langs: tuple[str, ...] = ()
        """The languages to tell apart, as tags; empty: those the assistant understands."""
        always: bool = False
        """Whether it also overrules a language that the client or the recogniser stated."""
        confidence: Annotated[float, Meta(ge=0, le=1)] = 0.8
        """What the detector has to reach; below it, nothing is changed."""
        words: Annotated[int, Meta(ge=1)] = 2
        """Words a text must have: a single one is seldom of one language."""

    settings: Settings

    async def start(self) -> None:
        self._tags = by_primary(self.settings.langs or tuple(sorted(self.host.langs)))
        if len(self._tags) < 2:
            raise Unavailable(
                f"there is only one language to detect: {', '.join(self._tags.values())}",
                'name others in [assistant] langs, or in its setting langs, such as ["en-US", "de-DE"]',
            )
        await asyncio.to_thread(self._load)

    def _load(self) -> None:
        langid: Any = need("py3langid.langid", "language")
        self._identifier = langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)
        unknown = [code for code in self._tags if code not in self._identifier.labels]
        if unknown:
            raise Unavailable(f"py3langid does not know {', '.join(unknown)}", "leave it out of langs")
        self._identifier.set_languages(list(self._tags))
        self._identifier.classify("the first call prepares its tables")

    def transform(self, utterances: list[str], ctx: Ctx) -> list[str]:
        if ctx.lang is not None and not self.settings.always:
            return utterances
        text = utterances[0][:500]
        if len(text.split()) < self.settings.words:
            return utterances
        code, probability = self._identifier.classify(text)
        if float(probability) >= self.settings.confidence:
            ctx.lang = self._tags[str(code)]
        return utterances
