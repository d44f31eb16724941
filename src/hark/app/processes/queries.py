"""Questions to all processes of one assistant: what each knows of a turn, and what is loaded in it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Final

import msgspec

from hark.app.diagnostics.examine import join
from hark.app.diagnostics.report import DoctorReport, ServiceReport
from hark.app.service_names import ALL_SERVICES
from hark.app.settings import Settings
from hark.bus import Bus
from hark.model import MalformedMessage, Message
from hark.spec import topics
from hark.trace import TraceRecord, TraceStore, join_slices

if TYPE_CHECKING:
    from hark.app.processes.claims import Members

log = logging.getLogger("hark.app")

_ASKED: Final = "hark_asked_all"
FROM: Final = "from"
"""In an answer: the id of the process it is from."""

EDGE: Final = "edge"
"""The process of the websocket server, which claims its place like a service."""

_EXAMINATION: Final = 5.0
"""Seconds a process may take to examine itself; it compares all sentences of all skills, perhaps on a busy machine."""

_marks = count(1)


async def ask_all(
    bus: Bus, asked: Collection[str] | None, question: str, data: dict[str, object], answer: str, window: float = 1.0
) -> list[Message]:
    """Emit `question` and return what comes back on `answer` until every process that was asked has answered.

    A process that says nothing within `window` seconds, of real time, is missing. Without a list of processes, the
    whole window is waited for.
    """
    mark = f"{id(bus):x}-{next(_marks)}"
    silent = set(asked or ())
    answers: list[Message] = []
    complete = asyncio.Event()

    def answered(message: Message) -> None:
        if message.context.get(_ASKED) != mark:
            return
        answers.append(message)
        silent.discard(str(message.data.get(FROM)))
        if asked is not None and not silent:
            complete.set()

    if asked is not None and not silent:
        return answers
    subscription = bus.on(answer, answered, name=f"ask all: {answer}")
    try:
        bus.emit(Message(question, data, {_ASKED: mark}))
        with suppress(TimeoutError):
            async with asyncio.timeout(window):
                await complete.wait()
    finally:
        subscription.close()
    return answers


class TraceResponder:
    """Answers for one process what it knows of a turn."""

    def __init__(self, bus: Bus, traces: TraceStore, process_id: str) -> None:
        self._bus = bus
        self._traces = traces
        self._id = process_id
        self._subscription = bus.on(topics.TRACE_REQUEST, self._asked, name="trace responder")

    def close(self) -> None:
        self._subscription.close()

    def _asked(self, question: Message) -> None:
        wanted, exactly = str(question.data.get("id", "")), question.data.get("exactly") is True
        trace = self._traces.find(wanted)
        if trace is not None and exactly and trace.utterance_id != wanted:
            trace = None
        record = msgspec.to_builtins(trace.record()) if trace is not None else None
        try:
            answer = question.reply(topics.TRACE_REPLY, {FROM: self._id, "record": record})
        except MalformedMessage as error:  # what a plugin changed may be as deep as a Message can be
            log.warning("the trace of turn %s cannot be sent: %s", wanted, error)
            answer = question.reply(topics.TRACE_REPLY, {FROM: self._id})
        self._bus.emit(answer)


class TraceCollector:
    """The traces of turns, each joined from the slices that the processes have."""

    def __init__(self, bus: Bus, members: Members, window: float = 1.0) -> None:
        self._bus = bus
        self._members = members
        self.window = window
        """Seconds after which a process that has not answered is left out."""

    async def find(self, prefix: str = "") -> TraceRecord | None:
        """The turn with this `utterance_id`, else the last one whose id begins so."""
        asked = [info.id for info in await self._members.present()]
        candidates = await self._ask(asked, prefix, exactly=False)
        if not candidates:
            return None
        # The process that takes turns in knows which was the last; the others know what reached them.
        found = max(candidates, key=lambda record: (bool(record.session_id), record.wall))
        parts = await self._ask(asked, found.utterance_id, exactly=True)
        return join_slices([*parts] or [found])

    async def _ask(self, asked: Collection[str], wanted: str, *, exactly: bool) -> list[TraceRecord]:
        data: dict[str, object] = {"id": wanted, "exactly": exactly}
        answers = await ask_all(self._bus, asked, topics.TRACE_REQUEST, data, topics.TRACE_REPLY, self.window)
        return [record for answer in answers if (record := _record(answer)) is not None]


class PluginsResponder:
    """Lets the servers of the bus know which ids are those of plugins in this process: no client may use them.

    They are announced at once and after a lost connection, and are the answer to `hark.plugins.ask`.
    """

    def __init__(self, bus: Bus, ids: Callable[[], Iterable[str]], process_id: str) -> None:
        self._bus = bus
        self._ids = ids
        self._id = process_id
        self._subscriptions = (
            bus.on(topics.PLUGINS_ASK, self._asked, name="plugins responder"),
            bus.on(topics.BUS_AGAIN, self._asked, name="plugins responder: reconnected"),
        )
        bus.emit(Message(topics.PLUGINS, self._data()))

    def close(self) -> None:
        for subscription in self._subscriptions:
            subscription.close()

    def _data(self) -> dict[str, object]:
        return {FROM: self._id, "skill_ids": [*self._ids()]}

    def _asked(self, question: Message) -> None:
        self._bus.emit(question.reply(topics.PLUGINS, self._data()))


async def plugin_ids(bus: Bus, members: Members) -> set[str]:
    """The ids of the plugins in all processes that are ready."""
    asked = [info.id for info in await members.present() if info.is_ready and info.services != (EDGE,)]
    answers = await ask_all(bus, asked, topics.PLUGINS_ASK, {}, topics.PLUGINS)
    listed = (answer.data.get("skill_ids") for answer in answers)
    return {one for ids in listed if isinstance(ids, tuple) for one in ids if isinstance(one, str)}


class ReportResponder:
    """Answers for one process what is loaded in it."""

    def __init__(self, bus: Bus, examine: Callable[[], Awaitable[DoctorReport]], process_id: str) -> None:
        self._bus = bus
        self._examine = examine
        self._id = process_id
        self._subscription = bus.on(topics.EXAMINE_REQUEST, self._asked, name="report responder")

    def close(self) -> None:
        self._subscription.close()

    async def _asked(self, question: Message) -> None:
        report = msgspec.to_builtins(await self._examine())
        self._bus.emit(question.reply(topics.EXAMINE_REPLY, {FROM: self._id, "report": report}))


class ReportCollector:
    """One report on all processes of an assistant."""

    def __init__(
        self, bus: Bus, members: Members, settings: Settings, settings_file: str, services: Collection[str]
    ) -> None:
        self._bus = bus
        self._members = members
        self._settings = settings
        self._settings_file = settings_file
        self._services = services
        """Those there should be; others may be there as well."""

    async def examine(self) -> DoctorReport:
        """Ask all of them; a process that does not answer is reported as missing."""
        present = await self._members.present()
        asked = [info.id for info in present if info.services != (EDGE,)]  # the edge has no plugins
        answers = await ask_all(self._bus, asked, topics.EXAMINE_REQUEST, {}, topics.EXAMINE_REPLY, _EXAMINATION)
        alive = {str(answer.data.get(FROM)) for answer in answers} | {info.id for info in present} - set(asked)
        services: list[ServiceReport] = []
        for name in (*ALL_SERVICES, EDGE):
            having = [info for info in present if name in info.services]
            if name in self._services or having:
                services += [
                    ServiceReport(service=name, process=str(info), is_ready=info.is_ready)
                    for info in having
                    if info.id in alive
                ] or [ServiceReport(service=name)]
        reports = [report for answer in answers if (report := _report(answer)) is not None]
        return join(reports, self._settings, self._settings_file, services)


def _record(answer: Message) -> TraceRecord | None:
    try:
        return msgspec.convert(answer.data.get("record"), TraceRecord | None)
    except msgspec.ValidationError:
        return None


def _report(answer: Message) -> DoctorReport | None:
    try:
        return msgspec.convert(answer.data.get("report"), DoctorReport)
    except msgspec.ValidationError:
        return None
