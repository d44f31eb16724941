"""From `ovos.utterance.speak` to what the user hears or reads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

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

_MOST_REMOTE: Final = 10_000
"""Sessions served elsewhere that are remembered."""


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


class RemoteListeners:
    """The sessions that clients elsewhere and bridges serve: their responses are shown there, not here (ruling R20).

    A bridge reports on `hark.presence {session_id, here}` that it serves a session, and later that it does not. When
    `speak` starts it asks with `hark.presence.ask`; bridges then report again. A response of such a session goes
    through the dialog chain, once, and reaches its bridge on `hark.speech.shown {utterance, response_id, lang?,
    listen?}`.
    """

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._present: dict[str, None] = {}
        self._subscription = bus.on(topics.PRESENCE, self._reported, name="remote listeners")
        bus.emit(Message(topics.PRESENCE_ASK))

    def serves(self, session_id: str) -> bool:
        """Whether a client elsewhere listens in this session."""
        return session_id in self._present

    def include(self, session_id: str) -> None:
        """A client listens in this session from now on."""
        self._present[session_id] = None

    def render(self, spoken: SpokenResponse) -> None:
        """Send a response to the client that listens in its session."""
        data: dict[str, object] = {"utterance": spoken.text, "response_id": spoken.response_id}
        if spoken.lang is not None:
            data["lang"] = spoken.lang
        if spoken.message.data.get("listen") is True:
            data["listen"] = True
        self._bus.emit(spoken.message.signal(topics.SPEECH_SHOWN, data))

    def close(self) -> None:
        self._subscription.close()

    def _reported(self, message: Message) -> None:
        session_id = message.data.get("session_id")
        if not isinstance(session_id, str):
            return
        self._present.pop(session_id, None)
        if message.data.get("here") is True:
            self._present[session_id] = None
            if len(self._present) > _MOST_REMOTE:
                del self._present[next(iter(self._present))]
