"""OVOS-CONTEXT-1 in the lifecycle: when entries are pruned, counted down, gated and merged."""

from __future__ import annotations

from typing import Any

import pytest

from flow.stage import (
    MakeAssistant,
    claim_of,
    claims,
    declines,
    matcher,
    outcomes,
    skill,
    transformer,
    turn_of,
)
from hark.bus import ask
from hark.model import Match, Message, Session, intent_context
from hark.plugins import Ctx, Turn
from hark.spec import topics
from hark.testing import Assistant, settle

NOON = 1_767_268_800.0


def entry(value: str | None = "x", **timers: Any) -> dict[str, Any]:
    return {"value": value, **timers}


def left(session: Session) -> dict[str, int | None]:
    """The entries of a session, and how many turns they have."""
    return {key: found.turns_remaining for key, found in session.intent_context.items() if found is not None}


# §4: pruning and counting down.


@pytest.mark.spec("CONTEXT-1/4.c")
@pytest.mark.spec("CONTEXT-1/4.d")
@pytest.mark.parametrize("outcome", ["matched", "unmatched", "empty", "garbage"])
async def test_one_turn_counts_every_timer_down_once(assistant: MakeAssistant, outcome: str) -> None:
    nothing = transformer("utterance", "t", lambda utterances, ctx: [] if outcome == "empty" else utterances)
    plugin = claims() if outcome == "matched" else declines("claims")
    context = {"shared": entry(turns_remaining=3), "claims:own": entry(turns_remaining=2), "timeless": entry()}
    async with assistant(nothing, plugin) as hark:
        if outcome == "garbage":
            data = {"utterances": 7}
            hark.bus.emit(Message(topics.UTTERANCE_HANDLE, data, session=Session("x", intent_context=context)))
            await settle()
        else:
            await hark.hears("hello", session=Session("x", intent_context=context))
        for message in turn_of(hark):
            assert left(message.session) == {"shared": 2, "claims:own": 1, "timeless": None}


@pytest.mark.spec("CONTEXT-1/4.c")
@pytest.mark.parametrize("kind", ["utterance", "metadata"])
async def test_a_turn_cancelled_before_the_match_round_counts_nothing_down(assistant: MakeAssistant, kind: Any) -> None:
    def stop(*arguments: Any) -> Any:
        arguments[-1].cancel("other")
        return arguments[0] if kind == "utterance" else None

    if kind == "utterance":
        plugin = transformer(kind, "stopper", lambda utterances, ctx: stop(utterances, ctx))
    else:
        plugin = transformer(kind, "stopper", lambda ctx: stop(ctx))
    async with assistant(plugin) as hark:
        await hark.hears("hello", session=Session("x", intent_context={"a": entry(turns_remaining=3)}))
        assert left(turn_of(hark)[-1].session) == {"a": 3}


@pytest.mark.spec("CONTEXT-1/4.c")
async def test_a_turn_cancelled_in_the_intent_chain_has_been_counted(assistant: MakeAssistant) -> None:
    def stop(match: Match, ctx: Ctx) -> Match:
        ctx.cancel("other")
        return match

    async with assistant(transformer("intent", "stopper", stop), claims()) as hark:
        await hark.hears("hello", session=Session("x", intent_context={"a": entry(turns_remaining=3)}))
        assert left(turn_of(hark)[-1].session) == {"a": 2}


@pytest.mark.spec("CONTEXT-1/4.e")
@pytest.mark.parametrize("turns", [1, 3])
async def test_an_entry_for_n_turns_is_seen_by_n_rounds(assistant: MakeAssistant, turns: int) -> None:
    seen: list[bool] = []

    def match(utterances: Any, lang: str, session: Session) -> Match | None:
        seen.append("claims:city" in session.intent_context)
        return Match("claims", "go", lang, utterances[0]) if utterances[0] == "set" else None

    def handler(turn: Turn) -> None:
        turn.remember("city", "Rome", turns=turns)

    async with assistant(matcher("claims", match, go=handler)) as hark:
        await hark.hears("set")
        for _ in range(turns + 2):
            await hark.hears("look")
    assert seen == [False, *[True] * turns, False, False]


@pytest.mark.spec("CONTEXT-1/4.e")
async def test_an_entry_for_no_turns_is_dead_on_arrival(assistant: MakeAssistant) -> None:
    seen: list[Any] = []
    async with assistant(declines(seen=seen)) as hark:
        await hark.hears("hello", session=Session("x", intent_context={"a": entry(turns_remaining=0)}))
        assert left(turn_of(hark)[-1].session) == {}
    assert seen[0][2].intent_context == {}


@pytest.mark.spec("CONTEXT-1/4.a")
@pytest.mark.spec("CONTEXT-1/2.k")
async def test_time_runs_out_between_turns(assistant: MakeAssistant) -> None:
    seen: list[Any] = []

    def handler(turn: Turn) -> None:
        if turn.utterance == "set":
            turn.remember("soon", "x", seconds=10.0)
            turn.remember("never", "x")

    async with assistant(declines(seen=seen), claims(handler=handler)) as hark:
        await hark.hears("set")
        await hark.clock.advance(9.0)
        await hark.hears("look")
        await hark.clock.advance(1.0)
        await hark.hears("look")
    assert [sorted(session.intent_context) for _, _, session in seen] == [
        [],
        ["claims:never", "claims:soon"],
        ["claims:never"],
    ]


@pytest.mark.spec("CONTEXT-1/4.1.a")
async def test_what_a_handler_writes_is_neither_seen_nor_counted_by_its_own_round(assistant: MakeAssistant) -> None:
    seen: list[Any] = []

    def handler(turn: Turn) -> None:
        turn.remember("next", "x", turns=1)

    async with assistant(declines(seen=seen), claims(handler=handler)) as hark:
        await hark.hears("one", session="x")
        ended = turn_of(hark)[-1].session
        assert left(ended) == {"claims:next": 1}
        await hark.hears("two", session=ended)
    assert [list(session.intent_context) for _, _, session in seen] == [[], ["claims:next"]]


@pytest.mark.spec("CONTEXT-1/4.1.b")
@pytest.mark.spec("CONTEXT-1/5.1.a")
@pytest.mark.spec("PIPELINE-1/6.1.c")
async def test_what_an_engine_writes_is_not_counted_down_by_its_own_round(assistant: MakeAssistant) -> None:
    def match(utterances: Any, lang: str, session: Session) -> Match:
        entries = {
            "untouched": session.intent_context["untouched"],
            "renewed": entry("x", turns_remaining=9),
            "m:promoted": entry("y", turns_remaining=1),
        }
        return Match("m", "go", lang, utterances[0], updated_session=session.replace(intent_context=entries))

    context = {
        "untouched": entry(turns_remaining=5),
        "renewed": entry("x", turns_remaining=2),
        "dropped": entry(turns_remaining=5),
    }
    async with assistant(matcher("m", match, go=lambda turn: None)) as hark:
        await hark.hears("hello", session=Session("x", intent_context=context))
        for message in turn_of(hark):
            assert left(message.session) == {"untouched": 4, "renewed": 9, "m:promoted": 1}


@pytest.mark.spec("CONTEXT-1/4.1.b")
@pytest.mark.spec("PIPELINE-1/6.1.c")
async def test_what_a_transformer_wrote_before_the_round_is_counted_by_it(assistant: MakeAssistant) -> None:
    seen: list[Any] = []

    def write(ctx: Ctx) -> None:
        ctx.session = ctx.session.replace(intent_context={"early": entry(turns_remaining=1)})

    async with assistant(transformer("metadata", "t", write), declines(seen=seen)) as hark:
        await hark.hears("hello", session="x")
        assert left(turn_of(hark)[-1].session) == {"early": 0}
    assert left(seen[0][2]) == {"early": 1}


@pytest.mark.spec("CONTEXT-1/4.1.a")
async def test_what_an_intent_transformer_writes_is_for_the_next_round(assistant: MakeAssistant) -> None:
    def write(match: Match, ctx: Ctx) -> Match:
        ctx.session = ctx.session.replace(intent_context={"late": entry(turns_remaining=1)})
        return match

    async with assistant(transformer("intent", "t", write), claims()) as hark:
        await hark.hears("hello", session="x")
        assert left(turn_of(hark)[-1].session) == {"late": 1}


@pytest.mark.spec("CONTEXT-1/5.2.a")
async def test_a_transformer_that_writes_after_it_returned_writes_nothing(assistant: MakeAssistant) -> None:
    kept: list[Ctx] = []

    def keep(ctx: Ctx) -> None:
        kept.append(ctx)

    def match(utterances: Any, lang: str, session: Session) -> None:
        kept[0].session = session.replace(intent_context={"late": entry()})

    async with assistant(transformer("metadata", "t", keep), matcher("m", match)) as hark:
        await hark.hears("hello", session="x")
        assert left(turn_of(hark)[-1].session) == {}


# §5: writing.


@pytest.mark.spec("CONTEXT-1/5.a")
@pytest.mark.spec("CONTEXT-1/8.b")
async def test_a_session_nobody_wrote_to_comes_back_as_it_came(assistant: MakeAssistant) -> None:
    context = {"a": entry(), "x:b": entry(None, expires_at=NOON + 99)}
    async with assistant(declines()) as hark:
        await hark.hears("hello", session=Session("x", intent_context=context))
        assert turn_of(hark)[-1].session == Session("x", intent_context=context)


@pytest.mark.spec("CONTEXT-1/5.0.a")
async def test_no_topic_announces_a_change(assistant: MakeAssistant) -> None:
    async with assistant(claims(handler=lambda turn: turn.remember("city", "Rome"))) as hark:
        await hark.hears("hello")
        assert not [topic for topic in hark.topics() if "context" in topic]


@pytest.mark.spec("CONTEXT-1/5.c")
@pytest.mark.spec("CONTEXT-1/5.3.a")
async def test_writing_a_key_again_replaces_the_whole_entry(assistant: MakeAssistant) -> None:
    def handler(turn: Turn) -> None:
        turn.remember("city", "Rome", shared=True)

    before = {"city": entry("Lisbon", turns_remaining=5, expires_at=NOON + 99)}
    async with assistant(claims(handler=handler)) as hark:
        await hark.hears("hello", session=Session("x", intent_context=before))
        [found] = turn_of(hark)[-1].session.intent_context.values()
    assert (found.value, found.turns_remaining, found.expires_at) == ("Rome", None, None)


@pytest.mark.spec("CONTEXT-1/5.3.d")
@pytest.mark.parametrize("named", [True, False])
async def test_what_a_handler_forgets_is_gone(assistant: MakeAssistant, named: bool) -> None:
    def handler(turn: Turn) -> None:
        turn.forget("mine")
        turn.forget("ours", shared=True)
        turn.forget("nothing")

    context = {"claims:mine": entry(), "ours": entry(), "other:mine": entry(), "mine": entry()}
    session = Session("x" if named else "default", intent_context=context)
    async with assistant(claims(handler=handler)) as hark:
        await hark.hears("hello", session=session)
        assert set(left(turn_of(hark)[-1].session)) == {"other:mine", "mine"}
        if not named:
            assert set(left(hark.runtime.store.current)) == {"other:mine", "mine"}


@pytest.mark.spec("CONTEXT-1/2.f")
@pytest.mark.parametrize("writer", ["handler", "engine", "transformer", "client"])
async def test_a_session_keeps_at_most_so_many_entries(assistant: MakeAssistant, writer: str) -> None:
    many = {f"k{n}": entry(turns_remaining=9) for n in range(intent_context.MAX_ENTRIES)}
    more = {**many, "timeless": entry(), "spare": entry(turns_remaining=99)}

    def handler(turn: Turn) -> None:
        if writer == "handler":
            turn.session = turn.session.replace(intent_context=more)

    def match(utterances: Any, lang: str, session: Session) -> Match:
        updated = session.replace(intent_context=more) if writer == "engine" else None
        return Match("m", "go", lang, utterances[0], updated_session=updated)

    def transform(ctx: Ctx) -> None:
        if writer == "transformer":
            ctx.session = ctx.session.replace(intent_context=more)

    session = Session("x", intent_context=more if writer == "client" else {})
    async with assistant(transformer("metadata", "t", transform), matcher("m", match, go=handler)) as hark:
        await hark.hears("hello", session=session)
        kept = turn_of(hark)[-1].session.intent_context
    assert len(kept) == intent_context.MAX_ENTRIES
    assert {"timeless", "spare"} <= set(kept), "those nearest to their end go first"


# §6: gates, whoever matched (ruling R14).


async def register(hark: Assistant, **riders: Any) -> None:
    identity = {"skill_id": "door.skill", "intent_name": "open", "lang": "en-US", "samples": ["irrelevant"]}
    hark.bus.emit(Message(topics.REGISTER_TEMPLATE, {**identity, **riders}))
    await settle()


SHARED = {"key": "key", "scope": "shared"}
PRIVATE = {"key": "key", "scope": "private"}


@pytest.mark.spec("CONTEXT-1/6.a")
@pytest.mark.spec("CONTEXT-1/6.1.a")
@pytest.mark.spec("CONTEXT-1/6.b")
@pytest.mark.spec("CONTEXT-1/6.1.b")
@pytest.mark.spec("CONTEXT-1/6.1.e")
@pytest.mark.spec("CONTEXT-1/6.e")
@pytest.mark.spec("CONTEXT-1/3.1.c")
@pytest.mark.parametrize(
    ("riders", "context", "opens"),
    [
        ({}, {}, True),
        ({"requires_context": []}, {}, True),
        ({"requires_context": ["key"]}, {}, False),
        ({"requires_context": ["key"]}, {"door.skill:key": entry()}, True),
        ({"requires_context": ["key"]}, {"door.skill:key": entry(None)}, True),
        ({"requires_context": ["key"]}, {"key": entry()}, False),
        ({"requires_context": ["key"]}, {"other.skill:key": entry()}, False),
        ({"requires_context": ["key"]}, {"door.skill:key": entry(turns_remaining=0)}, False),
        ({"requires_context": ["key"]}, {"door.skill:key": entry(expires_at=NOON)}, False),
        ({"requires_context": [PRIVATE]}, {"door.skill:key": entry()}, True),
        ({"requires_context": [SHARED]}, {"key": entry()}, True),
        ({"requires_context": [SHARED]}, {"door.skill:key": entry()}, False),
        ({"requires_context": [{"key": "key"}]}, {"door.skill:key": entry()}, True),
        ({"requires_context": [{"key": "key", "scope": "odd"}]}, {"door.skill:key": entry(), "key": entry()}, False),
        ({"requires_context": [7]}, {}, False),
        ({"excludes_context": ["key"]}, {}, True),
        ({"excludes_context": ["key"]}, {"door.skill:key": entry()}, False),
        ({"excludes_context": ["key"]}, {"key": entry()}, True),
        ({"excludes_context": [SHARED]}, {"key": entry()}, False),
        ({"requires_context": ["a"], "excludes_context": ["b"]}, {"door.skill:a": entry()}, True),
        (
            {"requires_context": ["a"], "excludes_context": ["b"]},
            {"door.skill:a": entry(), "door.skill:b": entry()},
            False,
        ),
        ({"requires_context": "key"}, {}, True),
    ],
)
async def test_gates_hold_whatever_the_engine_thinks(
    assistant: MakeAssistant, riders: dict[str, Any], context: dict[str, Any], opens: bool
) -> None:
    plugins = (matcher("m", claim_of("door.skill:open")), skill("door.skill", open=lambda turn: "open"))
    async with assistant(*plugins) as hark:
        await register(hark, **riders)
        spoken = await hark.hears("open", session=Session("x", intent_context=context))
        assert spoken == (["open"] if opens else [])
        if not opens:
            assert outcomes(hark, "match")[0] == ("m", "refused")
            assert "context" in hark.trace().steps[0].detail
            assert hark.of(topics.INTENT_MATCHED) == []


@pytest.mark.spec("CONTEXT-1/6.c")
@pytest.mark.spec("CONTEXT-1/6.1.c")
async def test_a_gate_is_checked_against_the_context_as_it_was_before_the_claim(assistant: MakeAssistant) -> None:
    def match(utterances: Any, lang: str, session: Session) -> Match:
        opened = session.replace(intent_context={"door.skill:key": entry()})
        return Match("door.skill", "open", lang, utterances[0], updated_session=opened)

    plugins = (matcher("m", match), skill("door.skill", open=lambda turn: "open"))
    async with assistant(*plugins) as hark:
        await register(hark, requires_context=["key"])
        assert await hark.hears("open", session="x") == [], "nobody opens a gate by walking through it"


@pytest.mark.spec("CONTEXT-1/1.1.a")
@pytest.mark.spec("CONTEXT-1/1.1.b")
async def test_a_key_of_the_messages_context_opens_no_gate(assistant: MakeAssistant) -> None:
    plugins = (matcher("m", claim_of("door.skill:open")), skill("door.skill", open=lambda turn: "open"))
    async with assistant(*plugins) as hark:
        await register(hark, requires_context=[SHARED])
        keys = {"key": {"value": "x"}, "intent_context": {"key": {"value": "x"}}}
        assert await hark.hears("open", context=keys) == []


@pytest.mark.spec("CONTEXT-1/6.1.b")
async def test_fire_once(assistant: MakeAssistant) -> None:
    def handler(turn: Turn) -> str:
        turn.remember("done", turns=2)
        return "welcome"

    plugins = (matcher("m", claim_of("door.skill:open")), skill("door.skill", open=handler))
    async with assistant(*plugins) as hark:
        await register(hark, excludes_context=["done"])
        answers = [await hark.hears("open") for _ in range(4)]
    assert answers == [["welcome"], [], [], ["welcome"]]


@pytest.mark.spec("CONTEXT-1/5.3.f")
@pytest.mark.spec("CONTEXT-1/5.3.h")
@pytest.mark.spec("CONTEXT-1/5.3.j")
async def test_an_entry_has_the_timers_its_writer_gave_it_and_no_others(assistant: MakeAssistant) -> None:
    def handler(turn: Turn) -> None:
        turn.remember("plain", "a")
        turn.remember("turns", "b", turns=7)
        turn.remember("time", "c", seconds=30.0)
        turn.remember("both", turns=1, seconds=5.0)

    async with assistant(claims(handler=handler)) as hark:
        await hark.hears("hello")
        for session in (turn_of(hark)[-1].session, hark.runtime.store.current):
            timers = {key: (e.turns_remaining, e.expires_at) for key, e in session.intent_context.items()}
            assert timers == {
                "claims:plain": (None, None),
                "claims:turns": (7, None),
                "claims:time": (None, NOON + 30.0),
                "claims:both": (1, NOON + 5.0),
            }


@pytest.mark.spec("CONTEXT-1/6.f")
async def test_gates_ride_along_with_a_registration_and_are_told_to_who_asks(assistant: MakeAssistant) -> None:
    async with assistant(declines()) as hark:
        await register(hark, requires_context=["key", SHARED], excludes_context=["done"])
        query = Message(topics.INTENT_DESCRIBE, {"skill_id": "door.skill"})
        answer = await ask(hark.bus, hark.clock, query)
    [told] = answer.data["definitions"]
    assert told["definition"]["requires_context"] == ("key", SHARED)
    assert told["definition"]["excludes_context"] == ("done",)


@pytest.mark.spec("TRANSFORM-1/9.c")
@pytest.mark.spec("TRANSFORM-1/9.d")
async def test_a_transformer_keeps_notes_under_its_own_name(
    assistant: MakeAssistant, caplog: pytest.LogCaptureFixture
) -> None:
    def write(ctx: Ctx) -> None:
        entries = {**ctx.session.intent_context, "my.notes:mood": entry("good"), "a:b:c": entry("badly keyed")}
        ctx.session = ctx.session.replace(intent_context=entries)

    seen: list[Any] = []
    async with assistant(transformer("metadata", "my.notes", write), declines(seen=seen)) as hark:
        await hark.hears("hello", session=Session("x", intent_context={"city": entry("Rome")}))
    assert set(seen[0][2].intent_context) == {"city", "my.notes:mood"}
    assert "dropped the malformed key 'a:b:c'" in caplog.text
