"""The listener: a state machine from the microphone to an utterance."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

from hark.bus import Bus
from hark.chains import Chain
from hark.hear.audio_source import AudioSource
from hark.hear.detectors import Detection, Detectors
from hark.hear.echo import Echo
from hark.hear.options import HearOptions
from hark.hear.pacing import Pacing
from hark.hear.recognition import Recogniser, RecognitionQueue
from hark.hear.recording import Capture, End, PreRoll, Recording
from hark.hear.sessions import KnownSessions
from hark.hear.taps import TapFeed
from hark.hear.trace_link import TURN_TOPICS, TraceLink
from hark.hosting import Engines, Gate, Refusal, Registry, Runner, cancel_all
from hark.model import Message, Session, Timer
from hark.model.audio import Level, level
from hark.model.frozen import EMPTY
from hark.model.session_merge import Denials
from hark.plugins import AudioTap
from hark.plugins.engines import EngineKind, WakeWord
from hark.spec import topics
from hark.trace import TraceStore

log = logging.getLogger("hark.hear")


class ListenerState(StrEnum):
    """What a listener does now. The values are those of `hark.listener.state`."""

    ASLEEP = "asleep"
    """Nothing is recorded until it is woken."""
    WAITING = "waiting"
    """For what starts a recording: a wake word, a request, a button, or speech."""
    LISTENING = "listening"
    """A command is being recorded."""
    THINKING = "thinking"
    """As WAITING, while commands are being recognised."""


class Listener:
    """Listens to a microphone and puts what is said to it on the bus (AUDIO-IN-1).

    Each recording has one outcome: an utterance, `ovos.stt.failed`, or a cancellation by an audio transformer; one that
    sleep cuts short has none.

    Subscribers may act within an emission (end the recording, send the listener to sleep): after each one, the state is
    looked at again.
    """

    def __init__(
        self,
        bus: Bus,
        runner: Runner,
        audio: Chain,
        traces: TraceStore,
        engines: Mapping[EngineKind, Engines[Any]],
        options: HearOptions,
        serves: Callable[[str], bool],
        denials_for: Callable[[Session], Denials] = Denials.of,
        gate: Gate | None = None,
        on_level: Callable[[Level], None] | None = None,
        taps: Registry[AudioTap] | None = None,
    ) -> None:
        self._bus = bus
        self._clock = runner.clock
        self._options = options
        self._serves = serves
        self._on_level = on_level
        self._sessions = KnownSessions()
        self._trace_link = TraceLink(traces)
        self._echo = Echo(options.echo_tail)
        self._pre_roll = PreRoll(max(options.pre_roll, options.wake_pre_roll))
        self._detectors = Detectors(runner, engines["vad"], engines["wakeword"], options)
        self._source = AudioSource(runner, engines["microphone"], options, self._microphone_lost)
        self._recogniser = Recogniser(runner, audio, engines["stt"], options, denials_for, gate or Gate())
        self._queue = RecognitionQueue(self._recogniser, self._clock, self._outcome)
        self._taps = TapFeed(bus, runner, taps, options, self._listen_for_tap)
        self._pacing = Pacing(bus, self._clock, serves) if options.in_step else None
        self._state = ListenerState.WAITING
        self._announced: ListenerState | None = None
        self._capture: Capture | None = None
        """The command that is being recorded; there is one exactly in LISTENING."""
        self._stall: Timer | None = None
        self._sound_came = False
        """Whether any sound came since the last look."""
        self._was_full = False
        self._requested: str | None = None
        """The session to listen to as soon as playback ends."""
        self._task: asyncio.Task[None] | None = None
        self._closed = False
        self._finished = asyncio.Event()
        known = (topics.UTTERANCE_HANDLED, topics.UTTERANCE_SPEAK, topics.MIC_LISTEN)
        played = (topics.AUDIO_OUTPUT_STARTED, topics.AUDIO_OUTPUT_ENDED)
        self._subscriptions = [
            bus.on(known, self._on_session, name="hear: sessions"),
            bus.on(played, self._on_playback, name="hear: playback"),
            bus.on(topics.MIC_LISTEN, self._on_listen, name="hear: listen"),
            bus.on(topics.LISTENER_SLEEP, self._on_sleep, name="hear: sleep"),
            bus.on(topics.LISTENER_WAKE, self._on_wake, name="hear: wake"),
        ]
        self._turns = bus.on(TURN_TOPICS, self._trace_link.turn_message, name="hear: traces")

    @property
    def state(self) -> ListenerState:
        return self._state

    @property
    def refusals(self) -> list[Refusal]:
        """The wake words that no engine detects, and why."""
        return self._detectors.refusals

    @property
    def microphone(self) -> str:
        """The id of the microphone engine in use; empty while there is none."""
        return self._source.microphone

    async def start(self) -> None:
        """Prepare the detectors and begin to listen."""
        await self._detectors.open()
        self._start_task()
        self._announce()

    async def idle(self) -> None:
        """Wait until everything that was recorded has its outcome."""
        await self._queue.idle()

    async def tapped(self) -> None:
        """Wait until every audio tap has heard the sound there was. Only recorded sound can wait for them."""
        await self._taps.idle()

    async def finished(self) -> None:
        """Wait until the sound has ended and everything in it has its outcome, or the listener is closed."""
        await self._finished.wait()

    async def close(self) -> None:
        self._closed = True
        for subscription in self._subscriptions:
            subscription.close()
        if self._pacing is not None:
            self._pacing.close()
        self._drop_recording("closed")
        if self._task is not None:
            await cancel_all([self._task], self._clock)
        await self._source.close()
        await self._taps.close()
        await self._queue.close()
        self._turns.close()
        self._finished.set()

    def listen(self, session_id: str | None = None, lang: str | None = None, *, held: bool = False) -> bool:
        """Start a recording without a wake word; false when that is not possible. `held`: until `release`."""
        if not self._can_record():
            return False
        recording = Recording(self._options, self._pre_roll.blocks(), held=held)
        self._start_recording(recording, "push-to-talk", session_id, lang)
        return True

    def release(self) -> None:
        """End the recording: what was said until now is the command."""
        self._end_recording("released")

    # Sound.

    def _start_task(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._run(), name="listening")
        self._task.add_done_callback(self._task_ended)

    async def _run(self) -> None:
        await self._source.close()  # a task that was cancelled left it open
        while True:
            if self._pacing is not None:
                await self._queue.idle()
                await self._pacing.answered()
            block = await self._source.block(2 * self._detectors.block)
            if block is None:
                break
            try:
                await self._on_block(block)
            except Exception:
                log.exception("a block of sound could not be processed")
            await asyncio.sleep(0)  # recorded sound never waits by itself: let other tasks run
        self._end_recording("sound ended")
        await self._queue.idle()
        self._finished.set()

    def _task_ended(self, task: asyncio.Task[None]) -> None:
        if self._closed:
            return
        if task.cancelled():
            log.warning("the task that listens was cancelled and is started again")
            self._start_task()
        elif task.exception() is not None:
            log.error("the task that listens failed and is started again", exc_info=task.exception())
            self._clock.after(self._options.reopen_after, lambda: None if self._closed else self._start_task())

    async def _on_block(self, block: bytes) -> None:
        self._show_level(block)
        if self._state is ListenerState.ASLEEP and not self._options.wake_by_voice:
            self._taps.gap()
            return
        self._taps.feed(block, is_recording=self._capture is not None)
        if self._pacing is not None:
            await self.tapped()
        detection = await self._detectors.detect(block, wake_words=self._capture is None)
        self._echo.add(block, detection.voice)
        match self._state:
            case ListenerState.ASLEEP:
                if detection.wake_word is not None:
                    self._wake_up(None)
            case ListenerState.LISTENING:
                self._record(block, detection.voice)
            case ListenerState.WAITING | ListenerState.THINKING:
                self._look_for_command(block, detection)

    def _look_for_command(self, block: bytes, detection: Detection) -> None:
        self._pre_roll.add(block, detection.voice)
        if detection.wake_word is not None:
            if self._can_record():
                self._requested = None
                self._wake_word(detection.wake_word)
        elif detection.voice and self._options.opens_by == "speech" and not self._deaf and self._can_record():
            self._start_recording(Recording(self._options, self._pre_roll.blocks()), "speech")

    def _wake_word(self, word: WakeWord) -> None:
        data = {"wake_word": word.phrase.replace("_", " ")}
        if word.lang is not None:
            data["lang"] = word.lang
        self._emit(topics.LISTENER_WAKEWORD, data)
        if self._options.barge_in:
            self._emit(topics.AUDIO_STOP)
        if not self._can_record():  # a subscriber may have sent it to sleep, or started another recording
            return
        same_breath = self._pre_roll.unbroken_speech(self._options.wake_pre_roll)
        recording = Recording(self._options, same_breath, tail=self._options.wake_tail)
        wake_phrase = word.phrase if same_breath else ""
        self._start_recording(recording, word.phrase, None, word.lang, word.persona, wake_phrase)
        if self._capture is not None:
            self._capture.wake_word = data["wake_word"]

    def _listen_for_tap(self, tap_id: str, lang: str | None) -> None:
        if self._can_record():
            self._requested = None
            self._start_recording(Recording(self._options, self._pre_roll.blocks()), tap_id, None, lang)

    def _microphone_lost(self) -> None:
        """There is a hole in the sound: what comes now does not follow what was before."""
        self._taps.gap()
        self._end_recording("microphone lost")
        self._forget_sound()

    def _show_level(self, block: bytes) -> None:
        if self._on_level is None:
            return
        try:
            self._on_level(level(block))
        except Exception:
            log.exception("the level display failed and is not updated any more")
            self._on_level = None

    # Recordings, one at a time.

    @property
    def _deaf(self) -> bool:
        """Whether a voice is most likely the assistant's own."""
        return self._options.half_duplex and (self._echo.playing or self._echo.possible)

    def _can_record(self) -> bool:
        running = self._task is not None and not self._task.done()
        if not running or self._state is ListenerState.ASLEEP:
            return False
        full = self._queue.open >= self._options.most_waiting
        if full and not self._was_full:
            log.warning("%d commands wait to be recognised: no other is recorded", self._queue.open)
        self._was_full = full
        return self._capture is None and not full

    def _start_recording(
        self,
        recording: Recording,
        opened_by: str,
        session_id: str | None = None,
        lang: str | None = None,
        persona: str | None = None,
        wake_phrase: str = "",
    ) -> None:
        session = self._sessions.get(session_id or self._options.session_id)
        capture = self._capture = Capture(session, recording, self._clock, opened_by, lang, persona, wake_phrase)
        self._state = ListenerState.LISTENING
        self._emit(topics.LISTENER_RECORD_STARTED, session_id=capture.session_id)
        if self._capture is capture:  # a subscriber may have ended it
            capture.stream = self._recogniser.stream(capture, lambda text: self._partial(capture, text))
            self._watch_for_stall()
            self._forget_sound()

    def _record(self, block: bytes, voice: bool) -> None:
        capture = self._capture
        if capture is None:
            return
        self._sound_came = True
        recording = capture.recording
        if self._deaf:
            end = recording.skip(block)
        else:
            had_speech = recording.spoke
            end = recording.add(block, voice)
            if capture.stream is not None and recording.spoke:
                for kept in (block,) if had_speech else recording.kept:
                    capture.stream.feed(kept)
        if end is not None:
            self._end_recording(end)

    def _end_recording(self, end: End) -> None:
        """End the recording, if there is one, and have it recognised."""
        capture = self._take_capture(end)
        if capture is not None:
            self._queue.add(capture)
            self._rest()
            self._forget_sound()

    def _drop_recording(self, end: End) -> None:
        """End the recording, if there is one, without an outcome."""
        capture = self._take_capture(end)
        if capture is not None:
            self._trace_link.no_turn(capture, end)
            self._queue.discard(capture)
            self._forget_sound()

    def _take_capture(self, end: End) -> Capture | None:
        capture, self._capture = self._capture, None
        if capture is not None:
            self._rest()
            if self._stall is not None:
                self._stall.cancel()
                self._stall = None
            capture.ended(end)
            self._emit(topics.LISTENER_RECORD_ENDED, session_id=capture.session_id)
        return capture

    def _rest(self) -> None:
        """Nothing is recorded any more, or a command has its outcome: the queue decides the state."""
        if self._state is not ListenerState.ASLEEP and self._capture is None:
            self._state = ListenerState.THINKING if self._queue.open else ListenerState.WAITING

    def _forget_sound(self) -> None:
        """A recording started or ended: what was heard before is no part of what comes."""
        self._pre_roll.clear()
        self._detectors.reset_wake_words()
        self._announce()

    def _watch_for_stall(self) -> None:
        """End the recording by the clock when no sound comes."""
        self._sound_came = False
        self._stall = self._clock.after(self._options.stall, self._check_for_stall)

    def _check_for_stall(self) -> None:
        if self._sound_came:
            self._watch_for_stall()
        else:
            log.warning("no sound has come for %g s: the recording is over", self._options.stall)
            self._end_recording("microphone lost")

    def _partial(self, capture: Capture, text: str) -> None:
        if self._options.partials:
            self._emit(topics.LISTENER_PARTIAL, {"utterance": text}, capture.session_id)

    def _outcome(self, capture: Capture, message: Message) -> None:
        self._trace_link.outcome(capture, message)
        if self._pacing is not None and message.type == topics.UTTERANCE_HANDLE:
            self._pacing.expect(capture.id)
        self._rest()
        self._bus.emit(message)
        self._announce()

    # Messages.

    def _on_session(self, message: Message) -> None:
        session = message.session
        if session is not None and self._serves(session.session_id):
            self._sessions.update(session)

    def _on_listen(self, message: Message) -> None:
        if not self._serves(message.session_id):
            return
        if self._options.half_duplex and self._echo.playing:
            self._requested = message.session_id
        else:
            self._listen_for_answer(message.session_id)

    def _listen_for_answer(self, session_id: str) -> None:
        if self._can_record():
            tail = self._options.echo_tail if self._echo.possible and not self._deaf else 0.0
            recording = Recording(self._options, self._pre_roll.blocks(), tail=tail)
            self._start_recording(recording, "request", session_id)

    def _on_playback(self, message: Message) -> None:
        if message.type == topics.AUDIO_OUTPUT_STARTED:
            if not self._serves(message.session_id):
                return
            self._echo.started(message.session_id)
        elif not self._echo.ended(message.session_id):
            return
        self._pre_roll.clear()  # the assistant's own voice is in it
        if not self._echo.playing and self._requested is not None:
            requested, self._requested = self._requested, None
            self._listen_for_answer(requested)

    def _on_sleep(self, _message: Message) -> None:
        if self._state is not ListenerState.ASLEEP:
            self._state = ListenerState.ASLEEP
            self._requested = None
            self._drop_recording("asleep")
            self._forget_sound()

    def _on_wake(self, message: Message) -> None:
        if self._state is ListenerState.ASLEEP:
            self._wake_up(message)

    def _wake_up(self, request: Message | None) -> None:
        self._state = ListenerState.THINKING if self._queue.open else ListenerState.WAITING
        if request is None:
            self._emit(topics.LISTENER_AWOKEN)
        else:
            answered = request if request.session is not None else request.carrying(Session())
            self._bus.emit(answered.forward(topics.LISTENER_AWOKEN))
        self._announce()

    def _announce(self) -> None:
        if self._state is not self._announced:
            self._announced = self._state
            self._emit(topics.LISTENER_STATE, {"state": self._state.value})

    def _emit(self, topic: str, data: Mapping[str, Any] = EMPTY, session_id: str | None = None) -> None:
        """Emit a Message that this listener originates, about its own session unless another is named."""
        self._bus.emit(Message(topic, data, self._options.context, Session(session_id or self._options.session_id)))
