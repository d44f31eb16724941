"""Attacks on an assistant in several processes, by NATS: strangers, and a service that was taken over."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import Any

from nats.aio.client import Client
from nats.errors import Error as NatsError

from attacks.target import MARK, Attack, HonestClient, Target, promise

_KEY = "0123456789abcdef0123456789abcdef"


def _address(target: Target) -> str:
    text = (target.state / "nats" / "server.conf").read_text()
    return "nats://" + next(line for line in text.splitlines() if line.startswith("listen: ")).removeprefix("listen: ")


class _Taken:
    """A service whose credentials an attacker has."""

    def __init__(self, target: Target, user: str) -> None:
        self._target = target
        self._user = user
        self.refused: list[str] = []

    async def __aenter__(self) -> tuple[Client, list[str]]:
        async def trouble(error: Exception) -> None:
            self.refused.append(str(error).lower())

        self._client = Client()
        password = (self._target.state / "nats" / f"{self._user}.password").read_text()
        await self._client.connect(
            _address(self._target),
            user=self._user,
            password=password,
            inbox_prefix=f"_INBOX.{self._user}",
            error_cb=trouble,
        )
        return self._client, self.refused

    async def __aexit__(self, *_: object) -> None:
        await self._client.close()


async def _all_refused(target: Target, user: str, *subjects: str, payload: bytes = b"{}") -> str:
    async with _Taken(target, user) as (client, refused):
        for subject in subjects:
            await client.publish(subject, payload)
        await client.flush()
        await client.flush()
        await asyncio.sleep(0.1)
        count = sum("permissions violation" in said for said in refused)
        promise(count == len(subjects), f"{len(subjects) - count} of {len(subjects)} were not refused")
    return f"{len(subjects)} subjects refused"


async def strangers(target: Target) -> str:
    """No password, a wrong one, a token, and the user of no service."""
    ways: list[dict[str, Any]] = [
        {},
        {"user": "act", "password": "x"},
        {"token": "x"},
        {"user": "root", "password": ""},
    ]
    for way in ways:
        client = Client()
        with suppress(NatsError, OSError, TimeoutError):
            await asyncio.wait_for(
                client.connect(
                    _address(target), allow_reconnect=False, max_reconnect_attempts=0, error_cb=_ignore, **way
                ),
                3,
            )
        promise(not client.is_connected, f"accepted with {way}")
        await client.close()
    return f"{len(ways)} ways refused"


async def _ignore(_error: Exception) -> None:
    """The refusal is what is wanted."""


async def ends(target: Target) -> str:
    """`speak` and `act` write end markers."""
    marker = json.dumps([{"type": "ovos.utterance.handled", "data": {}, "context": {}}]).encode()
    subjects = (f"hark-ends.{_KEY}.end", "hark.ovos.utterance.handled", "hark.ovos.intent.unmatched")
    await _all_refused(target, "speak", *subjects, payload=marker)
    return await _all_refused(target, "act", *subjects, payload=marker)


async def taking(target: Target) -> str:
    """`hear` takes utterances out of the queue, and makes a consumer for it."""
    names = (
        "MSG.NEXT.hark-turns.named",
        "CREATE.hark-turns",
        "DURABLE.CREATE.hark-turns.mine",
        "DELETE.hark-turns.named",
    )
    return await _all_refused(
        target, "hear", *(f"$JS.API.CONSUMER.{name}" for name in names), "$JS.ACK.hark-turns.named.1.1.1.1.0"
    )


async def deleting(target: Target) -> str:
    """A worker deletes what all have stored."""
    names = "DELETE.hark-turns", "PURGE.hark-ends", "UPDATE.hark-turns", "MSG.DELETE.hark-ends"
    return await _all_refused(target, "understand", *(f"$JS.API.STREAM.{name}" for name in names))


async def claiming(target: Target) -> str:
    """`act` claims other services, and writes the session of the device."""
    subjects = (
        "$KV.hark-services.understand",
        "$KV.hark-services.edge",
        "$KV.hark-session.default",
        "$KV.hark-lease.default",
    )
    return await _all_refused(target, "act", *subjects)


async def handlers(target: Target) -> str:
    """`speak` reports handlers of others as done."""
    return await _all_refused(
        target, "speak", "hark.hark.handler.done", "hark.hark.host.alive", f"hark-ends.{_KEY}.note"
    )


async def reading(target: Target) -> str:
    """`speak` reads the answers of the broker to others."""
    seen: list[str] = []

    async def saw(message: Any) -> None:
        seen.append(message.subject)

    async with _Taken(target, "speak") as (client, _):
        await client.subscribe(">", cb=saw)
        await client.flush()
        async with HonestClient(target.url) as honest:
            await honest.ask("say hello")
        await asyncio.sleep(0.3)
    promise(seen, "it reads nothing at all, which shows nothing")
    foreign = [subject for subject in seen if subject.startswith("_INBOX.") and not subject.startswith("_INBOX.speak.")]
    promise(not foreign, f"it reads {foreign[:3]}")
    return f"{len(seen)} Messages, no answers to others"


async def mismatched(target: Target) -> str:
    """Messages on the subject of another topic."""
    async with _Taken(target, "act") as (client, _), HonestClient(target.url) as honest:
        context = {"session": {"session_id": "m"}, MARK: honest.mark}
        frame = json.dumps({"type": "ovos.utterance.handled", "data": {}, "context": context})
        honest.markers["m"] = 0
        await client.publish("hark.ovos.utterance.speak", frame.encode())
        await client.flush()
        await honest.ask("say hello")
        promise(honest.markers["m"] == 0, "a marker came by another subject")
    return "dropped"


async def garbage(target: Target) -> str:
    """What is no Message, in the queue of turns and on every subject."""
    async with _Taken(target, "edge") as (client, _):
        for junk in (b"", b"{", b"\xff" * 1_000, b"[" * 100_000, b'{"type":7}'):
            for subject in ("hark-turns.named", "hark-turns.default", "hark.ovos.utterance.handle", "hark.hark.ready"):
                await client.publish(subject, junk, headers={"Nats-Msg-Id": _KEY} if junk else None)
        await client.flush()
    return "20 of them"


async def flood(target: Target) -> str:
    """20,000 Messages of 1 kB from the credentials of `hear`."""
    async with _Taken(target, "hear") as (client, _):
        frame = json.dumps({"type": "fuzz.flood", "data": {"x": "x" * 1_000}, "context": {}}).encode()
        for _ in range(20_000):
            await client.publish("hark.fuzz.flood", frame)
        await client.flush(30)
    return "taken"


ATTACKS = [
    Attack("NATS", "strangers", strangers),
    Attack("NATS", "a service writes end markers", ends),
    Attack("NATS", "a service takes utterances", taking),
    Attack("NATS", "a worker deletes streams", deleting),
    Attack("NATS", "a service claims others", claiming),
    Attack("NATS", "a service reports foreign handlers", handlers),
    Attack("NATS", "a service reads answers to others", reading),
    Attack("NATS", "Messages on foreign subjects", mismatched),
    Attack("NATS", "what is no Message", garbage),
    Attack("NATS", "20,000 Messages at once", flood),
]
