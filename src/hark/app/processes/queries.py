"""Asking all processes of an assistant at once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection
from contextlib import suppress
from itertools import count
from typing import Final

import msgspec

from hark.app.doctor.joining import join
from hark.app.doctor.report import Report, RoomReport
from hark.app.processes.claims import Members
from hark.app.services.names import ALL_SERVICES
from hark.app.settings import Settings
from hark.bus import Bus
from hark.model import MalformedMessage, Message
from hark.spec import topics
from hark.trace import TraceRecord, TraceStore, joined

_ASKED: Final = "hark_asked_all"
FROM: Final = "from"
"""In the answer, the id of the process it is from."""

_marks = count(1)


async def ask_all(
    bus: Bus, asked: Collection[str], question: str, data: dict[str, object], answer: str, window: float = 1.0
) -> list[Message]:
    """Emit `question` and return what comes back on `answer`, until everybody who was asked has answered.

    Whoever says nothing within `window` seconds, of real time, is missing.
    """
    mark = f"{id(bus):x}-{next(_marks)}"
    silent = set(asked)
    answers: list[Message] = []
    all_told = asyncio.Event()

    def told(message: Message) -> None:
        if message.context.get(_ASKED) != mark:
            return
        answers.append(message)
        silent.discard(str(message.data.get(FROM)))
        if not silent:
            all_told.set()

    subscription = bus.on(answer, told, name=f"asking all: {answer}")
    try:
        bus.emit(Message(question, data, {_ASKED: mark}))
        if silent:
            with suppress(TimeoutError):
                async with asyncio.timeout(window):
                    await all_told.wait()
    finally:
        subscription.close()
    return answers


log = logging.getLogger("hark.app")


class TraceResponder:
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


class TraceCollector:
    """The stories of turns, each joined from what all processes know."""

    def __init__(self, bus: Bus, roster: Members, window: float = 1.0) -> None:
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


class ReportResponder:
    """Lets the doctor look at one process, over the bus."""

    def __init__(self, bus: Bus, look: Callable[[], Report], holder_id: str) -> None:
        self._bus = bus
        self._look = look
        self._id = holder_id
        self._subscription = bus.on(topics.EXAMINE_ASK, self._asked, name="patient")

    def close(self) -> None:
        """Be examined no more."""
        self._subscription.close()

    def _asked(self, question: Message) -> None:
        report = msgspec.to_builtins(self._look())
        self._bus.emit(question.reply(topics.EXAMINE_TOLD, {FROM: self._id, "report": report}))


class ReportCollector:
    """Examines all processes of an assistant."""

    def __init__(
        self, bus: Bus, roster: Members, settings: Settings, settings_file: str, rooms: Collection[str]
    ) -> None:
        self._bus = bus
        self._roster = roster
        self._settings = settings
        self._settings_file = settings_file
        self._rooms = rooms
        """Those there should be; others may be there as well."""

    async def examine(self) -> Report:
        """One report on all of them; who does not answer is missing from it, and said to be."""
        holders = list(self._roster)
        asked = [holder.id for holder in holders]
        answers = await ask_all(self._bus, asked, topics.EXAMINE_ASK, {}, topics.EXAMINE_TOLD)
        answered = {str(answer.data.get(FROM)) for answer in answers}
        rooms: list[RoomReport] = []
        for name in ALL_SERVICES:
            held = [one for one in holders if name in one.rooms]
            if name in self._rooms or held:
                present = [one for one in held if one.id in answered]
                rooms += [RoomReport(room=name, held_by=str(one), is_ready=one.is_ready) for one in present] or [
                    RoomReport(room=name)
                ]
        reports = [report for answer in answers if (report := _report(answer)) is not None]
        return join(reports, self._settings, self._settings_file, rooms)


def _report(answer: Message) -> Report | None:
    try:
        return msgspec.convert(answer.data.get("report"), Report)
    except msgspec.ValidationError:
        return None
