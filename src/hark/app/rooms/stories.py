"""Telling the story of a turn whose parts are in several processes."""

from __future__ import annotations

import logging

import msgspec

from hark.app.rooms.asking import FROM, ask_all
from hark.app.rooms.roster import Roster
from hark.bus import Bus
from hark.model import MalformedMessage, Message
from hark.spec import topics
from hark.trace import TraceRecord, TraceStore, joined

log = logging.getLogger("hark.app")


class Teller:
    """Tells what one process knows of a turn, when asked over the bus."""

    def __init__(self, bus: Bus, traces: TraceStore, holder_id: str) -> None:
        self._bus = bus
        self._traces = traces
        self._id = holder_id
        self._subscription = bus.on(topics.TRACE_ASK, self._asked, name="teller")

    def close(self) -> None:
        """Tell nothing more."""
        self._subscription.close()

    def _asked(self, question: Message) -> None:
        wanted, exactly = str(question.data.get("id", "")), question.data.get("exactly") is True
        trace = self._traces.find(wanted)
        if trace is not None and exactly and trace.utterance_id != wanted:
            trace = None
        record = msgspec.to_builtins(trace.record()) if trace is not None else None
        try:
            answer = question.reply(topics.TRACE_TOLD, {FROM: self._id, "record": record})
        except MalformedMessage as error:  # what a plugin changed may be as deep as a Message can be
            log.warning("what is known here of turn %s cannot be sent: %s", wanted, error)
            answer = question.reply(topics.TRACE_TOLD, {FROM: self._id})
        self._bus.emit(answer)


class Stories:
    """The stories of turns, each joined from what all processes know."""

    def __init__(self, bus: Bus, roster: Roster, window: float = 1.0) -> None:
        self._bus = bus
        self._roster = roster
        self._window = window
        """Seconds after which whoever has not answered is missing."""

    async def find(self, prefix: str = "") -> TraceRecord | None:
        """The turn with this `utterance_id`, else the last one whose id begins so; a process that is missing leaves
        out its part.
        """
        candidates = await self._ask(prefix, exactly=False)
        if not candidates:
            return None
        # Whoever takes turns in knows which was the last; the others know what reached them.
        found = max(candidates, key=lambda record: (bool(record.session_id), record.wall))
        parts = await self._ask(found.utterance_id, exactly=True)
        return joined([*parts] or [found])

    async def _ask(self, wanted: str, *, exactly: bool) -> list[TraceRecord]:
        asked = [holder.id for holder in self._roster]
        data: dict[str, object] = {"id": wanted, "exactly": exactly}
        answers = await ask_all(self._bus, asked, topics.TRACE_ASK, data, topics.TRACE_TOLD, self._window)
        return [record for answer in answers if (record := _record(answer)) is not None]


def _record(answer: Message) -> TraceRecord | None:
    try:
        return msgspec.convert(answer.data.get("record"), TraceRecord | None)
    except msgspec.ValidationError:
        return None
