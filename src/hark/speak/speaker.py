"""From `ovos.utterance.speak` to somebody's ears, or eyes."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from functools import partial

import msgspec

from hark.bus import Bus
from hark.chains import Chain, Flow, worth_keeping
from hark.hosting import Passage, end_all
from hark.model import Clock, Message, Session
from hark.model.merge import Denials
from hark.spec import topics
from hark.spec.names import CANCEL_BY, CANCEL_KEYS, CANCEL_REASON
from hark.trace import TraceStore, TurnTrace

log = logging.getLogger("hark.speak")


class Spoken(msgspec.Struct, frozen=True):
    """A response text as it is to be rendered."""

    text: str
    lang: str | None
    message: Message


Render = Callable[[Spoken], None]
"""Shows a response to whoever is to hear it."""


class _Lane:
    """What is still to be said in one session."""

    def __init__(self, message: Message) -> None:
        self.waiting = deque([message])
        self.stops = 0
        """How often it was stopped: what was taken up before is not said any more."""


class Speaker:
    """Takes every response of the sessions it serves through the dialog chain and renders it, in order of receipt.

    Sessions do not wait for each other. What belongs to nobody here is left alone. When something is stopped in a
    session, be it one skill or everything, what was still to be said there is dropped (STOP-1 §5.3).
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
        passage: Passage | None = None,
    ) -> None:
        self._bus = bus
        self._clock = clock
        self._dialog = dialog
        self._traces = traces
        self._render = render
        self._serves = serves
        self._denials_for = denials_for
        self._passage = passage or Passage()
        """On it, responses use the plugins."""
        self._lanes: dict[str, _Lane] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False
        self._subscriptions = (
            bus.on(topics.UTTERANCE_SPEAK, self._receive, name="speak"),
            bus.on(topics.STOP, self._silence, name="speak: everything stops"),
            bus.on(topics.HANDLER_START, self._started, name="speak: a skill stops"),
        )

    @property
    def pending(self) -> int:
        """How many sessions have something waiting to be rendered."""
        return len(self._lanes)

    async def close(self) -> None:
        """Render nothing more."""
        self._closed = True
        for subscription in self._subscriptions:
            subscription.close()
        await end_all(self._tasks, self._clock)

    def _receive(self, message: Message) -> None:
        session_id = message.session_id
        if not self._serves(session_id):
            return
        lane = self._lanes.get(session_id)
        if lane is not None:
            lane.waiting.append(message)
            return
        self._lanes[session_id] = _Lane(message)
        self._serve_later(session_id)

    def _started(self, message: Message) -> None:
        if message.data.get("intent_name") == "stop":
            self._silence(message)

    def _silence(self, message: Message) -> None:
        """Drop what is still to be said in the session of a stop; what is said from now on may be about it."""
        lane = self._lanes.get(message.session_id)
        if lane is None:
            return
        lane.stops += 1
        unsaid, lane.waiting = lane.waiting, deque()
        for one in unsaid:
            self._done(one, "stopped")

    def _serve_later(self, session_id: str) -> None:
        task = asyncio.get_running_loop().create_task(self._serve(session_id), name=f"speak to {session_id}")
        self._tasks.add(task)
        task.add_done_callback(partial(self._served, session_id))

    def _served(self, session_id: str, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        # Somebody may have cancelled the task, even before it began: what waits is still to be said.
        if self._lanes[session_id].waiting and not self._closed:
            self._serve_later(session_id)
        else:
            del self._lanes[session_id]

    async def _serve(self, session_id: str) -> None:
        lane = self._lanes[session_id]
        while lane.waiting:
            message, stops = lane.waiting.popleft(), lane.stops
            try:
                await self._passage.enter()
                try:
                    await self._respond(message, lane, stops)
                finally:
                    self._passage.leave()
            except asyncio.CancelledError:
                self._done(message, "stopped")
                raise
            except Exception:
                log.exception("a response could not be rendered: %s", message)
                self._done(message, "failed")

    async def _respond(self, message: Message, lane: _Lane, stops: int) -> None:
        text = message.data.get("utterance")
        if not isinstance(text, str):
            log.warning("dropped a speak message whose utterance is no text: %s", message)
            self._done(message, "dropped")
            return
        session = message.session or Session()
        if any(key in message.context for key in CANCEL_KEYS):
            message = message.carrying(**dict.fromkeys(CANCEL_KEYS))
        stated = message.data.get("lang")
        flow = Flow(text, stated if isinstance(stated, str) else None, message, session, self._denials_for(session))
        trace = self._traces.of(message.utterance_id) or _untraced(message, self._clock)
        await self._dialog.run(flow, trace)
        outcome = "rendered"
        if flow.cancelled:
            outcome = "cancelled"
            self._cancelled(flow)
        elif lane.stops != stops:
            outcome = "stopped"
            trace.step("speak", session.session_id, "stopped", 0.0, "the user stopped it")
        else:
            began = self._clock.monotonic()
            data = {**message.data, "utterance": flow.artifact}
            data.pop("lang", None)
            if flow.lang is not None:
                data["lang"] = flow.lang
            self._render(Spoken(flow.artifact, flow.lang, flow.message().with_data(data)))
            took = self._clock.monotonic() - began
            trace.step("speak", session.session_id, "rendered", took, "", None, worth_keeping(flow.artifact))
        self._done(flow.message(), outcome)

    def _done(self, message: Message, outcome: str) -> None:
        """Tell whoever waits for it that nothing more comes of this response."""
        self._bus.emit(message.forward(topics.SPEECH_RENDERED, {"outcome": outcome}))

    def _cancelled(self, flow: Flow) -> None:
        """This response is dropped; the turn's own end marker is not repeated (ruling R1)."""
        data = {CANCEL_REASON: flow.context[CANCEL_REASON], CANCEL_BY: flow.context[CANCEL_BY]}
        self._bus.emit(flow.message().forward(topics.UTTERANCE_CANCELLED, data))


def _untraced(message: Message, clock: Clock) -> TurnTrace:
    """A trace nobody keeps, for speech outside a turn."""
    return TurnTrace(message.utterance_id or "", message.session_id, (), clock.wall(), clock.monotonic)
