"""What several processes keep of people, shown and deleted over the bus they share."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Final

import msgspec

from hark import hints
from hark.app.control.protocol import Forget
from hark.app.processes.queries import EDGE, FROM, ask_all
from hark.app.stored_data import device_session, forget_turns
from hark.bus import Bus
from hark.errors import UserError
from hark.model import Message, Session
from hark.spec import topics

if TYPE_CHECKING:
    from hark.app.processes.claims import Members
    from hark.app.runtime import Runtime
    from hark.app.state.store import State

_WINDOW: Final = 3.0
"""Seconds in which a process has to answer."""


class StoredDataResponder:
    """Shows and deletes what one of the processes keeps, at the request of `StoredData`."""

    def __init__(self, bus: Bus, runtime: Runtime, state: State | None, process_id: str) -> None:
        self._bus = bus
        self._runtime = runtime
        self._state = state
        self._id = process_id
        self._subscriptions = [bus.on(topics.FORGET_REQUEST, self._forget, name="stored data: forget")]
        if "understand" in runtime.services:
            self._subscriptions.append(bus.on(topics.SESSION_REQUEST, self._session, name="stored data: session"))

    def close(self) -> None:
        for subscription in self._subscriptions:
            subscription.close()

    async def _forget(self, question: Message) -> None:
        session, before, ids = (question.data.get(name) for name in ("session", "before", "ids"))
        what = Forget(
            session if isinstance(session, str) else None, float(before) if isinstance(before, (int, float)) else None
        )
        found: list[str] = []
        problem = ""
        try:
            found = await forget_turns(what, self._runtime, self._state, ids if isinstance(ids, tuple) else None)
        except OSError as error:
            problem = str(error)
        self._bus.emit(question.reply(topics.FORGET_REPLY, {FROM: self._id, "ids": found, "problem": problem}))

    def _session(self, question: Message) -> None:
        session = device_session(self._runtime, reset=question.data.get("reset") is True)
        self._bus.emit(question.reply(topics.SESSION_REPLY, {FROM: self._id, "session": session.wire()}))


class StoredData:
    """What the processes of one assistant keep, as one."""

    def __init__(self, bus: Bus, members: Members) -> None:
        self._bus = bus
        self._members = members

    async def device_session(self, *, reset: bool) -> Session:
        """The session of the device, made empty first if wanted; raises `UserError`."""
        asked = [info.id for info in await self._members.present() if "understand" in info.services]
        answers = await ask_all(
            self._bus, asked, topics.SESSION_REQUEST, {"reset": reset}, topics.SESSION_REPLY, _WINDOW
        )
        if not answers:
            raise UserError(f"no process with the service understand answers; see: {hints.hark('doctor')}")
        return Session.read(msgspec.to_builtins(answers[0].data["session"]))

    async def forget(self, what: Forget) -> int:
        """Delete what all processes keep of turns; how many. Raises `UserError`."""
        asked = [info.id for info in await self._members.present() if info.services != (EDGE,)]
        given = {name: value for name in ("session", "before") if (value := getattr(what, name)) is not None}
        found = await self._ask(asked, given)
        if what.session is not None:  # only the process that took a turn in knows its session
            await self._ask(asked, {**given, "ids": sorted(found)})
        return len(found)

    async def _ask(self, asked: Collection[str], data: dict[str, object]) -> set[str]:
        answers = await ask_all(self._bus, asked, topics.FORGET_REQUEST, data, topics.FORGET_REPLY, _WINDOW)
        silent = set(asked) - {str(answer.data.get(FROM)) for answer in answers}
        problems = [str(answer.data["problem"]) for answer in answers if answer.data.get("problem")]
        problems += [f"process {one} does not answer" for one in sorted(silent)]
        if problems:
            raise UserError(f"not everything could be deleted: {'; '.join(problems)}")
        return {str(one) for answer in answers for one in answer.data.get("ids", ())}
