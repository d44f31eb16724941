"""A chain of any of the six kinds, without the house around it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from flow.stage import transformer
from hark.chains import Chain, Flow
from hark.hosting import CallLimits, Registry, Runner
from hark.model import Audio, Match, Message, Session
from hark.model.session_merge import Denials
from hark.plugins import Ctx, Transformer
from hark.spec import TransformerType
from hark.testing import FakeClock
from hark.trace import TurnTrace

ARTIFACTS: Mapping[TransformerType, Any] = {
    "audio": Audio(b"\x01\x00" * 8, 16_000),
    "utterance": ("hello",),
    "metadata": None,
    "intent": Match("some.skill", "go", "en-US", "hello", {"a": "b"}),
    "dialog": "hello",
    "tts": Audio(b"\x02\x00" * 8, 22_050),
}
"""Something to put into each kind of chain."""

CHANGED: Mapping[TransformerType, Any] = {
    "audio": Audio(b"\x03\x00\x04\x00" * 4, 8_000, channels=2),
    "utterance": ("hello", "hallo"),
    "metadata": None,
    "intent": ARTIFACTS["intent"].with_slots(c="d"),
    "dialog": "hello to you",
    "tts": Audio(b"\x05" * 8, 22_050, sample_width=1),
}
"""What a transformer may make of it."""

SIX: tuple[TransformerType, ...] = ("audio", "utterance", "metadata", "intent", "dialog", "tts")
SPOKEN: tuple[TransformerType, ...] = ("audio", "utterance", "dialog", "tts")
"""The kinds whose artifact is in a language."""

Step = Callable[[Any, Ctx], Any]


def unchanged(artifact: Any, ctx: Ctx) -> Any:
    """Do nothing."""
    return artifact


def link(
    kind: TransformerType, plugin_id: str, step: Step = unchanged, *, priority: int = 50, quick: bool = True
) -> Transformer:
    """A transformer of any kind; `step` is given the artifact, None for metadata, and the context."""
    if kind == "metadata":
        return transformer(kind, plugin_id, lambda ctx: step(None, ctx), priority=priority, quick=quick)
    return transformer(kind, plugin_id, lambda artifact, ctx: step(artifact, ctx), priority=priority, quick=quick)


class Rig:
    """One chain with these transformers in it."""

    def __init__(
        self,
        kind: TransformerType,
        *members: Transformer,
        order: tuple[str, ...] | None = None,
        limits: CallLimits | None = None,
        clock: FakeClock | None = None,
        emit: Callable[[Message], None] | None = None,
    ) -> None:
        self.kind = kind
        self.clock = clock or FakeClock()
        self.runner = Runner(self.clock)
        # As in an assistant: only timeouts suspend a transformer (ruling R19).
        limits = msgspec.structs.replace(limits or CallLimits(), timeouts_only=True)
        self.registry: Registry[Any] = Registry(f"{kind} transformer", limits)
        self.entries = [self.registry.add(member) for member in members]
        self.emitted: list[Message] = []
        self.chain = Chain(kind, self.registry, self.runner, emit or self.emitted.append, order)
        self.trace = TurnTrace("turn", "x", (), 0.0, self.clock.monotonic)

    def flow(
        self,
        artifact: Any = None,
        lang: str | None = None,
        session: Session | None = None,
        context: Mapping[str, Any] | None = None,
    ) -> Flow:
        """Something to be sent through."""
        session = session or Session("x")
        origin = Message("some.origin", {}, {"utterance_id": "turn", **(context or {})}, session)
        if artifact is None:
            artifact = ARTIFACTS[self.kind]
        return Flow(artifact, lang, origin, session, Denials.of(session))

    async def run(self, *args: Any, **kwargs: Any) -> Flow:
        """Send something through."""
        flow = self.flow(*args, **kwargs)
        await self.chain.run(flow, self.trace)
        return flow

    @property
    def story(self) -> list[tuple[str, str]]:
        """Who did what."""
        return [(step.who, step.outcome) for step in self.trace.steps]
