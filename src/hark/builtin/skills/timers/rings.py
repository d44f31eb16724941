"""Ringing: what is due is heard on the device that asked until it is stopped, and reported when it was missed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from hark.builtin.skills.timers.chime import chime
from hark.builtin.skills.timers.phrases import ItemKind, local_now, said_item, said_moment
from hark.model.clock import Clock
from hark.plugins import ScheduledTurn, Schedules
from hark.skills.spoken import spoken_time
from hark.spec import topics

AGAIN: Final = "again"
"""The scheduled method that is called for every ring but the first."""
_BETWEEN: Final = 30.0
"""Seconds from one ring to the next."""
_ROUNDS: Final[Mapping[ItemKind, int]] = {"timer": 20, "alarm": 20, "reminder": 3}
"""How often something rings at most: the user may be away."""
_LATE: Final = timedelta(minutes=10)
"""What is later than this is reported, and does not ring any more."""
_ANSWERED: Final = 60.0
"""Seconds after the end of a ring in which it can be snoozed."""


class Rings:
    """What rings, or has just rung, in every session."""

    def __init__(self, schedules: Schedules, clock: Clock) -> None:
        self._schedules = schedules
        self._clock = clock
        self._rings: dict[str, dict[str, Mapping[str, Any]]] = {}
        """By session, the data of items by their ids."""
        self._rung: dict[str, float] = {}
        """When an item rang last, on the monotonic clock."""

    def is_heard(self, session_id: str) -> bool:
        """Whether something rings in a session."""
        return bool(self._rings.get(session_id))

    async def begin(self, turn: ScheduledTurn) -> None:
        """Ring for the first time, for an item that is due, unless the user skips this one."""
        if turn.data.get("skipped") != turn.due.timestamp():
            data = {**turn.data, "due": turn.due.isoformat()}
            await self._ring(turn, turn.id, data, rounds=_ROUNDS[data["kind"]])

    async def repeat(self, turn: ScheduledTurn) -> None:
        """Ring once more, for an item that was due and that the user has not stopped."""
        item_id = turn.id.removesuffix(".again")
        if self._clock.monotonic() - self._rung.get(item_id, float("-inf")) > _BETWEEN / 2:  # else it is catching up
            await self._ring(turn, item_id, turn.data)

    async def silence(self, session_id: str, kind: ItemKind | None = None) -> dict[str, Mapping[str, Any]]:
        """End what rings in a session, all of it or one kind; returns the data of these items by their ids."""
        ringing = self._rings.get(session_id, {})
        ended = {item_id: data for item_id, data in ringing.items() if kind in (None, data["kind"])}
        for item_id in ended:
            self._forget(session_id, item_id)
            await self._schedules.cancel(f"{item_id}.again")
        return ended

    async def _ring(self, turn: ScheduledTurn, item_id: str, data: Mapping[str, Any], rounds: int = 0) -> None:
        now = local_now(turn, self._clock.wall())
        due = datetime.fromisoformat(data["due"])
        if now - due > _LATE:
            if rounds or turn.remaining == 0 or now - turn.due > _LATE:  # not what has been ringing all the time
                await self._schedules.cancel(f"{item_id}.again")
                _report_missed(turn, data, due, now)
            return
        if rounds > 1:
            await self._schedules.add(
                AGAIN, id=f"{item_id}.again", every=_BETWEEN, count=rounds - 1, data=data, late=True, turn=turn
            )
        session_id = turn.session.session_id
        self._rings.setdefault(session_id, {})[item_id] = data
        self._rung[item_id] = self._clock.monotonic()
        turn.emit(topics.AUDIO_PLAY_SOUND, {"audio": chime(), "mime": "audio/wav"})
        _announce(turn, data, now)
        is_last = not rounds and turn.remaining == 0
        # While this runs, "stop" finds something to stop.
        await self._clock.sleep(_ANSWERED if is_last else _BETWEEN - 0.5)
        if is_last:
            self._forget(session_id, item_id)

    def _forget(self, session_id: str, item_id: str) -> None:
        ringing = self._rings.get(session_id, {})
        ringing.pop(item_id, None)
        self._rung.pop(item_id, None)
        if not ringing:
            self._rings.pop(session_id, None)


def _announce(turn: ScheduledTurn, data: Mapping[str, Any], now: datetime) -> None:
    if data["kind"] == "alarm":
        turn.say("ring_alarm", time=spoken_time(now, turn.lang, turn.home.clock))
    elif data["kind"] == "timer":
        turn.say("ring_timer", item=said_item(turn, "the", data, ""))
    else:
        turn.say("ring_reminder", name=data["name"])


def _report_missed(turn: ScheduledTurn, data: Mapping[str, Any], due: datetime, now: datetime) -> None:
    when = said_moment(turn, due, now)
    if data["kind"] == "alarm":
        turn.say("missed", item=said_item(turn, "the", data, "").strip(), when=when)
    else:
        turn.say("missed", item=said_item(turn, "the", data, when), when=when)
