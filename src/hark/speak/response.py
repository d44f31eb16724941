"""A response through the dialog and tts chains, and the report when it was rendered."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import aclosing
from typing import TYPE_CHECKING

import msgspec

from hark.bus import Bus
from hark.chains import Chain, Flow
from hark.hosting import Gate
from hark.model import Audio, Clock, Message, Session
from hark.model.session_merge import Denials
from hark.speak.session_queue import ItemOutcome, QueueItem, SessionQueue
from hark.spec import topics
from hark.spec.names import CANCEL_BY, CANCEL_KEYS, CANCEL_REASON
from hark.trace import TraceStore, TurnTrace, summarize

if TYPE_CHECKING:  # a speaker that only shows text does not import it
    from hark.speak.synthesis import Sentence, Synthesizer

log = logging.getLogger("hark.speak")


class SpokenResponse(msgspec.Struct, frozen=True):
    """A response text as it is to be rendered."""

    text: str
    lang: str | None
    message: Message


Render = Callable[[SpokenResponse], None]
"""Shows a response to the user."""


class DialogResult:
    """A response after the dialog chain: its words are final."""

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

    def spoken(self) -> SpokenResponse:
        return SpokenResponse(self.flow.artifact, self.flow.lang, self.message)


def cancellation(flow: Flow) -> Message:
    """The report that a transformer cancelled a response. The turn's own end marker is not repeated (ruling R1)."""
    data = {key: flow.context[key] for key in (CANCEL_REASON, CANCEL_BY)}
    return flow.message().forward(topics.UTTERANCE_CANCELLED, data)


class SpeechChains:
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

    async def run_dialog(self, message: Message) -> DialogResult | None:
        """The response as it is to be said, or cancelled; None when its utterance is not a text."""
        text = message.data.get("utterance")
        if not isinstance(text, str):
            log.warning("dropped a speak message whose utterance is not a text: %s", message)
            return None
        session = message.session or Session()
        if any(key in message.context for key in CANCEL_KEYS):
            message = message.carrying(**dict.fromkeys(CANCEL_KEYS))
        stated = message.data.get("lang")
        flow = Flow(text, stated if isinstance(stated, str) else None, message, session, self._denials_for(session))
        trace = self.trace_of(message)
        await self._run(self._dialog, flow, trace)
        return DialogResult(flow, trace)

    async def run_tts(self, result: DialogResult, audio: Audio, tts: Chain) -> Flow:
        """Take one sound of a response through the tts chain. Each starts with what the dialog chain left."""
        dialog = result.flow
        flow = Flow(audio, dialog.lang, result.message, dialog.session, dialog.denials)
        await self._run(tts, flow, result.trace)
        return flow

    def trace_of(self, message: Message) -> TurnTrace:
        """The trace of the turn a Message belongs to; one that is not stored, for speech outside a turn."""
        stored = self._traces.of(message.utterance_id)
        if stored is not None:
            return stored
        return TurnTrace(message.utterance_id or "", message.session_id, (), self._clock.wall(), self._clock.monotonic)

    async def _run(self, chain: Chain, flow: Flow, trace: TurnTrace) -> None:
        await self._gate.enter()
        try:
            await chain.run(flow, trace)
        finally:
            self._gate.leave()


class ResponseContext(msgspec.Struct, frozen=True):
    """What responses are made with."""

    bus: Bus
    clock: Clock
    chains: SpeechChains
    render: Render
    synthesizer: Synthesizer | None = None
    """None where responses are only shown."""


class Response(QueueItem):
    """What a handler said: through the dialog chain, then shown; with a synthesizer, heard, and shown when its sound
    begins."""

    def __init__(self, message: Message, context: ResponseContext) -> None:
        super().__init__(message)
        self._context = context
        self._received = context.clock.monotonic()
        self._result: DialogResult | None = None
        self._shown = False
        self._show_seconds = 0.0
        self._first_sound: float | None = None
        """Seconds from receipt to the first sound."""

    async def make(self, queue: SessionQueue) -> ItemOutcome:
        result = await self._context.chains.run_dialog(self.origin)
        if result is None:
            return "dropped"
        self._result, self.message = result, result.message
        if queue.stopped:
            return "stopped"
        if result.flow.cancelled:
            return self._cancelled(result.flow)
        if self._context.synthesizer is None:
            self._show(result)
            return "rendered"
        return await self._speak(queue, result, self._context.synthesizer)

    async def _speak(self, queue: SessionQueue, result: DialogResult, synthesizer: Synthesizer) -> ItemOutcome:
        """Offer each sentence as soon as it is made; or, with no looking ahead, all of them in the end."""
        sentences = made = 0
        ahead = synthesizer.options.ahead
        held: list[Audio] = []
        for sentence in synthesizer.sentences(result):
            sentences += 1
            if ahead:
                await queue.space()
            if queue.stopped:
                return "stopped"
            if ahead and synthesizer.streams(result):
                made += await self._stream(queue, result, synthesizer, sentence)
                continue
            audio = await synthesizer.whole(sentence, result.trace)
            if audio is None:
                continue
            flow = await self._context.chains.run_tts(result, audio, synthesizer.tts)
            if flow.cancelled:
                return self._withdraw(queue, flow)
            made += 1
            self.message = flow.message()
            if ahead:
                await queue.offer(self, flow.artifact)
            else:
                held.append(flow.artifact)
        for audio in held:
            await queue.offer(self, audio)
        return "rendered" if made or not sentences else "failed"

    async def _stream(
        self, queue: SessionQueue, result: DialogResult, synthesizer: Synthesizer, sentence: Sentence
    ) -> bool:
        """Offer a sentence in pieces. Return whether there were any."""
        made = False
        async with aclosing(synthesizer.pieces(sentence, result.trace)) as pieces:
            async for audio in pieces:
                if queue.stopped:
                    break
                made = True
                await queue.offer(self, audio, sentence)
        return made

    def playback_starts(self) -> None:
        if self._first_sound is None:
            self._first_sound = self._context.clock.monotonic() - self._received
        self._show_safely()

    def note_playback(self, player: str, how: str, seconds: float, why: str) -> None:
        self._trace().step("play", player, how, seconds, why)

    def end(self, outcome: ItemOutcome) -> None:
        """Also write the trace and emit the report that the handler may wait for."""
        super().end(outcome)
        if self._context.synthesizer is not None and outcome in ("rendered", "failed"):
            self._show_safely()  # what cannot be heard can be read
        trace = self._trace()
        if outcome == "rendered" and self._result is not None:
            detail, seconds = "", self._show_seconds
            if self._first_sound is not None:
                detail = f"heard after {self._first_sound:.3f} s"
                seconds = self._context.clock.monotonic() - self._received
            text = summarize(self._result.flow.artifact)
            trace.step("speak", self.origin.session_id, outcome, seconds, detail, None, text)
        elif outcome == "stopped":
            trace.step("speak", self.origin.session_id, outcome, 0.0, "the user stopped it")
        elif outcome == "failed":
            trace.step("speak", self.origin.session_id, outcome, 0.0, "it could not be rendered")
        self._context.bus.emit(self.message.signal(topics.SPEECH_RENDERED, {"outcome": outcome}))

    def _withdraw(self, queue: SessionQueue, flow: Flow) -> ItemOutcome:
        """A tts transformer cancelled the response: what was played was played, nothing more will be."""
        if queue.stopped:
            return "stopped"
        queue.withdraw(self)
        return self._cancelled(flow)

    def _cancelled(self, flow: Flow) -> ItemOutcome:
        self._context.bus.emit(cancellation(flow))
        return "cancelled"

    def _trace(self) -> TurnTrace:
        return self._context.chains.trace_of(self.origin) if self._result is None else self._result.trace

    def _show(self, result: DialogResult) -> None:
        self._shown = True
        began = self._context.clock.monotonic()
        self._context.render(result.spoken())
        self._show_seconds = self._context.clock.monotonic() - began

    def _show_safely(self) -> None:
        if self._result is None or self._shown:
            return
        try:
            self._show(self._result)
        except Exception:
            log.exception("a response could not be shown: %s", self.origin)
