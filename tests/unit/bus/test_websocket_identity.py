"""What a client may say and hear, by what it is: one of Hark's services, the owner of a skill, or any client."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

import pytest
from websocket_fixtures import Raw, connected, eventually, raw, serving

from hark.bus import LocalBus, RemoteBus
from hark.bus.websocket import BusUnavailable, Credential, Permissions, ServerLimits, WebSocketCarrier
from hark.model import Message, Session, SystemClock, decode
from hark.spec import topics
from hark.testing import FakeClock
from hark.testing.memory_broker import MemoryBroker

SERVICE = Permissions(private=True)
BOUND = Permissions(sources=("bed",), sessions=("bedroom",))


class Tokens:
    """Credentials by their tokens."""

    def __init__(self, **tokens: Permissions) -> None:
        self.known = {token: Credential(token, permissions) for token, permissions in tokens.items()}

    def find(self, token: str) -> Credential | None:
        return self.known.get(token)

    def is_valid(self, credential: Credential) -> bool:
        return credential in self.known.values()


def wire(topic: str, data: Mapping[str, Any] | None = None, **context: Any) -> bytes:
    return json.dumps({"type": topic, "data": data or {}, "context": context}).encode()


def template(skill_id: str, name: str = "go", samples: int = 1) -> bytes:
    data = {"skill_id": skill_id, "intent_name": name, "lang": "en-US", "samples": ["x"] * samples}
    return wire(topics.REGISTER_TEMPLATE, data)


def done(skill_id: str) -> bytes:
    return wire(topics.HANDLER_DONE, {"topic": f"{skill_id}:go"}, utterance_id="u1")


class Rig:
    """A server, and everything that came onto its bus."""

    def __init__(self, bus: LocalBus, url: str) -> None:
        self.bus = bus
        self.url = url
        self.messages: list[Message] = []
        bus.tap(self.messages.append)

    @property
    def types(self) -> list[str]:
        return [one.type for one in self.messages if not one.type.startswith(("hark.fence", "test.end"))]

    async def said(self, client: Raw, *frames: bytes) -> list[str]:
        """What came onto the bus of what a client sent."""
        self.messages.clear()
        for frame in (*frames, wire("test.end")):
            client.send(frame)
        await eventually(lambda: any(one.type == "test.end" for one in self.messages))
        return self.types


@pytest.mark.parametrize("topic", ["hark.handler.accepted", "hark.handler.done", "hark.ready", "hark.anything"])
async def test_a_private_topic_of_any_client_is_dropped(topic: str, caplog: pytest.LogCaptureFixture) -> None:
    bus = LocalBus()
    async with serving(bus=bus, credentials=Tokens(guest=Permissions())) as (_, url):
        rig = Rig(bus, url)
        for client in (await raw(url), await raw(f"{url}/guest")):
            frames = [wire(topic, {"topic": "x:y"})] * 50
            assert await rig.said(client, *frames, wire("test.public")) == ["test.public"]
            await client.end()
    assert 1 <= caplog.text.count("dropped a Message") <= 3, "one line for all of them"
    await bus.close()


async def test_private_topics_are_for_services_alone() -> None:
    bus = LocalBus()
    heard: list[str] = []
    async with (
        serving(bus=bus, credentials=Tokens(service=SERVICE, guest=Permissions())) as (_, url),
        connected(url, token="service", private=True) as service,
        connected(url, token="guest") as guest,
    ):
        ovos = await raw(url)
        service.on("hark.secret", lambda _: heard.append("service"))
        service.tap(lambda message: heard.append(f"service's tap: {message.type}"))
        guest.on("hark.secret", lambda _: heard.append("guest"))
        guest.tap(lambda message: heard.append(f"guest's tap: {message.type}"))
        for one in (service, guest):
            await one.carrier.flush()
        bus.emit(Message("hark.secret"))
        service.emit(Message("hark.secret"))
        bus.emit(Message("test.public"))
        await ovos.until(lambda frames: any(b"test.public" in frame for frame in frames))
        for one in (service, guest):
            await one.carrier.flush()
        assert not any(b"hark.secret" in frame for frame in ovos.frames)
        await ovos.end()
    assert heard.count("service") == 2
    assert heard.count("service's tap: hark.secret") == 2
    assert [one for one in heard if one.startswith("guest")] == ["guest's tap: test.public"]
    await bus.close()


async def test_a_service_is_told_at_once_when_the_bus_does_not_know_it() -> None:
    async with serving(credentials=Tokens(guest=Permissions())) as (_, url):
        for token in ("", "guest", "wrong"):
            carrier = WebSocketCarrier(url, SystemClock(), token=token, private=True)
            with pytest.raises(BusUnavailable, match="service token") as refused:
                await carrier.open(lambda _frame, _via: None)
            assert refused.value.final
            await carrier.close()


async def test_any_client_can_wait_until_the_bus_has_settled() -> None:
    async with serving() as (_, url), connected(url) as bus:
        heard: list[str] = []
        bus.on("test.note", lambda message: heard.append(message.type))
        bus.emit(Message("test.note"))
        assert await bus.settled() == []
        assert heard == ["test.note"]


async def test_only_the_connection_of_a_skill_says_that_its_handler_is_done() -> None:
    bus = LocalBus()
    async with serving(bus=bus) as (_, url):
        rig = Rig(bus, url)
        program, other = await raw(url), await raw(url)
        assert await rig.said(program, template("cook")) == [topics.SKILL_ATTACHED, topics.REGISTER_TEMPLATE]
        assert rig.messages[0].data["skill_ids"] == ("cook",)
        assert await rig.said(other, done("cook"), done("unknown")) == []
        ended = await rig.said(program, done("cook"), done("other"))
        assert ended == [topics.SKILL_ATTACHED, topics.HANDLER_DONE], "from now on it is known to say so"
        complete = wire("mycroft.skill.handler.complete", {}, skill_id="cook", utterance_id="u1")
        assert await rig.said(other, complete) == []
        assert await rig.said(program, complete) == [topics.HANDLER_DONE], "it is not relayed"
        assert [m.data for m in rig.messages if m.type == topics.HANDLER_DONE][-1] == {"skill_id": "cook"}
        assert await rig.said(program, wire("mycroft.skill.handler.complete", {}, skill_id="cook")) == []
        await program.end()
        await other.end()
    await bus.close()


@pytest.mark.parametrize(
    "frame",
    [
        template("cook", "other"),
        wire(topics.REGISTER_KEYWORD, {"skill_id": "cook", "intent_name": "k", "lang": "en-US"}),
        wire(topics.ENTITY_REGISTER, {"skill_id": "cook", "entity_name": "k", "lang": "en-US", "samples": ["x"]}),
        wire(topics.SKILL_LOADED, {"skill_id": "cook"}),
        wire(topics.FALLBACK_REGISTER, {"skill_id": "cook"}),
        wire(topics.INTENT_DEREGISTER, {"skill_id": "cook", "intent_name": "go"}),
        wire(topics.SKILL_DEREGISTER, {"skill_id": "cook"}),
        wire(topics.SKILL_DEREGISTER),
        wire(topics.INTENT_DEREGISTER, {"intent_name": "go"}),
        wire(topics.INTENT_DISABLE, {"skill_id": "cook", "intent_name": "go"}),
        wire(topics.CONVERSE_PONG, {"skill_id": "cook", "can_handle": True}),
        wire(topics.COMMON_QUERY_RESPONSE, {"skill_id": "cook"}),
    ],
    ids=lambda frame: json.loads(frame)["type"],
)
@pytest.mark.parametrize("owner", ["a client", "the assistant", "before the server"])
async def test_no_other_client_speaks_in_the_name_of_a_skill(frame: bytes, owner: str) -> None:
    bus = LocalBus()
    reserved = ["cook"] if owner == "before the server" else []
    async with serving(bus=bus, reserved=reserved) as (_, url):
        rig = Rig(bus, url)
        program, other = await raw(url), await raw(url)
        if owner == "a client":
            await rig.said(program, template("cook"))
        elif owner == "the assistant":
            bus.emit(decode(template("cook")))
        assert await rig.said(other, frame) == []
        if owner == "a client" and b"cook" in frame:
            assert len(await rig.said(program, frame)) == 1
        await program.end()
        await other.end()
    await bus.close()


OF_AN_ASSISTANT = [
    topics.UTTERANCE_HANDLED,
    topics.INTENT_MATCHED,
    topics.INTENT_UNMATCHED,
    topics.HANDLER_START,
    topics.HANDLER_COMPLETE,
    topics.HANDLER_ERROR,
    topics.INTENTS_READY,
]


@pytest.mark.parametrize("how", ["its own", "of its services"])
async def test_only_an_assistant_says_how_turns_go_and_calls_handlers(how: str) -> None:
    bus = LocalBus()
    options: dict[str, Any] = {"credentials": Tokens(service=SERVICE), "has_assistant": how == "its own"}
    async with serving(bus=bus, reserved=["clock"], **options) as (_, url):
        rig = Rig(bus, url)
        program, other = await raw(url), await raw(url)
        await rig.said(program, template("cook"))
        forged = [*(wire(topic) for topic in OF_AN_ASSISTANT), wire("cook:go"), wire("clock:time")]
        if how == "of its services":
            allowed = await rig.said(other, *forged)
            assert len(allowed) == len(forged), "a bus without an assistant is for whatever is there"
            service = await raw(f"{url}/service")
        assert await rig.said(other, *forged, wire("tea:go")) == ["tea:go"]
        assert await rig.said(program, wire("cook:go")) == ["cook:go"]
        if how == "of its services":
            assert len(await rig.said(service, *forged)) == len(forged)
            await service.end()
        await program.end()
        await other.end()
    await bus.close()


async def test_what_a_client_says_in_the_name_of_a_skill_of_another_counts_as_no_skills() -> None:
    bus = LocalBus()
    async with serving(bus=bus, reserved=["clock"]) as (_, url):
        rig = Rig(bus, url)
        program, other = await raw(url), await raw(url)
        await rig.said(program, template("cook"))
        for speaker, name, left in ((program, "cook", "cook"), (other, "cook", None), (other, "clock", None)):
            frame = wire(topics.UTTERANCE_SPEAK, {"utterance": "x"}, skill_id=name, utterance_id="u1")
            await rig.said(speaker, frame)
            [spoken] = [one for one in rig.messages if one.type == topics.UTTERANCE_SPEAK]
            assert spoken.context.get("skill_id") == left
            heard = await other.until(lambda frames: any(b"ovos.utterance.speak" in one for one in frames))
            [passed] = [json.loads(one) for one in heard if b"ovos.utterance.speak" in one]
            assert passed["context"].get("skill_id") == left, "also for other processes"
            other.frames.clear()
            remember = wire(topics.CONTEXT_SET, {"key": "k", "value": "v"}, skill_id=name, utterance_id="u1")
            assert (topics.CONTEXT_SET in await rig.said(speaker, remember)) is bool(left)
        await program.end()
        await other.end()
    await bus.close()


@pytest.mark.parametrize("topic", [topics.SKILL_ASK, topics.READY])
async def test_a_service_that_asks_which_programs_are_connected_is_told(topic: str) -> None:
    async with serving(credentials=Tokens(service=SERVICE)) as (_, url):
        program, service = await raw(url), await raw(f"{url}/service")
        program.send(wire(topics.SKILL_LOADED, {"skill_id": "cook", "completes": True}))
        await service.until(lambda frames: any(b"hark.skill.attached" in one for one in frames))
        service.frames.clear()
        service.send(wire(topic))
        heard = await service.until(lambda frames: any(b"hark.skill.attached" in one for one in frames))
        [told] = [json.loads(one)["data"] for one in heard if b"hark.skill.attached" in one]
        assert (told["skill_ids"], told["completes"]) == (["cook"], ["cook"])
        await program.end()
        await service.end()


async def test_services_are_told_which_client_an_utterance_comes_from() -> None:
    async with serving(credentials=Tokens(service=SERVICE)) as (_, url):
        service, *clients = [await raw(f"{url}/service"), await raw(url), await raw(url)]
        for client in clients:
            client.send(wire(topics.UTTERANCE_HANDLE, {"utterances": ["x"]}, hark_client="forged"))
        heard = await service.until(lambda frames: sum(b"ovos.utterance.handle" in one for one in frames) == 2)
        told = [json.loads(one)["context"]["hark_client"] for one in heard if b"ovos.utterance.handle" in one]
        assert len({*told, "forged"}) == 3
        for client in (service, *clients):
            await client.end()


@pytest.mark.parametrize("owner", ["a client", "the assistant", "before the server"])
async def test_only_the_scheduler_fires_the_events_of_a_skill(owner: str) -> None:
    bus = LocalBus()
    async with serving(bus=bus, reserved=["cook.skill"] if owner == "before the server" else []) as (_, url):
        rig = Rig(bus, url)
        program, other = await raw(url), await raw(url)
        if owner == "a client":
            await rig.said(program, template("cook.skill"))
        elif owner == "the assistant":
            bus.emit(decode(template("cook.skill")))
        fired = {"id": "egg", "skill_id": "cook.skill", "due": "2026-11-17T20:05:00Z"}
        for skill_id in ("cook.skill", "another.skill"):
            forged = wire("cook.skill.ring", {"kind": "timer"}, scheduler={**fired, "skill_id": skill_id})
            assert await rig.said(other, forged) == []
        # What a skill says when one of its events was fired has the same context.
        assert len(await rig.said(other, wire("ovos.utterance.speak", {"utterance": "x"}, scheduler=fired))) == 1
        assert len(await rig.said(other, wire("cook.skill.ring"))) == 1
        await program.end()
        await other.end()
    await bus.close()


@pytest.mark.parametrize(
    "topic",
    [topics.SCHEDULER_SCHEDULE, topics.SCHEDULER_CANCEL, topics.SCHEDULER_GET, topics.SCHEDULER_LIST],
)
async def test_a_request_about_the_schedules_of_another_is_answered_with_a_refusal(topic: str) -> None:
    bus = LocalBus()
    async with serving(bus=bus, reserved=["cook.skill"]) as (_, url):
        rig = Rig(bus, url)
        program = await raw(url)
        await rig.said(program, template("mine.skill"))
        assert await rig.said(program, wire(topic, {"id": "egg"}, skill_id="cook.skill")) == [f"{topic}.response"]
        assert [one.data["error"] for one in rig.messages if one.type == f"{topic}.response"] == ["skill_id_mismatch"]
        assert await rig.said(program, wire(topic, {"id": "egg"}, skill_id="mine.skill")) == [topic]
        await program.end()
    await bus.close()


async def test_a_skill_is_kept_for_its_token_until_30_s_after_the_connection_is_gone() -> None:
    clock, bus = FakeClock(), LocalBus()
    async with serving(clock, bus=bus, credentials=Tokens(cook=Permissions(), thief=Permissions())) as (server, url):
        rig = Rig(bus, url)
        program, thief = await raw(f"{url}/cook"), await raw(f"{url}/thief")
        await rig.said(program, template("cook"))
        rig.messages.clear()
        await program.end()
        await eventually(lambda: len(server) == 1)
        assert [one.data["skill_ids"] for one in rig.messages if one.type == topics.SKILL_DETACHED] == [("cook",)]
        assert await rig.said(thief, template("cook")) == []
        again = await raw(f"{url}/cook")
        assert await rig.said(again, template("cook")) == [topics.SKILL_ATTACHED, topics.REGISTER_TEMPLATE]
        await clock.advance(4.0)
        await again.end()
        await eventually(lambda: len(server) == 1)
        for _ in range(7):
            assert await rig.said(thief, template("cook")) == []
            await clock.advance(4.0)
        await rig.said(thief)
        await clock.advance(2.0)
        assert await rig.said(thief, template("cook")) == [topics.SKILL_ATTACHED, topics.REGISTER_TEMPLATE]
        await thief.end()
    await bus.close()


async def test_a_local_program_that_comes_back_has_its_skill_again() -> None:
    bus = LocalBus()
    async with serving(bus=bus) as (server, url):
        rig = Rig(bus, url)
        program, other = await raw(url), await raw(url)
        await rig.said(program, template("cook"))
        assert await rig.said(other, template("cook")) == [], "the first one is still there"
        await program.end()
        await eventually(lambda: len(server) == 1)
        again = await raw(url)
        assert await rig.said(again, template("cook")) == [topics.SKILL_ATTACHED, topics.REGISTER_TEMPLATE]
        assert await rig.said(other, template("cook"), done("cook")) == []
        await again.end()
        await other.end()
    await bus.close()


async def test_a_skill_of_a_client_of_another_server_is_known_on_the_same_bus() -> None:
    clock, broker = FakeClock(), MemoryBroker()
    here, there = RemoteBus(broker.carrier()), RemoteBus(broker.carrier())
    await here.open()
    await there.open()
    async with serving(clock, bus=here) as (_, url), serving(clock, bus=there) as (other_server, other_url):
        rig, other_rig = Rig(here, url), Rig(there, other_url)  # type: ignore[arg-type]
        thief, program = await raw(url), await raw(other_url)
        await other_rig.said(program, template("cook"))
        assert await rig.said(thief, template("cook"), done("cook")) == []
        await program.end()
        await eventually(lambda: len(other_server) == 0)
        for _ in range(10):
            assert await rig.said(thief, template("cook")) == []
            await clock.advance(3.0)
        await rig.said(thief)
        assert topics.REGISTER_TEMPLATE in await rig.said(thief, template("cook"))
        await thief.end()
    await here.close()
    await there.close()


async def test_the_id_of_a_plugin_is_that_of_the_service_that_has_it_whoever_was_first() -> None:
    bus = LocalBus()
    async with serving(bus=bus, credentials=Tokens(service=SERVICE)) as (_, url):
        it = Rig(bus, url)
        early, late = await raw(it.url), await raw(it.url)
        assert topics.REGISTER_TEMPLATE in await it.said(early, template("a.skill"))
        service = await raw(it.url, Authorization="Bearer service")
        await it.said(service, wire(topics.PLUGINS, {"skill_ids": ["a.skill", "b.skill"]}))
        for client in (early, late):
            for skill_id in ("a.skill", "b.skill"):
                assert await it.said(client, template(skill_id, "other"), done(skill_id)) == []
        for client in (early, late, service):
            await client.end()
    await bus.close()


async def test_switching_an_intent_off_in_many_sessions_counts_as_registering_it() -> None:
    bus = LocalBus()
    async with serving(bus=bus, limits=ServerLimits(registrations=4)) as (_, url):
        it = Rig(bus, url)
        client = await raw(it.url)

        def switch(topic: str, session_id: str) -> bytes:
            return wire(topic, {"skill_id": "a.skill", "intent_name": "go"}, session={"session_id": session_id})

        off = [switch(topics.INTENT_DISABLE, f"s{number}") for number in range(5)]
        passed = await it.said(client, template("a.skill"), *off)
        assert passed.count(topics.INTENT_DISABLE) == 3
        assert await it.said(client, switch(topics.INTENT_ENABLE, "s1"), off[4], off[3]) == [
            topics.INTENT_ENABLE,
            topics.INTENT_DISABLE,
        ]
        gone = wire(topics.INTENT_DEREGISTER, {"skill_id": "a.skill", "intent_name": "go"})
        passed = await it.said(client, gone, template("a.skill"), *off)
        assert passed.count(topics.INTENT_DISABLE) == 3
        await client.end()
    await bus.close()


async def test_a_bound_token_emits_with_its_source_and_in_its_sessions_only(caplog: pytest.LogCaptureFixture) -> None:
    bus = LocalBus()
    async with serving(bus=bus, credentials=Tokens(bed=BOUND)) as (_, url):
        rig = Rig(bus, url)
        client = await raw(f"{url}/bed")
        session = {"session_id": "bedroom"}
        good = wire("test.good", source="bed", session=session)
        bad = (
            wire("test.bad", session=session),
            wire("test.bad", source="kitchen", session=session),
            wire("test.bad", source=["kitchen", "bed"], session=session),
            wire("test.bad", source="bed"),
            wire("test.bad", source="bed", session={}),
            wire("test.bad", source="bed", session={"session_id": "default"}),
            wire("test.bad", source="bed", session={"session_id": "kitchen"}),
            b'{"type":"test.bad","context":{"source":"bed","session":{"session_id":"bedroom","session_id":"x"}}}',
        )
        rig.messages.clear()
        for frame in (*bad, good):
            client.send(frame)
        await eventually(lambda: "test.good" in rig.types)
        assert rig.types == ["test.good"]
        client.send(b'{"type":"test.twice","context":{"source":"x","source":"bed","session":{"session_id":"bedroom"}}}')
        frames = await client.until(lambda frames: any(b"test.twice" in frame for frame in frames))
        assert b'"x"' not in frames[-1], "what was checked is passed on"
        assert len(frames) == 3, "the sender learns nothing of what was dropped"
        await client.end()
    assert "source" in caplog.text
    await bus.close()


async def test_a_question_is_not_answered_by_a_client_of_another_session() -> None:
    bus = LocalBus()
    async with serving(bus=bus, credentials=Tokens(bed=BOUND)) as (_, url):
        rig = Rig(bus, url)
        client = await raw(f"{url}/bed")
        answer = {"utterances": ["yes"]}
        client.send(wire(topics.UTTERANCE_HANDLE, answer, source="bed", session={"session_id": "kitchen"}))
        client.send(wire(topics.UTTERANCE_HANDLE, answer, source="bed", session={"session_id": "bedroom"}))
        await eventually(lambda: bool(rig.types))
        assert [one.session_id for one in rig.messages] == ["bedroom"]
        await client.end()
    await bus.close()


@pytest.mark.parametrize(
    ("limits", "allowed"),
    [(ServerLimits(registrations=3), 3), (ServerLimits(registration_bytes=3 * len(template("cook", "n0"))), 3)],
    ids=["count", "bytes"],
)
async def test_what_a_client_registers_is_bounded(limits: ServerLimits, allowed: int) -> None:
    bus = LocalBus()
    async with serving(limits=limits, bus=bus) as (_, url):
        rig = Rig(bus, url)
        client, other = await raw(url), await raw(url)
        said = await rig.said(client, *(template("cook", f"n{n}") for n in range(9)))
        assert said.count(topics.REGISTER_TEMPLATE) == allowed
        assert topics.REGISTER_TEMPLATE in await rig.said(client, template("cook", "n0")), "the same one again"
        assert topics.REGISTER_TEMPLATE in await rig.said(other, template("wash", "n0")), "others have their own share"
        deregister = wire(topics.INTENT_DEREGISTER, {"skill_id": "cook", "intent_name": "n0"})
        assert await rig.said(client, deregister, template("cook", "n8")) == [
            topics.INTENT_DEREGISTER,
            topics.REGISTER_TEMPLATE,
        ]
        await client.end()
        await other.end()
    await bus.close()


async def test_local_clients_without_a_token_together_register_twice_as_much_as_one_of_them() -> None:
    bus = LocalBus()
    async with serving(limits=ServerLimits(registrations=2), bus=bus) as (_, url):
        rig = Rig(bus, url)
        clients = [await raw(url) for _ in range(4)]
        accepted = 0
        for number, client in enumerate(clients):
            said = await rig.said(client, *(template(f"c{number}", f"n{n}") for n in range(2)))
            accepted += said.count(topics.REGISTER_TEMPLATE)
        assert accepted == 4
        deregister = wire(topics.SKILL_DEREGISTER, {"skill_id": "c0"})
        assert topics.REGISTER_TEMPLATE in await rig.said(clients[0], deregister, template("c9", "n0"))
        for client in clients:
            await client.end()
    await bus.close()


async def test_a_session_id_of_any_length_is_not_taken() -> None:
    bus = LocalBus()
    async with serving(bus=bus) as (_, url):
        rig = Rig(bus, url)
        client = await raw(url)
        entries = [
            wire(topics.UTTERANCE_HANDLE, {"utterances": ["yes"]}, session={"session_id": "x" * size})
            for size in (1_000, 1_001)
        ]
        assert await rig.said(client, *entries) == [topics.UTTERANCE_HANDLE]
        await client.end()
    await bus.close()


async def test_all_clients_together_register_no_more_than_so_many_bytes() -> None:
    size = len(template("cook", "n0"))
    limits = ServerLimits(all_registration_bytes=4 * size)
    bus = LocalBus()
    async with serving(limits=limits, bus=bus) as (_, url):
        rig = Rig(bus, url)
        clients = [await raw(url) for _ in range(3)]
        accepted = 0
        for number, client in enumerate(clients):
            said = await rig.said(client, *(template(f"c{number}xx", f"n{n}") for n in range(2)))
            accepted += said.count(topics.REGISTER_TEMPLATE)
        assert accepted == 4
        for client in clients:
            await client.end()
    await bus.close()


async def test_one_token_cannot_take_all_connections_and_services_always_connect() -> None:
    limits = ServerLimits(connections=4, client_connections=2)
    async with serving(limits=limits, credentials=Tokens(crowd=Permissions(), service=SERVICE)) as (server, url):
        crowd = [await raw(f"{url}/crowd") for _ in range(2)]
        for _ in range(5):
            with pytest.raises(BusUnavailable, match="too many"):
                await WebSocketCarrier(url, SystemClock(), token="crowd", patience=0.0).open(lambda _frame, _via: None)
        local = [await raw(url) for _ in range(2)]
        with pytest.raises(BusUnavailable, match="too many"):
            await WebSocketCarrier(url, SystemClock(), patience=0.0).open(lambda _frame, _via: None)
        async with connected(url, token="service", private=True) as service:
            assert await service.settled() == []
        await crowd[0].end()
        await eventually(lambda: len(server) == 3)
        crowd[0] = await raw(f"{url}/crowd")
        for client in (*crowd, *local):
            await client.end()


async def test_bytes_of_all_connections_of_one_token_are_limited_and_nothing_is_lost() -> None:
    clock, bus = FakeClock(), LocalBus()
    limits = ServerLimits(byte_rate=500_000.0, byte_burst=500_000)
    numbers: list[int] = []
    bus.on("test.loud", lambda message: numbers.append(message.data["n"]))
    async with serving(clock, limits, bus, credentials=Tokens(loud=Permissions())) as (_, url):
        rig = Rig(bus, url)
        loud = [await raw(f"{url}/loud") for _ in range(2)]
        other = await raw(url)
        for n in range(20):
            loud[n % 2].send(wire("test.loud", {"n": n, "x": "y" * 400_000}))
        await eventually(lambda: len(numbers) >= 2)
        for _ in range(20):
            assert "test.note" in await rig.said(other, wire("test.note")), "other clients do not wait"
        assert len(numbers) < 20, "they are read no further for now"
        while len(numbers) < 20:
            await clock.advance(0.2)
            await asyncio.sleep(0.002)
        assert clock.monotonic() >= 5, "8 MB, at half a megabyte a second; some of it is in buffers"
        assert [n for n in numbers if n % 2] == list(range(1, 20, 2))
        for client in (*loud, other):
            await client.end()
    await bus.close()


async def test_what_waits_for_slow_clients_is_bounded_in_bytes_for_all_of_them() -> None:
    limits = ServerLimits(backlog=100_000_000, backlogs=6_000_000)
    bus = LocalBus()
    async with serving(FakeClock(), limits, bus) as (server, url):  # by a clock that stands still, none misses a ping
        slow = []
        for number in range(6):
            client = await raw(url, Sec_WebSocket_Protocol="hark.2")
            client.send(b'["follow","test.flood.%d"]' % number, kind=2)  # type: ignore[arg-type]
            client.send(b'["flush",1]', kind=2)  # type: ignore[arg-type]
            await client.until(lambda frames: bool(frames))
            client.transport.underlying_transport.pause_reading()
            slow.append(client)
        for _ in range(40):
            for number in range(6):  # each gets its own Messages: no flush sends to all of them
                bus.emit(Message(f"test.flood.{number}", {"x": "y" * 200_000}))
                await asyncio.sleep(0)
        await eventually(lambda: server.waiting <= limits.backlogs)
        assert len(server) < 6
        for client in slow:
            client.transport.disconnect(graceful=False)
    await bus.close()


async def test_the_names_of_followed_topics_are_bounded_in_bytes(caplog: pytest.LogCaptureFixture) -> None:
    async with serving(limits=ServerLimits(follow_bytes=1_000)) as (_, url):
        client = await raw(url, Sec_WebSocket_Protocol="hark.2")
        for _ in range(3):
            client.send(b'["follow","' + b"a" * 900 + b'"]', kind=2)  # type: ignore[arg-type]
        client.send(b'["follow","' + b"b" * 900 + b'"]', kind=2)  # type: ignore[arg-type]
        client.send(b'["unfollow","' + b"a" * 900 + b'"]', kind=2)  # type: ignore[arg-type]
        client.send(b'["follow","' + b"c" * 900 + b'"]', kind=2)  # type: ignore[arg-type]
        client.send(b'["flush",1]', kind=2)  # type: ignore[arg-type]
        await client.until(lambda frames: frames == [b'["flushed",1]'])
        for name in (b"a", b"b", b"c"):
            client.send(wire((name * 900).decode()))
        frames = await client.until(lambda frames: len(frames) == 2)
        assert b"c" * 900 in frames[1]
        await client.end()
    assert caplog.text.count("follows more topics than it may") == 1


async def test_a_client_that_answers_no_ping_is_disconnected(caplog: pytest.LogCaptureFixture) -> None:
    clock = FakeClock()
    async with serving(clock) as (server, url):
        hung, well, ovos = await raw(url, Sec_WebSocket_Protocol="hark.2"), await raw(url), await raw(url)
        well_hark = await raw(url, Sec_WebSocket_Protocol="hark.2")
        for silent in (hung, ovos):
            silent.transport.underlying_transport.pause_reading()
        for passed in range(0, 40, 5):
            assert len(server) == (4 if passed < 10 else 3 if passed < 30 else 2), passed
            await clock.advance(5.0)
            await asyncio.sleep(0.05)  # a ping and its answer take real time
            await eventually(lambda passed=passed: len(server) <= (4 if passed < 5 else 3 if passed < 25 else 2))  # type: ignore[misc]
        assert not well.closed.is_set()
        assert not well_hark.closed.is_set()
        for client in (hung, well, ovos, well_hark):
            client.transport.disconnect(graceful=False)
    assert "did not answer a ping" in caplog.text


async def test_a_server_that_answers_no_ping_is_given_up(caplog: pytest.LogCaptureFixture) -> None:
    clock = FakeClock()
    async with serving() as (_, url), stalling_proxy(url) as (proxy, stall), connected(proxy, clock) as bus:
        carrier = bus.carrier
        assert isinstance(carrier, WebSocketCarrier)
        for _ in range(6):
            await clock.advance(5.0)
            await carrier.flush()  # the answer to a ping comes before it
            assert carrier.connected, "a silent server that answers is kept"
        stall()
        for _ in range(3):
            await clock.advance(5.0)
            await asyncio.sleep(0.02)
        assert not carrier.connected
    assert "did not answer a ping" in caplog.text


@asynccontextmanager
async def stalling_proxy(url: str) -> AsyncIterator[tuple[str, Callable[[], None]]]:
    """Another address of that server, and what makes it pass on nothing more to clients that are connected."""
    place = urlsplit(url)
    stalled = False
    writers: list[asyncio.StreamWriter] = []

    async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        with suppress(OSError):
            while octets := await reader.read(65_536):
                if not stalled:
                    writer.write(octets)
        writer.close()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there_reader, there_writer = await asyncio.open_connection(place.hostname, place.port)
        await asyncio.gather(copy(reader, there_writer), copy(there_reader, writer))

    def stall() -> None:
        nonlocal stalled
        stalled = True

    proxy = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        yield f"ws://127.0.0.1:{proxy.sockets[0].getsockname()[1]}{place.path}", stall
    finally:
        proxy.close()
        for writer in writers:
            writer.close()
        await asyncio.sleep(0.01)


async def test_a_default_session_goes_out_with_its_name() -> None:
    bus = LocalBus()
    async with serving(bus=bus) as (_, url):
        one, other = await raw(url), await raw(url)
        bus.emit(Message("test.here", {}, {}, Session(lang="de-DE")))
        one.send(b'{"type":"test.client","context":{"session":{"lang":"de-DE"}},"data":{"session_id":"x"}}')
        one.send(b'{"type":"test.empty","context":{"session":{}}}')
        one.send(b'{"type":"test.none","context":{"a":1}}')
        one.send(b'{"type":"test.named","context":{"session":{"session_id":"x"}},"more":1}')
        frames = await other.until(lambda frames: len(frames) == 6)
        found = {json.loads(frame)["type"]: json.loads(frame) for frame in frames}
        for topic in ("test.here", "test.client"):
            assert found[topic]["context"]["session"] == {"session_id": "default", "lang": "de-DE"}
        assert found["test.client"]["data"] == {"session_id": "x"}
        assert found["test.empty"]["context"]["session"] == {"session_id": "default"}
        assert "session" not in found["test.none"]["context"]
        assert found["test.named"]["more"] == 1, "passed on as it came"
        await one.end()
        await other.end()
    await bus.close()
