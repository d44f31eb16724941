"""What a chain writes into the trace, and what happens to changes that come too late."""

from __future__ import annotations

from typing import Any

from flow.chain_rig import Rig, link
from hark.chains import Composition, Flow
from hark.model import Match, Message, Session
from hark.model.merge import Denials
from hark.plugins import Ctx


async def test_a_change_is_told_with_before_and_after() -> None:
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


async def test_a_failure_is_told_with_its_place() -> None:
    def fail(text: str, ctx: Ctx) -> str:
        raise LookupError("no such word")

    rig = Rig("dialog", link("dialog", "a", fail))
    await rig.run()
    [step] = rig.trace.steps
    assert step.detail.startswith("LookupError: no such word (")
    assert "test_chain_story.py:" in step.detail


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
    composition = Composition("dialog", rig.registry, None)
    first = composition.deployed()
    assert composition.deployed() is first
    rig.registry.add(link("dialog", "c"))
    assert [entry.id for entry in composition.deployed()] == ["a", "b", "c"]


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
