"""Taking an utterance in, and the store of the default session."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from flow.stage import MakeAssistant, claims, declines, transformer
from hark.model import Message, Session, decode
from hark.plugins import Ctx
from hark.spec import topics
from hark.testing import FakeClock, settle
from hark.trace import TraceStore
from hark.understand import DefaultSession, PipelineEntry, TurnOptions
from hark.understand.turn_state import TurnState, open_turn


def entry(utterances: Any = ("hello",), session: Session | None = None, **context: Any) -> Message:
    return Message(topics.UTTERANCE_HANDLE, {"utterances": utterances}, context, session)


def taken(message: Message, store: DefaultSession | None = None, **options: Any) -> TurnState:
    return open_turn(message, TurnOptions(**options), store or DefaultSession(), TraceStore(FakeClock()))


def test_a_lifecycle_knows_what_was_said_to_whom() -> None:
    life = taken(entry(["hello", "hallo"], Session("x", persona_id="butler"), source="a"))
    assert life.utterances == ("hello", "hallo")
    assert life.session == Session("x", persona_id="butler")
    assert life.message.context == {"source": "a", "utterance_id": life.utterance_id}
    assert life.current().session == life.session
    assert (life.trace.utterances, life.trace.session_id) == (("hello", "hallo"), "x")
    assert not life.ended


@pytest.mark.parametrize("garbage", [None, 7, "hello", {"a": 1}, [7], ["a", None], [["a"]]])
def test_garbage_is_no_utterance(garbage: Any, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "hark.understand"):
        turn = taken(entry(garbage))
    assert turn.utterances == ()
    assert "no list of texts" in caplog.text
    assert "no list of texts" in turn.trace.steps[0].detail


@pytest.mark.parametrize("keys", [{"canceled": True}, {"cancel_by": "x"}, {"cancel_reason": None, "canceled": False}])
def test_keys_of_a_cancellation_are_taken_off(keys: dict[str, Any], caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "hark.understand"):
        life = taken(entry(other=1, **keys))
    assert set(life.message.context) == {"other", "utterance_id"}
    assert "only a transformer may cause" in caplog.text


def test_the_default_session_is_the_stores_with_what_came() -> None:
    store = DefaultSession(Session(persona_id="butler", site_id="kitchen"))
    life = taken(entry(session=Session(site_id="cellar")), store)
    assert life.session == store.current == Session(persona_id="butler", site_id="cellar")


def test_a_named_session_leaves_the_store_alone() -> None:
    store = DefaultSession(Session(persona_id="butler"))
    assert taken(entry(session=Session("x")), store).session == Session("x")
    assert store.current == Session(persona_id="butler")


def test_of_data_and_context_as_much_is_used_as_a_session_may_have(caplog: pytest.LogCaptureFixture) -> None:
    large = {"first": "x" * 600, "larger": "x" * 2_000, "last": "x" * 300}
    message = Message(topics.UTTERANCE_HANDLE, {"utterances": ["x" * 1_500], "lang": "en-US", **large}, large)
    life = taken(message, max_session=1_000)
    assert [*life.message.data] == ["utterances", "lang", "first", "last"], "the words have a bound of their own"
    assert [*life.message.context] == ["first", "last", "utterance_id"]
    assert "not all of it is used" in caplog.text


def test_a_malformed_carrier_opens_a_lifecycle_and_leaves_the_store_alone() -> None:
    store = DefaultSession(Session(persona_id="butler", stt_lang="de-DE"))
    before = store.current
    context = {"session": 7}
    wire = {"type": topics.UTTERANCE_HANDLE, "data": {"utterances": ["hello"]}, "context": context}
    life = taken(decode(json.dumps(wire)), store)
    assert life.message.session is None
    assert store.current is before


# What a deployment decides.


def test_an_entry_without_a_table_is_a_plugin_id() -> None:
    options = TurnOptions(entries={"loose": PipelineEntry("template")})
    assert options.entry("loose").plugin == "template"
    assert options.entry("template").plugin == "template"


@pytest.mark.parametrize(
    ("own", "denied"),
    [
        ({}, {"a": True, "b": False}),
        ({"blacklisted_skills": ["b"]}, {"a": True, "b": True}),
        ({"blacklisted_intents": ["x:y"]}, {"a": True, "b": False}),
    ],
)
def test_what_the_deployment_denies_is_a_floor_for_every_session(own: Any, denied: dict[str, bool]) -> None:
    options = TurnOptions(denylists={"blacklisted_skills": ("a",)})
    denials = options.denials_for(Session("x", **own))
    assert {name: denials.deny("blacklisted_skills", name) for name in denied} == denied


# The store.


def test_what_a_turn_changed_is_brought_to_the_store_and_nothing_else() -> None:
    store = DefaultSession(Session(persona_id="butler", site_id="kitchen"))
    base = store.open(Session())
    store.open(Session(site_id="cellar"))
    now = store.bring(base, base.replace(persona_id="pirate"))
    assert now == store.current == Session(persona_id="pirate", site_id="cellar")


def test_a_field_a_turn_removed_is_gone_from_the_store() -> None:
    store = DefaultSession(Session(persona_id="butler", site_id="kitchen"))
    base = store.open(Session())
    store.bring(base, base.without("persona_id"))
    assert store.current == Session(site_id="kitchen")


def test_saving_shows_the_present_state() -> None:
    saved: list[Session] = []
    store = DefaultSession(None, saved.append)
    store.open(Session(persona_id="butler"))
    assert saved == []
    store.saved()
    assert saved == [Session(persona_id="butler")]
    DefaultSession().saved()


def test_what_the_default_session_has_of_a_turn_already_is_not_applied_again() -> None:
    class Applied(DefaultSession):
        def has_applied(self, utterance_id: str) -> bool:
            return utterance_id == "k1"

    store = Applied(Session(lang="de-DE"))
    entry = Message(topics.UTTERANCE_HANDLE, {"utterances": ["a"]}, {}, Session(lang="fr-FR"))
    again = open_turn(entry, TurnOptions(), store, TraceStore(FakeClock()), "k1")
    assert again.is_applied
    assert again.session.lang == store.current.lang == "de-DE"
    fresh = open_turn(entry, TurnOptions(), store, TraceStore(FakeClock()), "k2")
    assert not fresh.is_applied
    assert store.current.lang == "fr-FR"


# Sizes.

LONG = "x" * 40_000


async def test_unknown_keys_are_kept_until_there_are_too_many_bytes(assistant: MakeAssistant) -> None:
    async with assistant(claims()) as hark:
        await hark.hears("one", session=Session(first=LONG))
        await hark.hears("two", session=Session(second=LONG, site_id="attic"))
        store = hark.runtime.store.current
        assert (store.get("first"), store.get("second"), store.site_id) == (LONG, None, "attic")
        await hark.hears("three", session=Session(persona_id=LONG))
        assert hark.runtime.store.current.persona_id is None
        assert await hark.hears("four") == ["four"]


@pytest.mark.parametrize("session_id", ["default", "x"])
@pytest.mark.parametrize("field", ["unheard_of", "persona_id"])
async def test_a_session_of_megabytes_costs_no_marker_and_does_not_last(
    assistant: MakeAssistant, session_id: str, field: str
) -> None:
    async with assistant(claims()) as hark:
        assert await hark.hears("one", session=Session(session_id, **{field: "x" * 3_900_000})) == ["one"]
        marker = hark.of(topics.UTTERANCE_HANDLED)[-1].session
        assert marker is not None
        assert (marker.session_id, field in marker) == (session_id, False)
        assert await hark.hears("two", session=session_id) == ["two"]


@pytest.mark.parametrize(
    "utterances", [["x" * 10_241], ["ä" * 5_121], ["x" * 6_000, "y" * 6_000], ["x"] * 21], ids=lambda texts: len(texts)
)
async def test_an_utterance_that_is_too_much_is_unmatched(assistant: MakeAssistant, utterances: list[str]) -> None:
    async with assistant(claims()) as hark:
        hark.bus.emit(Message(topics.UTTERANCE_HANDLE, {"utterances": utterances}))
        await settle()
        assert len(hark.of(topics.UTTERANCE_HANDLED)) == 1
        assert [dict(message.data) for message in hark.of(topics.INTENT_UNMATCHED)] == [{"utterances": ()}]
        assert hark.trace().utterances == ()


async def test_a_marker_that_would_be_too_large_has_the_id_of_its_session(assistant: MakeAssistant) -> None:
    def swell(ctx: Ctx) -> None:
        ctx.session = ctx.session.replace(swollen="x" * 1_100_000)

    async with assistant(transformer("metadata", "t", swell), declines()) as hark:
        await hark.hears("one", session="x")
        for topic in (topics.UTTERANCE_HANDLED, topics.INTENT_UNMATCHED):
            [message] = hark.of(topic)
            assert message.session == Session("x")
