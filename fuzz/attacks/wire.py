"""Ways to treat a websocket server badly. Each makes so many connections, and leaves none."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from urllib.parse import urlsplit

Attack = Callable[[str, random.Random, int], Awaitable[int]]
"""Takes an address, dice, and how often; how many were accepted as clients."""

_PATIENCE = 10.0
_AT_ONCE = 200

PRIVATE = ("handler.done", "handler.accepted", "ready", "process.pong", "presence", "bus.again", "skill.detached")

_GARBAGE = (
    b"",
    b"{}",
    b"[]",
    b"null",
    b"{",
    b'{"type":7}',
    b'{"type":"a","data":null}',
    b'{"type":"a b"}',
    b'{"type":"a","context":{"session":"text"}}',
    b'{"type":"a","context":{"session":[1]}}',
    b"\xff\xfe",
    b"[" * 5_000,
    b'["follow","a"]',
    b'["flush",1]',
)


class Line:
    """A connection in bytes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    @classmethod
    async def open(cls, url: str) -> Line:
        address = urlsplit(url)
        return cls(*await asyncio.open_connection(address.hostname, address.port))

    async def ask(self, url: str, headers: bytes = b"", path: str = "") -> bool:
        """Whether it was accepted as a websocket."""
        address = urlsplit(url)
        self.writer.write(
            f"GET {path or address.path} HTTP/1.1\r\nHost: {address.netloc}\r\nUpgrade: websocket\r\n"
            "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n".encode()
            + headers
            + b"\r\n"
        )
        answer = await asyncio.wait_for(self.reader.readline(), _PATIENCE)
        while answer and await asyncio.wait_for(self.reader.readline(), _PATIENCE) not in (b"\r\n", b""):
            pass
        return b" 101 " in answer

    @property
    def is_ended(self) -> bool:
        """Whether the server has ended it. A byte that was on its way then makes it a reset in place of an end."""
        return self.reader.at_eof() or self.reader.exception() is not None

    async def is_welcome(self) -> bool:
        """Whether the first frame of the server is a Message, and no goodbye; once it was accepted as a websocket."""
        return await asyncio.wait_for(self.reader.read(1), _PATIENCE) == b"\x81"

    async def end(self) -> None:
        self.writer.transport.abort()
        with suppress(OSError, TimeoutError):
            await asyncio.wait_for(self.writer.wait_closed(), _PATIENCE)


def frame(payload: bytes, first: int = 0x81, masked: bool = True) -> bytes:
    """A frame as clients send it."""
    size = len(payload)
    flag = 0x80 if masked else 0
    if size < 126:
        head = bytes((first, flag | size))
    elif size < 65_536:
        head = bytes((first, flag | 126)) + size.to_bytes(2)
    else:
        head = bytes((first, flag | 127)) + size.to_bytes(8)
    return head + (b"\0\0\0\0" if masked else b"") + payload


async def malformed_frames(url: str, dice: random.Random, count: int) -> int:
    """Frames with anything in any of their bits."""

    async def one(line: Line) -> int:
        inside = await line.ask(url, dice.choice((b"", b"Sec-WebSocket-Protocol: hark.2\r\n")))
        for _ in range(dice.randint(1, 8)):
            wire = bytearray(frame(dice.choice(_GARBAGE), dice.randrange(256), dice.random() < 0.8))
            for _ in range(dice.randint(0, 3)):
                wire[dice.randrange(len(wire))] = dice.randrange(256)
            line.writer.write(bytes(wire) if dice.random() < 0.7 else dice.randbytes(dice.randint(1, 300)))
        await asyncio.sleep(0)
        return int(inside)

    return await _each(url, one, count)


async def malformed_messages(url: str, dice: random.Random, count: int) -> int:
    """Frames that are in order, with no Messages in them."""

    async def one(line: Line) -> int:
        inside = await line.ask(url)
        for _ in range(20):
            body = dice.choice(_GARBAGE) if dice.random() < 0.7 else dice.randbytes(dice.randint(0, 500))
            line.writer.write(frame(body, dice.choice((0x81, 0x82))))
        await asyncio.sleep(0)
        return int(inside)

    return await _each(url, one, count)


async def wild_commands(url: str, dice: random.Random, count: int) -> int:
    """Clients that speak Hark's subprotocol and send commands of every kind, right and wrong."""

    def command() -> bytes:
        word = dice.choice(("follow", "unfollow", "flush", "flushed", "took", "hello"))
        argument = dice.choice(('"*"', '"test.honest"', '"a b"', '""', "1", "-1", str(2**60), "null", "[]", '"a",""'))
        return f'["{word}",{argument}]'.encode()

    async def one(line: Line) -> int:
        inside = await line.ask(url, b"Sec-WebSocket-Protocol: hark.2\r\n")
        for _ in range(20):
            line.writer.write(frame(command(), 0x82))
            line.writer.write(frame(dice.choice(_GARBAGE), 0x81))
        await asyncio.sleep(0)
        return int(inside)

    return await _each(url, one, count)


async def broken_handshakes(url: str, dice: random.Random, count: int) -> int:
    """Requests that end too early, are too long, or are none."""
    whole = b"GET /core HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"

    async def one(line: Line) -> int:
        kind = dice.randrange(5)
        if kind == 0:
            line.writer.write(whole[: dice.randrange(len(whole))])
        elif kind == 1:
            line.writer.write(dice.randbytes(dice.randint(1, 2_000)))
        elif kind == 2:
            line.writer.write(b"GET /core HTTP/1.1\r\n" + b"X: y\r\n" * dice.randint(1, 5_000))
        elif kind == 3:
            line.writer.write(dice.randbytes(60_000))
        # and one says nothing at all
        await asyncio.sleep(0)
        return 0

    return await _each(url, one, count)


async def giants(url: str, dice: random.Random, count: int) -> int:
    """Messages of any size, whole, in parts, and only promised."""

    async def one(line: Line) -> int:
        inside = await line.ask(url)
        size = dice.choice((1_000_000, 5_000_000, 50_000_000))
        kind = dice.randrange(3)
        if kind == 0:
            line.writer.write(frame(b"x" * size))
        elif kind == 1:
            line.writer.write(frame(b"", 0x01))
            for _ in range(size // 65_536):
                line.writer.write(frame(b"x" * 65_536, 0x00))
                await line.writer.drain()
        else:
            line.writer.write(frame(b"x" * size)[: dice.randrange(20)])
        await asyncio.wait_for(line.writer.drain(), _PATIENCE)
        return int(inside)

    return await _each(url, one, count, at_once=4)


async def slow_readers(url: str, _dice: random.Random, count: int) -> int:
    """Clients that take part and do not read; some of them say much, which comes back to them."""
    lines = []
    inside = 0
    try:
        for _ in range(count):
            line = await Line.open(url)
            lines.append(line)
            inside += await line.ask(url)
            line.writer.transport.pause_reading()  # type: ignore[attr-defined]
        said = frame(b'{"type":"fuzz.flood","data":{"x":"%b"}}' % (b"x" * 50_000))
        for _ in range(40):
            for line in lines[:5]:
                line.writer.write(said)
                with suppress(OSError, TimeoutError):
                    await asyncio.wait_for(line.writer.drain(), 0.05)
    finally:
        await asyncio.gather(*(line.end() for line in lines))
    return inside


async def wrong_tokens(url: str, dice: random.Random, count: int) -> int:
    """Tokens that were never made, sent in every way there is; and none at all."""

    async def one(line: Line) -> int:
        token = os.urandom(dice.randint(0, 40)).hex()
        shown = (
            (b"Authorization: Bearer %b\r\n" % token.encode(), ""),
            (b"Authorization: Basic %b\r\n" % token.encode(), ""),
            (b"Authorization: Bearer \r\n", ""),
            (b"Sec-WebSocket-Protocol: hark.2, %b\r\n" % token.encode(), ""),
            (b"", f"/core/{token}"),
            (b"", f"/core?token={token}"),
            (b"", "/core"),
            (b"", "/core/%00"),
            (b"Origin: https://evil.example\r\n", "/core"),
            (b"Authorization: Bearer " + dice.randbytes(20).replace(b"\r", b"").replace(b"\n", b"") + b"\r\n", ""),
        )
        headers, path = dice.choice(shown)
        return int(await line.ask(url, headers, path))

    return await _each(url, one, count)


async def crowds(url: str, _dice: random.Random, count: int) -> int:
    """Many clients at once, which connect, stay for a moment, and disconnect; how many could stay."""
    lines: list[Line] = []

    async def come() -> bool:
        line = await Line.open(url)
        lines.append(line)
        return await line.ask(url) and await line.is_welcome()

    inside = 0
    try:
        for begun in range(0, count, _AT_ONCE):
            coming = (come() for _ in range(min(_AT_ONCE, count - begun)))
            inside += sum(found is True for found in await asyncio.gather(*coming, return_exceptions=True))
    finally:
        await asyncio.gather(*(line.end() for line in lines))
    return inside


async def private_topics(url: str, dice: random.Random, count: int) -> int:
    """Signals of Hark's own services, from clients that are none, and wishes to receive them."""

    async def one(line: Line) -> int:
        inside = await line.ask(url, dice.choice((b"", b"Sec-WebSocket-Protocol: hark.2\r\n")))
        for _ in range(20):
            topic = f"hark.{dice.choice(PRIVATE)}".encode()
            data = b'{"topic":"honest.skill:go","skill_ids":["honest.skill"],"fuzz":true}'
            line.writer.write(frame(b'{"type":"%b","data":%b}' % (topic, data)))
            line.writer.write(frame(b'["follow","%b"]' % topic, 0x82))
        await asyncio.sleep(0)
        return int(inside)

    return await _each(url, one, count)


async def names_of_others(url: str, dice: random.Random, count: int) -> int:
    """Registrations, deregistrations and answers in the name of a skill of an honest client, and many of one's own."""
    kinds = (
        "ovos.intent.register.template",
        "ovos.intent.register.keyword",
        "ovos.entity.register",
        "ovos.skill.deregister",
        "ovos.intent.deregister",
        "ovos.intent.disable",
        "ovos.converse.pong",
        "mycroft.skill.handler.complete",
        "hark.handler.done",
    )

    async def one(line: Line) -> int:
        inside = await line.ask(url)
        for number in range(30):
            skill = dice.choice(("honest.skill", "honest.skill", f"skill{number}", ""))
            named = f'"skill_id":"{skill}",' if skill else ""
            body = f'{named}"topic":"{skill}:go","intent_name":"i{number}","lang":"en-US","samples":["fuzz"]'
            topic = dice.choice(kinds)
            line.writer.write(
                frame(f'{{"type":"{topic}","data":{{{body}}},"context":{{"skill_id":"{skill}"}}}}'.encode())
            )
        await asyncio.sleep(0)
        return int(inside)

    return await _each(url, one, count)


async def foreign_hosts(url: str, dice: random.Random, count: int) -> int:
    """Host headers in which parsers see different hosts; how many were accepted that should not be."""
    port = urlsplit(url).port
    hosts = (
        f"x@127.0.0.1:{port}",
        "evil.example@127.0.0.1",
        f"127.0.0.1:{port}@evil.example",
        "127.0.0.1#evil.example",
        "127.0.0.1/evil.example",
        "localhost.evil.example",
        "[::1].evil.example",
        f"127.0.0.1:{port}:80",
        "",
    )

    async def one(line: Line) -> int:
        line.writer.write(
            f"GET /core HTTP/1.1\r\nHost: {dice.choice(hosts)}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode()
        )
        answer = await asyncio.wait_for(line.reader.readline(), _PATIENCE)
        return int(b" 101 " in answer)

    return await _each(url, one, count)


async def long_names(url: str, _dice: random.Random, count: int) -> int:
    """Topics with very long names, followed until the server has no memory left; and flushes that are never awaited."""

    async def one(line: Line) -> int:
        inside = await line.ask(url, b"Sec-WebSocket-Protocol: hark.2\r\n")
        for number in range(20):
            line.writer.write(frame(b'["follow","%b%d"]' % (b"a" * 60_000, number), 0x82))
            line.writer.write(frame(b'["flush",%d]' % number, 0x82))
            line.writer.write(frame(b'{"type":"hark.fence.x","data":{"x":"%b"}}' % (b"x" * 30_000)))
        await asyncio.wait_for(line.writer.drain(), _PATIENCE)
        return int(inside)

    return await _each(url, one, count, at_once=10)


async def slow_followers(url: str, _dice: random.Random, count: int) -> int:
    """Clients that each follow a topic of their own, are sent megabytes on it, and do not read them."""
    lines: list[Line] = []
    inside = 0
    try:
        for number in range(count):
            line = await Line.open(url)
            lines.append(line)
            inside += await line.ask(url, b"Sec-WebSocket-Protocol: hark.2\r\n")
            line.writer.write(frame(b'["follow","fuzz.own.%d"]' % number, 0x82))
            line.writer.transport.pause_reading()  # type: ignore[attr-defined]
        for _ in range(20):
            for number, line in enumerate(lines):
                line.writer.write(frame(b'{"type":"fuzz.own.%d","data":{"x":"%b"}}' % (number, b"x" * 200_000)))
                with suppress(OSError, TimeoutError):
                    await asyncio.wait_for(line.writer.drain(), 0.05)
    finally:
        await asyncio.gather(*(line.end() for line in lines))
    return inside


async def bound_token(url: str, dice: random.Random, count: int, token: str = "bound") -> int:
    """A token that is bound to source `fuzz` and session `fuzz`, used for every other source and session."""
    sessions = (
        "",
        "{}",
        '{"session_id":"default"}',
        '{"session_id":"kitchen"}',
        '{"session_id":"fuzz","session_id":"x"}',
    )

    async def one(line: Line) -> int:
        await line.ask(url, b"Authorization: Bearer %b\r\n" % token.encode())
        for _ in range(20):
            source = dice.choice(('"fuzz"', '"kitchen"', '["kitchen","fuzz"]', "7"))
            session = dice.choice(sessions)
            context = f'"source":{source}' + (f',"session":{session}' if session else "")
            body = f'{{"type":"ovos.utterance.handle","data":{{"utterances":["yes"]}},"context":{{{context}}}}}'
            line.writer.write(frame(body.encode()))
        await asyncio.sleep(0)
        return 0  # it is accepted; what it says is not

    return await _each(url, one, count)


FORBIDDEN: tuple[str, ...] = (
    "ovos.utterance.handle",
    "ovos.intent.register.template",
    "ovos.intent.register.keyword",
    "ovos.entity.register",
    "ovos.skill.deregister",
    "ovos.intent.deregister",
    "ovos.intent.disable",
    "ovos.converse.pong",
    "mycroft.skill.handler.complete",
    *(f"hark.{name}" for name in PRIVATE),
)
"""The topics of what must not come through; `is_forged` says which of their Messages an attacker sent."""


def is_forged(topic: str, data: Mapping[str, object], context: Mapping[str, object]) -> bool:
    """Whether this is what an attacker may not emit: a private signal, in the name of another, or in its session."""
    if topic == "ovos.utterance.handle":
        return True  # no honest client says anything
    if topic.startswith("hark."):
        return data.get("fuzz") is True or str(data.get("topic", "")).startswith("honest.skill:")
    name = context if topic.startswith("mycroft.") else data
    return name.get("skill_id") == "honest.skill" and data.get("samples") in (["fuzz"], ("fuzz",))


REGISTER_HONEST: bytes = (
    b'{"type":"ovos.intent.register.template","data":{"skill_id":"honest.skill","intent_name":"go","lang":"en-US",'
    b'"samples":["honest"]}}'
)
"""What the honest client registers before anything else."""

MUST_BE_REFUSED: frozenset[str] = frozenset({"foreign hosts"})
"""Attacks of which no connection may be accepted, also where local clients need no token."""

ATTACKS: dict[str, Attack] = {
    "malformed frames": malformed_frames,
    "malformed messages": malformed_messages,
    "wild commands": wild_commands,
    "broken handshakes": broken_handshakes,
    "giant messages": giants,
    "slow readers": slow_readers,
    "wrong tokens": wrong_tokens,
    "crowds": crowds,
    "private topics": private_topics,
    "names of others": names_of_others,
    "bound token": bound_token,
    "foreign hosts": foreign_hosts,
    "long names": long_names,
    "slow followers": slow_followers,
}


async def _each(url: str, attack: Callable[[Line], Awaitable[int]], count: int, at_once: int = 50) -> int:
    """Do it on so many connections; what a server does to one of them is its business."""
    places = asyncio.Semaphore(at_once)

    async def one() -> int:
        async with places:
            try:
                line = await Line.open(url)
            except OSError:
                return 0
            try:
                return await attack(line)
            except (OSError, TimeoutError, ValueError):
                return 0
            finally:
                await line.end()

    return sum(await asyncio.gather(*(one() for _ in range(count))))
