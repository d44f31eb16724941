"""The six kinds, plain and async, and a plugin with settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_type

from hark.plugins import (
    Audio,
    AudioTransformer,
    Ctx,
    DialogTransformer,
    Host,
    IntentTransformer,
    Match,
    MetadataTransformer,
    Session,
    TTSTransformer,
    UtteranceTransformer,
)


class Louder(AudioTransformer):
    id = "louder"

    def transform(self, audio: Audio, ctx: Ctx) -> Audio:
        return audio


class Shorter(UtteranceTransformer):
    id = "shorter"
    priority = 20

    @dataclass(frozen=True)
    class Settings:
        """What a deployer may set."""

        most: int = 3

    settings: Settings

    def transform(self, utterances: list[str], ctx: Ctx) -> list[str]:
        assert_type(self.settings.most, int)
        assert_type(ctx.lang, str | None)
        assert_type(ctx.session, Session)
        return utterances[: self.settings.most]


class Slow(UtteranceTransformer):
    id = "slow"

    async def transform(self, utterances: list[str], ctx: Ctx) -> list[str]:
        await self.host.clock.sleep(0.1)
        return utterances


class Tagger(MetadataTransformer):
    id = "tagger"

    def transform(self, ctx: Ctx) -> None:
        assert_type(self.host, Host)
        ctx.set("tagger.seen", True)


class Lookup(IntentTransformer):
    id = "lookup"

    def transform(self, match: Match, ctx: Ctx) -> Match:
        return match


class Polite(DialogTransformer):
    id = "polite"

    def transform(self, text: str, ctx: Ctx) -> str:
        return f"{text}, please"


class Reverb(TTSTransformer):
    id = "reverb"

    async def transform(self, audio: Audio, ctx: Ctx) -> Audio:
        return audio
