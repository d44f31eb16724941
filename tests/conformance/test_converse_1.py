"""OVOS-CONVERSE-1 §2, §3, §6: who may be offered the next utterance."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from flow.dialogue import NOON, chatty, dispatched, ids, in_dialogue, listed, stranger
from flow.stage import MakeAssistant, claim_of, claims, declines, matcher, silent, skill, transformer, turn_of
from hark.app.settings import Settings
from hark.builtin import MATCHERS, Converse, Interrupt, Stop
from hark.bus import ask
from hark.model import Handler, Match, Message, ResponseMode, Session, converse
from hark.plugins import Ctx, Turn
from hark.spec import RESERVED_INTENT_NAMES, topics
from hark.testing import Assistant, settle
from hark.understand import TurnOptions


@pytest.fixture
def assistant(assistant: MakeAssistant) -> MakeAssistant:
    return in_dialogue(assistant)


def capped(hark: Assistant, **options: Any) -> None:
    """Give the assistant other options."""
    hark.runtime.orchestrator.adopt(TurnOptions(**{"pipeline": ("stop", "converse", "by-name"), **options}))


def by_name() -> Any:
    """A matcher that calls the skill whose name was said."""

    def match(utterances: Any, lang: str, session: Session) -> Match | None:
        return Match(utterances[0], "go", lang, utterances[0]) if utterances[0].endswith(".skill") else None

    return matcher("by-name", match)


def called(*skill_ids: str) -> list[Any]:
    return [by_name(), *(skill(skill_id, go=silent) for skill_id in skill_ids)]


async def told(hark: Assistant, session: Session | None) -> Message:
    """The answer to a query for the list."""
    return await ask(hark.bus, hark.clock, Message(topics.CONVERSE_ACTIVE_LIST, session=session))


# §2.1: the list.


@pytest.mark.spec("CONVERSE-1/2.1.a")
@pytest.mark.spec("CONVERSE-1/2.1.c")
@pytest.mark.spec("CONVERSE-1/2.1.d")
@pytest.mark.spec("CONVERSE-1/3.1.b")
async def test_who_is_called_is_at_the_head_once_with_the_time_of_the_call(assistant: MakeAssistant) -> None:
    async with assistant(*called("a.skill", "b.skill")) as hark:
        for skill_id in ("a.skill", "b.skill", "a.skill"):
            await hark.clock.advance(1.0)
            await hark.hears(skill_id, session="x")
        wire = turn_of(hark)[-1].session.wire()["converse_handlers"]
    assert list(wire) == [
        {"skill_id": "a.skill", "activated_at": NOON + 3},
        {"skill_id": "b.skill", "activated_at": NOON + 2},
    ]


@pytest.mark.spec("CONVERSE-1/2.1.b")
@pytest.mark.parametrize("name", ["a:b", ":", "a.skill:converse"])
async def test_an_id_with_a_colon_never_gets_into_the_list(assistant: MakeAssistant, name: str) -> None:
    async with assistant(skill(name, go=silent), claims("m:n")) as hark:
        assert {refusal.name for refusal in hark.runtime.refusals} == {name, "m:n"}


@pytest.mark.spec("CONVERSE-1/2.1.e")
async def test_without_a_list_nobody_is_asked(assistant: MakeAssistant) -> None:
    async with assistant(chatty("a.skill")) as hark:
        await hark.hears("hello", session=Session("x"))
        assert hark.of(topics.CONVERSE_PING) == []


@pytest.mark.spec("CONVERSE-1/2.1.f")
@pytest.mark.spec("CONVERSE-1/3.2.a")
def test_a_deployment_that_says_nothing_has_a_cap_and_a_time() -> None:
    options = Settings().understanding()
    assert 1 <= options.converse_cap < 100
    assert options.converse_ttl is not None
    assert 0 < options.converse_ttl <= 3600


@pytest.mark.spec("CONVERSE-1/2.1.g")
async def test_a_list_of_any_length_is_polled(assistant: MakeAssistant) -> None:
    names = [f"skill-{number}" for number in range(500)]
    async with assistant(chatty("skill-499")) as hark:
        stranger(hark, {name: {"can_handle": False} for name in names[:499]})
        session = Session("x", converse_handlers=tuple(Handler(name, NOON) for name in names))
        assert await hark.hears("hello", session=session) == ["skill-499 heard hello"]


@pytest.mark.spec("CONVERSE-1/2.1.h")
@pytest.mark.spec("CONVERSE-1/2.1.i")
async def test_beyond_the_cap_the_least_recent_goes_and_that_is_logged(
    assistant: MakeAssistant, caplog: pytest.LogCaptureFixture
) -> None:
    async with assistant(*called("a.skill", "b.skill", "c.skill")) as hark:
        capped(hark, converse_cap=2)
        with caplog.at_level(logging.INFO, "hark.model"):
            for skill_id in ("a.skill", "b.skill", "c.skill"):
                await hark.hears(skill_id, session="x")
        assert ids(turn_of(hark)[-1].session) == ["c.skill", "b.skill"]
    assert "a.skill is removed from the converse handlers of session x" in caplog.text


@pytest.mark.spec("CONVERSE-1/2.1.j")
@pytest.mark.spec("CONVERSE-1/2.1.k")
@pytest.mark.spec("CONVERSE-1/2.1.l")
async def test_whoever_waits_for_an_answer_does_not_have_to_go(assistant: MakeAssistant) -> None:
    async with assistant(*called("b.skill", "c.skill", "d.skill")) as hark:
        capped(hark, converse_cap=2, pipeline=("by-name",))
        session = listed("b.skill", "a.skill", waits="a.skill", until=10.0)
        await hark.hears("c.skill", session=session)
        kept = turn_of(hark)[-1].session
        assert ids(kept) == ["c.skill", "a.skill"]
        await hark.clock.advance(10.0)
        await hark.hears("d.skill", session=kept)
        assert ids(turn_of(hark)[-1].session) == ["d.skill", "c.skill"], "nobody waits any more"


@pytest.mark.spec("CONVERSE-1/2.1.m")
@pytest.mark.spec("CONVERSE-1/5.4.a")
@pytest.mark.spec("CONVERSE-1/5.4.b")
async def test_a_stop_of_one_skill_leaves_the_list_alone_and_a_stop_of_all_empties_it(
    assistant: MakeAssistant,
) -> None:
    busy = chatty("a.skill", False)
    type(busy).can_stop = staticmethod(lambda session: True)  # type: ignore[attr-defined]
    both = (Handler("a.skill", NOON), Handler("b.skill", NOON - 1))
    async with assistant(busy, chatty("b.skill", False)) as hark:
        await hark.hears("stop", session=Session("x", active_handlers=both, converse_handlers=both))
        after = turn_of(hark)[-1].session
        assert dispatched(hark) == ["a.skill:stop"]
        assert [one.skill_id for one in after.active_handlers] == ["b.skill"]
        assert ids(after) == ["a.skill", "b.skill"]
        await hark.hears("stop everything", session=after)
        assert dispatched(hark)[1:] == [f"{Stop.id}:global_stop"]
        assert ids(turn_of(hark)[-1].session) == [Stop.id]


# §2: the fields on the wire.


@pytest.mark.spec("CONVERSE-1/2.a")
async def test_no_message_carries_a_null_in_place_of_a_list_or_a_question(assistant: MakeAssistant) -> None:
    async def go(turn: Turn) -> str:
        return f"{await turn.ask('well?')}"

    async with assistant(chatty("a.skill", False), claims(handler=go)) as hark:
        await hark.hears("ask", session=listed("a.skill"))
        await hark.hears("yes", session="x")
        for message in hark.messages:
            wire = message.session.wire() if message.session is not None else {}
            assert wire.get("converse_handlers", ()) is not None
            assert wire.get("response_mode", ()) is not None


@pytest.mark.spec("CONVERSE-1/2.a")
@pytest.mark.spec("CONVERSE-1/2.b")
@pytest.mark.parametrize("broken", [None, 7, "a", {}, [7], [{"skill_id": 7}], {"skill_id": "a.skill"}])
@pytest.mark.parametrize("field", ["converse_handlers", "response_mode"])
async def test_a_malformed_field_is_as_good_as_none_and_no_reason_to_refuse(
    assistant: MakeAssistant, field: str, broken: Any
) -> None:
    async with assistant(claims()) as hark:
        carrier = Session.read({"session_id": "x", field: broken})
        assert await hark.hears("hello", session=carrier) == ["hello"]
        assert hark.of(topics.CONVERSE_PING) == []


@pytest.mark.spec("CONVERSE-1/2.b")
def test_both_fields_travel_with_every_derivation_as_they_are() -> None:
    session = listed("a.skill", "b.skill", waits="a.skill")
    message = Message("some.topic", {}, {"source": "here"}, session)
    for derived in (message.forward("x.y"), message.reply("x.y"), message.response()):
        assert derived.session.wire() == session.wire()


# §2.2: response mode, as far as it is a field.


@pytest.mark.spec("CONVERSE-1/2.2.b")
@pytest.mark.parametrize("expires_at", [int(NOON) + 1, NOON + 0.5])
async def test_the_time_of_a_question_is_whole_or_not(assistant: MakeAssistant, expires_at: float) -> None:
    async with assistant(skill("a.skill", go=silent)) as hark:
        session = listed("a.skill").replace(response_mode=ResponseMode("a.skill", expires_at))
        hark.say("yes", session=session)
        await settle()
        assert dispatched(hark) == ["a.skill:response"]


# §3.1: the stamp.


@pytest.mark.spec("CONVERSE-1/3.1.a")
@pytest.mark.spec("CONVERSE-1/3.1.f")
@pytest.mark.parametrize("intent_name", ["go", *sorted(RESERVED_INTENT_NAMES)])
async def test_every_call_is_stamped_whatever_its_name(assistant: MakeAssistant, intent_name: str) -> None:
    async with assistant(matcher("m", claim_of(f"a.skill:{intent_name}"))) as hark:
        capped(hark, pipeline=("m",))
        hark.say("hello", session=Session("x", converse_handlers=(Handler("b.skill", NOON),)))
        await hark.clock.advance(3.0)
        [dispatch] = hark.of(f"a.skill:{intent_name}")
    assert ids(dispatch.session) == ["a.skill", "b.skill"]
    if intent_name in ("converse", "response"):
        assert dispatch.session.active_handlers == ()


@pytest.mark.spec("CONVERSE-1/3.1.c")
async def test_everything_derived_from_the_call_carries_the_stamp(assistant: MakeAssistant) -> None:
    async with assistant(claims()) as hark:
        await hark.hears("hello", session="x")
        turn = [message for message in turn_of(hark) if message.type != topics.INTENT_MATCHED]
    assert len(turn) == 5
    assert all(ids(message.session) == ["claims"] for message in turn)


@pytest.mark.spec("CONVERSE-1/3.1.d")
async def test_the_stamp_comes_after_what_the_claim_brings(assistant: MakeAssistant) -> None:
    def match(utterances: Any, lang: str, session: Session) -> Match:
        return Match("m", "go", lang, utterances[0], updated_session=session.replace(converse_handlers=()))

    async with assistant(matcher("m", match, go=silent)) as hark:
        stranger(hark, {"a.skill": {"can_handle": False}})
        await hark.hears("hello", session=listed("a.skill"))
        assert ids(turn_of(hark)[-1].session) == ["m"]


@pytest.mark.spec("CONVERSE-1/3.1.e")
@pytest.mark.spec("CONVERSE-1/4.2.t")
async def test_being_asked_activates_nobody(assistant: MakeAssistant) -> None:
    async with assistant(chatty("a.skill", False), chatty("b.skill", False)) as hark:
        before = listed("a.skill", "b.skill")
        await hark.hears("hello", session=before)
        assert len(hark.of(topics.CONVERSE_PING)) == 1
        assert turn_of(hark)[-1].session.converse_handlers == before.converse_handlers
        assert turn_of(hark)[-1].session.active_handlers == ()
        assert hark.of(topics.HANDLER_START) == []


# §3.2: time.


@pytest.mark.spec("CONVERSE-1/3.2.b")
@pytest.mark.spec("CONVERSE-1/3.2.f")
@pytest.mark.spec("CONVERSE-1/4.1.f")
async def test_who_was_called_too_long_ago_is_not_asked_and_leaves_the_list(assistant: MakeAssistant) -> None:
    seen: list[Any] = []
    old, new = Handler("old.skill", NOON - converse.TTL - 1), Handler("new.skill", NOON - converse.TTL)
    async with assistant(chatty("old.skill"), chatty("new.skill", False), declines(seen=seen)) as hark:
        await hark.hears("hello", session=Session("x", converse_handlers=(new, old)))
        assert dispatched(hark) == []
        assert ids(turn_of(hark)[-1].session) == ["new.skill"]
    assert ids(seen[0][2]) == ["new.skill"]


@pytest.mark.spec("CONVERSE-1/3.2.c")
@pytest.mark.spec("CONVERSE-1/6.1.a")
@pytest.mark.spec("CONVERSE-1/6.1.b")
@pytest.mark.spec("CONVERSE-1/9.4.a")
async def test_whoever_asks_is_told_the_list_without_what_is_too_old(assistant: MakeAssistant) -> None:
    async with assistant(*called("a.skill")) as hark:
        await hark.hears("a.skill")
        named = listed("b.skill", session_id="y")
        own, theirs = await told(hark, None), await told(hark, named)
        assert own.data == {"converse_handlers": ({"skill_id": "a.skill", "activated_at": NOON},)}
        assert own.type == "ovos.converse.active.list.response"
        assert theirs.data["converse_handlers"] == ({"skill_id": "b.skill", "activated_at": NOON},)
        assert (own.session_id, theirs.session_id) == ("default", "y")
        await hark.clock.advance(converse.TTL + 1)
        assert (await told(hark, None)).data == {"converse_handlers": ()}
        assert (await told(hark, named)).data == {"converse_handlers": ()}


@pytest.mark.spec("CONVERSE-1/3.2.e")
async def test_time_does_not_take_whoever_waits_for_an_answer(assistant: MakeAssistant) -> None:
    session = Session(
        "x",
        converse_handlers=(Handler("a.skill", NOON - 10 * converse.TTL),),
        response_mode=ResponseMode("a.skill", NOON + 1),
    )
    async with assistant(skill("a.skill", go=silent)) as hark:
        hark.say("yes", session=session)
        await settle()
        assert dispatched(hark) == ["a.skill:response"]


@pytest.mark.spec("CONVERSE-1/3.2.g")
async def test_without_a_time_nobody_is_too_old(assistant: MakeAssistant) -> None:
    year = 365 * 86_400.0
    async with assistant(chatty("a.skill")) as hark:
        capped(hark, converse_ttl=None)
        assert await hark.hears("hello", session=Session("x", converse_handlers=(Handler("a.skill", NOON - year),)))
        assert dispatched(hark) == ["a.skill:converse"]


# §3.3: transformers.


@pytest.mark.spec("CONVERSE-1/3.3.a")
@pytest.mark.spec("CONVERSE-1/3.3.e")
@pytest.mark.spec("CONVERSE-1/3.3.f")
@pytest.mark.parametrize("kind", ["utterance", "metadata"])
@pytest.mark.parametrize("becomes", [None, "b.skill"])
async def test_a_transformer_ahead_of_the_round_calls_a_question_off_or_hands_it_on(
    assistant: MakeAssistant, kind: Any, becomes: str | None
) -> None:
    def change(ctx: Ctx) -> None:
        session = ctx.session.without("response_mode")
        if becomes is not None:
            session = session.replace(response_mode=ResponseMode(becomes, NOON + 30))
        ctx.session = session

    def on_texts(utterances: Any, ctx: Ctx) -> Any:
        change(ctx)
        return utterances

    plugin = transformer(kind, "t", on_texts if kind == "utterance" else change)
    async with assistant(plugin, skill("a.skill", go=silent), skill("b.skill", go=silent), claims()) as hark:
        hark.say("yes", session=listed("a.skill", "b.skill", waits="a.skill"))
        await settle()
        assert dispatched(hark) == [f"{becomes}:response" if becomes else "claims:go"]


@pytest.mark.spec("CONVERSE-1/3.3.a")
@pytest.mark.spec("CONVERSE-1/3.3.e")
@pytest.mark.parametrize("kind", ["intent", "dialog"])
async def test_a_transformer_behind_the_round_changes_the_next_one(assistant: MakeAssistant, kind: Any) -> None:
    def change(artifact: Any, ctx: Ctx) -> Any:
        ctx.session = ctx.session.replace(response_mode=ResponseMode("claims", NOON + 30))
        return artifact

    async with assistant(transformer(kind, "t", change), claims()) as hark:
        await hark.hears("hello", session="x")
        assert dispatched(hark) == ["claims:go"]
        if kind == "intent":
            assert turn_of(hark)[-1].session.response_mode is not None
            hark.say("yes", session="x")
            await settle()
            assert dispatched(hark)[1:] == ["claims:response"]


@pytest.mark.spec("CONVERSE-1/3.3.c")
async def test_a_list_that_a_transformer_left_in_disorder_does_no_harm(assistant: MakeAssistant) -> None:
    def change(ctx: Ctx) -> None:
        twice = (Handler("a.skill", NOON - 9), Handler("b.skill", NOON - 1), Handler("a.skill", NOON - 9))
        ctx.session = ctx.session.replace(converse_handlers=twice)

    async with assistant(transformer("metadata", "t", change), chatty("a.skill"), chatty("b.skill")) as hark:
        assert await hark.hears("hello", session="x") == ["b.skill heard hello"]
        after = ids(turn_of(hark)[-1].session)
    assert after[0] == "b.skill"
    assert after.count("b.skill") == 1


# §4: the plugin in its place.


@pytest.mark.spec("CONVERSE-1/4.a")
async def test_a_session_can_do_without_the_plugin(assistant: MakeAssistant) -> None:
    async with assistant(chatty("a.skill")) as hark:
        session = listed("a.skill").replace(blacklisted_pipelines=(Converse.id,))
        assert await hark.hears("hello", session=session) == []
        assert hark.of(topics.CONVERSE_PING) == []


@pytest.mark.spec("CONVERSE-1/4.e")
@pytest.mark.spec("CONVERSE-1/4.g")
def test_the_default_pipeline_has_it_once_right_behind_stop() -> None:
    assert [matcher.id for matcher in MATCHERS][:2] == [Stop.id, Converse.id]
    assert Settings().assistant.pipeline.count(Converse.id) == 1
    # Between the two there is only what leaves an answer alone, and can be switched off.
    assert Settings().assistant.pipeline[:3] == (Stop.id, Interrupt.id, Converse.id)


@pytest.mark.spec("CONVERSE-1/4.2.s")
def test_the_stage_has_more_time_than_its_window() -> None:
    assert Settings().limits.match >= Converse.Settings().window == 0.5


@pytest.mark.spec("CONVERSE-1/4.f")
async def test_the_list_is_kept_where_nobody_converses(assistant: MakeAssistant) -> None:
    async with assistant(claims(), settings={"assistant": {"pipeline": ["claims"]}}) as hark:
        await hark.hears("hello", session="x")
        assert ids(turn_of(hark)[-1].session) == ["claims"]


@pytest.mark.spec("CONVERSE-1/4.d")
async def test_it_tells_the_two_names_it_claims_for(assistant: MakeAssistant) -> None:
    async with assistant() as hark:
        query = Message(topics.pipeline_intents_list(Converse.id))
        answer = await ask(hark.bus, hark.clock, query)
    assert {intent["intent_name"] for intent in answer.data["intents"]} == {"converse", "response"}
