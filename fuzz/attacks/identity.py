"""Attacks in the name of others: a local client that says what only the assistant says, or another program."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from time import time
from typing import Any

from attacks.bus import one_marker
from attacks.target import Attack, HonestClient, Target, promise, send, utterance
from attacks.wire import Line, frame
from hark.bus import RemoteBus
from hark.bus.websocket import WebSocketCarrier
from hark.model import Message, SystemClock

_SKILL = "slow.example"


@asynccontextmanager
async def _client(target: Target) -> AsyncIterator[RemoteBus]:
    bus = RemoteBus(WebSocketCarrier(target.url, SystemClock()))
    await bus.open()
    try:
        yield bus
    finally:
        await bus.close()


@asynccontextmanager
async def _slow_program(target: Target) -> AsyncIterator[tuple[RemoteBus, Callable[[], Any]]]:
    """A program whose handler was called and has not ended; what returns the call."""
    async with _client(target) as bus:
        calls: asyncio.Queue[Message] = asyncio.Queue()
        bus.on(f"{_SKILL}:go", calls.put_nowait)
        data = {"skill_id": _SKILL, "intent_name": "go", "lang": "en-US", "samples": ["please be slow"]}
        bus.emit(Message("ovos.intent.register.template", {**data, "completes": True}))
        await bus.carrier.flush()

        async def called() -> Message:
            return await asyncio.wait_for(calls.get(), 10)

        yield bus, called


def _done(call: Message) -> Message:
    return call.forward("hark.handler.done", {"topic": call.type})


async def forged_calls(target: Target) -> str:
    """Calls of handlers of the assistant, and of another program, which no turn led to."""
    context = {"session": {"session_id": "forged"}, "utterance_id": "forged"}
    said = {"utterance": "say forged", "lang": "en-US", "slots": {"text": "forged"}}
    names = ("parrot.skill:say", "parrot.skill:response", "parrot.skill:stop", f"{_SKILL}:go")
    async with _client(target) as bus, _slow_program(target) as (program, _):
        heard: list[Message] = []
        bus.on("ovos.utterance.speak", heard.append)
        program.on(f"{_SKILL}:go", heard.append)
        await bus.carrier.flush()
        await program.carrier.flush()
        await send(target, *({"type": name, "data": said, "context": context} for name in names), pause=1.0)
        promise(not [one for one in heard if one.session_id == "forged"], "a handler was called without a turn")
    return f"{len(names)} calls dropped"


async def copied_markers(target: Target) -> str:
    """End markers with the context of the turns of others, as soon as these begin."""
    topics = ("ovos.utterance.handled", "ovos.intent.unmatched", "ovos.intent.handler.complete", "ovos.intent.matched")
    async with _client(target) as thief, HonestClient(target.url) as honest:

        def copy(entry: Message) -> None:
            for topic in topics:
                thief.emit(entry.forward(topic))

        thief.on("ovos.utterance.handle", copy)
        await thief.carrier.flush()
        for _ in range(10):
            answers, _ = await honest.ask("say hello")
            promise(answers == ["hello"], "a turn was ended by another client")
        await asyncio.sleep(0.3)
        promise(set(honest.markers.values()) == {1}, f"markers: {list(honest.markers.values())}")
    return "10 turns, one marker each"


async def ended_command(target: Target) -> str:
    """`hark say` while another client forges the end of its turn."""
    async with _slow_program(target) as (program, called), _client(target) as thief:
        thief.on(f"{_SKILL}:go", lambda call: thief.emit(call.forward("ovos.utterance.handled")))
        await thief.carrier.flush()
        saying = asyncio.ensure_future(target.hark("say", "please", "be", "slow", *target.places))
        call = await called()
        await asyncio.sleep(1)
        program.emit(call.forward("ovos.utterance.speak", {"utterance": "the answer", "lang": "en-US"}))
        program.emit(_done(call))
        _, text = await saying
        promise("the answer" in text, f"hark say was ended by another client: {text!r}")
    return "it waits for its own end"


async def taken_question(target: Target) -> str:
    """What is said in an open turn, by a client that is not its handler: the next words are not for that client."""
    async with (
        _slow_program(target) as (program, called),
        _client(target) as thief,
        HonestClient(target.url) as honest,
    ):
        taken: list[Message] = []
        thief.on("thief.example:response", taken.append)
        await thief.carrier.flush()
        first = honest.say("please be slow", "default")
        call = await called()
        assert call.session is not None
        asks = call.session.replace(response_mode={"skill_id": "thief.example", "expires_at": time() + 600})
        for name in (_SKILL, "thief.example", None):
            spoken = call.carrying(asks, skill_id=name).forward("ovos.utterance.speak", {"utterance": "x"})
            thief.emit(spoken)
            thief.emit(call.carrying(skill_id=name).forward("ovos.context.set", {"key": "k", "value": "stolen"}))
        await thief.carrier.flush()
        status, text = await target.hark("say", "say", "not", "for", "thieves", *target.places)
        program.emit(_done(call))
        await honest.ended(first)
        promise((status, text) == (0, "not for thieves\n"), f"the next words were taken: {text!r}")
        promise(not taken, "the next words went to another program")
        _, shown = await target.hark("session", "show", "--state", str(target.state))
        promise(f"{_SKILL}:k" not in shown, "another client remembers in the name of a skill")
        await target.hark("session", "reset", "--state", str(target.state))
    return "the question was not opened"


async def scheduled_signals(target: Target) -> str:
    """Schedules whose events are topics of the assistant: the scheduler would emit them in its own name."""
    events = ("hark.ready", "hark.handler.done", "ovos.utterance.handled", "ovos.utterance.handle", "ovos.stop.ping")
    async with _client(target) as bus:
        answers: list[Message] = []
        bus.on("ovos.scheduler.schedule.response", answers.append)
        await bus.carrier.flush()
        for event in events:
            for skill_id in {event.partition(".")[0], event.rpartition(".")[0]}:
                wanted = {"id": event, "event": event, "in": {"seconds": 1}}
                bus.emit(Message("ovos.scheduler.schedule", wanted, {"skill_id": skill_id}))
        await bus.carrier.flush()
        await asyncio.sleep(1)
        promise(answers, "no request was answered")
        made = [one.data["id"] for one in answers if one.data.get("ok")]
        promise(not made, f"the scheduler emits {made}")
    return f"{len(answers)} requests refused"


async def long_languages(target: Target) -> str:
    """Language tags of three megabytes, one of a million and a half parts."""
    entries = [utterance("say hi", {"session_id": f"lang-{number}"}) for number in range(2)]
    for entry, lang in zip(entries, ("e" * 3_000_000, "-".join(["en"] * 1_000_000)), strict=True):
        entry["data"] = {"utterances": ["say hi"], "lang": lang}
    await one_marker(target, *entries)
    return "one marker each"


async def large_open_turns(target: Target) -> str:
    """40 turns that never end, each with 3.9 MB of context, data or session."""
    before = target.memory
    async with _slow_program(target):
        line = await Line.open(target.url)
        await line.ask(target.url, b"Sec-WebSocket-Protocol: hark.2\r\n")
        for number in range(40):
            entry = utterance("please be slow", {"session_id": f"large-{number}"})
            parts = (entry["context"], entry["data"], entry["context"]["session"])  # type: ignore[index]
            parts[number % 3]["x"] = "x" * 3_900_000  # type: ignore[index]
            line.writer.write(frame(json.dumps(entry).encode()))
            await asyncio.wait_for(line.writer.drain(), 30)
        await asyncio.sleep(2)
        held = target.memory - before
        await line.end()
    promise(held < 90, f"{held:.0f} MB are held by open turns")
    return f"{held:.0f} MB while they are open"


ATTACKS = [
    Attack("bus", "calls of handlers without a turn", forged_calls),
    Attack("bus", "markers with the context of others", copied_markers),
    Attack("bus", "the end of hark say", ended_command),
    Attack("bus", "a question in the turn of another", taken_question),
    Attack("bus", "signals by way of the scheduler", scheduled_signals),
    Attack("bus", "language tags of megabytes", long_languages),
    Attack("bus", "40 open turns of 3.9 MB", large_open_turns),
]

ALONE = tuple(attack.run for attack in ATTACKS if attack.run not in (copied_markers, scheduled_signals, long_languages))
"""Those that have a program with a skill of its own, which there can be only once, or measure what is held."""
