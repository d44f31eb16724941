"""A response through the dialog and tts chains, and the report when it was rendered."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import aclosing
from itertools import count
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec

from hark.bus import Bus
from hark.chains import Chain, Flow
from hark.hosting import Gate
from hark.model import Audio, Clock, Message, Session
from hark.model.session_merge import Denials, SessionDifference, restored
from hark.plugins.transformers import ArtifactPart
from hark.speak.session_queue import ItemOutcome, QueueItem, SessionQueue
from hark.spec import topics
from hark.spec.names import CANCEL_BY, CANCEL_KEYS, CANCEL_REASON, RESPONSE_ID, TRACE_KEEP
from hark.trace import TraceStore, TurnTrace, summarize

if TYPE_CHECKING:  # a speaker that only shows text does not import it
    from hark.speak.synthesis import Sentence, Synthesizer

log = logging.getLogger("hark.speak")

_PROCESS: Final = os.urandom(6).hex()
_numbers = count(1)


class SpokenResponse(msgspec.Struct, frozen=True):
    """A response text as it is to be rendered."""

    text: str
    lang: str | None
    message: Message
    response_id: str = ""


Render = Callable[[SpokenResponse], None]
"""Shows a response to the user."""


class DialogResult:
    """A response after the dialog chain: its words are final."""

    __slots__ = ("flow", "for_turn", "message", "response_id", "session", "trace")

    def __init__(self, flow: Flow, trace: TurnTrace, response_id: str) -> None:
        self.flow = flow
        self.trace = trace
        self.response_id = response_id
        self.session = flow.session
        """The session as the dialog chain, and the tts chain for each sentence so far, have left it."""
        self.for_turn = flow.for_turn
        data = {**flow.origin.data, "utterance": flow.artifact}
        data.pop("lang", None)
        if flow.lang is not None:
            data["lang"] = flow.lang
        self.message: Message = flow.origin.within(flow.context, flow.lasting_session).with_data(data)
        """The Message with the words and the language the chain arrived at."""

    def spoken(self) -> SpokenResponse:
        return SpokenResponse(self.flow.artifact, self.flow.lang, self.message, self.response_id)


def cancellation(flow: Flow) -> Message:
    """The report that a transformer cancelled a response. The turn's own end marker is not repeated (ruling R1)."""
    data = {key: flow.context[key] for key in (CANCEL_REASON, CANCEL_BY)}
    session = flow.lasting_session
    if flow.origin.data.get("listen") is True:
        session = session.without("response_mode")  # what was not asked is not answered (ruling R23)
    return flow.origin.within(flow.context, session).forward(topics.UTTERANCE_CANCELLED, data)


class SpeechChains:
    """Takes responses through the dialog chain, and their sound through the tts chain."""

    def __init__(
        self,
        dialog: Chain,
        clock: Clock,
        traces: TraceStore,
        denials_for: Callable[[Session], Denials],
        gate: Gate,
        emit: Callable[[Message], None],
    ) -> None:
        self._emit = emit
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
        marked = message.context.get(RESPONSE_ID)
        response_id = marked if isinstance(marked, str) else f"response-{_PROCESS}-{next(_numbers)}"
        lang = stated if isinstance(stated, str) else None
        flow = Flow(text, lang, message, session, self._denials_for(session), ArtifactPart(response_id))
        trace = self.trace_of(message)
        if TRACE_KEEP in message.context:
            trace.limit(message.context[TRACE_KEEP])
        await self._run(self._dialog, flow, trace)
        return DialogResult(flow, trace, response_id)

    async def run_tts(
        self, result: DialogResult, audio: Audio, tts: Chain, *, index: int = 0, is_last: bool = True
    ) -> Flow:
        """Take one sound of a response through the tts chain.

        Each starts with the context that the dialog chain left, and with the session as the last sound left it.
        """
        dialog = result.flow
        part = ArtifactPart(result.response_id, index, is_last)
        flow = Flow(audio, dialog.lang, result.message, result.session, dialog.denials, part)
        flow.for_turn = result.for_turn
        await self._run(tts, flow, result.trace)
        result.session, result.for_turn = flow.session, flow.for_turn
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
        if flow.session is not flow.base and flow.session.is_default:
            self._write_back(flow)

    def _write_back(self, flow: Flow) -> None:
        """Send what the chain changed in the device's session to the service that holds it (ruling R22)."""
        difference = SessionDifference.between(restored(flow.base, flow.for_turn), flow.lasting_session)
        if difference is not None:
            changed = flow.origin.forward(topics.SESSION_CHANGED, {"removed": difference.removed})
            self._emit(changed.carrying(difference.changed))


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
        for sentence, is_last in _with_last(synthesizer.sentences(result)):
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
            flow = await self._context.chains.run_tts(
                result, audio, synthesizer.tts, index=sentences - 1, is_last=is_last
            )
            if flow.cancelled:
                return self._withdraw(queue, flow)
            made += 1
            self.message = flow.origin.within(flow.context, flow.lasting_session)
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


T = TypeVar("T")


def _with_last(items: Iterable[T]) -> Iterator[tuple[T, bool]]:
    """Each item, and whether it is the last one."""
    before: list[T] = []
    for item in items:
        if before:
            yield before.pop(), False
        before.append(item)
    if before:
        yield before[0], True
