"""From a recorded command to its one outcome: an utterance, a failure, or a cancellation."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Final

from hark.chains import Chain, ChunkedRun, Flow, are_chunked
from hark.hear.options import HearOptions
from hark.hear.recording import Capture
from hark.hear.sessions import KnownSessions
from hark.hear.streaming import Stream, stream_entry
from hark.hear.transcript import checked, language, without_wake_phrase
from hark.hosting import Engines, Gate, Loaded, Runner, cancel_all
from hark.model import Audio, Clock, Message, Session
from hark.model.resample import resample_mono
from hark.model.session_merge import Denials
from hark.plugins.engines import SAMPLE_RATE, STTEngine, Transcript
from hark.plugins.transformers import ArtifactPart
from hark.spec import topics
from hark.spec.names import CANCEL_BY, CANCEL_REASON, CAPTURE_ID, FOR_TURN, WAKE_WORD, stamp_key

log = logging.getLogger("hark.hear")

_STAMP: Final = stamp_key("audio")


class Recogniser:
    """Takes a command through the audio chain and the recognition engines."""

    def __init__(
        self,
        runner: Runner,
        audio: Chain,
        stt: Engines[STTEngine],
        options: HearOptions,
        denials_for: Callable[[Session], Denials],
        gate: Gate,
    ) -> None:
        self._runner = runner
        self._audio = audio
        self._stt = stt
        self._options = options
        self._denials_for = denials_for
        self._gate = gate
        self._stream_entries: dict[str, Loaded[STTEngine]] = {}

    def stream(self, capture: Capture, on_partial: Callable[[str], None]) -> Stream | None:
        """A recognition to be fed during the recording; None where the sound has to be whole first."""
        session = capture.session
        members = self._audio.effective(session, self._denials_for(session))
        if not self._options.streaming or not are_chunked(members):
            return None
        lang = language(session, self._options.lang)
        entry = next(iter(self._stt.usable(lang)), None)
        if entry is None or type(entry.plugin).recognition is STTEngine.recognition:
            return None
        known = self._stream_entries.get(entry.id)
        if known is None or known.plugin is not entry.plugin:
            known = self._stream_entries[entry.id] = stream_entry(entry)
        if not known.available(self._runner.clock.monotonic()):
            return None
        chunks = None
        if members:
            chunks = ChunkedRun(self._audio, members, self._flow(capture), self._gate, capture.id)
        return Stream(self._runner, entry.plugin, known, lang, on_partial, chunks)

    async def outcome(self, capture: Capture) -> Message:
        """The one Message that says what became of a command. Whatever fails on the way, there is one."""
        flow = self._flow(capture)
        try:
            if not capture.recording.has_speech:
                return self._failed(flow, capture, "no speech in the recording")
            if capture.stream is not None and capture.stream.chunks is not None:
                streamed = await self._streamed(capture.stream, capture.stream.chunks, capture)
                if streamed is not None:
                    return streamed
            await self._gate.enter()
            try:
                await self._audio.run(flow, capture.trace)
            finally:
                self._gate.leave()
            if flow.cancelled:
                return self._cancelled(flow, capture)
            return await self._recognised(flow, capture)
        except Exception:
            log.exception("a command could not be recognised")
            return self.given_up(capture)

    def given_up(self, capture: Capture) -> Message:
        """The outcome of a command that will not be recognised."""
        capture.trace.step("stt", "hear", "failed", 0.0, "recognition was given up")
        return Message(topics.STT_FAILED, {}, {CAPTURE_ID: capture.id}, Session(capture.session_id))

    async def _streamed(self, stream: Stream, chunks: ChunkedRun, capture: Capture) -> Message | None:
        """The outcome of a command whose chain has run during the recording; None when it has to run again."""
        transcript = await stream.finish(capture.trace)
        capture.stream = None
        chunks.write(capture.trace)
        flow = chunks.flow
        if flow.cancelled:
            return self._cancelled(flow, capture)
        lang = self._set_langs(flow)
        if transcript is None or lang != stream.lang:
            return None
        return self._understood(flow, lang, transcript, capture)

    def _flow(self, capture: Capture) -> Flow:
        sound = Audio(capture.recording.samples, SAMPLE_RATE)
        context = {**self._options.context, CAPTURE_ID: capture.id}
        if capture.wake_word:
            context[WAKE_WORD] = capture.wake_word
        origin = Message(topics.UTTERANCE_HANDLE, {}, context)
        part = ArtifactPart(capture.id)
        return Flow(sound, None, origin, capture.session, self._denials_for(capture.session), part)

    def _set_langs(self, flow: Flow) -> str:
        """Note in the session what the chain found out about the language; the language to listen in."""
        if flow.lang is not None:
            flow.session = flow.session.replace(detected_lang=flow.lang)
        lang = language(flow.session, self._options.lang)
        flow.session = flow.session.replace(stt_lang=lang)
        return lang

    async def _recognised(self, flow: Flow, capture: Capture) -> Message:
        lang = self._set_langs(flow)
        transcript = await self._transcript(flow, lang, capture)
        if transcript is None:
            return self._failed(flow, capture, f"no recogniser worked for {lang}")
        return self._understood(flow, lang, transcript, capture)

    def _understood(self, flow: Flow, lang: str, transcript: Transcript, capture: Capture) -> Message:
        if capture.wake_phrase:
            transcript = without_wake_phrase(transcript, capture.wake_phrase)
        if not transcript.utterances:
            return self._failed(flow, capture, "the transcript is empty")
        confidence = transcript.confidence
        if confidence is not None and confidence < self._options.min_confidence:
            return self._failed(flow, capture, f"confidence too low: {confidence:.2f}")
        data = {"utterances": transcript.utterances, "lang": transcript.lang or lang}
        return self._message(flow, capture, topics.UTTERANCE_HANDLE, data)

    async def _transcript(self, flow: Flow, lang: str, capture: Capture) -> Transcript | None:
        """By the stream if there is one, else by the first recogniser that works."""
        stream, trace = capture.stream, capture.trace
        if stream is not None and stream.lang == lang and _STAMP not in flow.context:
            transcript = await stream.finish(trace)
            capture.stream = None
            if transcript is not None:
                return transcript
        sound: Audio = flow.artifact
        if (sound.sample_rate, sound.sample_width, sound.channels) != (SAMPLE_RATE, 2, 1):
            sound = await self._runner.on_worker(lambda _job: resample_mono(flow.artifact), lambda _late: sound)
        done = await self._stt.do(
            sound,
            lang,
            lang=lang,
            check=checked,
            note=lambda who, how, took, why: trace.step("stt", who, how, took, why),
        )
        if done is None:
            return None
        recognised: Transcript = done.value
        trace.step("stt", done.engine, "heard", done.seconds, f"in {lang}", None, recognised.utterances)
        return recognised

    def _failed(self, flow: Flow, capture: Capture, why: str) -> Message:
        capture.trace.step("stt", "hear", "failed", 0.0, why)
        return self._message(flow, capture, topics.STT_FAILED, {})

    def _cancelled(self, flow: Flow, capture: Capture) -> Message:
        """There is no turn that could end: the cancellation stands alone (ruling R1)."""
        data = {CANCEL_REASON: flow.context[CANCEL_REASON], CANCEL_BY: flow.context[CANCEL_BY]}
        return self._message(flow, capture, topics.UTTERANCE_CANCELLED, data)

    @staticmethod
    def _message(flow: Flow, capture: Capture, topic: str, data: Mapping[str, Any]) -> Message:
        context: Mapping[str, Any] = flow.context
        if flow.for_turn:
            lasting = Session.read({}).taking(capture.session_before, flow.for_turn).wire()
            context = {**context, FOR_TURN: {name: lasting.get(name) for name in flow.for_turn}}
        return Message(topic, data, context, KnownSessions.carried(capture.session_before, flow.session))


class RecognitionQueue:
    """Sees each command to its one outcome, in the order in which they were recorded."""

    def __init__(self, recogniser: Recogniser, clock: Clock, on_outcome: Callable[[Capture, Message], None]) -> None:
        self._recogniser = recogniser
        self._clock = clock
        self._on_outcome = on_outcome
        self._waiting: deque[Capture] = deque()
        self._task: asyncio.Task[None] | None = None
        self._discarding: set[asyncio.Task[None]] = set()
        self._closed = False
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def open(self) -> int:
        """How many commands have no outcome yet."""
        return len(self._waiting)

    def add(self, capture: Capture) -> None:
        self._waiting.append(capture)
        self._idle.clear()
        if self._task is None:
            self._start_task()

    def discard(self, capture: Capture) -> None:
        """Close the stream of a command that is not recognised by it any more."""
        stream, capture.stream = capture.stream, None
        if stream is not None:
            task = asyncio.get_running_loop().create_task(stream.close(), name="discarding a command")
            self._discarding.add(task)
            task.add_done_callback(self._discarding.discard)

    async def idle(self) -> None:
        """Wait until every command has its outcome."""
        await self._idle.wait()

    async def close(self) -> None:
        """Give up what is left: that is an outcome too."""
        self._closed = True
        if self._task is not None:
            await cancel_all([self._task], self._clock)
        while self._waiting:
            self._end(self._recogniser.given_up(self._waiting[0]))
        if self._discarding:
            await asyncio.wait(self._discarding)

    def _start_task(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._run(), name="recognising commands")
        self._task.add_done_callback(self._task_ended)

    def _task_ended(self, _task: asyncio.Task[None]) -> None:
        self._task = None
        # The task may have been cancelled, even before it started: what waits still needs its outcome.
        if self._waiting and not self._closed:
            self._start_task()

    async def _run(self) -> None:
        while self._waiting:
            capture = self._waiting[0]
            try:
                outcome = await self._recogniser.outcome(capture)
            except asyncio.CancelledError:
                self._end(self._recogniser.given_up(capture))
                raise
            self._end(outcome)

    def _end(self, outcome: Message) -> None:
        capture = self._waiting.popleft()
        if not self._waiting:
            self._idle.set()
        self.discard(capture)
        self._on_outcome(capture, outcome)
