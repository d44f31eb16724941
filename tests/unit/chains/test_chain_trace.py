"""What a chain writes into the trace, and what happens to changes that come too late."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from flow.chain_rig import Rig, link
from flow.stage import transformer
from hark.chains import Flow
from hark.model import Match, Message, Session
from hark.model.session_merge import Denials
from hark.plugins import Ctx
from hark.spec import topics
from hark.testing import settle


async def test_a_change_is_traced_with_before_and_after() -> None:
    rig = Rig("utterance", link("utterance", "shout", lambda texts, ctx: [text.upper() for text in texts]))
    await rig.run(("hello", "hallo"))
    [step] = rig.trace.steps
    assert (step.stage, step.who, step.outcome) == ("utterance", "shout", "changed")
    assert (step.before, step.after) == (("hello", "hallo"), ("HELLO", "HALLO"))


async def test_changes_beside_the_artifact_are_named() -> None:
    def change(texts: Any, ctx: Ctx) -> Any:
        ctx.lang = "de-DE"
        ctx.set("b", 1)
        ctx.unset("a")
        ctx.session = ctx.session.replace(persona_id="butler", site_id="here")
        return texts

    rig = Rig("utterance", link("utterance", "t", change))
    await rig.run(lang="en-US", context={"a": 1})
    [step] = rig.trace.steps
    assert step.outcome == "changed"
    assert step.detail == "lang en-US → de-DE; session persona_id, site_id; context a, b"


async def test_a_session_that_was_replaced_by_its_equal_is_no_change() -> None:
    def touch(texts: Any, ctx: Ctx) -> Any:
        ctx.session = ctx.session.replace(persona_id="butler")
        return texts

    rig = Rig("utterance", link("utterance", "t", touch))
    await rig.run(session=Session("x", persona_id="butler"))
    assert rig.story == [("t", "unchanged")]


async def test_how_long_each_took_is_on_record() -> None:
    def slow(text: str, ctx: Ctx) -> str:
        rig.clock.pass_by(0.005)
        return text

    rig = Rig("dialog", link("dialog", "a", slow))
    await rig.run()
    [step] = rig.trace.steps
    assert (step.seconds, step.at) == (0.005, 0.005)


async def test_a_failure_is_traced_with_its_place() -> None:
    def fail(text: str, ctx: Ctx) -> str:
        raise LookupError("no such word")

    rig = Rig("dialog", link("dialog", "a", fail))
    await rig.run()
    [step] = rig.trace.steps
    assert step.detail.startswith("LookupError: no such word (")
    assert "test_chain_trace.py:" in step.detail


async def test_what_is_written_to_a_context_after_transform_returned_is_lost() -> None:
    kept: list[Ctx] = []

    def keep(text: str, ctx: Ctx) -> str:
        ctx.set("in.time", 1)
        kept.append(ctx)
        return text

    rig = Rig("dialog", link("dialog", "a", keep))
    flow = await rig.run()
    kept[0].set("too.late", 1)
    kept[0].session = Session("x", persona_id="late")
    kept[0].cancel("other")
    assert "in.time" in flow.context
    assert "too.late" not in flow.context
    assert flow.session.persona_id is None
    assert not flow.cancelled


async def test_a_new_transformer_is_in_the_chain_of_the_next_turn() -> None:
    rig = Rig("dialog", link("dialog", "a", lambda text, ctx: text + "a", priority=2))
    assert (await rig.run("x")).artifact == "xa"
    rig.registry.add(link("dialog", "b", lambda text, ctx: text + "b", priority=1))
    assert (await rig.run("x")).artifact == "xba"
    rig.registry.remove("a")
    assert (await rig.run("x")).artifact == "xb"


def test_the_deployed_chain_is_composed_once_until_something_changes() -> None:
    rig = Rig("dialog", link("dialog", "a"), link("dialog", "b"))
    chain = rig.chain
    first = chain.deployed()
    assert chain.deployed() is first
    rig.registry.add(link("dialog", "c"))
    assert [entry.id for entry in chain.deployed()] == ["a", "b", "c"]


def test_the_message_of_a_flow_is_as_the_transformers_left_it() -> None:
    origin = Message("some.origin", {"a": 1}, {"source": "s"}, Session("x"))
    flow = Flow("hello", None, origin, Session("x", persona_id="butler"), Denials())
    flow.cancel("stopper", "other")
    message = flow.message()
    assert (message.type, message.data, message.session.persona_id) == ("some.origin", {"a": 1}, "butler")
    assert message.context == {"source": "s", "canceled": True, "cancel_reason": "other", "cancel_by": "stopper"}


async def test_a_returned_match_that_is_the_one_given_is_not_looked_at_again() -> None:
    rig = Rig("intent", link("intent", "a"))
    given = Match("some.skill", "go", "en-US", "hello")
    assert (await rig.run(given)).artifact is given


async def test_a_change_of_the_session_alone_is_traced() -> None:
    def change(text: str, ctx: Ctx) -> str:
        ctx.session = ctx.session.replace(persona_id="butler")
        return text

    rig = Rig("dialog", link("dialog", "t", change))
    await rig.run()
    [step] = rig.trace.steps
    assert (step.outcome, step.detail) == ("changed", "session persona_id")


async def test_a_change_of_the_language_alone_is_traced() -> None:
    def change(text: str, ctx: Ctx) -> str:
        ctx.lang = None
        return text

    rig = Rig("dialog", link("dialog", "t", change))
    await rig.run(lang="en-US")
    [step] = rig.trace.steps
    assert (step.outcome, step.detail) == ("changed", "lang en-US → None")


async def test_a_cancellation_is_traced_with_its_reason() -> None:
    def stop(text: str, ctx: Ctx) -> str:
        ctx.cancel("stop_word")
        return text

    rig = Rig("dialog", link("dialog", "t", stop))
    await rig.run()
    [step] = rig.trace.steps
    assert (step.outcome, step.detail) == ("cancelled", "stop_word")


async def test_a_transformer_the_turn_was_cancelled_in_is_named() -> None:
    async def hang(text: str, ctx: Ctx) -> str:
        await asyncio.Event().wait()
        return text

    rig = Rig("dialog", link("dialog", "a"), transformer("dialog", "hang", hang))
    run = asyncio.ensure_future(rig.run())
    await settle()
    run.cancel()
    await settle()
    assert run.cancelled()
    assert rig.story == [("a", "unchanged"), ("hang", "stopped")]


async def test_a_session_of_another_make_is_refused() -> None:
    class Odd(Session):
        __slots__ = ()

    def change(text: str, ctx: Ctx) -> str:
        odd = ctx.session.replace(persona_id="butler")
        object.__setattr__(odd, "__class__", Odd)
        ctx.session = odd
        return text + "!"

    rig = Rig("dialog", link("dialog", "t", change))
    flow = await rig.run()
    assert rig.story in ([("t", "malformed")], [("t", "failed")])
    assert (flow.artifact, flow.session.persona_id) == ("hello", None)


@pytest.mark.parametrize(
    "topic", [topics.UTTERANCE_HANDLED, topics.INTENT_MATCHED, topics.HANDLER_COMPLETE, topics.HANDLER_DONE]
)
async def test_only_the_frame_says_how_a_turn_goes(topic: str) -> None:
    def forge(text: str, ctx: Ctx) -> str:
        ctx.emit(topic, {"forged": True})
        return "forged"

    rig = Rig("dialog", link("dialog", "forger", forge))
    flow = await rig.run()
    assert rig.emitted == []
    assert flow.artifact == "hello"
    assert rig.story in ([("forger", "malformed")], [("forger", "failed")])
