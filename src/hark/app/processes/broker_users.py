"""The users of the broker that `hark run --split` starts: one for each service, which may do what is its own.

A service that was taken over by an attacker cannot end turns, take utterances, write the session of the device, claim
another service, or read what the broker answers to others. Everything else on the bus is open to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from hark.spec import topics

SUPERVISOR: Final = "supervisor"
USERS: Final = ("hear", "understand", "act", "speak", "schedule", "edge", SUPERVISOR)
"""Workers share the user `understand`."""

_HANDLER_HOSTS: Final = ("understand", "act")
"""Which services start handlers: skills are in `act`, the handlers of pipeline plugins in `understand`."""

# No service of Hark does this.
_NEVER: Final = (
    "$SYS.>",
    "$JS.API.STREAM.DELETE.>",
    "$JS.API.STREAM.UPDATE.>",
    "$JS.API.STREAM.MSG.DELETE.>",
    "$JS.API.STREAM.RESTORE.>",
    "$JS.API.STREAM.SNAPSHOT.>",
    "$JS.API.CONSUMER.DELETE.>",
    "$JS.API.CONSUMER.PAUSE.>",
)
_PURGE: Final = "$JS.API.STREAM.PURGE."
_KEPT: Final = ("{}-turns", "{}-ends", "KV_{}-lease", "KV_{}-session", "KV_{}-services")
"""What the scheduler must not purge: everything but its schedules, of which it removes those that are over."""
_ENDS: Final = (
    topics.UTTERANCE_HANDLED,
    topics.UTTERANCE_CANCELLED,
    topics.INTENT_UNMATCHED,
    topics.SESSION_REJECTED,
)


def inbox_prefix(user: str) -> str:
    """The beginning of the subjects on which the broker answers a user."""
    return f"_INBOX.{user}"


def denied(user: str, prefix: str = "hark.") -> tuple[list[str], list[str]]:
    """The subjects on which a user must not publish, and those which it must not read."""
    name = prefix.removesuffix(".").replace(".", "-")
    others = [other for other in USERS if other != user]
    inboxes = [f"{inbox_prefix(other)}.>" for other in others]
    publish = [*_NEVER, *inboxes]
    # The broker knows no exception from what it denies.
    publish += [_PURGE + kept.format(name) for kept in _KEPT] if user == "schedule" else [f"{_PURGE}>"]
    for other in others:
        publish += [f"$KV.{name}-services.{other}", f"$KV.{name}-services.{other}.>"]
    if user != "understand":
        publish += [
            f"{name}-ends.*.end",
            f"$KV.{name}-session.>",
            f"$KV.{name}-lease.>",
            f"$JS.ACK.{name}-turns.>",
            f"$JS.API.CONSUMER.MSG.NEXT.{name}-turns.>",
            f"$JS.API.CONSUMER.CREATE.{name}-turns",
            f"$JS.API.CONSUMER.CREATE.{name}-turns.>",
            f"$JS.API.CONSUMER.DURABLE.CREATE.{name}-turns.>",
            *(f"{prefix}{topic}" for topic in _ENDS),
        ]
    if user not in _HANDLER_HOSTS:
        publish.append(f"{name}-ends.*.note")
        if user != "edge":  # it hands on what programs outside report of the skills they registered
            publish += [f"{prefix}hark.handler.>", f"{prefix}hark.host.>", f"{prefix}hark.skill.>"]
    return publish, inboxes


def authorization(passwords: Mapping[str, str], prefix: str = "hark.") -> str:
    """The users as the configuration of a NATS server has them."""
    users = []
    for user, password in passwords.items():
        publish, subscribe = denied(user, prefix)
        permissions = {"publish": {"deny": publish}, "subscribe": {"deny": subscribe}}
        users.append({"user": user, "password": password, "permissions": permissions})
    return f"authorization: {msgspec.json.encode({'users': users}).decode()}"
