"""OVOS-SESSION-1: sessions in a whole assistant: what is read off them, what is dropped, what rides along."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import pytest

from flow.stage import MakeAssistant, claims, declines, matcher, silent, skill, transformer, turn_of
from hark.app.client import Client
from hark.builtin import ClockSkill
from hark.bus import LocalBus
from hark.model import Match, Message, Session, decode, encode
from hark.model.session_codec import FIELDS
from hark.plugins import Ctx, Turn
from hark.spec import topics
from hark.spec.names import REIMPOSED
from hark.testing import FakeClock, settle

LANGS = {"assistant": {"lang": "en-US", "langs": ["de-DE", "fr-FR"], "pipeline": ["declines"]}}


def carrier_of(message: Message) -> Any:
    """The session of a Message as it is on the wire."""
    return json.loads(encode(message)).get("context", {}).get("session")


# §2.1, §2.2: omission, and the roster.


@pytest.mark.spec("SESSION-1/2.1.b")
async def test_each_consumer_fills_an_omission_with_its_own_default(assistant: MakeAssistant) -> None:
    said = Message(topics.UTTERANCE_HANDLE, {"utterances": ["hello"]}, session=Session("x"))
    heard: dict[str, list[Any]] = {"en-US": [], "de-DE": []}
    for lang, seen in heard.items():
        settings = {"assistant": {"lang": lang, "pipeline": ["declines"]}}
        async with assistant(declines(seen=seen), settings=settings) as hark:
            hark.bus.emit(said)
            await settle()
            assert carrier_of(turn_of(hark)[-1]) == {"session_id": "x"}, "the default is used, not written back"
    assert {lang: seen[0][1] for lang, seen in heard.items()} == {"en-US": "en-US", "de-DE": "de-DE"}


@pytest.mark.spec("SESSION-1/2.2.f")
def test_the_roster_has_every_field_a_specification_claims() -> None:
    kinds = ("audio", "utterance", "metadata", "intent", "dialog", "tts")
    assert set(FIELDS) == {
        *("lang", "secondary_langs", "output_lang", "stt_lang", "request_lang", "detected_lang"),
        *("pipeline", "intent_context", "active_handlers", "converse_handlers", "response_mode"),
        *("fallback_handlers", "persona_id", "site_id", "location"),
        *("blacklisted_skills", "blacklisted_intents", "blacklisted_pipelines"),
        *(f"{kind}_transformers" for kind in kinds),
        *(f"blacklisted_{kind}_transformers" for kind in kinds),
    }


# §2.5: a carrier that is no object.

MALFORMED = [("text", "string"), (7, "number"), ([], "array"), (True, "boolean")]


def broken(topic: str, carrier: Any, **context: Any) -> Message:
    frame = {"type": topic, "data": {"n": 1}, "context": {**context, "session": carrier}}
    return decode(json.dumps(frame).encode())


@pytest.mark.spec("SESSION-1/2.5.a")
@pytest.mark.spec("SESSION-1/2.5.b")
@pytest.mark.spec("SESSION-1/2.5.c")
@pytest.mark.spec("SESSION-1/2.5.e")
@pytest.mark.spec("SESSION-1/2.5.f")
@pytest.mark.spec("SESSION-1/2.5.g")
@pytest.mark.parametrize(("carrier", "kind"), MALFORMED)
@pytest.mark.parametrize("context", [{}, {"utterance_id": "u-1", "source": "sat"}])
async def test_the_bus_drops_it_before_anybody_sees_it_and_says_so_once(
    bus_type: type[LocalBus], caplog: pytest.LogCaptureFixture, carrier: Any, kind: str, context: dict[str, Any]
) -> None:
    bus = bus_type()
    await bus.open()
    received: list[Message] = []
    rejected: list[Message] = []
    for _ in range(2):
        bus.on("test.note", received.append)
    bus.on(topics.SESSION_REJECTED, rejected.append)
    with caplog.at_level(logging.WARNING, "hark.bus"):
        bus.emit(broken("test.note", carrier, **context))
        await settle()
    assert received == []
    [note] = rejected
    kept = {key: value for key, value in context.items() if key == "utterance_id"}
    assert json.loads(encode(note)) == {
        "type": topics.SESSION_REJECTED,
        "data": {"msg_type": "test.note", "reason": "malformed_carrier"},
        **({"context": kept} if kept else {}),
    }
    assert any("test.note" in record.getMessage() and kind in record.getMessage() for record in caplog.records)
    bus.emit(Message("test.note", {"n": 2}, session=Session("x")))
    await settle()
    assert [message.data["n"] for message in received] == [2, 2]
    await bus.close()


@pytest.mark.spec("SESSION-1/2.5.c")
@pytest.mark.spec("SESSION-1/2.5.h")
async def test_an_utterance_that_carries_one_leaves_the_default_session_and_the_next_turn_alone(
    assistant: MakeAssistant,
) -> None:
    async with assistant(claims()) as hark:
        await hark.hears("hello", session=Session(persona_id="butler"))
        before = hark.runtime.store.current
        hark.bus.emit(broken(topics.UTTERANCE_HANDLE, "text"))
        await settle()
        assert hark.runtime.store.current == before
        assert await hark.hears("hello again") == ["hello again"]


# §3.1: identity.


@pytest.mark.spec("SESSION-1/3.1.a")
@pytest.mark.spec("SESSION-1/3.1.e")
async def test_state_is_kept_by_session_id_and_only_the_default_one_is_remembered(assistant: MakeAssistant) -> None:
    async with assistant(skill("lights.demo", dim=silent)) as hark:
        identity = {"skill_id": "lights.demo", "intent_name": "dim", "lang": "en-US", "samples": ["dim it"]}
        hark.bus.emit(Message(topics.REGISTER_TEMPLATE, identity, session=Session("sat-3")))
        topic_by_session = {}
        for session_id in ("sat-3", "sat-30", "default"):
            await hark.hears("dim it", session=Session(session_id, site_id=f"site of {session_id}"))
            topic_by_session[session_id] = [m.type for m in turn_of(hark) if ":" in m.type]
        assert topic_by_session == {"sat-3": ["lights.demo:dim"], "sat-30": [], "default": []}
        for session_id, site in (("sat-3", None), ("default", "site of default")):
            await hark.hears("hello", session=Session(session_id))
            assert turn_of(hark)[-1].session.site_id == site


# §3.2: languages.


@pytest.mark.spec("SESSION-1/3.c")
async def test_a_signal_says_nothing_about_a_later_utterance(assistant: MakeAssistant) -> None:
    seen: list[Any] = []
    async with assistant(declines(seen=seen), settings=LANGS) as hark:
        for signal in ("stt_lang", "detected_lang", "request_lang"):
            await hark.hears("spoken", session=Session(**{signal: "de-DE"}))
            await hark.hears("typed")
    assert [lang for _, lang, _ in seen] == ["de-DE", "en-US"] * 3


@pytest.mark.spec("SESSION-1/3.2.5.b")
@pytest.mark.parametrize(
    ("fields", "lang"),
    [
        ({"request_lang": "de-DE"}, "de-DE"),
        ({"request_lang": "de-DE", "lang": "fr-FR"}, "de-DE"),
        ({"request_lang": "de-DE", "detected_lang": "fr-FR"}, "fr-FR"),
        ({"request_lang": "de-DE", "stt_lang": "fr-FR"}, "fr-FR"),
    ],
)
async def test_a_requested_language_breaks_a_tie_and_overrides_nothing(
    assistant: MakeAssistant, fields: dict[str, str], lang: str
) -> None:
    seen: list[Any] = []
    async with assistant(declines(seen=seen), settings=LANGS) as hark:
        await hark.hears("hello", session=Session("x", **fields))
        assert carrier_of(turn_of(hark)[-1]) == {"session_id": "x", **fields}
    assert seen[0][1] == lang


@pytest.mark.spec("SESSION-1/3.2.7.d")
@pytest.mark.spec("SESSION-1/3.2.7.e")
async def test_every_matcher_is_asked_once_in_the_one_language_of_the_utterance(assistant: MakeAssistant) -> None:
    seen: list[Any] = []
    settings = {"assistant": {"lang": "en-US", "langs": ["de-DE", "fr-FR"], "pipeline": ["one", "two", "three"]}}
    plugins = [declines(name, seen) for name in ("one", "two", "three")]
    async with assistant(*plugins, settings=settings) as hark:
        session = Session("x", stt_lang="de-DE", detected_lang="fr-FR", secondary_langs=["fr-FR"], lang="en-US")
        await hark.hears(["hallo", "bonjour"], session=session)
        assert hark.of(topics.INTENT_UNMATCHED)[0].data["lang"] == "de-DE"
    assert [(texts, lang) for texts, lang, _ in seen] == [(("hallo", "bonjour"), "de-DE")] * 3


@pytest.mark.spec("SESSION-1/3.2.7.f")
@pytest.mark.spec("PIPELINE-1/4.h")
async def test_the_matcher_that_ships_goes_by_the_language_it_is_given(assistant: MakeAssistant) -> None:
    settings = {"assistant": {"lang": "en-US", "langs": ["de-DE"]}}
    async with assistant(skill("lights.demo", dim=silent), settings=settings) as hark:
        identity = {"skill_id": "lights.demo", "intent_name": "dim", "lang": "de-DE", "samples": ["licht aus"]}
        hark.bus.emit(Message(topics.REGISTER_TEMPLATE, identity))
        german = Session("x", stt_lang="de-DE", detected_lang="de-DE", lang="de-DE")
        await hark.hears("licht aus", lang="en-US", session=german)
        assert topics.INTENT_UNMATCHED in [m.type for m in turn_of(hark)]
        await hark.hears("licht aus", lang="de-DE", session=Session("x", lang="en-US", stt_lang="en-US"))
        assert hark.of("lights.demo:dim")[0].data["lang"] == "de-DE"


@pytest.mark.spec("SESSION-1/3.2.8.a")
@pytest.mark.spec("SESSION-1/3.2.7.g")
async def test_the_language_of_a_payload_is_no_session_field(assistant: MakeAssistant) -> None:
    async with assistant(claims(), settings={"assistant": {"langs": ["de-DE"], "pipeline": ["claims"]}}) as hark:
        await hark.hears("hallo", lang="de-DE", session=Session("x", lang="en-US"))
        for message in turn_of(hark):
            assert {key for key in carrier_of(message) if "lang" in key} == {"lang"}
            assert message.session.lang == "en-US"
        await hark.hears("hallo", lang="de-DE")
        assert hark.runtime.store.current.lang is None


@pytest.mark.spec("SESSION-1/3.2.3.c")
async def test_what_is_said_names_the_language_it_is_in(assistant: MakeAssistant) -> None:
    async def handler(turn: Turn) -> None:
        await turn.speak("in the language of the question")
        await turn.speak("auf Deutsch", lang="de-DE")

    def translate(text: str, ctx: Ctx) -> str:
        ctx.lang = "fr-FR"
        return "en français"

    async with assistant(claims(handler=handler)) as hark:
        await hark.hears("hello", session=Session("x", output_lang="it-IT"))
        spoken = [message.data["lang"] for message in hark.of(topics.UTTERANCE_SPEAK)]
    assert spoken == ["en-US", "de-DE"]
    async with assistant(claims(), transformer("dialog", "translate", translate)) as hark:
        await hark.hears("hello", session="x")
    assert [(spoken.text, spoken.lang, spoken.message.data["lang"]) for spoken in hark.rendered] == [
        ("en français", "fr-FR", "fr-FR")
    ]


# §§3.3 to 3.5: site, minimal carriers, location.


@pytest.mark.spec("SESSION-1/3.3.a")
@pytest.mark.parametrize("site_id", ["kitchen", "a/b:c", " ", "7"])
async def test_the_site_is_carried_as_it_came_and_no_handler_changes_it(assistant: MakeAssistant, site_id: str) -> None:
    def handler(turn: Turn) -> None:
        turn.session = turn.session.replace(site_id="elsewhere")

    async with assistant(claims(handler=handler)) as hark:
        await hark.hears("hello", session=Session("x", site_id=site_id))
        assert {m.session.site_id for m in turn_of(hark)} == {site_id}


@pytest.mark.spec("SESSION-1/3.4.b")
@pytest.mark.spec("PIPELINE-1/5.2.e")
@pytest.mark.spec("TRANSFORM-1/5.1.c")
@pytest.mark.spec("TRANSFORM-1/5.2.d")
async def test_nothing_is_written_into_a_session_that_says_the_same_as_leaving_it_out(
    assistant: MakeAssistant,
) -> None:
    settings = {
        "assistant": {"pipeline": ["claims"]},
        "transformers": {"utterance": ["t"]},
        "deny": {"skills": ["nobody"], "dialog_transformers": ["nobody"]},
    }
    plugins = (claims(), transformer("utterance", "t", lambda texts, ctx: texts))
    async with assistant(*plugins, settings=settings) as hark:
        await hark.hears("hello")
        await hark.hears("hello", session="x")
        for message in [*turn_of(hark, 0), *turn_of(hark, 1)]:
            carried = carrier_of(message) or {}
            assert carried.keys() <= {"session_id", "active_handlers", "converse_handlers"}, message.type
    empty = Session("x", pipeline=[], **{name: [] for name in REIMPOSED})
    assert carrier_of(Message("a.b", session=empty)) == {"session_id": "x"}


@pytest.mark.spec("SESSION-1/3.5.c")
async def test_the_time_of_day_is_that_of_the_sessions_zone(assistant: MakeAssistant) -> None:
    async with assistant(ClockSkill()) as hark:
        told = {
            zone: await hark.hears("what time is it", session=Session("x", location={"tz": zone}))
            for zone in ("UTC", "Asia/Tokyo", "America/New_York")
        }
    assert told == {
        "UTC": ["It is 12:00 PM."],
        "Asia/Tokyo": ["It is 9:00 PM."],
        "America/New_York": ["It is 7:00 AM."],
    }


# §4: who may change what, and what an originator leaves out.


@pytest.mark.spec("SESSION-1/4.c")
async def test_a_field_changes_at_its_boundaries_and_every_later_message_has_it(assistant: MakeAssistant) -> None:
    def by_transformer(ctx: Ctx) -> None:
        ctx.session = ctx.session.replace(site_id="kitchen")

    def match(utterances: Any, lang: str, session: Session) -> Match:
        return Match("m", "go", lang, utterances[0], updated_session=session.replace(persona_id="butler"))

    def handler(turn: Turn) -> None:
        turn.remember("topic", "tea")

    async with assistant(transformer("metadata", "t", by_transformer), matcher("m", match, go=handler)) as hark:
        await hark.hears("hello", session="x")
        turn = {m.type: m.session for m in turn_of(hark)}
    assert turn[topics.HANDLER_START].persona_id == "butler"
    assert turn[topics.HANDLER_START].intent_context == {}
    for topic in (topics.HANDLER_COMPLETE, topics.UTTERANCE_HANDLED):
        assert (turn[topic].site_id, turn[topic].persona_id) == ("kitchen", "butler")
        assert list(turn[topic].intent_context) == ["m:topic"]


@pytest.mark.spec("SESSION-1/4.d")
@pytest.mark.spec("SESSION-1/4.1.c")
@pytest.mark.parametrize("context", [{}, {"session": {}}, {"session": None}, {"session": {"session_id": "default"}}])
async def test_on_the_default_session_what_is_stored_is_stamped(
    assistant: MakeAssistant, context: dict[str, Any]
) -> None:
    async with assistant(claims()) as hark:
        await hark.hears("hello", session=Session(lang="en-US", persona_id="butler", unheard_of={"a": 1}))
        entry = {"type": topics.UTTERANCE_HANDLE, "data": {"utterances": ["again"]}, "context": context}
        hark.bus.emit(decode(json.dumps(entry).encode()))
        await settle()
        for message in turn_of(hark):
            carried = carrier_of(message)
            assert (carried["lang"], carried["persona_id"], carried["unheard_of"]) == ("en-US", "butler", {"a": 1})


@pytest.mark.spec("SESSION-1/4.e")
@pytest.mark.spec("SESSION-1/3.1.d")
@pytest.mark.spec("SESSION-2/6.5.a")
@pytest.mark.spec("PIPELINE-1/9.1.b")
async def test_the_devices_own_client_states_neither_a_session_nor_a_language(bus_type: type[LocalBus]) -> None:
    bus = bus_type()
    await bus.open()
    emitted: list[Message] = []
    bus.tap(emitted.append)
    talk = Client(bus, FakeClock(), lambda text: None)
    asking = asyncio.ensure_future(talk.ask("hello", lambda text: None))
    await settle()
    asking.cancel()
    [entry] = emitted
    assert entry.data == {"utterances": ("hello",)}
    # The websocket server names the device's own session, for clients that would take it for another one.
    assert carrier_of(entry) in (None, {}, {"session_id": "default"})
    asking = asyncio.ensure_future(talk.ask("hallo", lambda text: None, lang="de-DE", session_id="x"))
    await settle()
    asking.cancel()
    assert emitted[-1].data["lang"] == "de-DE"
    assert carrier_of(emitted[-1]) == {"session_id": "x"}
    await bus.close()
