"""Messages on the bus, compared with the events a script expects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Any, Final

from hark.model import Message
from hark.spec import topics
from hark.testing.scripts.pattern import Captured
from hark.testing.scripts.script import EventHappens

_LISTED: Final = (topics.INTENT_UNMATCHED, topics.UTTERANCE_CANCELLED, topics.HANDLER_ERROR)
"""Topics that are listed beside calls of handlers."""


def matches(step: EventHappens, message: Message, captured: Captured) -> dict[str, str] | None:
    """The captured values, if `message` is the expected event; else None."""
    if not fnmatchcase(message.type, step.topic):
        return None
    found: dict[str, str] = {}
    for name, pattern in step.values:
        value = _value(message, name)
        values = None if value is None else pattern.match(value, {**captured, **found})
        if values is None:
            return None
        found |= values
    return found


def describe_events(messages: Sequence[Message]) -> tuple[str, ...]:
    """The events for people: calls of handlers with their slots, and turns that ended otherwise."""
    return tuple(map(_described, filter(_is_listed, messages)))


def handler_errors(messages: Sequence[Message], expected: Sequence[EventHappens]) -> Iterator[str]:
    """Handlers that failed, unless the script expects that, or a stop ended them."""
    if any(message.type == topics.STOP or message.type.endswith((":stop", ":global_stop")) for message in messages):
        return
    for message in messages:
        if message.type == topics.HANDLER_ERROR and not any(fnmatchcase(message.type, one.topic) for one in expected):
            data = message.data
            yield f"a handler failed: {data.get('skill_id')}:{data.get('intent_name')}: {data.get('exception')}"


def _is_listed(message: Message) -> bool:
    return ":" in message.type or message.type in _LISTED


def _described(message: Message) -> str:
    shown = message.data.get("slots") if ":" in message.type else message.data
    values = "".join(f", {name} = {value}" for name, value in shown.items()) if isinstance(shown, dict) else ""
    return f"{message.type}{values}"


def _value(message: Message, name: str) -> str | None:
    slots = message.data.get("slots")
    value: Any = slots.get(name) if isinstance(slots, dict) else None
    if value is None:
        value = message.data.get(name)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    return str(value)
