"""Attacks over the websocket bus by a client that speaks as programs of OVOS do: what is kept to translate for it."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress

from attacks.target import Attack, HonestClient, Target, promise
from attacks.wire import Line, frame

MOST_HELD = 60.0
"""MB that one of these may hold while its client is connected."""


async def _discard(line: Line) -> None:
    with suppress(OSError):
        while await line.reader.read(1_048_576):
            pass


async def _hold(target: Target, messages: Iterable[Mapping[str, object]]) -> str:
    """Send these on one connection, and stay: an honest client is answered, and little is held."""
    line = await Line.open(target.url)
    before, slowest = target.memory, 0.0
    reading = asyncio.create_task(_discard(line)) if await line.ask(target.url) else None
    promise(reading is not None, "a local client is not accepted")
    try:
        for message in messages:
            line.writer.write(frame(json.dumps(message).encode()))
            await asyncio.wait_for(line.writer.drain(), 30)
        async with HonestClient(target.url) as honest:
            for _ in range(20):
                _, seconds = await honest.ask("say hello", 10)
                slowest = max(slowest, seconds)
                await asyncio.sleep(0.1)
        held = target.memory - before
        promise(held < MOST_HELD, f"{held:.0f} MB are held for one client")
    finally:
        await line.end()
        if reading is not None:
            await reading
    return f"{held:.0f} MB while it stays; slowest honest turn {slowest * 1000:.0f} ms"


def _word(text: str, **more: object) -> dict[str, object]:
    data = {"entity_type": "word", "entity_value": text, "lang": "en-US", **more}
    return {"type": "register_vocab", "data": data, "context": {"skill_id": "evil"}}


def _template(skill_id: str, intent_name: str, sample: str) -> dict[str, object]:
    data = {"skill_id": skill_id, "intent_name": intent_name, "lang": "en-US", "samples": [sample]}
    return {"type": "ovos.intent.register.template", "data": data}


async def endless_expression(target: Target) -> str:
    """A regular expression with 100,000 groups."""
    groups = "".join(f"(?P<g{number}>x)" for number in range(100_000))
    return await _hold(target, [_word("", regex=groups)])


async def words_without_end(target: Target) -> str:
    """50,000 words of one keyword."""
    return await _hold(target, (_word(f"word {number} {'x' * 200}") for number in range(50_000)))


async def words_in_many_intents(target: Target) -> str:
    """A word of 500 kB that 3,000 intents need: 1.5 GB, if each had a copy."""
    intents = (
        {"type": "register_intent", "data": {"name": f"evil:i{number}", "requires": [["word", "word"]]}}
        for number in range(3_000)
    )
    return await _hold(target, [_word("x" * 500_000), *intents])


async def refused_registrations(target: Target) -> str:
    """50,000 intents with long names, far more than a client may register; and 100 skills with a sample of 1 MB."""
    many = [_template("evil", f"i{number}{'x' * 200}", "a b") for number in range(50_000)]
    return await _hold(target, [*many, *(_template(f"evil{number}", "i", "a" * 1_000_000) for number in range(100))])


async def foreign_pongs(target: Target) -> str:
    """Answers of 100 skills that are none, whose ids have a megabyte each."""
    ids = (f"{number}{'s' * 1_000_000}" for number in range(100))
    return await _hold(target, ({"type": "skill.converse.pong", "data": {"skill_id": one}} for one in ids))


async def large_sessions(target: Target) -> str:
    """1,000 sessions of 60 kB each."""
    sessions = ({"session_id": f"large-{number}", "x": "y" * 60_000} for number in range(1_000))
    said = {"utterances": ["say hi"]}
    return await _hold(
        target, ({"type": "ovos.utterance.handle", "data": said, "context": {"session": one}} for one in sessions)
    )


async def impossible_events(target: Target) -> str:
    """Events at times that are none, and 150 that carry a megabyte."""
    times: list[object] = [1e300, -1e300, True, 9e15, 10**400, "now", None]
    events: list[dict[str, object]] = [{"time": one, "repeat": one} for one in times]
    events += [{"time": time.time() + 9e5, "data": {"x": "y" * 1_000_000}} for _ in range(150)]
    outcome = await _hold(
        target,
        (
            {
                "type": "mycroft.scheduler.schedule_event",
                "data": {"event": f"evil:{number}", **one},
                "context": {"skill_id": "evil"},
            }
            for number, one in enumerate(events)
        ),
    )
    promise(b"Traceback" not in target.log.read_bytes(), "there is a traceback in the log")
    return outcome


async def wrong_kinds(target: Target) -> str:
    """Messages of OVOS in which everything has the wrong type."""
    wrong: list[object] = [None, 7, [["x"]], {"a": {"b": 1}}, "", True]
    names = (
        "register_vocab",
        "register_intent",
        "padatious:register_intent",
        "padatious:register_entity",
        "mycroft.skills.loaded",
        "detach_intent",
        "add_context",
        "question:query.response",
        "skill.converse.pong",
        "skill.converse.get_response.enable",
        "intent.service.skills.activate",
        "mycroft.scheduler.update_event",
        "ovos.skills.fallback.register",
        "recognizer_loop:utterance",
        "ovos.session.sync",
    )
    fields = (
        "name",
        "id",
        "skill_id",
        "intent_name",
        "lang",
        "samples",
        "requires",
        "regex",
        "event",
        "context",
        "key",
    )
    outcome = await _hold(
        target,
        (
            {"type": name, "data": dict.fromkeys(fields, one), "context": {"skill_id": one}}
            for name in names
            for one in wrong
        ),
    )
    promise(b"Traceback" not in target.log.read_bytes(), "there is a traceback in the log")
    return outcome


ATTACKS = [
    Attack("bus", "an expression with 100,000 groups", endless_expression),
    Attack("bus", "50,000 words of a keyword", words_without_end),
    Attack("bus", "a word of 500 kB in 3,000 intents", words_in_many_intents),
    Attack("bus", "50,000 registrations that are refused", refused_registrations),
    Attack("bus", "answers of skills that are none", foreign_pongs),
    Attack("bus", "1,000 sessions of 60 kB", large_sessions),
    Attack("bus", "events at impossible times", impossible_events),
    Attack("bus", "OVOS Messages with wrong types", wrong_kinds),
]

ALONE = tuple(attack.run for attack in ATTACKS if attack.run not in (endless_expression, wrong_kinds))
"""Those that send so much that what is held has to be measured: they need an assistant of their own."""
