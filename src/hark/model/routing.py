"""The pair `source` and `destination`, by which a Message finds its way home (MSG-1 §3)."""

from __future__ import annotations

import logging
from typing import Any, Final

from hark.model.errors import MalformedMessage
from hark.model.frozen import Frozen
from hark.model.session_reading import json_type
from hark.spec.names import DESTINATION, SOURCE

log = logging.getLogger("hark.message")

_PAIR: Final = (SOURCE, DESTINATION)


def sendable(context: Frozen) -> Frozen:
    """`context` as it may be sent: an empty name is left out, anything but one name is refused (MSG-1 §3.3)."""
    if _is_settled(context):
        return context
    for key in _PAIR:
        value = context.get(key)
        if value and type(value) is not str:
            raise MalformedMessage(f"{key} is one name, not {json_type(value)}: send one Message to each")
    return settled(context)


def settled(context: Frozen) -> Frozen:
    """`context` with each of the pair one name or absent; of a list, an older form, the first name counts."""
    if _is_settled(context):
        return context
    changed = dict(context)
    settle(changed)
    return Frozen(changed)


def settle(context: dict[str, Any]) -> None:
    """As `settled`, in place, for a context that nobody has seen yet."""
    if _is_settled(context):
        return
    for key in _PAIR:
        value = context.pop(key, None)
        names = value if isinstance(value, (list, tuple)) else (value,)
        name = next((item for item in names if item and isinstance(item, str)), None)
        if name is not None:
            context[key] = name
        else:
            log.debug("%s counts as absent, it is %s", key, json_type(value))


def _is_settled(context: dict[str, Any]) -> bool:
    source, destination = context.get(SOURCE, SOURCE), context.get(DESTINATION, DESTINATION)
    return type(source) is type(destination) is str and source != "" and destination != ""


def swapped(context: Frozen) -> Frozen:
    """`context` for the way back: a half that has nothing to receive keeps the value it had (MSG-1 §5.2)."""
    source, destination = context.get(SOURCE), context.get(DESTINATION)
    if source is None and destination is None:
        return context
    changed = dict(context)
    if destination is not None:
        changed[SOURCE] = destination
    if source is not None:
        changed[DESTINATION] = source
    return Frozen(changed)
