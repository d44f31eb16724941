"""Attacks over the websocket bus, by a local client without a token."""

from __future__ import annotations

import asyncio
import json
import random
import time
from contextlib import suppress
from uuid import uuid4

from attacks import wire
from attacks.target import Attack, Broken, HonestClient, Target, promise, send, utterance
from attacks.wire import Line, frame

_DICE = random.Random(7)
_COUNTS = {"giant messages": 8, "slow readers": 30, "slow followers": 20, "long names": 20, "crowds": 300}


def _on_the_wire(name: str) -> Attack:
    async def run(target: Target) -> str:
        count = _COUNTS.get(name, 150)
        async with HonestClient(target.url) as honest:
            attack = asyncio.ensure_future(wire.ATTACKS[name](target.url, _DICE, count))
            slowest = 0.0
            while not attack.done():
                _, seconds = await honest.ask("say hello")
                slowest = max(slowest, seconds)
                await asyncio.sleep(0.02)
            inside = attack.result()
        promise(not (inside and name in wire.MUST_BE_REFUSED), f"{inside} connections were accepted")
        return f"{count} times; slowest honest turn meanwhile {slowest * 1000:.0f} ms"

    return Attack("bus", name, run)


async def one_marker(target: Target, *entries: dict[str, object]) -> int:
    """Send entries; raise `Broken` unless each has one marker within 20 s. Returns the bytes of the largest marker."""
    mark = uuid4().hex  # replies keep the context, so it tells these markers from those of other clients
    line = await Line.open(target.url)
    try:
        await line.ask(target.url)
        for entry in entries:
            context = {**dict(entry.get("context", {})), "fuzz_mark": mark}  # type: ignore[call-overload]
            line.writer.write(frame(json.dumps({**entry, "context": context}).encode()))
        await line.writer.drain()
        sizes: list[int] = []
        deadline = time.monotonic() + 20
        while len(sizes) < len(entries):
            sizes += await _markers(line, mark, deadline - time.monotonic())
        with suppress(TimeoutError):
            until = time.monotonic() + 0.3
            while True:
                sizes += await _markers(line, mark, until - time.monotonic())
        promise(len(sizes) == len(entries), f"{len(sizes)} markers for {len(entries)} utterances")
        return max(sizes)
    except (TimeoutError, asyncio.IncompleteReadError, ConnectionError):
        raise Broken("an accepted utterance had no marker") from None
    finally:
        line.writer.transport.abort()


async def _markers(line: Line, mark: str, within: float) -> list[int]:
    payload = await _read(line, within)
    if b'"ovos.utterance.handled"' not in payload or mark.encode() not in payload:
        return []
    return [len(payload)] if json.loads(payload)["type"] == "ovos.utterance.handled" else []


async def _read(line: Line, within: float) -> bytes:
    async with asyncio.timeout(within):
        head = await line.reader.readexactly(2)
        size = head[1] & 0x7F
        if size == 126:
            size = int.from_bytes(await line.reader.readexactly(2))
        elif size == 127:
            size = int.from_bytes(await line.reader.readexactly(8))
        return await line.reader.readexactly(size)


async def giant_session(target: Target) -> str:
    """Unknown keys of 3.9 MB in the session of the device, twice."""
    entries = [utterance("say hi", {"session_id": "default", f"x_{n}": "x" * 3_900_000}) for n in range(2)]
    await one_marker(target, *entries)
    largest = await one_marker(target, utterance("say hi", {"session_id": "default"}))
    promise(largest < 70_000, f"later markers have {largest} bytes")
    return f"later markers have {largest} bytes"


async def long_utterance(target: Target) -> str:
    """An utterance of 3 MB."""
    await one_marker(target, utterance("x " * 1_500_000, {"session_id": "long"}))
    return "unmatched, one marker"


async def many_candidates(target: Target) -> str:
    """An utterance with 10,000 candidates."""
    await one_marker(target, utterance(["say hi"] * 10_000, {"session_id": "many"}))
    return "unmatched, one marker"


async def odd_utterances(target: Target) -> str:
    """Utterances that are no list of texts."""
    odd: list[object] = [None, 7, {}, [None], [["say hi"]], "say hi", [""], ["\x00" * 50]]
    entries = [{**utterance("x", {"session_id": f"odd{n}"}), "data": {"utterances": one}} for n, one in enumerate(odd)]
    await one_marker(target, *entries)
    return f"{len(odd)} kinds, one marker each"


async def deep_data(target: Target) -> str:
    """Data nested 100,000 deep."""
    await send(target, b'{"type":"ovos.utterance.handle","data":{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}}")
    return "refused"


async def poisoned_pipeline(target: Target) -> str:
    """A pipeline that leads nowhere, for the session of the device."""
    await one_marker(target, utterance("say hi", {"session_id": "default", "pipeline": ["nothing", "at-all"]}))
    await _is_answered_as_device(target)
    return "holds for its own utterance"


async def poisoned_denials(target: Target) -> str:
    """Denylists that deny everything, for the session of the device."""
    denials = {"blacklisted_skills": ["parrot.skill", "clock.skill"], "blacklisted_pipelines": ["template", "keyword"]}
    await one_marker(target, utterance("say hi", {"session_id": "default", **denials}))
    await _is_answered_as_device(target)
    return "hold for their own utterance"


async def poisoned_language(target: Target) -> str:
    """Languages that are none, for the session of the device."""
    for lang in ("x" * 10_000, "../../etc", "zz-ZZ", ""):
        entry = utterance("say hi", {"session_id": "default", "lang": lang})
        await one_marker(target, entry)
    # A language that is a tag may stay: it is what a device can be asked to speak.
    await one_marker(target, utterance("say hi", {"session_id": "default", "lang": "en-US"}))
    await _is_answered_as_device(target)
    return "one marker each, then as before"


async def _is_answered_as_device(target: Target) -> None:
    status, text = await target.hark("say", "say", "device", "is", "well", *target.places)
    promise((status, text) == (0, "device is well\n"), f"hark say: {text!r}")
    async with HonestClient(target.url) as honest:
        honest.say("say hello", "default")
        promise(await honest.ended("default") == ["hello"], "the session of the device no longer understands")


async def wrong_sessions(target: Target) -> str:
    """Sessions that are none."""
    odd: list[object] = [
        7,
        "text",
        [1],
        {"session_id": 7},
        {"session_id": ""},
        {"intent_context": 3},
        {"pipeline": "x"},
    ]
    for one in odd:
        await send(target, {**utterance("say hi"), "context": {"session": one}}, pause=0.0)
    return f"{len(odd)} kinds"


async def cancel_keys(target: Target) -> str:
    """Keys in the context that only a transformer may set."""
    async with HonestClient(target.url) as honest:
        forged = {"session": {"session_id": "c"}, "canceled": True, "cancel_by": "me", "cancel_word": "x"}
        await send(target, {**utterance("say hi"), "context": forged})
        answers, _ = await honest.ask("say hello")
    promise(answers == ["hello"], "a turn was cancelled from outside")
    return "no turn was cancelled"


async def context_flood(target: Target) -> str:
    """5,000 remembered values of 1 kB for the session of the device."""
    flood = [
        {"type": "ovos.context.set", "data": {"context": f"k{n}", "key": f"k{n}", "value": "x" * 1_000}}
        for n in range(5_000)
    ]
    await send(target, *flood, pause=1.0)
    largest = await one_marker(target, utterance("say hi", {"session_id": "default"}))
    promise(largest < 140_000, f"a marker has {largest} bytes")
    return f"markers have {largest} bytes"


async def utterance_flood(target: Target) -> str:
    """2,000 utterances at once from one client: each has one marker."""
    return await utterances_at_once(target, 2_000)


async def utterances_at_once(target: Target, number: int) -> str:
    """So many utterances from one client, of which each has to have one marker."""
    async with HonestClient(target.url) as flood, HonestClient(target.url) as honest:
        sessions = [flood.say("say hi") for _ in range(number)]
        _, seconds = await honest.ask("say hello", 20)
        for session_id in sessions:
            await flood.ended(session_id, 30)
        await asyncio.sleep(0.2)
        wrong = [count for count in flood.markers.values() if count != 1]
        promise(not wrong, f"{len(wrong)} of {number} turns had not one marker")
    return f"{number} markers; an honest turn meanwhile {seconds * 1000:.0f} ms"


async def foreign_ends(target: Target) -> str:
    """Signals that would end the turns of others."""
    names = ("hark.handler.done", "hark.handler.accepted", "hark.host.alive", "mycroft.skill.handler.complete")
    forged = [
        {
            "type": name,
            "data": {"topic": "parrot.skill:say", "skill_id": "parrot.skill"},
            "context": {"skill_id": "parrot.skill"},
        }
        for name in names
    ]
    async with HonestClient(target.url) as honest:
        for _ in range(20):
            session_id = honest.say("say hello")
            await send(target, *forged, pause=0.0)
            promise(await honest.ended(session_id) == ["hello"], "a turn was ended by another client")
        promise(set(honest.markers.values()) == {1}, "a turn had more than one marker")
    return "20 turns, one marker each"


async def foreign_deregistration(target: Target) -> str:
    """Deregistering, disabling and replacing the skills of the assistant."""
    kinds = ("ovos.skill.deregister", "ovos.intent.deregister", "ovos.intent.disable", "ovos.intent.register.template")
    data = {"skill_id": "parrot.skill", "intent_name": "say", "lang": "en-US", "samples": ["nothing"]}
    await send(target, *({"type": kind, "data": data} for kind in kinds), {"type": "ovos.skill.deregister", "data": {}})
    async with HonestClient(target.url) as honest:
        answers, _ = await honest.ask("say hello")
    promise(answers == ["hello"], "a skill was taken away")
    return "the skill is there"


def _template(skill_id: str, intent_name: str, sample: str) -> dict[str, object]:
    data = {"skill_id": skill_id, "intent_name": intent_name, "lang": "en-US", "samples": [sample]}
    return {"type": "ovos.intent.register.template", "data": data}


async def template_bomb(target: Target) -> str:
    """Templates that expand to more sentences than there are atoms."""
    bombs = ["(a|b|c|d) " * 60, "[a] " * 300, "(" * 500 + "a" + ")" * 500, "{x}" * 200, "(a|(b|(c|[d])))" * 40]
    data = [
        {"skill_id": "bomb", "intent_name": f"i{n}", "lang": "en-US", "samples": [bomb]} for n, bomb in enumerate(bombs)
    ]
    await send(target, *({"type": "ovos.intent.register.template", "data": one} for one in data), pause=1.0)
    return f"{len(bombs)} templates"


async def registration_flood(target: Target) -> str:
    """20,000 intents, and an entity with 100,000 values."""
    intents = [
        {"skill_id": "flood", "intent_name": f"i{n}", "lang": "en-US", "samples": [f"flood number {n}"]}
        for n in range(20_000)
    ]
    values = [f"value {n}" for n in range(100_000)]
    entity = {
        "type": "ovos.entity.register",
        "data": {"skill_id": "flood", "name": "e", "lang": "en-US", "samples": values},
    }
    await send(target, *({"type": "ovos.intent.register.template", "data": one} for one in intents), entity, pause=1.0)
    return "bounded by [bus] registrations"


async def speech_flood(target: Target) -> str:
    """2,000 answers spoken in the session of the device, with control characters."""
    said = {"type": "ovos.utterance.speak", "data": {"utterance": "\x1b[2J\x07\u202e" + "x" * 500}, "context": {}}
    await send(target, *([said] * 2_000), pause=1.0)
    promise(b"\x1b[2J" not in target.log.read_bytes(), "control characters reached the terminal")
    return "no control character reached the terminal"


async def query_flood(target: Target) -> str:
    """2,000 questions for everything that can be asked for."""
    names = ("ovos.intent.list", "ovos.skills.list", "ovos.converse.active.list", "ovos.transformer.utterance.list")
    await send(target, *({"type": name, "data": {}} for name in names * 500), pause=1.0)
    return "answered"


async def foreign_question(target: Target) -> str:
    """Answering the question of another session."""
    async with HonestClient(target.url) as honest:
        first = honest.say("play guess the number", "player")
        with suppress(Broken):
            await honest.ended(first, 2)
        await send(target, *[utterance(word, {"session_id": "stranger"}) for word in ("yes", "stop", "7")], pause=0.5)
        answers, _ = await honest.ask("say hello")
    promise(answers == ["hello"], "another session was disturbed")
    return "only its own session answers it"


async def odd_topics(target: Target) -> str:
    """Topics of every shape, among them those of NATS and of regular expressions."""
    names = [
        "a" * 100_000,
        "*",
        ">",
        "a..b",
        "a b",
        "\u202e",
        "hark.",
        "a:b:c",
        "$JS.API.INFO",
        "(a+)+$",
        "../../x",
        "",
    ]
    await send(target, *({"type": name, "data": {}} for name in names))
    return f"{len(names)} names"


ATTACKS = [
    *(_on_the_wire(name) for name in wire.ATTACKS if name != "bound token"),
    Attack("bus", "a session of 3.9 MB, twice", giant_session),
    Attack("bus", "an utterance of 3 MB", long_utterance),
    Attack("bus", "10,000 candidates", many_candidates),
    Attack("bus", "utterances that are none", odd_utterances),
    Attack("bus", "data nested 100,000 deep", deep_data),
    Attack("bus", "sessions that are none", wrong_sessions),
    Attack("bus", "a pipeline that leads nowhere", poisoned_pipeline),
    Attack("bus", "denying everything to the device", poisoned_denials),
    Attack("bus", "languages that are none", poisoned_language),
    Attack("bus", "forged cancellation", cancel_keys),
    Attack("bus", "5,000 values in the context", context_flood),
    Attack("bus", "2,000 utterances at once", utterance_flood),
    Attack("bus", "ending the turns of others", foreign_ends),
    Attack("bus", "taking skills away", foreign_deregistration),
    Attack("bus", "answering another's question", foreign_question),
    Attack("bus", "templates that explode", template_bomb),
    Attack("bus", "20,000 registrations", registration_flood),
    Attack("bus", "speech with control characters", speech_flood),
    Attack("bus", "2,000 queries", query_flood),
    Attack("bus", "topics of every shape", odd_topics),
]
