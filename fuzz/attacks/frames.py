"""Attacks over the websocket bus by frames and requests: what a client sends below the level of Messages."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from attacks.target import Attack, HonestClient, Target, promise, send
from attacks.wire import Line, frame

_SECONDS = 3.0
"""How long a flood lasts."""
MOST_WAIT = 5.0
"""Seconds that an honest turn may take during a flood, on a machine that is busy with it."""
_UPGRADE = (
    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)


async def _discard(line: Line) -> None:
    with suppress(OSError):
        while await line.reader.read(1_048_576):
            pass


@asynccontextmanager
async def _client(target: Target, headers: bytes = b"") -> AsyncIterator[Line]:
    line = await Line.open(target.url)
    try:
        promise(await line.ask(target.url, headers), "a local client is not accepted")
        yield line
    finally:
        await line.end()


async def _honest_during(target: Target, attack: Awaitable[int]) -> str:
    """Honest turns while an attack goes on; the slowest of them is bounded."""
    slowest, number = 0.0, 0
    task = asyncio.ensure_future(attack)
    async with HonestClient(target.url) as honest:
        while not task.done():
            _, seconds = await honest.ask("say hello", 20)
            slowest, number = max(slowest, seconds), number + 1
            await asyncio.sleep(0.02)
    made = await task
    promise(slowest < MOST_WAIT, f"an honest turn took {slowest:.1f} s")
    return f"{made} in {_SECONDS:g} s; slowest of {number} honest turns {slowest * 1000:.0f} ms"


async def _flood(target: Target, first: bytes, chunk: bytes, count: int, *, reads: bool = False) -> int:
    made = 0
    async with _client(target) as line:
        reading = asyncio.create_task(_discard(line)) if reads else None
        line.writer.write(first)
        until = time.monotonic() + _SECONDS
        with suppress(OSError, TimeoutError):
            while time.monotonic() < until:
                line.writer.write(chunk)
                await asyncio.wait_for(line.writer.drain(), _SECONDS)
                made += count
        if reading is not None:
            reading.cancel()
    return made


async def tiny_parts(target: Target) -> str:
    """A Message in parts of one byte, as fast as they go."""
    return await _honest_during(target, _flood(target, frame(b"{", 0x01), frame(b" ", 0x00) * 10_000, 10_000))


async def empty_parts(target: Target) -> str:
    """A Message in parts that hold nothing, which never gets too large."""
    return await _honest_during(target, _flood(target, frame(b"{", 0x01), frame(b"", 0x00) * 10_000, 10_000))


async def answered_pings(target: Target) -> str:
    """Pings as fast as they go, by a client that reads the answers."""
    return await _honest_during(target, _flood(target, b"", frame(b"", 0x89) * 10_000, 10_000, reads=True))


async def pongs(target: Target) -> str:
    """Answers to pings that were never sent, as fast as they go."""
    return await _honest_during(target, _flood(target, b"", frame(b"", 0x8A) * 10_000, 10_000))


async def tiny_messages(target: Target) -> str:
    """The smallest Messages there are, as fast as they go."""
    one = frame(b'{"type":"a"}')
    return await _honest_during(target, _flood(target, b"", one * 5_000, 5_000, reads=True))


async def commands(target: Target) -> str:
    """Topics that are followed and left again, and flushes, as fast as they go."""

    async def flood() -> int:
        made = 0
        async with _client(target, b"Sec-WebSocket-Protocol: hark.2\r\n") as line:
            reading = asyncio.create_task(_discard(line))
            words = (b'["follow","a.%d"]', b'["unfollow","a.%d"]', b'["flush",%d]')
            chunk = b"".join(frame(word % number, 0x82) for number in range(1_000) for word in words)
            until = time.monotonic() + _SECONDS
            with suppress(OSError, TimeoutError):
                while time.monotonic() < until:
                    line.writer.write(chunk)
                    await asyncio.wait_for(line.writer.drain(), _SECONDS)
                    made += 3_000
            reading.cancel()
        return made

    return await _honest_during(target, flood())


async def connections(target: Target) -> str:
    """Connections that are made and dropped, as fast as they go."""

    async def storm() -> int:
        made, until = 0, time.monotonic() + _SECONDS

        async def come_and_go() -> None:
            nonlocal made
            while time.monotonic() < until:
                with suppress(OSError, TimeoutError):
                    line = await Line.open(target.url)
                    await line.ask(target.url)
                    line.writer.transport.abort()
                    made += 1

        await asyncio.gather(*(come_and_go() for _ in range(20)))
        return made

    return await _honest_during(target, storm())


_ECHO = json.dumps({"type": "fuzz.echo"}).encode()
_BROKEN = {
    "a ping of 126 bytes": frame(b"x" * 126, 0x89),
    "a ping in parts": frame(b"x", 0x09),
    "a goodbye in parts": frame(b"\x03\xe8", 0x08),
    "a goodbye of one byte": frame(b"x", 0x88),
    "a goodbye with code 1005": frame((1005).to_bytes(2), 0x88),
    "a goodbye that is no UTF-8": frame(b"\x03\xe8\xff\xfe", 0x88),
    "a length of 2^63 and more": bytes((0x81, 0xFF)) + b"\xff" * 8 + bytes(4),
    "a length of 2^62": bytes((0x81, 0xFF)) + (2**62).to_bytes(8) + bytes(4),
    "a length in more bytes than it needs": bytes((0x81, 0xFF)) + len(_ECHO).to_bytes(8) + bytes(4) + _ECHO,
    "a part without a beginning": frame(_ECHO, 0x80),
    "a beginning in a Message": frame(b"{", 0x01) + frame(_ECHO, 0x81),
    "no mask": frame(_ECHO, 0x81, masked=False),
    "an opcode that is reserved": frame(_ECHO, 0x83),
    "a control opcode that is reserved": frame(_ECHO[:10], 0x8B),
    "a reserved bit": frame(_ECHO, 0x91),
    "three reserved bits": frame(_ECHO, 0xF1),
    "a Message after a goodbye": frame(b"\x03\xe8", 0x88) + frame(_ECHO),
}


async def broken_protocol(target: Target) -> str:
    """Each way to break the protocol: the client is disconnected, and no Message comes of it."""
    for name, wire in _BROKEN.items():
        async with _client(target) as line:
            line.writer.write(wire)
            heard = b""
            try:
                async with asyncio.timeout(5):
                    while part := await line.reader.read(65_536):
                        heard += part
            except TimeoutError:
                promise(False, f"{name}: the client stays connected")
            except OSError:
                pass
            promise(_ECHO[2:-2] not in heard, f"{name}: it was taken as a Message")
    return f"{len(_BROKEN)} kinds, each disconnected"


async def odd_requests(target: Target) -> str:
    """Requests in which parsers see different things; none that may not become a websocket does."""
    host = f"Host: 127.0.0.1:{target.port}\r\n"
    refused = {
        "POST": f"POST /core HTTP/1.1\r\n{host}{_UPGRADE}\r\n",
        "HTTP/1.0": f"GET /core HTTP/1.0\r\n{host}{_UPGRADE}\r\n",
        "an address of another host": f"GET http://evil.example/core HTTP/1.1\r\n{host}{_UPGRADE}\r\n",
        "two hosts": f"GET /core HTTP/1.1\r\n{host}Host: evil.example\r\n{_UPGRADE}\r\n",
        "no host": f"GET /core HTTP/1.1\r\n{_UPGRADE}\r\n",
        "a host in other letters": f"GET /core HTTP/1.1\r\nhOST: evil.example\r\n{_UPGRADE}\r\n",
        "a folded host": f"GET /core HTTP/1.1\r\nHost: evil.example\r\n 127.0.0.1\r\n{_UPGRADE}\r\n",
        "a folded origin": f"GET /core HTTP/1.1\r\n{host}Origin:\r\n https://evil.example\r\n{_UPGRADE}\r\n",
        "origin null": f"GET /core HTTP/1.1\r\n{host}Origin: null\r\n{_UPGRADE}\r\n",
        "white space before the colon": f"GET /core HTTP/1.1\r\n{host}Origin : https://evil.example\r\n{_UPGRADE}\r\n",
        "white space before the name": f"GET /core HTTP/1.1\r\n{host}\tOrigin: https://evil.example\r\n{_UPGRADE}\r\n",
        "lines without CR": f"GET /core HTTP/1.1\n{host}Origin: https://evil.example\n{_UPGRADE}\n".replace("\r", ""),
        "NUL in a header": f"GET /core HTTP/1.1\r\n{host}X: \0\r\n{_UPGRADE}\r\n",
        "two slashes": f"GET //core HTTP/1.1\r\n{host}{_UPGRADE}\r\n",
        "an escaped path": f"GET /%63ore HTTP/1.1\r\n{host}{_UPGRADE}\r\n",
        "a path that leads out": f"GET /core/../../etc/passwd HTTP/1.1\r\n{host}{_UPGRADE}\r\n",
        "a body": f"GET /core HTTP/1.1\r\n{host}Content-Length: 5\r\n{_UPGRADE}\r\nhello",
        "a body in chunks": f"GET /core HTTP/1.1\r\n{host}Transfer-Encoding: chunked\r\n{_UPGRADE}\r\n0\r\n\r\n",
        "a long key": f"GET /core HTTP/1.1\r\n{host}{_UPGRADE.replace('dGhl', 'A' * 5_000)}\r\n",
        "a zone in an address": f"GET /core HTTP/1.1\r\nHost: [::1%25lo]\r\n{_UPGRADE}\r\n",
        "an address as a number": f"GET /core HTTP/1.1\r\nHost: 2130706433\r\n{_UPGRADE}\r\n",
        "two origins": f"GET /core HTTP/1.1\r\n{host}Origin: http://127.0.0.1:{target.port}\r\n"
        f"Origin: https://evil.example\r\n{_UPGRADE}\r\n",
        "an empty bearer": f"GET /core/x HTTP/1.1\r\n{host}Authorization: Bearer \r\n{_UPGRADE}\r\n",
    }
    for name, request in refused.items():
        line = await Line.open(target.url)
        try:
            line.writer.write(request.encode("latin-1"))
            answer = b""
            with suppress(OSError, TimeoutError):
                answer = await asyncio.wait_for(line.reader.read(65_536), 3)
            promise(b" 101 " not in answer, f"{name}: it became a websocket")
        finally:
            await line.end()
    return f"{len(refused)} kinds, none accepted"


async def second_request(target: Target) -> str:
    """A second request behind the first one, and a Message behind that: the first is a websocket, no more."""
    request = f"GET /core HTTP/1.1\r\nHost: 127.0.0.1:{target.port}\r\n{_UPGRADE}\r\n".encode()
    line = await Line.open(target.url)
    try:
        line.writer.write(request + request + frame(_ECHO))
        heard = b""
        with suppress(OSError):
            async with asyncio.timeout(5):
                while part := await line.reader.read(65_536):
                    heard += part
        promise(heard.count(b" 101 ") == 1 and _ECHO[2:-2] not in heard, "the second request was taken as well")
    except TimeoutError:
        promise(False, "the client stays connected")
    finally:
        await line.end()
    return "disconnected"


async def many_headers(target: Target) -> str:
    """100 requests that never end: one header after the other, of 1 kB each."""
    before, lines = target.memory, [await Line.open(target.url) for _ in range(100)]
    try:
        for line in lines:
            line.writer.write(b"GET /core HTTP/1.1\r\n")
        for _ in range(100):
            for line in lines:
                line.writer.write(b"X: " + b"y" * 1_000 + b"\r\n")
        async with HonestClient(target.url) as honest:
            await honest.ask("say hello")
        held = target.memory - before
        promise(held < 60, f"{held:.0f} MB are held by requests that never end")
    finally:
        await asyncio.gather(*(line.end() for line in lines))
    return f"{held:.0f} MB while they are open"


async def private_in_binary(target: Target) -> str:
    """Private topics and forged markers in binary frames, in parts, and with a byte order mark."""
    topics = ("hark.handler.done", "hark.ready", "hark.plugins", "ovos.utterance.handled", "ovos.intents.ready")
    async with HonestClient(target.url) as honest, _client(target) as line:
        for number in range(10):
            session_id = honest.say("say hello")
            context = {"session": {"session_id": session_id}, "utterance_id": "x"}
            for topic in topics:
                data = {"topic": "parrot.skill:say", "skill_ids": ["parrot.skill"]}
                raw = json.dumps({"type": topic, "data": data, "context": context}).encode()
                line.writer.write(frame(raw, 0x82) + frame(b"\xef\xbb\xbf" + raw))
                line.writer.write(frame(raw[:9], 0x01) + frame(b"", 0x89) + frame(raw[9:], 0x80))
            promise(await honest.ended(session_id) == ["hello"], f"turn {number} was ended by another client")
        promise(set(honest.markers.values()) == {1}, "a turn had more than one marker")
    return "10 turns, one marker each"


async def odd_keys(target: Target) -> str:
    """Keys by which other languages reach into their objects, in every part of a Message."""
    names = ("__proto__", "constructor", "__class__", "__init__", "__dict__", "toString", "$where", "\u0000", "", " ")
    odd = {name: {name: {"polluted": True}} for name in names}
    entry = {"type": "ovos.utterance.handle", "data": {"utterances": ["say hi"], **odd}, **odd}
    await send(target, {**entry, "context": {"session": {"session_id": "keys", **odd}, **odd}}, pause=0.3)
    return f"{len(names)} names"


FLOODS: tuple[Callable[[Target], Awaitable[str]], ...] = (
    tiny_parts,
    empty_parts,
    answered_pings,
    pongs,
    tiny_messages,
    commands,
    connections,
)

ATTACKS = [
    Attack("bus", "parts of one byte", tiny_parts),
    Attack("bus", "parts that hold nothing", empty_parts),
    Attack("bus", "pings that are answered", answered_pings),
    Attack("bus", "pongs without pings", pongs),
    Attack("bus", "the smallest Messages", tiny_messages),
    Attack("bus", "commands without end", commands),
    Attack("bus", "connections that come and go", connections),
    Attack("bus", "frames that break the protocol", broken_protocol),
    Attack("bus", "requests that are read in two ways", odd_requests),
    Attack("bus", "a request behind a request", second_request),
    Attack("bus", "requests that never end", many_headers),
    Attack("bus", "private topics in binary frames", private_in_binary),
    Attack("bus", "keys that reach into objects", odd_keys),
]
