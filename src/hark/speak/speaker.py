"""From `ovos.utterance.speak` to somebody's ears, or eyes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hark.bus import Bus
from hark.chains import Chain
from hark.hosting import Gate
from hark.model import Clock, Message, Session
from hark.model.session_merge import Denials
from hark.speak.response import Render, Response, ResponseContext, SpeechChains, SpokenResponse
from hark.speak.session_queue import SessionQueues
from hark.spec import topics
from hark.trace import TraceStore

if TYPE_CHECKING:
    from hark.speak.synthesis import AudioOutput

Takes = dict[str, Callable[[Message], None]]
"""What is done with the Messages of each topic."""


class Speaker:
    """Takes every response of the sessions it serves through the dialog chain and renders it, in order of receipt.

    Sessions do not wait for each other. What belongs to nobody here is left alone. When something is stopped in a
    session, be it one skill or everything, what was still to be said there is dropped (STOP-1 §5.3).

    Without `output` a response is rendered as text and that is all. With it, it is heard by the sessions that can hear
    it, shown when its sound begins, and the room is an audio output service as AUDIO-1 describes it.
    """

    def __init__(
        self,
        bus: Bus,
        clock: Clock,
        dialog: Chain,
        traces: TraceStore,
        render: Render,
        serves: Callable[[str], bool],
        denials_for: Callable[[Session], Denials] = Denials.of,
        gate: Gate | None = None,
        output: AudioOutput | None = None,
    ) -> None:
        self._bus = bus
        self._clock = clock
        self._render = render
        self._serves = serves
        self._wording = SpeechChains(dialog, clock, traces, denials_for, gate or Gate())
        # One subscription for all of it: a stop must not overtake what was said before it, nor be overtaken. As a
        # group, though of one: a broker keeps what is said while the room is being started again.
        self._takes: Takes = {
            topics.UTTERANCE_SPEAK: self._speak,
            topics.STOP: self._stop,
            topics.HANDLER_START: self._started,
        }
        self._read = SessionQueues(bus)
        self._shown = ResponseContext(bus, clock, self._wording, self._show)
        self._all = [self._read]
        if output is not None:
            from hark.speak.audio_service import AudioService  # only here: who shows text only does not pay for it

            sounding = AudioService(bus, clock, self._wording, self._show, output, serves)
            self._all += sounding.runs
            self._takes |= sounding.takes(elsewhere=self._speak, stop=self._stop)
        self._subscription = bus.on(tuple(self._takes), self._take, name="speak", group="speak")

    @property
    def pending(self) -> int:
        """How many sessions have something waiting to be rendered."""
        return sum(map(len, self._all))

    async def close(self) -> None:
        """Render nothing more."""
        self._subscription.close()
        for runs in self._all:
            await runs.close(self._clock)

    @property
    def _tasks(self) -> set[asyncio.Task[Any]]:
        return {task for runs in self._all for task in runs.tasks}

    def _take(self, message: Message) -> None:
        self._takes[message.type](message)

    def _speak(self, message: Message) -> None:
        if self._serves(message.session_id):
            self._read.queue(Response(message, self._shown))

    def _started(self, message: Message) -> None:
        if message.data.get("intent_name") == "stop":
            self._stop(message)

    def _stop(self, message: Message) -> None:
        """End and drop what is still to be said in the session of a stop; what is said from now on may be about it."""
        for runs in self._all:
            runs.stop(message.session_id)

    def _show(self, spoken: SpokenResponse) -> None:
        self._render(spoken)
