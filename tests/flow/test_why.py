"""Why did it do that? Every turn can say."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import msgspec
import pytest

from flow.stage import (
    MakeAssistant,
    claim_of,
    claims,
    declines,
    echo,
    matcher,
    outcomes,
    reached,
    skill,
    transformer,
    turn_of,
)
from hark.model import Match, Message, Session
from hark.plugins import Ctx, Declined, Turn
from hark.spec import topics
from hark.testing import settle


async def test_a_matched_turn_reads_from_top_to_bottom(assistant: MakeAssistant) -> None:
    plugins = (
        transformer("utterance", "decontract", lambda texts, ctx: [t.replace("what's", "what is") for t in texts]),
        transformer("metadata", "nosy", lambda ctx: None),
        declines("first", answer=Declined("no template within distance 3")),
        claims(slots={"a": "b"}),
        transformer("intent", "dates", lambda match, ctx: match.with_slots(when="now")),
        transformer("dialog", "shout", lambda text, ctx: text.upper()),
    )
    async with assistant(*plugins) as hark:
        await hark.hears("what's up", session="kitchen")
        lines = hark.why().split("\n")
    assert lines[0].startswith('"what\'s up"  session kitchen, en-US, turn ')
    words = [" ".join(line.split()[2:]) for line in lines[1:-1]]
    assert words[0] == 'utterance decontract changed "what\'s up" → "what is up"'
    assert words[1] == "metadata nosy unchanged"
    assert words[2] == "match first declined no template within distance 3"
    assert words[3] == "match claims claimed claims:go"
    assert words[4].startswith("intent dates changed")
    assert "handler claims:go returned" in words
    assert 'dialog shout changed "what is up" → "WHAT IS UP"' in words
    assert 'speak kitchen rendered "WHAT IS UP"' in words
    assert lines[-1].startswith("Answered.")


async def test_an_unmatched_turn_tells_who_declined_and_why(assistant: MakeAssistant) -> None:
    def fail(utterances: Any, lang: str, session: Session) -> None:
        raise LookupError("no dictionary")

    plugins = (
        declines("silent"),
        declines("talkative", answer=Declined("too short")),
        matcher("broken", fail),
        matcher("sloppy", claim_of("x:go", lang="")),
        matcher("rogue", claim_of("denied.skill:go")),
        matcher("hasty", claim_of("needy.skill:go")),
        matcher("confused", lambda utterances, lang, session: 42),
    )
    pipeline = ["silent", "talkative", "broken", "sloppy", "rogue", "hasty", "confused", "ghost", "barred"]
    settings = {"assistant": {"pipeline": pipeline}}
    async with assistant(*plugins, declines("barred"), settings=settings) as hark:
        needy = {"skill_id": "needy.skill", "intent_name": "go", "lang": "en-US", "required_slots": ["city"]}
        hark.bus.emit(Message(topics.REGISTER_TEMPLATE, {**needy, "samples": ["x"]}))
        await settle()
        session = Session("x", blacklisted_skills=["denied.skill"], blacklisted_pipelines=["barred"])
        await hark.hears("hm", session=session)
        steps = {step.who: (step.outcome, step.detail) for step in hark.trace().steps}
        text = hark.why()
    assert steps["silent"] == ("declined", "")
    assert steps["talkative"] == ("declined", "too short")
    assert steps["broken"][0] == "failed"
    assert steps["broken"][1].startswith("LookupError: no dictionary (")
    assert steps["sloppy"] == ("malformed", "lang '' is no BCP-47 tag")
    assert steps["rogue"] == ("denied", "the session's blacklisted_skills names denied.skill")
    assert steps["hasty"] == ("refused", "needy.skill:go: required slot 'city' is not filled")
    assert steps["confused"] == ("malformed", "match() returned a int, not a Match")
    assert steps["ghost"] == ("skipped", "no pipeline plugin 'ghost' is loaded")
    assert steps["barred"] == ("denied", "the session's blacklisted_pipelines names it")
    assert text.split("\n")[-1].startswith("No plugin claimed this.")


async def test_a_cancelled_turn_tells_who_cancelled_it_and_why(assistant: MakeAssistant) -> None:
    def stop(utterances: list[str], ctx: Ctx) -> list[str]:
        ctx.cancel("stop_word")
        return utterances

    async with assistant(transformer("utterance", "never-mind", stop), claims()) as hark:
        await hark.hears("never mind")
        head, line, end = hark.why().split("\n")
    assert head.startswith('"never mind"  session default, no language')
    assert line.split()[2:] == ["utterance", "never-mind", "cancelled", "stop_word"]
    assert end.startswith("A transformer cancelled it.")


async def test_a_failed_turn_tells_where(assistant: MakeAssistant) -> None:
    def handler(turn: Turn) -> None:
        raise ZeroDivisionError("on purpose")

    async with assistant(claims(handler=handler)) as hark:
        await hark.hears("hello")
        text = hark.why()
    assert "ZeroDivisionError: on purpose (" in text
    assert "test_why.py:" in text
    assert text.split("\n")[-1].startswith("The handler failed.")


async def test_late_plugins_are_told_as_late(assistant: MakeAssistant) -> None:
    started, go_on = threading.Event(), threading.Event()

    def stuck(utterances: list[str], ctx: Ctx) -> list[str]:
        started.set()
        go_on.wait(20)
        return utterances

    async def hang(utterances: Any, lang: str, session: Session) -> None:
        await asyncio.Event().wait()

    plugins = (transformer("utterance", "stuck", stuck, quick=False), matcher("hanging", hang), claims())
    async with assistant(*plugins) as hark:
        hark.say("hello")
        await reached(started)
        await hark.clock.advance(20.0)
        go_on.set()
        assert outcomes(hark, "utterance") == [("stuck", "late")]
        assert outcomes(hark, "match") == [("hanging", "late"), ("claims", "claimed")]
        details = [step.detail for step in hark.trace().steps if step.outcome == "late"]
    assert details == ["took longer than 5 s", "took longer than 10 s"]


async def test_each_turn_has_its_own_trace_even_when_they_overlap(assistant: MakeAssistant) -> None:
    go_on = asyncio.Event()

    async def match(utterances: Any, lang: str, session: Session) -> Match:
        await go_on.wait()
        return Match("m", "go", lang, utterances[0])

    async with assistant(matcher("m", match, go=echo)) as hark:
        said = [hark.say(f"text {n}", session=f"s{n}") for n in range(10)]
        await settle()
        go_on.set()
        for hearing in said:
            await asyncio.wait_for(hearing.over.wait(), 10)
        # Where workers share the turns, each keeps the traces of its own.
        for n, trace in enumerate(sorted(hark.runtime.traces, key=lambda trace: trace.utterances)):
            assert trace.utterances == (f"text {n}",)
            assert trace.session_id == f"s{n}"
            assert [step.stage for step in trace.steps] == ["match", "handler", "speak"]


async def test_the_ring_of_traces_is_bounded(assistant: MakeAssistant) -> None:
    async with assistant(claims(), settings={"trace": {"size": 5}}) as hark:
        for n in range(12):
            await hark.hears(f"text {n}")
        assert [trace.utterances[0] for trace in hark.runtime.traces] == [f"text {n}" for n in range(7, 12)]


async def test_a_trace_can_be_written_down_whatever_plugins_said(assistant: MakeAssistant) -> None:
    plugins = (
        declines("odd", answer=Declined("half \ud83d")),
        transformer("metadata", "m", lambda ctx: ctx.set("a", {"b": [1]})),
        claims(),
    )
    async with assistant(*plugins) as hark:
        await hark.hears("hello")
        assert msgspec.json.encode(hark.trace().record())


async def test_a_turn_can_be_asked_for_by_its_id(assistant: MakeAssistant) -> None:
    async with assistant(claims()) as hark:
        await hark.hears("first")
        first = turn_of(hark)[-1].utterance_id or ""
        await hark.hears("second")
        assert "second" in hark.why()
        assert "first" in hark.why(first)
        with pytest.raises(LookupError):
            hark.why("no such turn")


async def test_what_another_house_has_no_part_in_is_not_traced(assistant: MakeAssistant) -> None:
    async with assistant(skill("some.skill", quick=True, go=echo)) as hark:
        hark.bus.emit(Message("some.skill:go", {"lang": "en-US", "utterance": "x", "slots": {}}))
        await settle()
        assert len(hark.runtime.traces) == 0
        assert hark.of(topics.HANDLER_DONE)
