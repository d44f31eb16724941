"""What is really said: a response after the dialog chain."""

from __future__ import annotations

import logging
from collections.abc import Callable

import msgspec

from hark.chains import Chain, Flow
from hark.hosting import Gate
from hark.model import Audio, Clock, Message, Session
from hark.model.session_merge import Denials
from hark.spec import topics
from hark.spec.names import CANCEL_BY, CANCEL_KEYS, CANCEL_REASON
from hark.trace import TraceStore, TurnTrace

log = logging.getLogger("hark.speak")


class Spoken(msgspec.Struct, frozen=True):
    """A response text as it is to be rendered."""

    text: str
    lang: str | None
    message: Message


Render = Callable[[Spoken], None]
"""Shows a response to whoever is to hear it."""


class Worded:
    """A response whose words are settled."""

    __slots__ = ("flow", "message", "trace")

    def __init__(self, flow: Flow, trace: TurnTrace) -> None:
        self.flow = flow
        self.trace = trace
        data = {**flow.origin.data, "utterance": flow.artifact}
        data.pop("lang", None)
        if flow.lang is not None:
            data["lang"] = flow.lang
        self.message: Message = flow.message().with_data(data)
        """The Message with the words and the language the chain arrived at."""

    def spoken(self) -> Spoken:
        """What is to be shown."""
        return Spoken(self.flow.artifact, self.flow.lang, self.message)


def cancellation(flow: Flow) -> Message:
    """What tells everybody that a transformer did not want a response to be heard.

    The turn's own end marker is not repeated (ruling R1).
    """
    data = {key: flow.context[key] for key in (CANCEL_REASON, CANCEL_BY)}
    return flow.message().forward(topics.UTTERANCE_CANCELLED, data)


class Wording:
    """Takes responses through the dialog chain, and their sound through the tts chain."""

    def __init__(
        self,
        dialog: Chain,
        clock: Clock,
        traces: TraceStore,
        denials_for: Callable[[Session], Denials],
        gate: Gate,
    ) -> None:
        self._dialog = dialog
        self._clock = clock
        self._traces = traces
        self._denials_for = denials_for
        self._gate = gate

    async def of(self, message: Message) -> Worded | None:
        """The response as it is to be said, or cancelled; None when it is no text."""
        text = message.data.get("utterance")
        if not isinstance(text, str):
            log.warning("dropped a speak message whose utterance is no text: %s", message)
            return None
        session = message.session or Session()
        if any(key in message.context for key in CANCEL_KEYS):
            message = message.carrying(**dict.fromkeys(CANCEL_KEYS))
        stated = message.data.get("lang")
        flow = Flow(text, stated if isinstance(stated, str) else None, message, session, self._denials_for(session))
        trace = self.trace_of(message)
        await self._run(self._dialog, flow, trace)
        return Worded(flow, trace)

    async def heard(self, worded: Worded, audio: Audio, tts: Chain) -> Flow:
        """What the tts chain makes of a sound of this response; each sound finds what the dialog chain left."""
        said = worded.flow
        flow = Flow(audio, said.lang, worded.message, said.session, said.denials)
        await self._run(tts, flow, worded.trace)
        return flow

    def trace_of(self, message: Message) -> TurnTrace:
        """The trace of the turn a Message belongs to; one that nobody keeps, for speech outside a turn."""
        kept = self._traces.of(message.utterance_id)
        if kept is not None:
            return kept
        return TurnTrace(message.utterance_id or "", message.session_id, (), self._clock.wall(), self._clock.monotonic)

    async def _run(self, chain: Chain, flow: Flow, trace: TurnTrace) -> None:
        await self._gate.enter()
        try:
            await chain.run(flow, trace)
        finally:
            self._gate.leave()
