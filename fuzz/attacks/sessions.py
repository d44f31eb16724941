"""Attacks over the websocket bus by sessions: on the device, and on those of other clients."""

from __future__ import annotations

import asyncio
import time

from attacks.bus import one_marker
from attacks.target import Attack, HonestClient, Target, promise, send, utterance
from attacks.wire import Line, frame
from hark.model import Message


async def _device_answers(target: Target, text: str = "device is well") -> None:
    status, said = await target.hark("say", "say", *text.split(), *target.places)
    promise((status, said) == (0, f"{text}\n"), f"hark say: {said!r}")


async def _stored(target: Target) -> str:
    _, shown = await target.hark("session", "show", "--state", str(target.state))
    return shown


async def ids_like_default(target: Target) -> str:
    """Ids that look like that of the device, with everything denied and another language: none is the device."""
    ids: tuple[str, ...] = (
        "Default",
        "DEFAULT",
        " default",
        "default ",
        "default\t",
        "default\u200b",
        "\ufeffdefault",
        "default\x00",
    )
    ids += (
        "\uff44\uff45\uff46\uff41\uff55\uff4c\uff54",
        "d\u0435fault",
        "default/",
        "./default",
        "default\n",
        "de\u00adfault",
    )
    poison = {"lang": "de-DE", "pipeline": ["nothing"], "site_id": "fuzz-site", "blacklisted_skills": ["parrot.skill"]}
    before = await _stored(target)
    await one_marker(target, *(utterance("say hi", {"session_id": one, **poison}) for one in ids))
    await _device_answers(target)
    promise("fuzz-site" not in await _stored(target) or "fuzz-site" in before, "it became the session of the device")
    return f"{len(ids)} ids"


async def handlers_never_called(target: Target) -> str:
    """A skill that puts itself into the session of the device as active, as asked, and as one that answers."""
    now = time.time()
    handler = [{"skill_id": "evil.skill", "activated_at": now}]
    claims: list[dict[str, object]] = [
        {"converse_handlers": handler},
        {"active_handlers": handler},
        {"active_skills": [["evil.skill", now]]},
        {"response_mode": {"skill_id": "evil.skill", "expires_at": now + 1_000}},
        {"response_mode": {"skill_id": "evil.skill", "expires_at": 1e308}},
        {"response_mode": {"skill_id": "parrot.skill", "expires_at": now + 1_000}},
        {"utterance_states": {"evil.skill": "response"}},
    ]
    line = await Line.open(target.url)
    try:
        await line.ask(target.url)
        line.writer.write(frame(b'{"type":"ovos.skill.loaded","data":{"skill_id":"evil.skill","completes":true}}'))
        for claim in claims:
            await one_marker(target, utterance("gibberish and nonsense", {"session_id": "default", **claim}))
            await _device_answers(target, "words for me alone")
    finally:
        await line.end()
    promise("evil.skill" not in await _stored(target), "the stored session names the skill")
    return f"{len(claims)} claims, none kept"


async def transformer_lists(target: Target) -> str:
    """Lists of transformers: 3,000 that are not there, those that are in another order, and what is no list."""
    kinds = ("audio", "utterance", "metadata", "intent", "dialog", "tts")
    lists: list[object] = [[f"t{n}" for n in range(3_000)], [[]], {"a": 1}, 7, "x", [None], [""], ["\x00"], []]
    entries = [
        utterance(
            "say hi", {"session_id": "default", f"{kind}_transformers": one, f"blacklisted_{kind}_transformers": one}
        )
        for kind in kinds
        for one in lists
    ]
    await one_marker(target, *entries)
    await _device_answers(target)
    promise("_transformers" not in await _stored(target), "the stored session has lists of transformers")
    return f"{len(entries)} utterances, one marker each"


async def silencing_others(target: Target) -> str:
    """Denials, languages and pipelines in the session of another client, while that client talks."""
    poison = {
        "blacklisted_skills": ["parrot.skill"],
        "blacklisted_pipelines": ["template"],
        "pipeline": [],
        "lang": "xx",
    }
    async with HonestClient(target.url) as honest:
        for number in range(10):
            await send(target, utterance("say hi", {"session_id": "victim", **poison}), pause=0.0)
            honest.say(f"say number {number}", "victim")
            answers = await honest.ended("victim", 10)
            promise(answers[-1:] == [f"number {number}"], f"it was answered {answers!r}")
        promise(set(honest.markers.values()) == {10}, "a turn had not one marker")
    return "10 turns answered"


async def context_of_others(target: Target) -> str:
    """Remembered values for skills of the assistant and for the sessions of others, set, unset and cleared."""
    changes = [
        Message("ovos.context.set", {"context": key, "key": key, "value": "stolen", "scope": scope}, context)
        for key in ("parrot.skill:x", "x", "../x", "\x00", "__proto__")
        for scope in ("global", "private", "session", 7)
        for context in (
            {"skill_id": "parrot.skill"},
            {"skill_id": "parrot.skill", "session": {"session_id": "victim"}},
            {"session": {"session_id": "victim"}, "utterance_id": "x"},
        )
    ]
    wire = [{"type": one.type, "data": dict(one.data), "context": dict(one.context)} for one in changes]
    await send(target, *wire, {"type": "ovos.context.clear", "data": {}, "context": {"skill_id": "parrot.skill"}})
    async with HonestClient(target.url) as honest:
        honest.say("say hello", "victim")
        promise(await honest.ended("victim") == ["hello"], "another session was disturbed")
    await _device_answers(target)
    promise("parrot.skill:" not in await _stored(target), "another client remembers in the name of a skill")
    return f"{len(wire)} changes"


async def deep_sessions(target: Target) -> str:
    """Sessions that are nested almost as deep as a Message may be, and whose lists hold what no list holds."""
    deep: object = "x"
    for _ in range(40):
        deep = {"a": [deep]}
    odd: list[dict[str, object]] = [
        {"x": deep},
        {"intent_context": deep},
        {"converse_handlers": [deep] * 20},
        {"intent_context": {f"k{n}": {"value": deep} for n in range(5)}},
        {"location": deep, "lang": deep},
        {"session_id": "deep", "expires_at": 10**4_000},
        {"touch_time": -(10**400)},
    ]
    await one_marker(target, *(utterance("say hi", {"session_id": "deep", **one}) for one in odd))
    await one_marker(target, *(utterance("say hi", {"session_id": "default", **one}) for one in odd[:5]))
    await _device_answers(target)
    return f"{2 * len(odd) - 2} utterances, one marker each"


async def many_languages(target: Target) -> str:
    """Utterances in 2,000 languages, each in a session of its own."""
    tags = [f"{a}{b}-{c}{d}" for a in "bcdfghjklm" for b in "aeiou" for c in "BCDF" for d in "GHJKLMNPQR"]
    entries = []
    for number, tag in enumerate(tags):
        entry = utterance("say hi", {"session_id": f"tag-{number}", "lang": tag})
        entries.append({**entry, "data": {"utterances": ["say hi"], "lang": tag}})
    before = target.memory
    for at in range(0, len(entries), 100):
        await one_marker(target, *entries[at : at + 100])
    held = target.memory - before
    promise(held < 30, f"{held:.0f} MB are held by languages")
    return f"{len(entries)} languages, {held:.0f} MB"


async def spoken_for_others(target: Target) -> str:
    """Speech, stops and sounds for the sessions of others, in the name of skills of the assistant."""
    kinds: tuple[tuple[str, dict[str, object]], ...] = (
        ("ovos.utterance.speak", {"utterance": "not from you", "lang": "en-US"}),
        ("ovos.utterance.speak.b64", {"utterance": "x" * 100_000, "lang": "en-US"}),
        ("ovos.audio.play_sound", {"uri": "/etc/passwd"}),
        ("ovos.audio.play_sound", {"uri": "/dev/zero"}),
        ("ovos.audio.play_sound", {"uri": "data:audio/wav;base64," + "A" * 100_000}),
        ("ovos.audio.queue", {"uri": "file:///dev/stdin"}),
        ("ovos.audio.queue", {"uri": "http://127.0.0.1:1/x.wav"}),
        ("ovos.audio.speech", {"audio": "//8=", "uri": "../../x"}),
        ("ovos.audio.volume", {"level": 1e308}),
        ("ovos.mic.listen", {}),
        ("ovos.listener.sleep", {}),
    )
    context = {"session": {"session_id": "victim"}, "skill_id": "parrot.skill"}
    await send(target, *({"type": kind, "data": data, "context": context} for kind, data in kinds), pause=0.5)
    await send(target, *({"type": kind, "data": data, "context": {}} for kind, data in kinds), pause=0.5)
    async with HonestClient(target.url) as honest:
        answers, _ = await honest.ask("say hello")
        promise(answers == ["hello"], "an honest client was answered something else")
    await _device_answers(target)
    promise(b"root:" not in target.log.read_bytes(), "a file was shown")
    return f"{len(kinds)} kinds"


async def same_turn_twice(target: Target) -> str:
    """Utterances with ids of turns that are open, over, or of no shape: each is a turn of its own."""
    ids: list[object] = ["x", "x", "", None, 7, ["x"], "\x00", "x" * 100_000, "../../x"]
    entries = [utterance("say hi", {"session_id": f"turn-{n}"}, utterance_id=one) for n, one in enumerate(ids)]
    await one_marker(target, *entries)
    async with HonestClient(target.url) as honest:
        seen: asyncio.Queue[object] = asyncio.Queue()
        honest._bus.on("ovos.intent.matched", lambda message: seen.put_nowait(message.context.get("utterance_id")))
        await honest.ask("say hello")
        open_id = await asyncio.wait_for(seen.get(), 5)
        await one_marker(target, utterance("say hi", {"session_id": "again"}, utterance_id=open_id))
        promise(set(honest.markers.values()) == {1}, "a turn had more than one marker")
    return f"{len(ids) + 1} utterances, one marker each"


ATTACKS = [
    Attack("bus", "ids that look like that of the device", ids_like_default),
    Attack("bus", "handlers that were never called", handlers_never_called),
    Attack("bus", "lists of transformers", transformer_lists),
    Attack("bus", "denials in the session of another", silencing_others),
    Attack("bus", "context of another session", context_of_others),
    Attack("bus", "sessions nested deep", deep_sessions),
    Attack("bus", "2,000 languages", many_languages),
    Attack("bus", "speech and sounds for another", spoken_for_others),
    Attack("bus", "ids of turns that are taken", same_turn_twice),
]

ALONE = (many_languages,)
"""Those that measure what the assistant holds: they need an assistant of their own."""
