"""The room: asleep, waiting, listening, thinking."""

from __future__ import annotations

import logging
from collections.abc import Callable

from hark.bus import Bus
from hark.chains import Chain
from hark.hear.audio_source import AudioSource
from hark.hear.detectors import Detection, Detectors
from hark.hear.echo import Echo, Talking
from hark.hear.metering import Meter
from hark.hear.openings import Openings
from hark.hear.options import HearOptions
from hark.hear.pacing import Pacing
from hark.hear.recognition import Recogniser, RecognitionQueue
from hark.hear.recorder import Recorder
from hark.hear.recording import Capture
from hark.hear.sessions import KnownSessions
from hark.hear.signals import Signals, State
from hark.hear.taking import Taking
from hark.hear.trace_link import TraceLink
from hark.hosting import Engines, Gate, Refusal, Runner
from hark.model import Message, Session
from hark.model.audio import Level
from hark.model.session_merge import Denials
from hark.plugins.engines import Microphone, STTEngine, VADEngine, WakeWordEngine
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
        options: HearOptions,
        serves: Callable[[str], bool],
        denials_for: Callable[[Session], Denials] = Denials.of,
        gate: Gate | None = None,
        on_level: Callable[[Level], None] | None = None,
    ) -> None:
        self._bus = bus
        self._clock = runner.clock
        self._options = options
        self._serves = serves
        self._meter = Meter(on_level)
        self._signals = Signals(bus, options)
        self._sessions = KnownSessions(bus, serves)
        self._telling = TraceLink(bus, traces)
        self._talking = Talking(bus, serves, self._talk_changed)
        self._ears = Detectors(runner, vads, wakewords, options)
        self._source = AudioSource(runner, microphones, options, self._lost)
        self._recogniser = Recogniser(runner, audio, stt, self._sessions, options, denials_for, gate or Gate())
        self._pacing = Pacing(bus, self._clock, serves) if options.in_step else None
        self._thinking = RecognitionQueue(self._recogniser, self._clock, self._outcome)
        self._recorder = Recorder(
            self._clock, options, self._signals, self._recogniser, self._thinking, self._telling, self._turned
        )
        self._echo = Echo(options, self._talking)
        self._openings = Openings(
            options, self._signals, self._sessions, self._recorder, self._echo, self._able, self._talking
        )
        self._taking = Taking(
            self._source,
            self._thinking,
            self._pacing,
            self._clock,
            options.reopen_after,
            self._hear,
            lambda: self._recorder.end("sound ended"),
        )
        self._asleep = False
        self._wanted: str | None = None
        """The session that is to be listened to as soon as nothing is played any more."""
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
        self._taking.begin(lambda: 2 * self._ears.block)
        self._signals.state(self.state)

    async def idle(self) -> None:
        """Wait until everything that was recorded has its outcome."""
        await self._thinking.idle()

    async def finished(self) -> None:
        """Wait until the sound has ended, and everything in it has its outcome."""
        await self._taking.finished()

    async def close(self) -> None:
        """Listen no more."""
        self._taking.give_up()
        for part in (*self._subscriptions, self._sessions, self._talking, self._pacing):
            if part is not None:
                part.close()
        self._recorder.drop("closed")
        await self._taking.close()
        await self._thinking.close()
        self._telling.close()
        self._taking.over()

    def listen(self, session_id: str | None = None, lang: str | None = None, *, held: bool = False) -> bool:
        """Listen now, without a wake word; false when that is not possible. `held`: until `release`."""
        return self._openings.pushed(session_id, lang, held)

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
            self._openings.asked(message.session_id)

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
        self._openings.before.clear()  # it is full of the assistant's own voice
        self._echo.turned()
        if not self._talking and self._wanted is not None:
            wanted, self._wanted = self._wanted, None
            self._openings.asked(wanted)

    # What comes from the microphone.

    def _lost(self) -> None:
        """There is a hole in the sound: what comes now does not follow what was before."""
        self._recorder.end("microphone lost")
        self._turned()

    async def _hear(self, block: bytes) -> None:
        self._meter.hear(block)
        if self._asleep and not self._options.wake_by_voice:
            return
        heard = await self._ears.hear(block, words=not self._recorder.on)
        self._echo.hear(block, heard.voice)
        if self._asleep:
            if heard.wake_word is not None:
                self._awake(None)
        elif self._recorder.on:
            self._recorder.add(block, heard.voice, self._openings.deaf)
        else:
            self._wait(block, heard)

    def _wait(self, block: bytes, heard: Detection) -> None:
        """Nobody is listened to: does anybody want to be?"""
        self._openings.before.add(block, heard.voice)
        if heard.wake_word is not None and self._openings.possible:
            self._wanted = None
            self._openings.woken(heard.wake_word)
        elif heard.wake_word is None and heard.voice:
            self._openings.spoken()

    def _able(self) -> bool:
        return self._taking.on and not self._asleep

    def _outcome(self, capture: Capture, outcome: Message) -> None:
        self._telling.told(capture, outcome)
        if self._pacing is not None and outcome.type == topics.UTTERANCE_HANDLE:
            self._pacing.expect(capture.id)
        self._bus.emit(outcome)
        self._show()

    def _turned(self) -> None:
        """A recording began or ended: what was heard before is no part of what comes."""
        self._openings.before.clear()
        self._ears.forget()
        self._show()

    def _show(self) -> None:
        self._signals.state(self.state)
