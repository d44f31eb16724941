"""Attacks over the websocket bus by what is registered: names, numbers, expressions, the assistant's own skills."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager, suppress

from attacks.target import Attack, HonestClient, Target, promise, send, utterance
from attacks.wire import Line, frame

_GONE = 33.0
"""Seconds after which what a client registered is deleted when the client is gone, and some more."""
_MOST_WAIT = 5.0
"""Seconds that an honest turn may take meanwhile."""


@asynccontextmanager
async def _client(target: Target) -> AsyncIterator[Line]:
    line = await Line.open(target.url)
    promise(await line.ask(target.url), "a local client is not accepted")

    async def discard() -> None:
        with suppress(OSError):
            while await line.reader.read(1_048_576):
                pass

    reading = asyncio.create_task(discard())
    try:
        yield line
    finally:
        await line.end()
        await reading


async def _say_all(line: Line, messages: Iterable[Mapping[str, object]]) -> None:
    with suppress(OSError):
        for message in messages:
            line.writer.write(frame(json.dumps(message).encode()))
            await asyncio.wait_for(line.writer.drain(), 60)


class _Watch:
    """Honest turns while something else goes on; the slowest of them."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self.slowest = 0.0
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> _Watch:
        self._task = asyncio.create_task(self._talk())
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._task is not None
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task
        promise(self.slowest < _MOST_WAIT, f"an honest turn took {self.slowest:.1f} s")

    async def _talk(self) -> None:
        async with HonestClient(self._target.url) as honest:
            while True:
                answers, seconds = await honest.ask("say hello", 20)
                promise(answers == ["hello"], f"an honest client was answered {answers!r}")
                self.slowest = max(self.slowest, seconds)
                await asyncio.sleep(0.02)


def _template(skill_id: str, intent_name: str, *samples: str, **more: object) -> dict[str, object]:
    data = {"skill_id": skill_id, "intent_name": intent_name, "lang": "en-US", "samples": list(samples), **more}
    return {"type": "ovos.intent.register.template", "data": data}


async def skills_that_go(target: Target) -> str:
    """A client that registers 4,900 skills, and goes; 30 s later all of it is deleted."""
    before = target.memory
    async with _Watch(target) as watch:
        async with _client(target) as line:
            await _say_all(line, (_template(f"sk{n}", "x", f"gone skill number {n}") for n in range(4_900)))
            await asyncio.sleep(2)
        await asyncio.sleep(_GONE)
    return f"slowest honest turn {watch.slowest * 1000:.0f} ms; {target.memory - before:.0f} MB afterwards"


async def switched_off(target: Target) -> str:
    """An intent that is switched off in 20,000 sessions with long names."""
    before = target.memory
    data = {"skill_id": "off.example", "intent_name": "x"}
    async with _Watch(target) as watch, _client(target) as line:
        sessions = ({"session": {"session_id": f"{n}{'s' * 900}"}} for n in range(20_000))
        await _say_all(line, [_template("off.example", "x", "switch me off now")])
        await _say_all(line, ({"type": "ovos.intent.disable", "data": data, "context": one} for one in sessions))
        await asyncio.sleep(1)
        held = target.memory - before
        promise(held < 25, f"{held:.0f} MB are held by switches")
    return f"{held:.0f} MB; slowest honest turn {watch.slowest * 1000:.0f} ms"


async def switched_back_and_forth(target: Target) -> str:
    """500 intents that are switched off and on again, and registered anew, 20 times."""
    async with _Watch(target) as watch, _client(target) as line:
        kinds = ("ovos.intent.disable", "ovos.intent.enable", "ovos.intent.deregister")
        for _ in range(20):
            for n in range(500):
                data = {"skill_id": "flip.example", "intent_name": f"i{n}"}
                again = _template("flip.example", f"i{n}", f"flip (this|that) {n} [please]")
                await _say_all(line, [again, *({"type": kind, "data": data} for kind in kinds)])
        await asyncio.sleep(1)
    return f"40,000 Messages; slowest honest turn {watch.slowest * 1000:.0f} ms"


async def odd_names(target: Target) -> str:
    """Names of skills, intents, slots and entities that are paths, topics, or reserved."""
    names: list[object] = ["a:b", "a/b", "../../x", "", " ", "\x00", "a\nb", "*", ">", "{x}", "\u202e", "x" * 50_000]
    names += ["converse", "response", "stop", "a..b", ".", "a.", "__proto__", None, 7, ["x"], {"a": 1}, True]
    messages: list[dict[str, object]] = []
    for name in names:
        for kind in ("ovos.intent.register.template", "ovos.intent.register.keyword", "ovos.entity.register"):
            for field in ("skill_id", "intent_name", "entity_name", "lang", "name"):
                data: dict[str, object] = {
                    "skill_id": "odd.example",
                    "intent_name": "x",
                    "entity_name": "x",
                    "lang": "en-US",
                }
                data |= {"samples": ["odd words {x}"], "required": [{"name": "x", "samples": ["odd"]}], field: name}
                messages.append({"type": kind, "data": data})
        messages.append(utterance("odd words here", {"session_id": "odd-names"}))
    async with _Watch(target) as watch:
        await send(target, *messages, pause=1.0)
    promise(b"Traceback" not in target.log.read_bytes(), "there is a traceback in the log")
    return f"{len(messages)} Messages; slowest honest turn {watch.slowest * 1000:.0f} ms"


async def wrong_payloads(target: Target) -> str:
    """Registrations in which each field in turn has each wrong type."""
    wrong: list[object] = [None, 7, -1e308, True, "x", "", [], [[]], [None], {}, {"a": {"b": 1}}, [{"name": 7}], ["{"]]
    fields: tuple[str, ...] = (
        "samples",
        "required",
        "optional",
        "one_of",
        "excluded",
        "required_slots",
        "requires_context",
    )
    fields += ("excludes_context", "blacklist", "slot_blacklist", "slots", "capabilities", "completes", "priority")
    kinds: tuple[str, ...] = ("ovos.intent.register.template", "ovos.intent.register.keyword", "ovos.entity.register")
    kinds += ("ovos.skill.loaded", "ovos.fallback.register")
    messages = []
    for number, (kind, field) in enumerate((kind, field) for kind in kinds for field in fields):
        for one in wrong:
            data = {
                "skill_id": "wrong.example",
                "intent_name": f"i{number}",
                "entity_name": f"e{number}",
                "lang": "en-US",
            }
            messages.append({"type": kind, "data": {**data, "samples": ["wrong words"], field: one}})
    async with _Watch(target) as watch:
        await send(
            target, *messages, *(utterance("wrong words", {"session_id": f"w{n}"}) for n in range(20)), pause=1.0
        )
    promise(b"Traceback" not in target.log.read_bytes(), "there is a traceback in the log")
    return f"{len(messages)} registrations; slowest honest turn {watch.slowest * 1000:.0f} ms"


async def backtracking(target: Target) -> str:
    """Regular expressions that take for ever on words that almost fit, in both ways to register one."""
    expressions = (
        "(?P<evil>(a+)+b)$",
        "(?P<evil>(a|aa)+$)",
        "(?P<evil>(.*a){25})",
        "(?P<evil>a{1,500}b{1,500}a{1,500})",
    )
    messages: list[dict[str, object]] = []
    for number, one in enumerate(expressions):
        skill_id = f"regex{number}.example"
        required = [{"name": "evil", "samples": ["zz"], "patterns": [one]}]
        data = {"skill_id": skill_id, "intent_name": "x", "lang": "en-US", "required": required}
        messages.append({"type": "ovos.intent.register.keyword", "data": data})
        context = {"skill_id": f"legacy.{skill_id}"}
        intent = {"name": f"legacy.{skill_id}:x", "requires": [["evil", "evil"]]}
        messages.append({"type": "register_vocab", "data": {"regex": one, "lang": "en-US"}, "context": context})
        messages.append({"type": "register_intent", "data": intent, "context": context})
    async with _client(target) as line, _Watch(target) as watch:
        await _say_all(line, messages)
        await asyncio.sleep(1)
        said = ("a" * 40 + " c", "a " * 200 + "c", "a" * 4_000)
        await _say_all(line, (utterance(text, {"session_id": f"r{n}"}) for n, text in enumerate(said)))
        await asyncio.sleep(4)
    return f"{len(expressions)} expressions; slowest honest turn {watch.slowest * 1000:.0f} ms"


async def everything_is_mine(target: Target) -> str:
    """Intents that fit every sentence, and the sentences of the assistant's own skills; who asks for it gets theirs."""
    samples = ("{anything}", "say {text}", "say hello", "what time is it", "stop", "[say] (hello|{x})", "{a} {b}")
    async with _client(target) as line:
        await _say_all(line, [_template("mine.example", f"i{n}", one) for n, one in enumerate(samples)])
        await _say_all(
            line, [_template(one, "say", "say {text}") for one in ("parrot.skill", "stop", "converse", "clock")]
        )
        await asyncio.sleep(0.5)
        denied = {"session_id": "not-mine", "blacklisted_skills": ["mine.example"]}
        async with HonestClient(target.url) as honest:
            data = {"utterances": ["say hello"], "lang": "en-US"}
            honest.say("", "not-mine", data)
            await honest.ended("not-mine", 15)
        entry = utterance("say hello", denied)
        await send(target, entry, pause=0.3)
        status, text = await target.hark("say", "--intent", "parrot.skill:say", "--slot", "text=mine", *target.places)
        promise((status, text) == (0, "mine\n"), f"an intent called by its name: {text!r}")
    await asyncio.sleep(0.5)
    return "the assistant's own intents can be called"


async def silent_fallbacks(target: Target) -> str:
    """500 fallbacks with every priority, none of which answers: what is not understood ends all the same."""
    odd: list[object] = [-1e308, 1e308, "x", None, True, [], 10**30]
    async with _client(target) as line, HonestClient(target.url) as honest:
        for n in range(500):
            data = {"skill_id": f"fb{n}", "priority": odd[n % len(odd)] if n < 50 else n % 100}
            await _say_all(line, [{"type": "ovos.fallback.register", "data": data}])
        await asyncio.sleep(0.5)
        slowest = 0.0
        for _ in range(6):
            began = time.monotonic()
            await honest.ended(honest.say("gibberish and nonsense"), 20)
            slowest = max(slowest, time.monotonic() - began)
        promise(slowest < 5, f"what is not understood ends after {slowest:.1f} s")
    return f"slowest end {slowest * 1000:.0f} ms"


async def answers_to_all_polls(target: Target) -> str:
    """A client that answers every question of the assistant to skills at once, in the name of each of them."""
    names = ("parrot.skill", "stop", "converse", "fallback", "evil.skill", "clock")
    topics = ("ovos.converse.pong", "ovos.stop.pong", "ovos.fallback.pong", "ovos.common_query.pong")
    answers = [
        {
            "type": topic,
            "data": {"skill_id": name, "can_handle": True, "result": True, "conf": 1e308},
            "context": context,
        }
        for topic in topics
        for name in names
        for context in (
            {},
            {"session": {"session_id": "victim"}},
            {"session": {"session_id": "victim"}, "utterance_id": "x"},
        )
    ]
    async with _client(target) as line, HonestClient(target.url) as honest:
        flood = asyncio.create_task(_say_all(line, answers * 200))
        for number in range(20):
            honest.say(f"say number {number}", "victim")
            answered = await honest.ended("victim", 15)
            promise(answered[-1:] == [f"number {number}"], f"it was answered {answered!r}")
        await flood
        promise(set(honest.markers.values()) == {20}, "a turn had not one marker")
    return f"{len(answers) * 200} answers, 20 turns with one marker each"


async def lists_of_everything(target: Target) -> str:
    """4,900 long intents, and 400 questions which of them there are: each answer has megabytes."""
    before = target.memory
    async with _Watch(target) as watch, _client(target) as line:
        await _say_all(line, (_template("list.example", f"i{n}", f"list {n} {'x' * 500}") for n in range(4_900)))
        names = ("ovos.intent.list", "ovos.skills.list", "ovos.intent.describe", "ovos.pipeline.template.intents.list")
        await _say_all(line, ({"type": name, "data": {}} for name in names * 100))
        await asyncio.sleep(3)
        held = target.memory - before
    promise(held < 110, f"{held:.0f} MB are held")
    return f"{held:.0f} MB; slowest honest turn {watch.slowest * 1000:.0f} ms"


async def intents_in_many_languages(target: Target) -> str:
    """An intent in 2,000 languages."""
    tags = [f"{a}{b}-{c}{d}" for a in "bcdfghjklm" for b in "aeiou" for c in "BCDF" for d in "GHJKLMNPQR"]
    before = target.memory
    async with _Watch(target) as watch, _client(target) as line:
        await _say_all(line, (_template("tags.example", "x", f"say it {tag}", lang=tag) for tag in tags))
        await asyncio.sleep(2)
        held = target.memory - before
        promise(held < 60, f"{held:.0f} MB are held by languages")
    return f"{len(tags)} languages, {held:.0f} MB; slowest honest turn {watch.slowest * 1000:.0f} ms"


async def personas(target: Target) -> str:
    """Personas that are registered over the bus, with addresses, files and prompts of the client."""
    definitions: list[dict[str, object]] = [
        {"name": "Evil", "url": "http://127.0.0.1:1", "key": "/etc/passwd"},
        {"name": "../../x", "handlers": ["os.system"], "solvers": ["x"]},
        {"name": "x" * 100_000, "memory": 10**30},
        {"name": "", "data": {"a": 1}},
        {"persona": {"name": 7}},
    ]
    kinds = ("ovos.persona.register", "ovos.persona.deregister", "ovos.persona.query", "ovos.persona.list")
    async with _Watch(target) as watch:
        await send(target, *({"type": kind, "data": one} for kind in kinds for one in definitions * 50), pause=1.0)
    promise(b"Traceback" not in target.log.read_bytes(), "there is a traceback in the log")
    return f"{len(kinds) * len(definitions) * 50} Messages; slowest honest turn {watch.slowest * 1000:.0f} ms"


async def odd_schedules(target: Target) -> str:
    """Schedules in zones that are paths, at times that are none, by rules that never end."""
    times: list[dict[str, object]] = [
        {"at": "2026-13-45T99:99"},
        {"at": "9" * 5_000},
        {"at": 10**400},
        {"at": "2030-01-01T00:00", "tz": "../../etc/passwd"},
        {"at": "2030-01-01T00:00", "timezone": "/etc/passwd"},
        {"at": "2030-01-01T00:00", "zone": "x" * 100_000},
        {"in": {"seconds": -1e308}},
        {"in": {"years": 10**30}},
        {"every": {"seconds": 1e-300}},
        {"every": {"days": 1e308}},
        {"rrule": "FREQ=SECONDLY;COUNT=1000000000"},
        {"rrule": "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"},
        {"cron": "* * * * * *"},
        {"cron": "*/0 99 31 2 *"},
        {"at": ["x"] * 10_000},
    ]
    requests: list[dict[str, object]] = [
        {
            "type": "ovos.scheduler.schedule",
            "data": {"id": f"odd{n}", "event": "odd.example.ring", "ephemeral": True, **one},
            "context": {"skill_id": "odd.example"},
        }
        for n, one in enumerate(times)
    ]
    undo = [
        {"type": "ovos.scheduler.cancel", "data": {"id": f"odd{n}"}, "context": {"skill_id": "odd.example"}}
        for n in range(len(times))
    ]
    async with _Watch(target) as watch:
        await send(target, *requests, pause=1.5)
        await send(target, *undo, pause=0.5)
    promise(b"Traceback" not in target.log.read_bytes(), "there is a traceback in the log")
    return f"{len(times)} schedules; slowest honest turn {watch.slowest * 1000:.0f} ms"


ATTACKS = [
    Attack("bus", "an intent switched off in 20,000 sessions", switched_off),
    Attack("bus", "intents switched off and on", switched_back_and_forth),
    Attack("bus", "names that are paths and topics", odd_names),
    Attack("bus", "registrations of every wrong type", wrong_payloads),
    Attack("bus", "expressions that backtrack", backtracking),
    Attack("bus", "intents that fit everything", everything_is_mine),
    Attack("bus", "500 fallbacks that do not answer", silent_fallbacks),
    Attack("bus", "answers to all polls", answers_to_all_polls),
    Attack("bus", "lists of 4,900 intents", lists_of_everything),
    Attack("bus", "an intent in 2,000 languages", intents_in_many_languages),
    Attack("bus", "personas of a client", personas),
    Attack("bus", "schedules in odd zones and times", odd_schedules),
    Attack("bus", "4,900 skills that go at once", skills_that_go),
]

ALONE = (
    switched_off,
    lists_of_everything,
    intents_in_many_languages,
    skills_that_go,
    everything_is_mine,
    silent_fallbacks,
)
"""Those that measure what the assistant holds, or change what others are answered: they need one of their own."""
