"""Calls at later times that survive a restart (SCHEDULER-1 §8): what a skill asks the scheduler for, and gets back."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, time, timedelta
from itertools import count as counter
from typing import Any, Final, Literal, TypeVar

import msgspec

from hark.model import Frozen, Message, Session
from hark.plugins.plugin import Host, Plugin
from hark.plugins.turn import Turn, TurnHost
from hark.spec import topics
from hark.spec.names import CANCEL_KEYS, PIPELINE_ID, SCHEDULER, STAMP_KEYS, UTTERANCE_ID

F = TypeVar("F", bound=Callable[..., Any])
Seconds = float | timedelta
Weekday = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

_SCHEDULED: Final = "__hark_scheduled__"
_ASK: Final = "hark_schedule"
"""Context key by which an answer is known."""
_WINDOW: Final = 5.0
"""Seconds in which the scheduler has to answer."""
_STALE: Final = (UTTERANCE_ID, PIPELINE_ID, *CANCEL_KEYS, *STAMP_KEYS.values(), SCHEDULER, "hark_ask", _ASK)
"""Context keys of the turn in which a call was asked for: the call is no part of that turn."""
_STATE: Final = ("intent_context", "active_handlers", "converse_handlers", "response_mode")
"""Session fields that say how the conversation was then."""


def scheduled(event: str | None = None) -> Callable[[F], F]:
    """Make a method be called at the times that `self.schedules.add` asks for under this name, or the method's own.

    It takes a `ScheduledTurn` and may be what a handler may be; text it returns or yields is spoken where the call was
    asked for. A user who says "stop" ends it while it runs. It may be called twice for the same `due`, if the assistant
    was killed in between.
    """

    def mark(method: F) -> F:
        setattr(method, _SCHEDULED, event or method.__name__)
        return method

    return mark


def scheduled_of(plugin: object) -> dict[str, Callable[..., Any]]:
    """The methods of a plugin that can be scheduled, by name."""
    found: dict[str, Callable[..., Any]] = {}
    for owner in reversed(type(plugin).__mro__):
        for name, member in vars(owner).items():
            event = getattr(member, _SCHEDULED, None)
            if event is not None:
                found[event] = getattr(plugin, name)
    return found


class ScheduleError(Exception):
    """The scheduler refused a request, or did not answer. `code` is one of SCHEDULER-1 §4, or "no_answer"."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code


class ScheduledCall(msgspec.Struct, frozen=True):
    """A schedule of a skill."""

    id: str
    name: str
    """The name of the method that is called."""
    data: Mapping[str, Any]
    next: datetime | None
    """When it is called next; None when it will not be."""
    last_fired: datetime | None
    """When it was last due and called."""
    remaining: int | None
    """How many calls are left; None when there is no end."""
    repeats: bool
    context: Mapping[str, Any]
    """The context in which it was asked for, with its session."""

    @property
    def session_id(self) -> str:
        """Where it was asked for."""
        session = self.context.get("session")
        return Session.read(session).session_id if isinstance(session, Mapping) else Session().session_id


class ScheduledTurn(Turn):
    """What a `@scheduled` method holds. It can speak where the call was asked for; it cannot ask.

    The session is the one of that time, without the state of the conversation: it has gone on since.
    """

    def __init__(self, fire: Message, stage: TurnHost, plugin: Plugin, name: str) -> None:
        said = dict(fire.context.get(SCHEDULER, {}))
        self.id: str = said.get("id", "")
        """The id of the schedule."""
        self.due = _moment(said.get("due"), stage)
        """When it was due."""
        self.fired = _moment(said.get("fired"), stage)
        """When the scheduler called: later than `due` by more than its grace if the assistant was off then."""
        self.remaining: int | None = said.get("remaining")
        """How many calls are left; None when there is no end."""
        self.data: Mapping[str, Any] = fire.data
        """What was given to `add`."""
        session = (fire.session or Session()).without(*_STATE)
        lang = session.lang or next(iter(plugin.host.langs), "en-US")
        fresh = fire.carrying(session, **dict.fromkeys(_STALE))
        call = fresh.forward(f"{plugin.id}:{name}", Frozen(slots=Frozen(), lang=lang, utterance=""))
        super().__init__(call, stage, plugin)

    @property
    def late_by(self) -> timedelta:
        """How much later than due the call is."""
        return self.fired - self.due

    async def listen(self, question: str, *, timeout: float = 30.0, lang: str | None = None) -> str | None:  # noqa: ARG002
        """A scheduled call has no turn in which a question could be answered: raises `RuntimeError`."""
        raise RuntimeError("a scheduled call cannot ask: say something, and handle what the user says as an intent")


class Schedules:
    """The schedules of one skill: `self.schedules`. They belong to the scheduler, and outlive the skill's process."""

    def __init__(self, plugin: Plugin) -> None:
        self._plugin = plugin
        self._waiting: dict[str, asyncio.Future[Message]] = {}
        self._prefix = os.urandom(8).hex()
        self._numbers = counter(1)
        self._listens = False

    async def add(
        self,
        name: str,
        *,
        id: str | None = None,
        at: datetime | None = None,
        after: Seconds | None = None,
        every: Seconds | None = None,
        start: datetime | None = None,
        daily: time | None = None,
        days: Sequence[Weekday] | None = None,
        zone: str | None = None,
        until: datetime | None = None,
        count: int | None = None,
        data: Mapping[str, Any] | None = None,
        late: bool = True,
        grace: Seconds | None = None,
        ephemeral: bool = False,
        turn: Turn | None = None,
        context: Mapping[str, Any] | None = None,
    ) -> datetime | None:
        """Have the `@scheduled` method `name` called: once `at` an aware datetime or `after` some time, or again and
        again `every` so often, or `daily` at a time in a `zone` such as "Europe/Lisbon". Returns when it is due first.

        A schedule with the same `id` is replaced. Without an id it is `name`: after renaming the method, the schedule
        under the old name stays until it is cancelled. With `turn` the call happens in the session of that turn, and
        what it says is heard there; `context` is that of a `ScheduledCall` to be asked for anew. `late` is whether a
        call that was missed is made as soon as possible; otherwise it is dropped. Raises `ScheduleError`, and
        `ValueError` for a datetime without time zone.
        """
        if name not in scheduled_of(self._plugin):
            raise ValueError(f"{self._plugin.id} has no method that is @scheduled as {name!r}")
        body: dict[str, Any] = {"id": id or name, "event": f"{self._plugin.id}.{name}", "data": dict(data or {})}
        if at is not None:
            body["at"] = _instant("at", at)
        if after is not None:
            body["in"] = {"seconds": _seconds(after)}
        if every is not None:
            body["every"] = {"seconds": _seconds(every)}
            if start is not None:
                body["every"]["start"] = _instant("start", start)
        if daily is not None:
            if zone is None:
                raise ValueError("daily needs a time zone such as zone='Europe/Lisbon'")
            body["local"] = {"time": daily.isoformat("seconds"), "zone": zone}
            if days is not None:
                body["local"]["days"] = list(days)
        if until is not None:
            body["until"] = _instant("until", until)
        options: dict[str, Any] = {"count": count, "misfire": None if late else "skip", "ephemeral": ephemeral or None}
        options["grace_s"] = None if grace is None else _seconds(grace)
        body |= {key: value for key, value in options.items() if value is not None}
        answer = await self._ask(_request(topics.SCHEDULER_SCHEDULE, body, turn, context))
        return None if answer["next"] is None else datetime.fromisoformat(answer["next"])

    async def cancel(self, id: str) -> bool:
        """Remove a schedule; whether there was one."""
        answer = await self._ask(Message(topics.SCHEDULER_CANCEL, {"id": id}))
        return bool(answer["existed"])

    async def get(self, id: str) -> ScheduledCall | None:
        """The schedule with this id, if there is one."""
        answer = await self._ask(Message(topics.SCHEDULER_GET, {"id": id}))
        return None if answer["record"] is None else self._read(answer)

    async def all(self) -> list[ScheduledCall]:
        """All schedules of the skill, the next one first."""
        answer = await self._ask(Message(topics.SCHEDULER_LIST))
        found = [self._read(one) for one in answer["schedules"]]
        return sorted(found, key=lambda one: (one.next is None, one.next.timestamp() if one.next else 0.0, one.id))

    async def _ask(self, request: Message) -> Mapping[str, Any]:
        host: Host = self._plugin.host
        if not self._listens:
            self._listens = True
            asked = (topics.SCHEDULER_SCHEDULE, topics.SCHEDULER_CANCEL, topics.SCHEDULER_GET, topics.SCHEDULER_LIST)
            host.on([topics.response_topic(topic) for topic in asked], self._answered)
        mark = f"{self._prefix}-{next(self._numbers)}"
        answer: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._waiting[mark] = answer
        try:
            host.send(request.carrying(**{_ASK: mark}))
            async with host.clock.timeout(_WINDOW):
                data = (await answer).data
        except TimeoutError:
            raise ScheduleError("no_answer", "no scheduler answered; is the service schedule running?") from None
        finally:
            self._waiting.pop(mark, None)
        if data.get("ok") is not True:
            raise ScheduleError(str(data.get("error")), str(data.get("reason")))
        return data

    async def _answered(self, message: Message) -> None:
        mark = message.context.get(_ASK)
        answer = self._waiting.get(mark) if isinstance(mark, str) else None
        if answer is not None and not answer.done():
            answer.set_result(message)

    def _read(self, pair: Mapping[str, Any]) -> ScheduledCall:
        record, state = pair["record"], pair["state"]
        return ScheduledCall(
            record["id"],
            record["event"].removeprefix(f"{self._plugin.id}."),
            record.get("data", {}),
            None if state["next"] is None else datetime.fromisoformat(state["next"]),
            None if state["last_fired"] is None else datetime.fromisoformat(state["last_fired"]),
            state["remaining"],
            "every" in record or "local" in record,
            record["context"],
        )


def _request(topic: str, body: Mapping[str, Any], turn: Turn | None, context: Mapping[str, Any] | None) -> Message:
    if turn is not None:
        request = turn.derive(topic, body)
        # What is said then is said in the language of now.
        session = turn.session if turn.session.lang else turn.session.replace(lang=turn.lang)
        return request.carrying(session, **dict.fromkeys(_STALE))
    kept = {key: value for key, value in (context or {}).items() if key not in _STALE}
    return Message(topic, body, kept)


def _moment(text: object, stage: TurnHost) -> datetime:
    if isinstance(text, str):
        return datetime.fromisoformat(text)
    return datetime.fromtimestamp(stage.clock.wall()).astimezone()


def _instant(name: str, when: datetime) -> str:
    if when.utcoffset() is None:
        raise ValueError(f"{name} is a datetime with a time zone: {when} could be any of them")
    return when.isoformat()


def _seconds(value: Seconds) -> float:
    return value.total_seconds() if isinstance(value, timedelta) else value
