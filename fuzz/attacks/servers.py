"""Attacks by a server: what listens where Hark's own commands look for a bus is somebody else's."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from attacks.target import Attack, Target, promise
from attacks.wire import frame

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
_MARK = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_WITHIN = 30.0
"""Seconds in which a command ends, whatever the server does."""


@asynccontextmanager
async def _serving(serve: Serve) -> AsyncIterator[str]:
    tasks: set[asyncio.Task[None]] = set()

    async def one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await serve(reader, writer)
        writer.transport.abort()

    server = await asyncio.start_server(one, "127.0.0.1", 0)
    try:
        yield f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/core"
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, headers: bytes = b"") -> None:
    request = await reader.readuntil(b"\r\n\r\n")
    found = re.search(rb"Sec-WebSocket-Key: *(\S+)", request, re.IGNORECASE)
    key = base64.b64encode(hashlib.sha1((found[1] if found else b"") + _MARK).digest())
    chosen = b"Sec-WebSocket-Protocol: hark.2\r\n" if b"hark.2" in request else b""
    writer.write(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Accept: %b\r\n%b%b\r\n" % (key, chosen, headers)
    )


async def _silent(_reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(60)


async def _endless_headers(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 101 Switching Protocols\r\n")
    while True:
        writer.write(b"X: " + b"y" * 60_000 + b"\r\n")
        await writer.drain()


async def _elsewhere(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n")
    await writer.drain()


async def _no_bus(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await _accept(reader, writer)
    await asyncio.sleep(60)


async def _junk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await _accept(reader, writer, b"Hark-Largest-Message: -7\r\nHark-Private: \xff\r\n")
    for junk in (b"", b"[]", b"\xff\xfe", b'["flushed",1]', b'["flushed",{}]', b'{"type":7}', b"[" * 100_000):
        for first in (0x81, 0x82, 0x89, 0x8A):
            writer.write(frame(junk[:100] if first > 0x88 else junk, first, masked=False))
    await writer.drain()
    await asyncio.sleep(60)


async def _giant(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await _accept(reader, writer, b"Hark-Largest-Message: 999999999999999999999\r\n")
    writer.write(bytes((0x81, 127)) + (2**40).to_bytes(8))
    for _ in range(300):
        writer.write(b"x" * 1_000_000)
        await writer.drain()
    await asyncio.sleep(60)


async def _escapes(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answers whatever is said with what would control a terminal."""
    await _accept(reader, writer)
    while True:
        head = await reader.readexactly(2)
        size = head[1] & 0x7F
        if size > 125:
            size = int.from_bytes(await reader.readexactly(2 if size == 126 else 8))
        mask = await reader.readexactly(4)
        payload = bytes(octet ^ mask[n % 4] for n, octet in enumerate(await reader.readexactly(size)))
        with suppress(ValueError):
            message = json.loads(payload)
            if isinstance(message, list) and message[0] == "flush":
                writer.write(frame(json.dumps(["flushed", message[1]]).encode(), 0x82, masked=False))
            elif isinstance(message, dict):
                for kind in ("ovos.utterance.speak", "ovos.utterance.handled", "hark.process.pong"):
                    data = {"utterance": "\x1b[2J\x9b2J\u202e\x07", "lang": "\x1b[31m", "process": {"id": "\x1b[2J"}}
                    said = {"type": kind, "data": data, "context": message.get("context", {})}
                    writer.write(frame(json.dumps(said).encode(), 0x81, masked=False))


def _command(name: str, serve: Serve, *words: str, status: tuple[int, ...] = (2,)) -> Attack:
    async def run(target: Target) -> str:
        async with _serving(serve) as url:
            for command in (words,) if words else (("say", "hello"), ("why",), ("doctor",)):
                ended, text = await target.hark(
                    *command, "--bus", url, "--settings", str(target.settings), within=_WITHIN
                )
                promise(ended in (*status, 1), f"hark {command[0]}: status {ended}: {text[-200:]}")
                promise(not any(bad in text for bad in "\x1b\x07\u202e\x9b"), f"hark {command[0]}: {text[-200:]!r}")
                promise(text and "root:" not in text, f"hark {command[0]}: {text[-200:]!r}")
        return "each command ends with a reason"

    return Attack("command line", name, run)


ATTACKS = [
    _command("a server that says nothing", _silent),
    _command("a server whose headers never end", _endless_headers),
    _command("a server that sends elsewhere", _elsewhere),
    _command("a websocket that is no bus", _no_bus),
    _command("a bus that sends junk", _junk),
    _command("a bus that sends a Message of 300 MB", _giant),
    _command("a bus that controls the terminal", _escapes, status=(0, 2)),
]
