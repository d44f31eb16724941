"""The room: asleep, waiting, listening, thinking."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from hark.bus import Bus
from hark.chains import Chain
from hark.hear.capture import Capture
from hark.hear.ears import Ears, Heard
from hark.hear.options import Options
from hark.hear.pacing import Pacing
from hark.hear.recogniser import Recogniser
from hark.hear.recorder import Recorder
from hark.hear.recording import BYTES_A_SECOND, PreRoll, Recording
from hark.hear.sessions import Sessions
from hark.hear.signals import Signals, State
from hark.hear.source import Source
from hark.hear.talking import Talking
from hark.hear.telling import Telling
from hark.hear.thinking import Thinking
from hark.hosting import Engines, Passage, Refusal, Runner, end_all
from hark.model import Message, Session
from hark.model.audio_level import Level, level
from hark.model.merge import Denials
from hark.plugins.engines import Microphone, STTEngine, VADEngine, WakeWord, WakeWordEngine
from hark.spec import topics
from hark.trace import TraceStore

log = logging.getLogger("hark.hear")


class Listener:
    """Listens to a microphone and puts what is said to it on the bus (AUDIO-IN-1).

    Each recording has one outcome: an utterance, `ovos.stt.failed`, or a cancellation by an audio transformer; one that
    sleep cuts short has none.
    """

    def __init__(
        self,
        bus: Bus,
        runner: Runner,
        audio: Chain,
        traces: TraceStore,
        microphones: Engines[Microphone],
        vads: Engines[VADEngine],
        wakewords: Engines[WakeWordEngine],
        stt: Engines[STTEngine],
        options: Options,
        serves: Callable[[str], bool],
        denials_for: Callable[[Session], Denials] = Denials.of,
        passage: Passage | None = None,
        on_level: Callable[[Level], None] | None = None,
    ) -> None:
        self._bus = bus
        self._clock = runner.clock
        self._options = options
        self._serves = serves
        self._on_level = on_level
        self._signals = Signals(bus, options)
        self._sessions = Sessions(bus, serves)
        self._telling = Telling(bus, traces)
        self._talking = Talking(bus, serves, self._talk_changed)
        self._ears = Ears(runner, vads, wakewords, options)
        self._source = Source(runner, microphones, options, self._lost)
        self._recogniser = Recogniser(runner, audio, stt, self._sessions, options, denials_for, passage or Passage())
        self._pacing = Pacing(bus, self._clock, serves) if options.in_step else None
        self._thinking = Thinking(self._recogniser, self._clock, self._outcome)
        self._recorder = Recorder(
            self._clock, options, self._signals, self._recogniser, self._thinking, self._telling, self._turned
        )
        self._pre_roll = PreRoll(max(options.pre_roll, options.wake_pre_roll))
        self._asleep = False
        self._echo = 0
        """Bytes of sound in which the assistant may still be heard, after it has spoken."""
        self._wanted: str | None = None
        """The session that is to be listened to as soon as nothing is played any more."""
        self._task: asyncio.Task[None] | None = None
        self._closed = False
        self._finished = asyncio.Event()
        self._subscriptions = (
            bus.on(topics.MIC_LISTEN, self._asked, name="hear: listen"),
            bus.on(topics.LISTENER_SLEEP, self._sleep, name="hear: sleep"),
            bus.on(topics.LISTENER_WAKE, self._wake, name="hear: wake"),
        )

    @property
    def state(self) -> State:
        """What the room does now."""
        if self._asleep:
            return "asleep"
        if self._recorder.on:
            return "listening"
        return "thinking" if self._thinking.open else "waiting"

    @property
    def refusals(self) -> list[Refusal]:
        """The wake words nobody listens for, and why."""
        return self._ears.refusals

    @property
    def microphone(self) -> str:
        """The engine that is listened to at present; empty while there is none."""
        return self._source.microphone

    async def start(self) -> None:
        """Prepare the engines and begin to listen."""
        await self._ears.open()
        self._begin()
        self._signals.state(self.state)

    async def idle(self) -> None:
        """Wait until everything that was recorded has its outcome."""
        await self._thinking.idle()

    async def finished(self) -> None:
        """Wait until the sound has ended, and everything in it has its outcome."""
        await self._finished.wait()

    async def close(self) -> None:
        """Listen no more."""
        self._closed = True
        for part in (*self._subscriptions, self._sessions, self._talking, self._pacing):
            if part is not None:
                part.close()
        self._recorder.drop("closed")
        if self._task is not None:
            await end_all([self._task], self._clock)
        await self._source.close()
        await self._thinking.close()
        self._telling.close()
        self._finished.set()

    def listen(self, session_id: str | None = None, lang: str | None = None, *, held: bool = False) -> bool:
        """Listen now, without a wake word; false when that is not possible. `held`: until `release`."""
        if not self._may_open():
            return False
        recording = Recording(self._options, self._pre_roll.take(), held=held)
        self._recorder.begin(recording, "push-to-talk", self._session(session_id), lang)
        return True

    def release(self) -> None:
        """What was said until now is the command."""
        self._recorder.end("released")

    # What comes from the bus.

    def _asked(self, message: Message) -> None:
        if not self._serves(message.session_id):
            return
        if self._options.half_duplex and self._talking:
            self._wanted = message.session_id
        else:
            self._follow_up(message.session_id)

    def _follow_up(self, session_id: str) -> None:
        """Somebody was asked something."""
        if self._may_open():
            may_hear_itself = self._echo > 0 and not self._deaf
            tail = self._options.echo_tail if may_hear_itself else 0.0
            recording = Recording(self._options, self._pre_roll.take(), tail=tail)
            self._recorder.begin(recording, "request", self._session(session_id))

    def _sleep(self, _message: Message) -> None:
        if not self._asleep:
            self._asleep = True
            self._wanted = None
            self._recorder.drop("asleep")
            self._turned()

    def _wake(self, message: Message) -> None:
        if self._asleep:
            self._awake(message)

    def _awake(self, request: Message | None) -> None:
        self._asleep = False
        self._signals.awoken(request)
        self._show()

    def _talk_changed(self) -> None:
        self._pre_roll.clear()  # it is full of the assistant's own voice
        self._echo = round(self._options.echo_tail * BYTES_A_SECOND)
        if not self._talking and self._wanted is not None:
            wanted, self._wanted = self._wanted, None
            self._follow_up(wanted)

    # What comes from the microphone.

    async def _run(self) -> None:
        await self._source.close()  # this may be another go, after somebody ended the task
        while True:
            if self._pacing is not None:
                await self._thinking.idle()
                await self._pacing.answered()
            block = await self._source.block(2 * self._ears.block)
            if block is None:
                break
            try:
                await self._hear(block)
            except Exception:
                log.exception("a block of sound could not be listened to")
            await asyncio.sleep(0)  # recorded sound never waits by itself, and others want to live
        self._recorder.end("sound ended")
        await self._thinking.idle()
        self._finished.set()

    def _begin(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._run(), name="listening")
        self._task.add_done_callback(self._stopped)

    def _stopped(self, task: asyncio.Task[None]) -> None:
        if self._closed:
            return
        if task.cancelled():
            log.warning("somebody ended the task that listens: it is begun again")
            self._begin()
        elif task.exception() is not None:
            log.error("listening broke and is begun again", exc_info=task.exception())
            self._clock.after(self._options.reopen_after, lambda: None if self._closed else self._begin())

    def _lost(self) -> None:
        """There is a hole in the sound: what comes now does not follow what was before."""
        self._recorder.end("microphone lost")
        self._turned()

    async def _hear(self, block: bytes) -> None:
        if self._on_level is not None:
            self._meter(block, self._on_level)
        if self._asleep and not self._options.wake_by_voice:
            return
        if not self._talking:
            self._echo = max(0, self._echo - len(block))
        heard = await self._ears.hear(block, words=not self._recorder.on)
        if self._asleep:
            if heard.wake_word is not None:
                self._awake(None)
        elif self._recorder.on:
            self._recorder.add(block, heard.voice, self._deaf)
        else:
            self._wait(block, heard)

    def _meter(self, block: bytes, show: Callable[[Level], None]) -> None:
        try:
            show(level(block))
        except Exception:
            log.exception("whoever shows the level failed, and is shown it no longer")
            self._on_level = None

    def _wait(self, block: bytes, heard: Heard) -> None:
        """Nobody is listened to: does anybody want to be?"""
        self._pre_roll.add(block, heard.voice)
        if heard.wake_word is not None:
            self._woken(heard.wake_word)
        elif self._options.opens_by == "speech" and heard.voice and not self._deaf and self._may_open():
            self._recorder.begin(Recording(self._options, self._pre_roll.take()), "speech", self._session())

    def _woken(self, word: WakeWord) -> None:
        if not self._may_open():
            return
        self._wanted = None
        self._signals.wake_word(word)
        if self._options.barge_in:
            self._signals.hush()
        if not self._may_open():  # whoever heard of it may have had other plans
            return
        before = self._pre_roll.breath(self._options.wake_pre_roll)
        recording = Recording(self._options, before, tail=self._options.wake_tail)
        run_on = word.phrase if before else ""
        self._recorder.begin(recording, word.phrase, self._session(), word.lang, word.persona, run_on)

    @property
    def _deaf(self) -> bool:
        """Whether what is heard is most likely the assistant itself."""
        return self._options.half_duplex and (bool(self._talking) or self._echo > 0)

    def _may_open(self) -> bool:
        listening = self._task is not None and not self._task.done()
        return listening and not self._asleep and self._recorder.free

    def _session(self, session_id: str | None = None) -> Session:
        return self._sessions.of(session_id or self._options.session_id)

    def _outcome(self, capture: Capture, outcome: Message) -> None:
        if outcome.type == topics.UTTERANCE_HANDLE:
            self._telling.expect(capture)
            if self._pacing is not None:
                self._pacing.expect(capture.id)
        else:
            cancelled = outcome.type == topics.UTTERANCE_CANCELLED
            self._telling.alone(capture, "cancelled" if cancelled else "not understood")
        self._bus.emit(outcome)
        self._show()

    def _turned(self) -> None:
        """A recording began or ended: what was heard before is no part of what comes."""
        self._pre_roll.clear()
        self._ears.forget()
        self._show()

    def _show(self) -> None:
        self._signals.state(self.state)
