"""Attacks on the control socket, by a process of the same user."""

from __future__ import annotations

import asyncio
import json
import socket
from contextlib import suppress

from attacks.target import Attack, Target, promise


async def _open(target: Target) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    channel = socket.socket(socket.AF_UNIX)
    channel.setblocking(False)
    for _ in range(200):
        try:
            channel.connect(str(target.state / "control.sock"))
            break
        except BlockingIOError:  # others wait to be accepted
            await asyncio.sleep(0.05)
    return await asyncio.open_unix_connection(sock=channel, limit=4_000_000)


async def _ask(target: Target, request: bytes, within: float = 10.0) -> bytes:
    reader, writer = await _open(target)
    try:
        writer.write(request)
        with suppress(OSError):
            await writer.drain()
        return await asyncio.wait_for(reader.readline(), within)
    finally:
        writer.close()


async def garbage(target: Target) -> str:
    """Lines that are no requests."""
    lines = [b"\n", b"{}\n", b"null\n", b"\xff\xfe\n", b'{"do":7}\n', b'{"do":"rm -rf"}\n', b"[" * 50_000 + b"\n"]
    lines += [b'{"do":"say","utterance":7}\n', b'{"do":"forget","before":"x"}\n', b'{"do":"why","id":{}}\n']
    for line in lines:
        answer = await _ask(target, line)
        promise(json.loads(answer)["is"] == "refused", f"{line[:30]!r} was answered {answer[:80]!r}")
    return f"{len(lines)} lines refused"


async def endless_line(target: Target) -> str:
    """A request of 20 MB without an end."""
    reader, writer = await _open(target)
    try:
        for _ in range(20):
            writer.write(b"x" * 1_000_000)
            await asyncio.wait_for(writer.drain(), 5)
    except (OSError, TimeoutError):
        pass
    finally:
        answer = b""
        with suppress(OSError, TimeoutError):
            answer = await asyncio.wait_for(reader.readline(), 2)
        writer.close()
    return "refused" if b"refused" in answer else "disconnected"


async def half_requests(target: Target) -> str:
    """200 clients that send half a request and wait."""
    opened: list[asyncio.StreamWriter] = []
    try:
        for _ in range(200):
            _, writer = await _open(target)
            opened.append(writer)
            writer.write(b'{"do":"say","utter')
        promise(b"pong" in await _ask(target, b'{"do":"ping"}\n'), "others are not served")
    finally:
        for writer in opened:
            writer.transport.abort()
    return "others are served"


async def unread_answers(target: Target) -> str:
    """A client that asks for 300 reports and reads none."""
    _, writer = await _open(target)
    with suppress(OSError, TimeoutError):
        writer.write(b'{"do":"examine"}\n' * 300)
        await asyncio.wait_for(writer.drain(), 2)
    promise(b"pong" in await _ask(target, b'{"do":"ping"}\n'), "others are not served")
    writer.transport.abort()
    return "others are served"


async def long_saying(target: Target) -> str:
    """An utterance of 900 kB."""
    reader, writer = await _open(target)
    writer.write(json.dumps({"do": "say", "utterance": "x " * 450_000}).encode() + b"\n")
    last = b""
    async with asyncio.timeout(15):
        while b'"ended"' not in last and b'"refused"' not in last:
            last = await reader.readline()
            promise(last, "no end")
    writer.close()
    return str(json.loads(last).get("outcome", "refused"))


async def modes(target: Target) -> str:
    """What other users could open."""
    promise(not target.state.stat().st_mode & 0o077, "others can open the state directory")
    secrets = [path for path in target.state.iterdir() if path.is_file() or path.is_socket()]
    open_to_others = [path.name for path in secrets if path.stat().st_mode & 0o077]
    promise(not open_to_others, f"others can open {open_to_others}")
    return "the state directory is its owner's alone"


async def askers_that_go(target: Target) -> str:
    """300 clients that ask for a turn, in parts of one byte, and go before it ends; and odd sessions."""
    before = target.descriptors
    sessions: list[object] = ["../../x", "x" * 5_000, "\x00", "", None, 7, {"session_id": "x"}, "default"]
    for number in range(300):
        _, writer = await _open(target)
        request = {"do": "say", "utterance": "say hi", "session": sessions[number % len(sessions)]}
        request |= {"session_id": sessions[number % len(sessions)], "intent": {"skill_id": "x"}, "lang": "../x"}
        for octet in json.dumps(request).encode() + b"\n":
            writer.write(bytes((octet,)))
        with suppress(OSError):
            await writer.drain()
        writer.transport.abort()
    promise(b"pong" in await _ask(target, b'{"do":"ping"}\n'), "others are not served")
    for _ in range(50):
        if target.descriptors - before < 10:
            break
        await asyncio.sleep(0.1)
    promise(target.descriptors - before < 10, "connections are left")
    return "300 clients"


ATTACKS = [
    Attack("control socket", "300 clients that ask and go", askers_that_go),
    Attack("control socket", "lines that are no requests", garbage),
    Attack("control socket", "a request of 20 MB", endless_line),
    Attack("control socket", "200 half requests", half_requests),
    Attack("control socket", "300 reports that are not read", unread_answers),
    Attack("control socket", "an utterance of 900 kB", long_saying),
    Attack("control socket", "files that others can open", modes),
]
