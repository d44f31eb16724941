"""A response through the dialog and tts chains, and its report when it was rendered."""

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

if TYPE_CHECKING:
    from hark.speak.synthesis import Sentence, Synthesizer


log = logging.getLogger("hark.speak")


class SpokenResponse(msgspec.Struct, frozen=True):
    """A response text as it is to be rendered."""

    text: str
    lang: str | None
    message: Message


Render = Callable[[SpokenResponse], None]
"""Shows a response to whoever is to hear it."""


class DialogResult:
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

    def spoken(self) -> SpokenResponse:
        """What is to be shown."""
        return SpokenResponse(self.flow.artifact, self.flow.lang, self.message)


def cancellation(flow: Flow) -> Message:
    """What tells everybody that a transformer did not want a response to be heard.

    The turn's own end marker is not repeated (ruling R1).
    """
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

    async def of(self, message: Message) -> DialogResult | None:
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
        return DialogResult(flow, trace)

    async def heard(self, worded: DialogResult, audio: Audio, tts: Chain) -> Flow:
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


class ResponseContext(msgspec.Struct, frozen=True):
    """What responses are made with."""

    bus: Bus
    clock: Clock
    wording: SpeechChains
    render: Render
    voice: Synthesizer | None = None


class Response(QueueItem):
    """What a handler said: through the dialog chain, then shown; with a voice, heard, and shown when that begins."""

    def __init__(self, message: Message, means: ResponseContext) -> None:
        super().__init__(message)
        self._means = means
        self._received = means.clock.monotonic()
        self._worded: DialogResult | None = None
        self._shown = False
        self._showing = 0.0
        """Seconds that took."""
        self._first: float | None = None
        """Seconds from receipt to the first sound."""

    async def make(self, run: SessionQueue) -> ItemOutcome:
        """As promised by `QueueItem`."""
        worded = await self._means.wording.of(self.origin)
        if worded is None:
            return "dropped"
        self._worded, self.message = worded, worded.message
        if run.stopped:
            return "stopped"
        if worded.flow.cancelled:
            return self._cancelled(worded.flow)
        if self._means.voice is None:
            self._show(worded)
            return "rendered"
        return await self._speak(run, worded, self._means.voice)

    async def _speak(self, run: SessionQueue, worded: DialogResult, voice: Synthesizer) -> ItemOutcome:
        """Offer sentence after sentence as it is made; or, with no looking ahead, all of them in the end."""
        said = made = 0
        held: list[Audio] = []
        for sentence in voice.sentences(worded):
            said += 1
            if voice.options.ahead:
                await run.room()
            if run.stopped:
                return "stopped"
            if voice.options.ahead and voice.streams(worded):
                made += await self._stream(run, worded, voice, sentence)
                continue
            flow = await self._sound(worded, voice, sentence)
            if flow is None:
                continue
            if flow.cancelled:
                return self._withdrawn(run, flow)
            made += 1
            self.message = flow.message()
            if voice.options.ahead:
                await run.offer(self, flow.artifact)
            else:
                held.append(flow.artifact)
        for audio in held:
            await run.offer(self, audio)
        return "rendered" if made or not said else "failed"

    async def _sound(self, worded: DialogResult, voice: Synthesizer, sentence: Sentence) -> Flow | None:
        """A sentence after the tts chain; None when nobody could speak it."""
        audio = await voice.whole(sentence, worded.trace)
        return None if audio is None else await self._means.wording.heard(worded, audio, voice.tts)

    async def _stream(self, run: SessionQueue, worded: DialogResult, voice: Synthesizer, sentence: Sentence) -> int:
        made = 0
        async with aclosing(voice.pieces(sentence, worded.trace)) as pieces:
            async for audio in pieces:
                if run.stopped:
                    break
                made = 1
                await run.offer(self, audio, sentence)
        return made

    def begins(self) -> None:
        """As promised by `QueueItem`."""
        if self._first is None:
            self._first = self._means.clock.monotonic() - self._received
        self._show_safely()

    def note(self, who: str, how: str, seconds: float, why: str) -> None:
        """As promised by `QueueItem`."""
        self._trace().step("play", who, how, seconds, why)

    def end(self, outcome: ItemOutcome) -> None:
        """As promised by `QueueItem`: the trace tells it, and whoever waits for it is told."""
        super().end(outcome)
        if self._means.voice is not None and outcome in ("rendered", "failed"):
            self._show_safely()  # what cannot be heard can be read
        trace = self._trace()
        if outcome == "rendered" and self._worded is not None:
            told, took = "", self._showing
            if self._first is not None:
                told, took = f"heard after {self._first:.3f} s", self._means.clock.monotonic() - self._received
            text = summarize(self._worded.flow.artifact)
            trace.step("speak", self.origin.session_id, outcome, took, told, None, text)
        elif outcome == "stopped":
            trace.step("speak", self.origin.session_id, outcome, 0.0, "the user stopped it")
        elif outcome == "failed":
            trace.step("speak", self.origin.session_id, outcome, 0.0, "it could not be rendered")
        self._means.bus.emit(self.message.forward(topics.SPEECH_RENDERED, {"outcome": outcome}))

    def _withdrawn(self, run: SessionQueue, flow: Flow) -> ItemOutcome:
        """A tts transformer does not want this response: what was heard was heard, nothing more will be."""
        if run.stopped:
            return "stopped"
        run.withdraw(self)
        return self._cancelled(flow)

    def _cancelled(self, flow: Flow) -> ItemOutcome:
        self._means.bus.emit(cancellation(flow))
        return "cancelled"

    def _trace(self) -> TurnTrace:
        return self._means.wording.trace_of(self.origin) if self._worded is None else self._worded.trace

    def _show(self, worded: DialogResult) -> None:
        self._shown = True
        began = self._means.clock.monotonic()
        self._means.render(worded.spoken())
        self._showing = self._means.clock.monotonic() - began

    def _show_safely(self) -> None:
        if self._worded is None or self._shown:
            return
        try:
            self._show(self._worded)
        except Exception:
            log.exception("a response could not be shown: %s", self.origin)
