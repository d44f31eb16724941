"""From a recorded command to its one outcome: an utterance, a failure, or a cancellation."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Final

from hark.chains import Chain, Flow
from hark.hear.options import HearOptions
from hark.hear.recording import Capture
from hark.hear.sessions import KnownSessions
from hark.hear.streaming import Stream, caller
from hark.hear.transcript import checked, language, without_wake_phrase
from hark.hosting import Engines, Gate, Loaded, Runner, cancel_all
from hark.model import Audio, Clock, Message, Session
from hark.model.resample import resample_mono
from hark.model.session_merge import Denials
from hark.plugins.engines import SAMPLE_RATE, STTEngine, Transcript
from hark.spec import topics
from hark.spec.names import CANCEL_BY, CANCEL_REASON, CAPTURE_ID, SOURCE, stamp_key

log = logging.getLogger("hark.hear")

_STAMP: Final = stamp_key("audio")


class Recogniser:
    """Takes a command through the audio chain and the recognisers."""

    def __init__(
        self,
        runner: Runner,
        audio: Chain,
        stt: Engines[STTEngine],
        sessions: KnownSessions,
        options: HearOptions,
        denials_for: Callable[[Session], Denials],
        gate: Gate,
    ) -> None:
        self._runner = runner
        self._audio = audio
        self._stt = stt
        self._sessions = sessions
        self._options = options
        self._denials_for = denials_for
        self._gate = gate
        self._callers: dict[str, Loaded[STTEngine]] = {}

    def stream(self, session: Session, on_partial: Callable[[str], None]) -> Stream | None:
        """A recognition to be fed while somebody speaks; None where the sound has to be whole first."""
        if not self._options.streaming or self._audio.effective(session, self._denials_for(session)):
            return None
        lang = language(session, self._options.lang)
        entry = next(iter(self._stt.usable(lang)), None)
        if entry is None or type(entry.plugin).recognition is STTEngine.recognition:
            return None
        known = self._callers.get(entry.id)
        if known is None or known.plugin is not entry.plugin:
            known = self._callers[entry.id] = caller(entry)
        if not known.available(self._runner.clock.monotonic()):
            return None
        return Stream(self._runner, entry.plugin, known, lang, on_partial)

    async def outcome(self, capture: Capture) -> Message:
        """The one Message that tells what became of a command. Whatever happens on the way, there is one."""
        flow = self._flow(capture)
        try:
            if not capture.recording.worth_recognising:
                return self._failed(flow, capture, "nobody spoke")
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
        """The outcome of a command that nobody is left to recognise."""
        capture.trace.step("stt", "hear", "failed", 0.0, "it was given up")
        return Message(topics.STT_FAILED, {}, {CAPTURE_ID: capture.id}, Session(capture.session_id))

    def _flow(self, capture: Capture) -> Flow:
        context = {CAPTURE_ID: capture.id}
        if self._options.source is not None:
            context[SOURCE] = self._options.source
        sound = Audio(capture.recording.samples, SAMPLE_RATE)
        origin = Message(topics.UTTERANCE_HANDLE, {}, context)
        return Flow(sound, None, origin, capture.session, self._denials_for(capture.session))

    async def _recognised(self, flow: Flow, capture: Capture) -> Message:
        if flow.lang is not None:
            flow.session = flow.session.replace(detected_lang=flow.lang)
        lang = language(flow.session, self._options.lang)
        flow.session = flow.session.replace(stt_lang=lang)
        transcript = await self._transcript(flow, lang, capture)
        if transcript is None:
            return self._failed(flow, capture, f"no recogniser could do it in {lang}")
        if capture.run_on:
            transcript = without_wake_phrase(transcript, capture.run_on)
        if not transcript.utterances:
            return self._failed(flow, capture, "there was nothing to understand")
        sure = transcript.confidence
        if sure is not None and sure < self._options.min_confidence:
            return self._failed(flow, capture, f"not sure enough of it: {sure:.2f}")
        data = {"utterances": transcript.utterances, "lang": transcript.lang or lang}
        return self._told(flow, capture, topics.UTTERANCE_HANDLE, data)

    async def _transcript(self, flow: Flow, lang: str, capture: Capture) -> Transcript | None:
        """What was said, by the stream if there is one, else by the first recogniser that can tell."""
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
        return self._told(flow, capture, topics.STT_FAILED, {})

    def _cancelled(self, flow: Flow, capture: Capture) -> Message:
        """There is no turn that could end: the cancellation stands alone (ruling R1)."""
        data = {CANCEL_REASON: flow.context[CANCEL_REASON], CANCEL_BY: flow.context[CANCEL_BY]}
        return self._told(flow, capture, topics.UTTERANCE_CANCELLED, data)

    def _told(self, flow: Flow, capture: Capture, topic: str, data: Mapping[str, Any]) -> Message:
        session = self._sessions.carried(capture.found, flow.session)
        return Message(topic, data, flow.context, session)


class RecognitionQueue:
    """Sees each command to its one outcome, in the order in which they were spoken."""

    def __init__(self, recogniser: Recogniser, clock: Clock, told: Callable[[Capture, Message], None]) -> None:
        self._recogniser = recogniser
        self._clock = clock
        self._told = told
        self._waiting: deque[Capture] = deque()
        self._task: asyncio.Task[None] | None = None
        self._forgetting: set[asyncio.Task[None]] = set()
        self._closed = False
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def open(self) -> int:
        """How many commands have no outcome yet."""
        return len(self._waiting)

    def take(self, capture: Capture) -> None:
        """See a command through."""
        self._waiting.append(capture)
        self._idle.clear()
        if self._task is None:
            self._begin()

    def forget(self, capture: Capture) -> None:
        """Nobody wants to know what was said."""
        stream, capture.stream = capture.stream, None
        if stream is not None:
            task = asyncio.get_running_loop().create_task(stream.close(), name="forgetting a command")
            self._forgetting.add(task)
            task.add_done_callback(self._forgetting.discard)

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
        if self._forgetting:
            await asyncio.wait(self._forgetting)

    def _begin(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._run(), name="recognising commands")
        self._task.add_done_callback(self._ended)

    def _ended(self, _task: asyncio.Task[None]) -> None:
        self._task = None
        # Somebody may have cancelled the task, even before it began: what waits still needs its outcome.
        if self._waiting and not self._closed:
            self._begin()

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
        self.forget(capture)
        self._told(capture, outcome)
