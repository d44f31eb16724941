"""Events that OVOS skills schedule in the older way, kept by the scheduler service (SCHEDULER-1)."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from math import ceil
from typing import Any, Final, NamedTuple

from hark.bus.websocket.translation import ClientLink
from hark.model import Clock, Message, Session, encode
from hark.spec import topics
from hark.spec.names import SKILL_ID

log = logging.getLogger("hark.bridges.ovos")

PREFIXES: Final = ("mycroft.scheduler.", "mycroft.schedule.")
"""The second one is how the stable line spells one of them."""
FIRED: Final = ".ovos.scheduled"
"""After the id of the skill: the topic under which the scheduler fires. The older name of an event has a colon in it,
as only the calls of handlers have here."""
_MOST: Final = 1_000
"""Events that are remembered for one client."""
_LARGEST: Final = 98_304
"""Bytes of the Message of one of them; the scheduler takes no larger ones."""
_LATEST: Final = 253_402_300_799.0
"""The last second of the year 9999, in Unix seconds."""


class _Event(NamedTuple):
    skill_id: str
    time: float
    repeat: float | None
    data: Mapping[str, Any]
    context: Mapping[str, Any]


class LegacySchedule:
    """The events of the skills of one connection. Another event of the same name replaces the one before."""

    def __init__(self, link: ClientLink, clock: Clock) -> None:
        self._link = link
        self._clock = clock
        self._events: OrderedDict[str, _Event] = OrderedDict()

    def request(self, message: Message, *, newer: bool) -> Iterable[Message]:
        """What the scheduler is asked in the place of a Message of a skill; some are answered here.

        A client of the `newer` line expects an answer in another form.
        """
        action, data = message.type.rpartition(".")[2], message.data
        name = data.get("name") if action == "get_event" else data.get("event")
        skill_id = message.context.get(SKILL_ID)
        if action == "list_events":
            everything = {name: [self._listed(event)] for name, event in self._events.items()}
            self._link.send(message.response({"scheduled_events": everything}))
            return ()
        if not isinstance(name, str) or not name or not isinstance(skill_id, str) or not skill_id:
            log.warning("%s was dropped: it names no event or no skill: %.200r", message.type, dict(data))
            return ()
        known = self._events.get(name)
        if action == "schedule_event":
            return self._schedule(name, skill_id, message)
        if action == "update_event" and known is not None:
            if len(encode(message)) > _LARGEST:
                log.warning("%s of %s was dropped: it is too large", message.type, skill_id)
                return ()
            new = data.get("data")
            self._events[name] = known._replace(data=new if isinstance(new, Mapping) else {})
            return (self._record(name),)
        if action == "remove_event":
            self._events.pop(name, None)
            return (Message(topics.SCHEDULER_CANCEL, {"id": name}, {SKILL_ID: skill_id}, Session()),)
        if action == "get_event":
            listed = None if known is None else self._listed(known)
            found: object = {} if listed is None else {"schedule": listed} if newer else [listed]
            self._link.send_foreign(message.reply(message.type), f"mycroft.event_status.callback.{name}", found)
        return ()

    def fired(self, message: Message) -> None:
        """Send the event as its skill expects it, of what the scheduler has fired."""
        name, data = message.data.get("event"), message.data.get("data")
        if not isinstance(name, str) or not isinstance(data, Mapping):
            return
        event = self._events.get(name)
        if event is not None and event.repeat is None:
            del self._events[name]
        context = event.context if event is not None else message.context
        self._link.send_foreign(Message(message.type, {}, context, message.session), name, data)

    def _schedule(self, name: str, skill_id: str, message: Message) -> Iterable[Message]:
        data = message.data
        at, repeat, payload = data.get("time"), data.get("repeat"), data.get("data")
        if not isinstance(at, (int, float)) or not isinstance(repeat, (int, float, type(None))):
            log.warning("%s of %s was dropped: it says no time: %.200r", message.type, skill_id, dict(data))
            return ()
        payload = payload if isinstance(payload, Mapping) else {}
        if not 0 <= at <= _LATEST or not 0 <= (repeat or 0) <= _LATEST or len(encode(message)) > _LARGEST:
            log.warning("%s of %s was dropped: its time or its size is out of bounds", message.type, skill_id)
            return ()
        self._events[name] = _Event(skill_id, float(at), repeat or None, payload, message.context)
        if len(self._events) > _MOST:
            self._events.popitem(last=False)
        return (self._record(name),)

    def _record(self, name: str) -> Message:
        event = self._events[name]
        at = datetime.fromtimestamp(event.time, UTC).isoformat().replace("+00:00", "Z")
        record: dict[str, Any] = {
            "id": name,
            "event": f"{event.skill_id}{FIRED}",
            "data": {"event": name, "data": event.data},
            # A skill asks anew for what recurs each time it is loaded.
            **({"at": at} if event.repeat is None else {"every": {"seconds": event.repeat, "start": at}}),
            **({} if event.repeat is None else {"ephemeral": True}),
        }
        return Message(topics.SCHEDULER_SCHEDULE, record, {SKILL_ID: event.skill_id}, Session())

    def _listed(self, event: _Event) -> list[Any]:
        time = event.time
        if event.repeat is not None:
            time += max(0, ceil((self._clock.wall() - time) / event.repeat)) * event.repeat
        return [time, event.repeat, event.data, {}]
