"""The six kinds of transformer. Each changes one artifact on its way from the microphone to the loudspeaker."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable
from typing import ClassVar

from hark.model import Audio, Match
from hark.plugins.base import Plugin
from hark.plugins.ctx import Ctx
from hark.spec.names import TransformerType


class Transformer(Plugin):
    """What the six kinds have in common. Subclass one of them; `transform` may be `def` or `async def`."""

    type: ClassVar[TransformerType]
    """Which chain it belongs to; its subclass says so."""

    priority: ClassVar[int] = 50
    """Where in the chain: 1 runs first, 100 last."""


class AudioTransformer(Transformer):
    """Works on recorded speech before it is recognised."""

    type = "audio"

    @abstractmethod
    def transform(self, audio: Audio, ctx: Ctx) -> Audio | Awaitable[Audio]:
        """The audio to go on with."""


class UtteranceTransformer(Transformer):
    """Works on the candidate texts of an utterance; the first is the likeliest."""

    type = "utterance"

    @abstractmethod
    def transform(self, utterances: list[str], ctx: Ctx) -> list[str] | Awaitable[list[str]]:
        """The candidates to go on with; an empty list says there was no speech."""


class MetadataTransformer(Transformer):
    """Works on the context alone: session, routing, anything a later stage reads."""

    type = "metadata"

    @abstractmethod
    def transform(self, ctx: Ctx) -> Awaitable[None] | None:
        """Change `ctx`."""


class IntentTransformer(Transformer):
    """Works on an accepted match: adds slots, looks things up."""

    type = "intent"

    @abstractmethod
    def transform(self, match: Match, ctx: Ctx) -> Match | Awaitable[Match]:
        """The match to go on with; it keeps its `skill_id` and `intent_name`."""


class DialogTransformer(Transformer):
    """Works on a response text before it is spoken."""

    type = "dialog"

    @abstractmethod
    def transform(self, text: str, ctx: Ctx) -> str | Awaitable[str]:
        """The text to go on with."""


class TTSTransformer(Transformer):
    """Works on synthesised speech before it is played."""

    type = "tts"

    @abstractmethod
    def transform(self, audio: Audio, ctx: Ctx) -> Audio | Awaitable[Audio]:
        """The audio to go on with."""
