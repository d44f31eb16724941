"""OVOS-SESSION-2: who owns conversation state. Named sessions come and go; the default session lives here."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from flow.stage import (
    MATCHED,
    MakeAssistant,
    claims,
    declines,
    matcher,
    transformer,
    turn_of,
)
from hark.builtin import ClockSkill
from hark.model import Handler, Match, Message, Session, encode
from hark.model.session_merge import FOR_ONE_UTTERANCE
from hark.plugins import Ctx, Turn
from hark.spec import topics
from hark.testing import Assistant, settle
from hark.understand import DefaultSession

NOON = 1_767_268_800.0

FULL: dict[str, Any] = {
    "lang": "en-US",
    "secondary_langs": ["de-DE"],
    "pipeline": ["claims", "template"],
    "intent_context": {"person": {"value": "Bob"}},
    "converse_handlers": [{"skill_id": "a", "activated_at": 1.5}],
    "response_mode": {"skill_id": "a", "expires_at": 9},
    "persona_id": "butler",
    "site_id": "kitchen",
    "location": {"lat": 1.0, "tz": "Europe/Lisbon"},
    "blacklisted_skills": ["evil"],
    "dialog_transformers": ["none"],
    "unheard_of": {"deep": [1, {"a": None}]},
}


def remembering(**entries: str) -> Any:
    """A handler that remembers something shared."""

    def handler(turn: Turn) -> None:
        for key, value in entries.items():
            turn.remember(key, value, shared=True)

    return handler


# §2.1, §2.2: nobody remembers a named session.


@pytest.mark.spec("SESSION-2/2.1.b")
async def test_the_same_utterance_twice_is_two_equal_turns(assistant: MakeAssistant) -> None:
    seen: list[Any] = []
    entry = Message(topics.UTTERANCE_HANDLE, {"utterances": ["hello"]}, session=Session("x", **FULL))
    spy = declines("spy", seen)
    async with assistant(spy, settings={"assistant": {"pipeline": ["spy"]}}) as hark:
        session = entry.session.replace(pipeline=["spy"])
        for _ in range(2):
            hark.bus.emit(entry.carrying(session))
            await settle()
    assert seen[0] == seen[1]


@pytest.mark.spec("SESSION-2/2.2.a")
@pytest.mark.spec("SESSION-2/2.2.b")
async def test_nothing_of_a_named_session_is_left_after_its_marker(assistant: MakeAssistant) -> None:
    seen: list[Session] = []

    def match(utterances: Any, lang: str, session: Session) -> Match:
        seen.append(session)
        return Match("m", "go", lang, utterances[0], updated_session=session.replace(persona_id="butler"))

    async with assistant(matcher("m", match, go=remembering(city="Rome"))) as hark:
        await hark.hears("one", session=Session("x", site_id="kitchen"))
        assert turn_of(hark)[-1].session.persona_id == "butler"
        await hark.hears("two", session=Session("x"))
        assert seen[1] == Session("x")
        assert hark.runtime.store.current == Session()
        assert hark.runtime.orchestrator.open_turns == 0


@pytest.mark.spec("SESSION-2/2.4.a")
@pytest.mark.spec("SESSION-2/6.3.a")
@pytest.mark.spec("SESSION-2/2.2.d")
@pytest.mark.spec("SESSION-2/2.5.b")
@pytest.mark.spec("SESSION-2/4.1.a")
@pytest.mark.spec("SESSION-2/6.2.a")
async def test_a_fresh_process_serves_a_conversation_it_never_heard_of(assistant: MakeAssistant) -> None:
    async with assistant(claims(handler=remembering(city="Rome"))) as hark:
        await hark.hears("one", session=Session("x", **{**FULL, "pipeline": ["claims"]}))
        kept = turn_of(hark)[-1].session
    seen: list[Any] = []
    async with assistant(declines("claims", seen)) as fresh:
        await fresh.hears("two", session=kept)
    assert seen[0][2].intent_context["city"].value == "Rome"
    assert seen[0][2] == kept


@pytest.mark.spec("SESSION-2/4.2.a")
async def test_a_resumed_session_has_what_it_brings_and_nothing_else(assistant: MakeAssistant) -> None:
    seen: list[Any] = []
    async with assistant(declines(seen=seen)) as hark:
        await hark.hears("one", session=Session("x", persona_id="butler", intent_context={"a": {"value": "b"}}))
        await hark.hears("two", session=Session("x", persona_id="butler"))
    assert seen[1][2].intent_context == {}
    assert seen[1][2].persona_id == "butler"


# §2.3, §5.1: the default session.

# What routing and policy do there is ruling R16.
OF_ONE_UTTERANCE: dict[str, list[str]] = {name: ["spy"] if name == "pipeline" else ["x"] for name in FOR_ONE_UTTERANCE}


@pytest.mark.spec("SESSION-2/5.1.a")
@pytest.mark.parametrize("field", FOR_ONE_UTTERANCE)
async def test_routing_and_policy_of_the_default_session_hold_for_one_utterance(
    assistant: MakeAssistant, field: str
) -> None:
    seen: list[Any] = []
    async with assistant(declines("spy", seen), settings={"assistant": {"pipeline": ["spy"]}}) as hark:
        carrier = Session(persona_id="butler", **{field: OF_ONE_UTTERANCE[field]})
        await hark.hears("one", session=carrier)
        assert turn_of(hark)[-1].session.get(field) == tuple(OF_ONE_UTTERANCE[field]), "in force to the marker"
        await hark.hears("two")
        assert hark.runtime.store.current == Session(persona_id="butler")
    assert [session.get(field) for _, _, session in seen] == [tuple(OF_ONE_UTTERANCE[field]), None]


@pytest.mark.spec("SESSION-2/5.1.e")
async def test_nothing_that_is_sent_or_returned_sets_routing_or_policy_for_good(assistant: MakeAssistant) -> None:
    theirs = {"pipeline": ["nothing"], "blacklisted_skills": ["x"], "tts_transformers": ["x"]}

    def by_transformer(ctx: Ctx) -> None:
        ctx.session = ctx.session.replace(site_id="kitchen", blacklisted_intents=["a:b"], audio_transformers=["x"])

    def match(utterances: Any, lang: str, session: Session) -> Match:
        changed = session.replace(persona_id="butler", **theirs)
        return Match("m", "go", lang, utterances[0], updated_session=changed)

    async def handler(turn: Turn) -> None:
        turn.session = turn.session.replace(pipeline=["nothing"])
        await turn.speak("done")

    plugins = (transformer("metadata", "t", by_transformer), matcher("m", match, go=handler))
    async with assistant(*plugins) as hark:
        for _ in range(2):
            assert await hark.hears("one") == ["done"]
        store = hark.runtime.store.current
    assert (store.site_id, store.persona_id) == ("kitchen", "butler")
    assert not [name for name in FOR_ONE_UTTERANCE if name in store]


@pytest.mark.spec("SESSION-2/5.1.a")
@pytest.mark.parametrize("names", [["stop_high", "padatious_low"], ["ovos-converse-pipeline-plugin"]])
async def test_of_an_ovos_client_nothing_lasts_in_the_default_session(
    assistant: MakeAssistant, names: list[str]
) -> None:
    theirs = Session(lang="fr-FR", site_id="theirs", system_unit="imperial", location={"lat": 9.0},
                     converse_handlers=[{"skill_id": "a", "activated_at": 1}], pipeline=names)  # fmt: skip
    settings = {"assistant": {"langs": ["fr-FR"], "pipeline": ["claims"]}}
    async with assistant(claims(), settings=settings) as hark:
        await hark.hears("hello", session=Session(site_id="kitchen"))
        before = hark.runtime.store.current
        await hark.hears("salut", session=theirs)
        assert hark.runtime.store.current == before
        assert await hark.hears("hello") == ["hello"]
    assert before.site_id == "kitchen"


@pytest.mark.spec("SESSION-2/5.2.b")
def test_a_session_that_was_stored_with_routing_and_policy_is_cleaned() -> None:
    store = DefaultSession(Session(persona_id="butler", **OF_ONE_UTTERANCE))
    assert store.current == Session(persona_id="butler")


@pytest.mark.spec("SESSION-2/2.3.a")
@pytest.mark.spec("SESSION-2/5.1.a")
@pytest.mark.spec("SESSION-2/5.1.i")
@pytest.mark.parametrize("field", [name for name in FULL if name not in ("intent_context", *FOR_ONE_UTTERANCE)])
async def test_a_field_of_the_default_session_stays_until_another_value_comes(
    assistant: MakeAssistant, field: str
) -> None:
    seen: list[Any] = []
    async with assistant(declines(seen=seen)) as hark:
        await hark.hears("one", session=Session(**{field: FULL[field]}))
        await hark.hears("two")
        await hark.hears("three", session=Session())
    values = [session.get(field) for _, _, session in seen]
    assert values[0] is not None
    assert values == [values[0]] * 3


@pytest.mark.spec("SESSION-2/5.1.a")
async def test_a_present_field_replaces_and_leaves_the_others_alone(assistant: MakeAssistant) -> None:
    seen: list[Any] = []
    async with assistant(declines(seen=seen)) as hark:
        await hark.hears("one", session=Session(persona_id="butler", site_id="kitchen"))
        await hark.hears("two", session=Session(persona_id="pirate"))
    assert (seen[1][2].persona_id, seen[1][2].site_id) == ("pirate", "kitchen")


@pytest.mark.spec("SESSION-2/5.1.b")
async def test_the_store_takes_what_an_utterance_carries_whatever_was_meant(assistant: MakeAssistant) -> None:
    async with assistant(declines()) as hark:
        await hark.hears("one", session=Session(lang="de-DE"), context={"source": "a bus client that says so always"})
        assert hark.runtime.store.current.lang == "de-DE"


@pytest.mark.spec("SESSION-2/5.1.b")
@pytest.mark.spec("SESSION-2/5.1.c")
@pytest.mark.spec("SESSION-2/2.6.a")
@pytest.mark.spec("SESSION-2/2.6.i")
@pytest.mark.spec("CONTEXT-1/5.b")
async def test_no_other_message_reaches_the_store_or_a_turn_under_way(assistant: MakeAssistant) -> None:
    go_on = asyncio.Event()

    async def handler(turn: Turn) -> None:
        await go_on.wait()

    stray = Session(persona_id="stray", intent_context={"stray": {"value": "x"}})
    async with assistant(claims(handler=handler)) as hark:
        hearing = hark.say("hello", session=Session(persona_id="butler"))
        await settle()
        for topic in ("test.note", topics.UTTERANCE_SPEAK, topics.HANDLER_COMPLETE, "ovos.session.sync"):
            data = {"utterance": "x", "session": stray.wire()}
            hark.bus.emit(Message(topic, data, session=stray))
        await settle()
        go_on.set()
        await settle()
        assert hearing.markers == 1
        ended = turn_of(hark)[-1].session
        assert ended.persona_id == hark.runtime.store.current.persona_id == "butler"
        assert "stray" not in ended.intent_context
        assert "stray" not in hark.runtime.store.current.intent_context


@pytest.mark.spec("SESSION-1/4.d")
@pytest.mark.spec("SESSION-1/4.1.c")
@pytest.mark.spec("SESSION-1/4.e")
@pytest.mark.spec("MSG-1/4.1.a")
@pytest.mark.spec("SESSION-2/5.1.d")
@pytest.mark.spec("SESSION-2/3.2.a")
@pytest.mark.spec("SESSION-2/3.2.c")
@pytest.mark.spec("SESSION-2/5.1.k")
@pytest.mark.spec("SESSION-2/6.5.a")
@pytest.mark.parametrize("carrier", [None, Session()])
async def test_everything_said_in_the_default_session_carries_all_of_it(
    assistant: MakeAssistant, carrier: Session | None
) -> None:
    stored = {name: value for name, value in FULL.items() if name not in FOR_ONE_UTTERANCE}
    async with assistant(claims()) as hark:
        await hark.hears("one", session=Session(**stored))
        await hark.hears("two", session=carrier)
        messages = turn_of(hark)
    assert [m.type for m in messages] == MATCHED
    for message in messages:
        assert message.session is not None
        for name in stored:
            assert message.session.get(name) is not None, f"{message.type} lacks {name}"
        assert message.session.get("unheard_of") == {"deep": (1, {"a": None})}


@pytest.mark.spec("SESSION-2/5.1.e")
async def test_what_transformers_matchers_and_handlers_change_reaches_the_store(assistant: MakeAssistant) -> None:
    def by_transformer(ctx: Ctx) -> None:
        ctx.session = ctx.session.replace(site_id="kitchen")

    def match(utterances: Any, lang: str, session: Session) -> Match:
        return Match("m", "go", lang, utterances[0], updated_session=session.replace(persona_id="butler"))

    def by_intent_transformer(found: Match, ctx: Ctx) -> Match:
        ctx.session = ctx.session.replace(secondary_langs=["fr-FR"])
        return found

    plugins = (
        transformer("metadata", "t", by_transformer),
        transformer("intent", "i", by_intent_transformer),
        matcher("m", match, go=remembering(city="Rome")),
    )
    async with assistant(*plugins) as hark:
        await hark.hears("one")
        store = hark.runtime.store.current
    assert (store.site_id, store.persona_id, store.secondary_langs) == ("kitchen", "butler", ("fr-FR",))
    assert store.intent_context["city"].value == "Rome"
    assert store.active_handlers == (Handler("m", NOON),)


@pytest.mark.spec("SESSION-2/5.1.e")
@pytest.mark.parametrize("outcome", ["unmatched", "cancelled", "error"])
async def test_changes_reach_the_store_however_the_turn_ends(assistant: MakeAssistant, outcome: str) -> None:
    def change(ctx: Ctx) -> None:
        ctx.session = ctx.session.replace(site_id="kitchen")
        if outcome == "cancelled":
            ctx.cancel("other")

    def handler(turn: Turn) -> None:
        turn.remember("city", "Rome")
        raise ValueError

    plugin = claims(handler=handler) if outcome == "error" else declines()
    async with assistant(transformer("metadata", "t", change), plugin) as hark:
        await hark.hears("one")
        store = hark.runtime.store.current
    assert store.site_id == "kitchen"
    assert ("claims:city" in store.intent_context) == (outcome == "error")


@pytest.mark.spec("SESSION-2/5.1.f")
async def test_an_updated_session_is_the_whole_of_it(assistant: MakeAssistant) -> None:
    def match(utterances: Any, lang: str, session: Session) -> Match:
        changed = session.without("response_mode", "site_id").replace(intent_context={"new": {"value": "1"}})
        return Match("m", "go", lang, utterances[0], updated_session=changed)

    before = Session(
        response_mode={"skill_id": "a", "expires_at": 1}, site_id="kitchen", intent_context={"old": {"value": "0"}}
    )
    async with assistant(matcher("m", match, go=remembering())) as hark:
        await hark.hears("one", session=before)
        dispatched, store = hark.of("m:go")[0].session, hark.runtime.store.current
    for session in (dispatched, store):
        assert session.response_mode is None
        assert session.site_id is None
        assert list(session.intent_context) == ["new"]


@pytest.mark.spec("SESSION-2/5.1.g")
async def test_matching_in_another_language_leaves_the_sessions_language(assistant: MakeAssistant) -> None:
    async with assistant(claims(lang="de-DE")) as hark:
        await hark.hears("hallo", session=Session(lang="en-US"))
        assert hark.of("claims:go")[0].data["lang"] == "de-DE"
        assert hark.runtime.store.current.lang == "en-US"


@pytest.mark.spec("SESSION-2/5.1.j")
@pytest.mark.spec("CONTEXT-1/5.3.d")
async def test_context_is_merged_into_the_store_entry_by_entry(assistant: MakeAssistant) -> None:
    first = Session(intent_context={"kept": {"value": "1"}, "replaced": {"value": "2", "turns_remaining": 9},
                                    "removed": {"value": "3"}})  # fmt: skip
    second = Session.read({"intent_context": {"replaced": {"value": "new"}, "removed": None, "ghost": None}})
    async with assistant(declines()) as hark:
        await hark.hears("one", session=first)
        await hark.hears("two", session=second)
        context = hark.runtime.store.current.intent_context
    assert {key: entry.value for key, entry in context.items()} == {"kept": "1", "replaced": "new"}
    assert context["replaced"].turns_remaining is None, "written whole: the old timer is gone"


@pytest.mark.spec("SESSION-2/5.2.a")
async def test_without_anything_restored_the_store_starts_empty(assistant: MakeAssistant) -> None:
    async with assistant(declines()) as hark:
        assert hark.runtime.store.current == Session()


@pytest.mark.spec("SESSION-2/5.2.b")
def test_a_restored_store_has_everything_but_open_questions() -> None:
    saved: list[Session] = []
    restored = Session(**FULL)
    store = DefaultSession(restored, saved.append)
    assert store.current == restored.without("response_mode", *FOR_ONE_UTTERANCE)
    store.saved()
    assert saved == [store.current]


@pytest.mark.spec("SESSION-1/3.c")
@pytest.mark.spec("SESSION-2/5.3.a")
async def test_the_three_language_signals_speak_of_one_utterance_alone(assistant: MakeAssistant) -> None:
    seen: list[Any] = []
    settings = {"assistant": {"langs": ["de-DE", "fr-FR"], "pipeline": ["declines"]}}
    async with assistant(declines(seen=seen), settings=settings) as hark:
        await hark.hears("hallo", session=Session(stt_lang="de-DE", lang="fr-FR"))
        await hark.hears("salut")
    assert [lang for _, lang, _ in seen] == ["de-DE", "fr-FR"]


# §2.6: the boundaries.


@pytest.mark.spec("SESSION-2/2.6.d")
@pytest.mark.spec("CONTEXT-1/5.3.c")
async def test_what_a_handler_emits_carries_the_session_of_that_moment(assistant: MakeAssistant) -> None:
    async def handler(turn: Turn) -> None:
        await turn.speak("before")
        turn.remember("city", "Rome")
        await turn.speak("after")
        turn.emit("test.note")

    async with assistant(claims(handler=handler)) as hark:
        await hark.hears("hello", session="x")
        before, after = hark.of(topics.UTTERANCE_SPEAK)
        [note] = hark.of("test.note")
    assert "claims:city" not in before.session.intent_context
    assert after.session.intent_context["claims:city"].value == "Rome"
    assert note.session == after.session


WRITES: dict[str, Any] = {
    "response_mode": {"skill_id": "claims", "expires_at": 99},
    "persona_id": "pirate",
    "pipeline": ["template"],
}


@pytest.mark.spec("SESSION-2/2.6.e")
@pytest.mark.spec("SESSION-2/2.6.f")
@pytest.mark.parametrize("field", WRITES)
@pytest.mark.parametrize("named", [True, False])
async def test_a_handler_may_write_these(assistant: MakeAssistant, field: str, named: bool) -> None:
    async def handler(turn: Turn) -> None:
        if turn.utterance == "set":
            turn.session = turn.session.replace(**{field: WRITES[field]})
        else:
            turn.session = turn.session.without(field)

    session = Session("x" if named else "default")
    async with assistant(claims(handler=handler)) as hark:
        await hark.hears("set", session=session)
        written = turn_of(hark)[-1].session
        assert written.get(field) is not None
        assert turn_of(hark)[-2].session == written
        if not named:
            lasts = field != "pipeline"  # ruling R16
            assert hark.runtime.store.current.get(field) == (written.get(field) if lasts else None)
        resumed = written.replace(pipeline=["claims"]) if field == "pipeline" else written
        await hark.hears("remove", session=resumed)
        assert turn_of(hark)[-1].session.get(field) is None
        assert hark.runtime.store.current.get(field) is None


@pytest.mark.spec("SESSION-2/2.6.e")
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("blacklisted_skills", ["x"]),
        ("blacklisted_intents", ["a:b"]),
        ("dialog_transformers", ["x"]),
        ("site_id", "cellar"),
        ("lang", "fr-FR"),
        ("location", {"lat": 9.0}),
        ("unheard_of", 1),
    ],
)
async def test_a_handler_may_not_write_those(assistant: MakeAssistant, field: str, value: Any) -> None:
    async def handler(turn: Turn) -> None:
        turn.session = turn.session.replace(**{field: value}, persona_id="pirate")

    async with assistant(claims(handler=handler)) as hark:
        await hark.hears("hello")
        ended = turn_of(hark)[-1].session
        assert ended.get(field) is hark.runtime.store.current.get(field) is None
        assert ended.persona_id == "pirate"


@pytest.mark.spec("SESSION-2/2.6.e")
async def test_of_the_handler_lists_a_handler_may_change_its_own_entries_alone(assistant: MakeAssistant) -> None:
    async def handler(turn: Turn) -> None:
        turn.session = turn.session.replace(
            active_handlers=[{"skill_id": "stranger", "activated_at": 1}],
            converse_handlers=[{"skill_id": "claims", "activated_at": 5}, {"skill_id": "stranger", "activated_at": 6}],
        )

    before = Session("x", active_handlers=[{"skill_id": "a", "activated_at": 1}],
                     converse_handlers=[{"skill_id": "b", "activated_at": 1_767_268_700}])  # fmt: skip
    async with assistant(claims(handler=handler)) as hark:
        await hark.hears("hello", session=before)
        ended = turn_of(hark)[-1].session
    assert ended.active_handlers == (Handler("a", 1),), "it took itself off the list, and could add nobody"
    assert ended.converse_handlers == (Handler("claims", 5), Handler("b", 1_767_268_700))


@pytest.mark.spec("SESSION-2/2.6.e")
async def test_a_handler_cannot_move_its_turn_elsewhere(assistant: MakeAssistant) -> None:
    async def handler(turn: Turn) -> str:
        with pytest.raises(ValueError, match="another session"):
            turn.session = Session("y")
        return "stayed"

    async with assistant(claims(handler=handler)) as hark:
        assert await hark.hears("hello", session="x") == ["stayed"]
        assert {m.session_id for m in turn_of(hark)} == {"x"}


@pytest.mark.spec("SESSION-2/2.7.a")
async def test_nobody_pushes_sessions_at_others(assistant: MakeAssistant) -> None:
    async with assistant(claims(handler=remembering(city="Rome"))) as hark:
        await hark.hears("one")
        await hark.hears("two", session="x")
        assert not [topic for topic in hark.topics() if topic.startswith("ovos.session.")]


@pytest.mark.spec("SESSION-2/6.2.b")
async def test_the_marker_carries_the_session_as_the_turn_left_it(assistant: MakeAssistant) -> None:
    async with assistant(claims(handler=remembering(city="Rome"))) as hark:
        await hark.hears("one")
        marker = hark.of(topics.UTTERANCE_HANDLED)[0]
        assert marker.session == hark.runtime.store.current


# Traps 6 and 15: rounds side by side on one store.


async def two_at_once(hark: Assistant, first: asyncio.Event) -> None:
    """Let a slow turn begin, a quick one pass by, and the slow one end."""
    slow = hark.say("slow")
    await settle()
    await hark.hears("quick")
    first.set()
    await settle()
    assert slow.markers == 1


@pytest.mark.spec("SESSION-2/5.1.e")
@pytest.mark.spec("CONTEXT-1/4.1.a")
async def test_a_long_handler_brings_back_only_what_it_changed_itself(assistant: MakeAssistant) -> None:
    go_on = asyncio.Event()

    async def handler(turn: Turn) -> None:
        if turn.utterance == "slow":
            turn.remember("slow", "1", shared=True)
            await go_on.wait()
        else:
            turn.forget("answered", shared=True)
            turn.remember("quick", "1", shared=True)
            turn.session = turn.session.without("response_mode").replace(persona_id="pirate")

    async with assistant(claims(handler=handler)) as hark:
        await hark.hears("setup", session=Session(
            intent_context={"answered": {"value": "x"}}, persona_id="butler",
            response_mode={"skill_id": "claims", "expires_at": 9}))  # fmt: skip
        hark.runtime.store.current = hark.runtime.store.current.replace(
            intent_context={"answered": {"value": "x"}}, response_mode={"skill_id": "claims", "expires_at": 9}
        )
        await two_at_once(hark, go_on)
        store = hark.runtime.store.current
        assert turn_of(hark)[-1].session == store
    assert set(store.intent_context) == {"slow", "quick"}
    assert store.response_mode is None, "an answered question does not come back"
    assert store.persona_id == "pirate"


@pytest.mark.spec("CONTEXT-1/4.d")
async def test_a_long_handler_does_not_bring_back_what_was_counted_down_meanwhile(assistant: MakeAssistant) -> None:
    go_on = asyncio.Event()

    async def handler(turn: Turn) -> None:
        if turn.utterance == "slow":
            await go_on.wait()
            turn.remember("other", "1", shared=True)

    before = Session(intent_context={"counted": {"value": "x", "turns_remaining": 3}})
    async with assistant(claims(handler=handler)) as hark:
        hark.runtime.store.current = before
        await two_at_once(hark, go_on)
        context = hark.runtime.store.current.intent_context
    assert context["counted"].turns_remaining == 1
    assert context["other"].value == "1"


@pytest.mark.spec("SESSION-2/3.3.b")
async def test_a_nested_round_gives_two_markers_each_with_its_session(assistant: MakeAssistant) -> None:
    answered = asyncio.Event()

    async def handler(turn: Turn) -> None:
        if turn.utterance == "outer":
            turn.emit(topics.UTTERANCE_HANDLE, {"utterances": ["inner"]})
            await answered.wait()
            turn.remember("outer", "1", shared=True)
        else:
            turn.remember("inner", "1", shared=True)
            answered.set()

    async with assistant(claims(handler=handler)) as hark:
        await hark.hears("outer")
        markers = hark.of(topics.UTTERANCE_HANDLED)
        assert len(markers) == 2
        assert set(hark.runtime.store.current.intent_context) == {"outer", "inner"}


@pytest.mark.spec("SESSION-2/2.7.b")
async def test_getting_ready_needs_no_word_about_sessions(assistant: MakeAssistant) -> None:
    async with assistant(claims()) as hark:
        await settle()
        assert all(message.session is None for message in hark.messages)
        assert not [topic for topic in hark.topics() if "session" in topic]


@pytest.mark.spec("SESSION-2/2.7.c")
async def test_who_renders_goes_by_the_session_of_what_it_renders(assistant: MakeAssistant) -> None:
    seen: list[Any] = []

    def look(text: str, ctx: Ctx) -> str:
        seen.append((text, ctx.session.persona_id))
        return text

    async def handler(turn: Turn) -> None:
        await turn.speak("before")
        turn.session = turn.session.replace(persona_id="pirate")
        await turn.speak("after")

    async with assistant(transformer("dialog", "look", look), claims(handler=handler)) as hark:
        await hark.hears("hello", session=Session(persona_id="butler"))
    assert seen == [("before", "butler"), ("after", "pirate")]


@pytest.mark.spec("SESSION-1/3.4.b")
async def test_what_the_deployment_denies_is_not_written_into_sessions(assistant: MakeAssistant) -> None:
    def match(utterances: Any, lang: str, session: Session) -> Match:
        return Match("claims", "go", lang, utterances[0], updated_session=session.replace(persona_id="butler"))

    def touch(ctx: Ctx) -> None:
        ctx.session = ctx.session.replace(site_id="kitchen")

    settings = {"deny": {"skills": ["evil"], "dialog_transformers": ["loud"]}}
    plugins = (transformer("metadata", "t", touch), matcher("claims", match, go=remembering(city="Rome")))
    async with assistant(*plugins, settings=settings) as hark:
        await hark.hears("hello", session="x")
        await hark.hears("hello")
        for message in (*turn_of(hark, 0), *turn_of(hark, 1)):
            assert not [name for name in message.session if name.startswith("blacklisted")]


# Conversation state lives in the session, and the session comes with what is worked on.


def carrier_of(message: Message) -> Any:
    """The session of a Message as it is on the wire."""
    return json.loads(encode(message)).get("context", {}).get("session")


@pytest.mark.spec("SESSION-2/2.4.a")
@pytest.mark.spec("SESSION-2/6.3.a")
async def test_a_conversation_goes_on_in_another_process(assistant: MakeAssistant) -> None:
    def handler(turn: Turn) -> str:
        known = turn.session.intent_context.get("claims:name")
        turn.remember("name", turn.utterance)
        return f"you were {known.value}" if known else "hello"

    async def said(text: str, session: Session) -> tuple[list[str], Session]:
        hark: Assistant
        async with assistant(claims(handler=handler)) as hark:
            answer = await hark.hears(text, session=session)
            left = turn_of(hark)[-1].session
            assert left is not None
            return answer, left

    first, session = await said("Ada", Session("x"))
    second, session = await said("Bob", session)
    third, _ = await said("Cy", session)
    assert [first, second, third] == [["hello"], ["you were Ada"], ["you were Bob"]]


@pytest.mark.spec("SESSION-2/2.7.b")
async def test_nobody_asks_for_a_session_at_the_start(assistant: MakeAssistant) -> None:
    plugins = (claims(), transformer("dialog", "d", lambda text, ctx: text), ClockSkill())
    async with assistant(*plugins) as hark:
        started = list(hark.messages)
        assert started
        assert all(not carrier_of(message) for message in started)
        assert not [m for m in started if m.type.startswith("ovos.session.")]
        assert hark.runtime.store.current == Session()


@pytest.mark.spec("SESSION-2/2.7.c")
async def test_the_output_layer_goes_by_the_session_of_what_it_renders(assistant: MakeAssistant) -> None:
    seen: list[str | None] = []

    def note(text: str, ctx: Ctx) -> str:
        seen.append(ctx.session.persona_id)
        return text

    plugins = (claims(), transformer("dialog", "d", note), transformer("dialog", "unwanted", lambda text, ctx: "no"))
    async with assistant(*plugins) as hark:
        denied = ["unwanted"]
        session = Session(persona_id="butler", blacklisted_dialog_transformers=denied)
        assert await hark.hears("hello", session=session) == ["hello"]
        assert await hark.hears("hello", session=session.replace(persona_id="pirate")) == ["hello"]
        assert await hark.hears("hello") == ["no"], "what the default session denies holds for one utterance"
        assert await hark.hears("hello", session=Session("x")) == ["no"]
    assert seen == ["butler", "pirate", "pirate", None]
