"""The schedule record: what owners ask for, checked field by field (SCHEDULER-1 §3)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import time
from typing import Any, Final, Literal

import msgspec

from hark.model import Frozen
from hark.schedule.occurrences import (
    MICRO,
    MOST_LISTED,
    DueTimes,
    Every,
    Local,
    Once,
    Timing,
    instant,
    instant_text,
    zone_of,
)
from hark.spec.topics import is_reserved, is_topic

Code = Literal[
    "invalid_record",
    "bad_instant",
    "bad_recurrence",
    "bad_event",
    "payload_too_large",
    "skill_id_mismatch",
    "internal",
]
"""The error codes that an answer can carry."""

LARGEST_DATA: Final = 16_384
"""Bytes of `data` as compact JSON, at most."""
LARGEST_CONTEXT: Final = 98_304
"""Bytes of the context of a request, which is kept as well: a session may have 64 kB of them."""
GRACE: Final = 60.0
"""Seconds after the due instant in which a fire is on time, unless the record says otherwise."""

_FORMS: Final = ("at", "in", "every", "local")
_FIELDS: Final = (
    "id",
    "event",
    *_FORMS,
    "data",
    "until",
    "count",
    "misfire",
    "grace_s",
    "ephemeral",
)
_DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_TIME: Final = re.compile(r"([01]\d|2[0-3]):[0-5]\d(:[0-5]\d)?", re.ASCII)
_SHORTEST: Final = 1.0
"""Seconds between two occurrences, at least: each is recorded, and fired within a second of its time."""
_LONGEST: Final = 250_000_000_000.0
"""Seconds: what is further away has no date."""


class RejectedRequest(Exception):
    """A request that is answered with an error: its code, and a sentence for the log."""

    def __init__(self, code: Code, reason: str) -> None:
        super().__init__(reason)
        self.code: Code = code
        self.reason = reason


class ScheduleState(msgspec.Struct, omit_defaults=True):
    """What became of a schedule so far. Instants are microseconds since 1970."""

    accepted: int
    anchor: int | None = None
    """The `start` of a period, or the instant at which a relative delay is estimated to end."""
    through: int | None = None
    """Occurrences up to this instant are over: fired, or dropped, or before the schedule was accepted."""
    last_fired: int | None = None
    """The due instant of the last fire."""
    consumed: int = 0
    """Occurrences that were fired or dropped."""
    missed: list[int] = []
    """Those that were missed since the last fire."""


class Schedule:
    """A schedule of one owner: its record as it was sent, with the context of the request, and its state."""

    def __init__(self, skill_id: str, record: Mapping[str, Any], state: ScheduleState) -> None:
        """Raises `RejectedRequest` where the record is not valid."""
        self.skill_id = skill_id
        self.record = record
        self.state = state
        self.id: str = record["id"]
        self.event: str = record["event"]
        self.data: Mapping[str, Any] = record.get("data", {})
        self.is_late: bool = record.get("misfire", "late") == "late"
        self.grace = round(record.get("grace_s", GRACE) * MICRO)
        self.is_ephemeral: bool = record.get("ephemeral", False)
        self.is_relative = "in" in record
        self.is_recurring = "every" in record or "local" in record
        self.most: int | None = record.get("count") if self.is_recurring else 1
        self.until: int | None = instant(record["until"]) if "until" in record else None
        self.timing = _timing(record, state)
        self.elapses: float | None = None
        """Of a relative delay that this process has accepted: when it ends, on the monotonic clock."""
        self._next: tuple[int | None, int, int | None] | None = None
        """What `next` was for which state."""

    @property
    def key(self) -> tuple[str, str]:
        return self.skill_id, self.id

    @property
    def context(self) -> Mapping[str, Any]:
        """The context of the request, which every fire carries."""
        context: Mapping[str, Any] = self.record["context"]
        return context

    @property
    def next(self) -> int | None:
        """The next occurrence that is not over; None when none remains."""
        state, known = self.state, self._next
        if known is not None and known[:2] == (state.through, state.consumed):
            return known[2]
        found = None if self.left == 0 else self.timing.after(state.through)
        if found is not None and self.until is not None and found > self.until:
            found = None
        self._next = state.through, state.consumed, found
        return found

    def zones_changed(self) -> None:
        """The rules of its time zone may be others."""
        self._next = None

    @property
    def left(self) -> int | None:
        """How many occurrences `count` leaves; None where it is not bounded so."""
        return None if self.most is None else max(self.most - self.state.consumed, 0)

    @property
    def remaining(self) -> int | None:
        """How many occurrences are left; None when the series has no end."""
        if self.until is None:
            return self.left
        timing, through = self.timing, self.state.through
        if isinstance(timing, Local):
            by_time = timing.count(through or 0, self.until)
        else:
            by_time = timing.span(through, self.until, None, 0).total
        return by_time if self.left is None else min(by_time, self.left)

    def missed_by(self, now: int) -> DueTimes:
        """The occurrences that were not fired within the grace."""
        return self.timing.span(self.state.through, self._bounded(now - self.grace - 1), self.left, MOST_LISTED)

    def due_by(self, now: int) -> list[int]:
        """The occurrences that can be fired on time. What is missed has to be consumed before."""
        return self.timing.span(self.state.through, self._bounded(now), self.left).newest

    def same_rule(self, other: Schedule) -> bool:
        """Whether both ask for the same instants; a relative delay begins anew each time."""
        fields = (*_FORMS, "until", "count")
        return not self.is_relative and all(self.record.get(name) == other.record.get(name) for name in fields)

    def described(self) -> dict[str, Any]:
        """The record and the state, as `get` and `list` answer."""
        state, due = self.state, self.next
        return {
            "record": self.record,
            "state": {
                "next": None if due is None else instant_text(due),
                "last_fired": None if state.last_fired is None else instant_text(state.last_fired),
                "missed": [instant_text(one) for one in state.missed],
                "remaining": self.remaining,
            },
        }

    def _bounded(self, when: int) -> int:
        return when if self.until is None else min(when, self.until)


def accept(skill_id: str, data: Mapping[str, Any], context: Mapping[str, Any], now: int) -> Schedule:
    """The schedule that a request asks for; raises `RejectedRequest`."""
    record = {name: data[name] for name in _FIELDS if name in data}
    _check_names(skill_id, record)
    _check_forms(record)
    _check_policies(record)
    if len(msgspec.json.encode(context)) > LARGEST_CONTEXT:
        raise RejectedRequest("payload_too_large", f"the context has more than {LARGEST_CONTEXT} bytes")
    record["context"] = context
    state = ScheduleState(accepted=now)
    form = next(name for name in _FORMS if name in record)
    if form == "in":
        state.anchor = now + round(record["in"]["seconds"] * MICRO)
    elif form == "every" and "start" not in record["every"]:
        state.anchor = now + round(record["every"]["seconds"] * MICRO)
    if form in ("every", "local"):
        state.through = now - 1  # what was before the acceptance was never asked for
    made = Schedule(skill_id, record, state)
    if made.next is None:
        raise RejectedRequest("bad_recurrence", "nothing is due: the recurrence has no occurrence")
    return made


def replacing(made: Schedule, old: Schedule) -> Schedule:
    """A schedule in the place of another one: the same rule goes on where it was, the same period keeps its phase."""
    if made.same_rule(old):
        return Schedule(made.skill_id, made.record, old.state)
    every, before = made.record.get("every"), old.record.get("every")
    if every is None or before is None or "start" in every or every["seconds"] != before["seconds"]:
        return made
    anchor = old.state.anchor if old.state.anchor is not None else instant(before["start"])
    state = msgspec.structs.replace(made.state, anchor=anchor)
    return Schedule(made.skill_id, made.record, state)


def _timing(record: Mapping[str, Any], state: ScheduleState) -> Timing:
    if "at" in record:
        return Once(instant(record["at"]))
    if "in" in record:
        return Once(state.anchor or 0)
    if "every" in record:
        every = record["every"]
        start = instant(every["start"]) if "start" in every else state.anchor or 0
        return Every(start, every["seconds"])
    local = record["local"]
    days = frozenset(map(_DAYS.index, local.get("days", _DAYS)))
    return Local(time.fromisoformat(local["time"]), days, local["zone"])


def _check_names(skill_id: str, record: Mapping[str, Any]) -> None:
    name, event = record.get("id"), record.get("event")
    if not isinstance(name, str) or not name:
        raise RejectedRequest("invalid_record", "id is a text that names the schedule")
    if not isinstance(event, str):
        raise RejectedRequest("invalid_record", "event is the topic that is emitted")
    prefix = f"{skill_id}."
    if not event.startswith(prefix) or event == prefix or ":" in event or not is_topic(event):
        raise RejectedRequest("bad_event", f"event begins with {prefix!r} and has a name after it, without a colon")
    if is_reserved(event):  # the scheduler would emit it in its own name, whoever asked
        raise RejectedRequest("bad_event", "event begins with 'hark.' or 'ovos.', as topics of the assistant do")


def _check_forms(record: Mapping[str, Any]) -> None:
    forms = [name for name in _FORMS if name in record]
    if len(forms) != 1:
        raise RejectedRequest("invalid_record", "exactly one of at, in, every and local says when")
    bounds = [name for name in ("until", "count") if name in record]
    if bounds and forms[0] in ("at", "in"):
        raise RejectedRequest("invalid_record", f"{bounds[0]} is for schedules that recur")
    for name in ("at", "until"):
        if name in record:
            _check_instant(name, record[name])
    if forms[0] == "local":
        _check_local(record["local"])
    elif forms[0] != "at":
        _check_seconds(forms[0], record[forms[0]])


def _check_instant(name: str, value: object) -> None:
    if not isinstance(value, str):
        raise RejectedRequest("bad_instant", f"{name} is an RFC 3339 text")
    try:
        instant(value)
    except (ValueError, OverflowError) as error:
        raise RejectedRequest("bad_instant", f"{name}: {error}") from None


def _check_seconds(name: str, value: object) -> None:
    seconds: Any = value.get("seconds") if isinstance(value, Mapping) else None
    if not _is_number(seconds) or not 0 < seconds < _LONGEST:
        raise RejectedRequest("bad_recurrence", f"{name} is an object with a number of seconds above 0")
    if name == "every":
        if seconds < _SHORTEST:
            raise RejectedRequest("bad_recurrence", f"every: a period is at least {_SHORTEST:g} s")
        if isinstance(value, Mapping) and "start" in value:
            _check_instant("every.start", value["start"])


def _check_local(local: object) -> None:
    if not isinstance(local, Mapping):
        raise RejectedRequest("bad_recurrence", "local is an object with time, zone and perhaps days")
    at, days, zone = local.get("time"), local.get("days", _DAYS), local.get("zone")
    if not isinstance(at, str) or not _TIME.fullmatch(at):
        raise RejectedRequest("bad_recurrence", "local.time is HH:MM or HH:MM:SS")
    if not isinstance(days, (list, tuple)) or not days or not all(day in _DAYS for day in days):
        raise RejectedRequest("bad_recurrence", f"local.days lists some of {', '.join(_DAYS)}")
    try:
        zone_of(zone if isinstance(zone, str) else "")
    except LookupError as error:
        raise RejectedRequest("bad_recurrence", f"local.zone: {error}") from None


def _check_policies(record: Mapping[str, Any]) -> None:
    data, count, grace = record.get("data", Frozen()), record.get("count", 1), record.get("grace_s", 0)
    if not isinstance(data, Mapping):
        raise RejectedRequest("invalid_record", "data is an object")
    if len(msgspec.json.encode(data)) > LARGEST_DATA:
        raise RejectedRequest("payload_too_large", f"data has more than {LARGEST_DATA} bytes")
    if type(count) is not int or count < 1:
        raise RejectedRequest("invalid_record", "count is a whole number above 0")
    if not _is_number(grace) or not 0 <= grace < _LONGEST:
        raise RejectedRequest("invalid_record", "grace_s is a number of seconds, 0 or more")
    if record.get("misfire", "late") not in ("late", "skip"):
        raise RejectedRequest("invalid_record", 'misfire is "late" or "skip"')
    if type(record.get("ephemeral", False)) is not bool:
        raise RejectedRequest("invalid_record", "ephemeral is true or false")


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)
