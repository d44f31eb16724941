"""From `ovos.utterance.speak` to what the user hears or reads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hark.bus import Bus
from hark.chains import Chain
from hark.hosting import Gate
from hark.model import Clock, Message, Session
from hark.model.session_merge import Denials
from hark.speak.remote_listeners import RemoteListeners
from hark.speak.response import Render, Response, ResponseContext, SpeechChains, SpokenResponse
from hark.speak.session_queue import SessionQueues
from hark.spec import topics
from hark.trace import TraceStore

if TYPE_CHECKING:
    from hark.speak.synthesis import AudioOutput


class Speaker:
    """Takes every response of the sessions it serves through the dialog chain and renders it, in order of receipt.

    Sessions do not wait for each other. What is said in a session that a bridge serves is sent there, after the dialog
    chain; sessions that are served neither here nor there are left alone. When something is stopped in a
    session, be it one skill or everything, what was still to be said there is dropped (STOP-1 §5.3).

    Without `output` a response is rendered as text and that is all. With it, the speaker is an audio output service as
    AUDIO-1 describes it: a response is heard in the sessions that can hear it, and shown when its sound begins.
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
        self.render = render
        self._clock = clock
        self._serves = serves
        self.remote = RemoteListeners(bus)
        """The sessions that are served elsewhere, by bridges above all."""
        chains = SpeechChains(dialog, clock, traces, denials_for, gate or Gate(), bus.emit)
        self._context = ResponseContext(bus, clock, chains, self._show)
        self._text = SessionQueues(bus)
        self._queues = [self._text]
        self._handlers: dict[str, Callable[[Message], None]] = {
            topics.UTTERANCE_SPEAK: self._speak,
            topics.STOP: self._stop,
            topics.HANDLER_START: self._handler_started,
        }
        if output is not None:
            from hark.speak.audio_service import AudioService  # here, so that text alone does not pay for it

            service = AudioService(bus, self._context, output, self._is_served, show_only=self._speak)
            self._queues += service.queues
            self._handlers |= {**service.handlers, topics.AUDIO_STOP: self._stop}
        # One subscription for all of it: a stop must not overtake what was said before it, nor be overtaken. As a
        # group, though of one: a broker keeps what is said while the service is being restarted.
        self._subscription = bus.on(tuple(self._handlers), self._handle, name="speak", group="speak")

    @property
    def pending(self) -> int:
        """How many sessions have something waiting to be rendered."""
        return sum(map(len, self._queues))

    @property
    def tasks(self) -> set[asyncio.Task[Any]]:
        """What is under way."""
        return {task for queues in self._queues for task in queues.tasks}

    async def close(self) -> None:
        """Render nothing more."""
        self._subscription.close()
        self.remote.close()
        for queues in self._queues:
            await queues.close(self._clock)

    def _handle(self, message: Message) -> None:
        self._handlers[message.type](message)

    def _speak(self, message: Message) -> None:
        if self._is_served(message.session_id):
            self._text.add(Response(message, self._context))

    def _handler_started(self, message: Message) -> None:
        if message.data.get("intent_name") == "stop":
            self._stop(message)

    def _stop(self, message: Message) -> None:
        """Drop what is still to be said in the session of a stop; what is said from now on may be about the stop."""
        for queues in self._queues:
            queues.stop(message.session_id)

    def _is_served(self, session_id: str) -> bool:
        return self._serves(session_id) or self.remote.serves(session_id)

    def _show(self, spoken: SpokenResponse) -> None:
        session_id = spoken.message.session_id
        if self.remote.serves(session_id):
            self.remote.render(spoken)
            if not self._serves(session_id):
                return
        self.render(spoken)
