"""Looking over a house whose rooms are in several processes."""

from __future__ import annotations

from collections.abc import Callable, Collection

import msgspec

from hark.app.doctor.joining import join
from hark.app.doctor.report import Report, RoomReport
from hark.app.rooms.asking import FROM, ask_all
from hark.app.rooms.names import ALL_ROOMS
from hark.app.rooms.roster import Roster
from hark.app.settings import Settings
from hark.bus import Bus
from hark.model import Message
from hark.spec import topics


class Patient:
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


class Doctor:
    """Examines all processes of an assistant."""

    def __init__(
        self, bus: Bus, roster: Roster, settings: Settings, settings_file: str, rooms: Collection[str]
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
        for name in ALL_ROOMS:
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
