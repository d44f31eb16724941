"""More attacks over the websocket bus by a local client: on handshakes, frames, names, numbers and what is kept."""

from __future__ import annotations

import asyncio
import json
import sys
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from attacks.target import Attack, HonestClient, Target, promise, send, utterance
from attacks.wire import Line, frame


async def dripping_handshakes(target: Target) -> str:
    """100 clients that send one byte of their handshake at a time."""
    lines = [await Line.open(target.url) for _ in range(100)]
    try:
        async with HonestClient(target.url) as honest:
            for octet in b"GET /core HTTP/1.1\r\nHo":
                for line in lines:
                    line.writer.write(bytes((octet,)))
                _, seconds = await honest.ask("say hello")
                await asyncio.sleep(0.1)
        left = sum(not line.is_ended for line in lines)
        promise(not left, f"{left} half handshakes are still open")
    finally:
        await asyncio.gather(*(line.end() for line in lines))
    return f"all disconnected; an honest turn meanwhile {seconds * 1000:.0f} ms"


async def half_frames(target: Target) -> str:
    """100 clients that begin a Message, ping in the middle of it, and never end it; empty parts without end."""
    lines: list[Line] = []
    try:
        for _ in range(100):
            line = await Line.open(target.url)
            lines.append(line)
            await line.ask(target.url)
            line.writer.write(frame(b'{"type":"ovos.utterance.handle","da', 0x01) + frame(b"ping", 0x89))
        with suppress(OSError):  # among several such programs, each has fewer connections than it wants
            for _ in range(200):
                lines[0].writer.write(frame(b"", 0x00) * 100)
                await asyncio.wait_for(lines[0].writer.drain(), 10)
        async with HonestClient(target.url) as honest:
            answers, _ = await honest.ask("say hello")
        promise(answers == ["hello"], "an honest client was not answered")
    finally:
        await asyncio.gather(*(line.end() for line in lines))
    return "others are served"


async def compressed_bombs(target: Target) -> str:
    """Compressed frames, which were never agreed on: 50 MB of zeros in 50 kB."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    bomb = deflate.compress(b"\0" * 50_000_000) + deflate.flush(zlib.Z_SYNC_FLUSH)
    for headers in (b"", b"Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n"):
        line = await Line.open(target.url)
        try:
            await line.ask(target.url, headers)
            line.writer.write(frame(bomb, 0xC1))
            with suppress(OSError):
                async with asyncio.timeout(5):
                    while await line.reader.read(65_536):
                        pass
            promise(line.reader.at_eof(), "a compressed frame was taken")
        except TimeoutError:
            promise(False, "a client that sends compressed frames stays connected")
        finally:
            await line.end()
    return "disconnected"


async def odd_text(target: Target) -> str:
    """Text that is no UTF-8, numbers that are none, keys that are there twice."""
    entry = b'{"type":"ovos.utterance.handle","data":{"utterances":["say hi"]%b}' + (
        b',"context":{"session":{"session_id":"o"%b}}}'
    )
    spoilt = [
        entry % (b',"x":"\xff\xfe"', b""),
        entry % (b',"x":"\xed\xa0\x80"', b""),
        entry % (b',"x":"\\ud800"', b',"y":"\\udfff\\ud800"'),
        *(entry % (b',"x":%b' % number, b',"y":%b' % number) for number in (b"1e999", b"-1e999", b"NaN", b"1" * 5_000)),
        *(entry % (b"", b',"%b":%b' % (field, b"1e308")) for field in (b"response_mode", b"intent_context", b"lang")),
        entry % (b"", b',"session_id":"other"'),
        b'{"type":"fuzz.a","type":"hark.handler.done","data":{},"data":{"topic":"parrot.skill:say"}}',
        b'{"type":"hark.handler.done","type":"fuzz.a","data":{"topic":"parrot.skill:say"}}',
        b"\xef\xbb\xbf" + entry % (b"", b""),
        b"\0" + entry % (b"", b""),
    ]
    await send(target, *spoilt, pause=0.5)
    return f"{len(spoilt)} kinds"


async def lookalikes(target: Target) -> str:
    """Private topics in other letters, with white space, NUL and a byte order mark; what others follow hears none."""
    names = [
        "HARK.handler.done",
        "Hark.ready",
        "h\u0430rk.ready",
        "hark\u2024ready",
        "\ufeffhark.ready",
        "hark.ready\n",
    ]
    names += ["hark.ready\x00", " hark.ready", "ovos.utterance.handled\n", "ovos.utterance.handled\x00", "hark..ready"]
    async with HonestClient(target.url) as honest:
        session_id = honest.say("say hello")
        await send(target, *({"type": name, "data": {"topic": "parrot.skill:say"}} for name in names), pause=0.2)
        promise(await honest.ended(session_id) == ["hello"], "a turn was ended by another client")
        promise(set(honest.markers.values()) == {1}, "a turn had more than one marker")
    return f"{len(names)} names"


async def forged_ends(target: Target) -> str:
    """End markers, matches and dispatches of others' turns, emitted by a client."""
    kinds = ("ovos.utterance.handled", "ovos.utterance.cancelled", "ovos.intent.unmatched", "ovos.intent.matched")
    async with HonestClient(target.url) as honest:
        for number in range(10):
            session_id = honest.say("say hello")
            context = {"session": {"session_id": session_id}}
            await send(target, *({"type": kind, "data": {}, "context": context} for kind in kinds), pause=0.0)
            promise(await honest.ended(session_id) == ["hello"], f"turn {number} was ended by another client")
    return "10 turns answered"


async def long_session_ids(target: Target) -> str:
    """Ids of sessions that are paths, 60 kB and 3 MB long, and 3,000 different ones."""
    ids = ["../../etc/passwd", "a/b", "\x00", "\n", "*", "default\x00", "DEFAULT", "x" * 3_000_000]
    ids += [f"{'y' * 60_000}{number}" for number in range(300)]
    ids += [f"many-{number}" for number in range(3_000)]
    before = target.memory
    for at in range(0, len(ids), 100):
        await send(target, *(utterance("say hi", {"session_id": one}) for one in ids[at : at + 100]), pause=0.05)
    await asyncio.sleep(2)
    held = target.memory - before
    promise(held < 40, f"{held:.0f} MB are held by ids")
    return f"{len(ids)} ids"


async def long_key_names(target: Target) -> str:
    """Unknown session keys whose names have a megabyte each, 60 of them; and as many topics."""
    before = target.memory
    for number in range(60):
        name = f"{number}{'k' * 1_000_000}"
        await send(target, utterance("say hi", {"session_id": "k", name: 1}), {"type": name, "data": {}}, pause=0.0)
    await asyncio.sleep(6)
    held = target.memory - before
    promise(held < 40, f"{held:.0f} MB are held by names")
    return "not kept"


async def open_sounds(target: Target) -> str:
    """Sounds that begin in 20,000 sessions and never end."""
    begun = "ovos.audio.output.started"
    sessions = ({"session": {"session_id": f"sound-{number}{'s' * 500}"}} for number in range(20_000))
    before = target.memory
    await send(target, *({"type": begun, "data": {}, "context": context} for context in sessions), pause=2.0)
    promise(target.memory - before < 30, f"{target.memory - before:.0f} MB are held by sounds")
    return "bounded"


async def many_registrants(target: Target) -> str:
    """12 clients that register 4,000 intents each, and stay."""
    lines: list[Line] = []
    before = target.memory
    try:
        for number in range(12):
            line = await Line.open(target.url)
            lines.append(line)
            await line.ask(target.url)
            for intent in range(4_000):
                data = {"skill_id": f"r{number}", "intent_name": f"i{intent}", "lang": "en-US"}
                data |= {"samples": [f"registered {number} {intent}"]}  # type: ignore[dict-item]
                line.writer.write(frame(json.dumps({"type": "ovos.intent.register.template", "data": data}).encode()))
            await asyncio.wait_for(line.writer.drain(), 60)
        await asyncio.sleep(3)
        held = target.memory - before
        promise(held < 100, f"{held:.0f} MB are held by registrations")
    finally:
        await asyncio.gather(*(line.end() for line in lines))
    return f"{held:.0f} MB while they stay"


async def busy_schedules(target: Target) -> str:
    """300 schedules that are always due, 3,000 in other names, and some that carry a megabyte."""

    def schedule(owner: str, name: str, when: Mapping[str, object], **context: object) -> dict[str, object]:
        data = {"id": name, "event": f"{owner}.ring", **when, "ephemeral": True}
        return {"type": "ovos.scheduler.schedule", "data": data, "context": {"skill_id": owner, **context}}

    for period in (0.001, 1):
        await send(target, *(schedule("evil", f"{period}-{n}", {"every": {"seconds": period}}) for n in range(300)))
    await send(target, *(schedule(f"evil{n}", "x", {"in": {"seconds": 9e9}}) for n in range(3_000)))
    await send(target, *(schedule("evil", f"big{n}", {"in": {"seconds": 9e9}}, x="x" * 1_000_000) for n in range(20)))
    status, text = await target.hark("say", "set", "a", "timer", "for", "ten", "minutes", *target.places)
    promise(status == 0, f"a skill of the assistant cannot schedule: {text}")
    return "bounded, and the assistant's own skills can schedule"


async def odd_calls(target: Target) -> str:
    """Intents called by name with 1 MB of slots, of denied skills and pipelines, and of none."""
    intents: list[object] = [
        {"skill_id": "parrot.skill", "intent_name": "say", "slots": {"text": "x" * 1_000_000}},
        {"skill_id": "parrot.skill", "intent_name": "say", "slots": {f"s{n}": n for n in range(5_000)}},
        {"skill_id": "parrot.skill", "intent_name": "say", "slots": [1]},
        {"skill_id": "../x", "intent_name": "\x00"},
        {"skill_id": "stop", "intent_name": "global"},
        "say",
        None,
    ]
    denials: list[dict[str, object]] = [
        {"blacklisted_skills": ["parrot.skill"]},
        {"blacklisted_intents": ["parrot.skill:say"]},
        {"blacklisted_pipelines": ["call"]},
    ]
    async with HonestClient(target.url) as honest:
        called = {"utterances": ["say hi"], "intent": {"skill_id": "parrot.skill", "intent_name": "say"}}
        for one in intents:
            session_id = honest.say("", data={"utterances": ["say hi"], "intent": one})
            await honest.ended(session_id, 10)
        for number, denial in enumerate(denials):
            entry = {
                "type": "ovos.utterance.handle",
                "data": called,
                "context": {"session": {"session_id": f"d{number}", **denial}},
            }
            await send(target, entry, pause=0.2)
        promise(set(honest.markers.values()) == {1}, "a call had not one marker")
    return f"{len(intents)} calls, one marker each"


async def forged_question(target: Target) -> str:
    """Sessions of others that claim a question is open, and routing that is no text."""
    mode = {"skill_id": "evil.skill", "expires_at": 1e300}
    async with HonestClient(target.url) as honest:
        for number in range(10):
            session_id = f"victim-{number}"
            forged = {"session_id": session_id, "response_mode": mode, "converse_handlers": [mode]}
            routes: list[object] = [["a"] * 10_000, {"a": 1}, 7, "\x00" * 1_000]
            await send(target, *(utterance("x", forged, source=one, destination=one) for one in routes), pause=0.0)
            honest.say("say hello", session_id)
            promise(await honest.ended(session_id, 10) == ["hello"], "another session took the answer")
    return "10 sessions answered"


async def tool_flood(target: Target) -> str:
    """2,000 calls of tools, and answers for toolboxes that are none."""
    calls = [{"type": "ovos.tools.invoke", "data": {"name": f"t{n}", "args": {"x": "x" * 2_000}}} for n in range(1_000)]
    calls += [{"type": "ovos.tools.list", "data": {}} for _ in range(500)]
    calls += [
        {"type": "ovos.persona.tools.discover.response", "data": {"toolbox_id": f"b{n}", "tools": [{}]}}
        for n in range(500)
    ]
    await send(target, *calls, pause=1.0)
    return "answered"


async def ping_flood(target: Target) -> str:
    """50,000 pings, which are answered and not read."""
    line = await Line.open(target.url)
    try:
        await line.ask(target.url)
        line.writer.transport.pause_reading()  # type: ignore[attr-defined]
        with suppress(OSError, TimeoutError):
            for _ in range(50):
                line.writer.write(frame(b"x" * 120, 0x89) * 1_000)
                await asyncio.wait_for(line.writer.drain(), 2)
        async with HonestClient(target.url) as honest:
            _, seconds = await honest.ask("say hello")
    finally:
        await line.end()
    return f"an honest turn meanwhile {seconds * 1000:.0f} ms"


_HOARDER = """
import asyncio, sys
sys.path.insert(0, sys.argv[2])
from attacks.wire import Line
async def main():
    lines = []
    for _ in range(300):
        line = await Line.open(sys.argv[1])
        if await line.ask(sys.argv[1]):
            lines.append(line)
    print(len(lines), flush=True)
    await asyncio.sleep(120)
asyncio.run(main())
"""


async def every_connection(target: Target) -> str:
    """A local program that takes every connection it gets, and keeps them."""
    hoarder = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _HOARDER, target.url, str(Path(__file__).parents[1]), stdout=asyncio.subprocess.PIPE
    )
    try:
        assert hoarder.stdout is not None
        await asyncio.wait_for(hoarder.stdout.readline(), 60)
        for _ in range(10):
            line = await Line.open(target.url)
            promise(await line.ask(target.url) and await line.is_welcome(), "another local program is kept out")
            await line.end()
    finally:
        hoarder.kill()
        await hoarder.wait()
    return "10 clients of another program were accepted"


ATTACKS = [
    Attack("bus", "one program with every connection", every_connection),
    Attack("bus", "handshakes that drip", dripping_handshakes),
    Attack("bus", "frames that never end", half_frames),
    Attack("bus", "compressed frames", compressed_bombs),
    Attack("bus", "text and numbers that are none", odd_text),
    Attack("bus", "topics that look private", lookalikes),
    Attack("bus", "forged markers", forged_ends),
    Attack("bus", "ids of sessions that are long or many", long_session_ids),
    Attack("bus", "names of a megabyte", long_key_names),
    Attack("bus", "sounds that never end", open_sounds),
    Attack("bus", "12 clients that register 4,000 intents", many_registrants),
    Attack("bus", "schedules that are always due", busy_schedules),
    Attack("bus", "intents called by name", odd_calls),
    Attack("bus", "questions that were never asked", forged_question),
    Attack("bus", "2,000 calls of tools", tool_flood),
    Attack("bus", "50,000 pings", ping_flood),
]

ALONE = (long_session_ids, long_key_names, open_sounds, many_registrants, busy_schedules)
"""Those that measure what the assistant holds, or leave schedules: they need an assistant of their own."""
