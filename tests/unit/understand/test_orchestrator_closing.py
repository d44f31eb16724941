"""What is left of an orchestrator that was closed: nothing that listens."""

from __future__ import annotations

import pytest

from flow.stage import MakeAssistant, claims, declines, matcher
from hark.model import Match, Message, Session
from hark.plugins import Round
from hark.spec import topics
from hark.testing import settle


@pytest.mark.one_process
async def test_a_closed_orchestrator_listens_to_nothing(assistant: MakeAssistant) -> None:
    async with assistant(declines()) as hark:
        own = {
            topics.UTTERANCE_HANDLE,
            topics.HANDLER_ACCEPTED,
            topics.HANDLER_DONE,
            topics.HOST_ALIVE,
            topics.INTENT_LIST,
            topics.INTENT_DESCRIBE,
            topics.SKILLS_LIST,
            topics.REGISTER_KEYWORD,
        }
        await hark.runtime.orchestrator.close()
        before = len(hark.messages)
        for topic in own:
            hark.bus.emit(Message(topic, {"utterances": ["hello"]}))
        await settle()
        assert {message.type for message in hark.messages[before:]} == own, "there is no answer to any of them"
        del hark.messages[before:]  # the one utterance that has no end


async def test_a_poll_under_way_ends_when_the_house_closes(assistant: MakeAssistant) -> None:
    answers: list[int] = []

    async def match(utterances: object, lang: str, session: Session, round: Round) -> Match | None:
        pongs = await round.poll("test.ping", {}, ["a", "b"], 100.0)
        answers.append(len(pongs))
        return None

    async with assistant(matcher("m", match), settings={"limits": {"match": 1_000.0}}) as hark:
        hark.bus.on("test.ping", lambda ping: hark.bus.emit(ping.forward("test.pong", {"skill_id": "a"})))
        hearing = hark.say("hello")
        await settle()
        assert answers == []
    assert hearing.markers == 1
    assert answers == [1]


async def test_a_turn_that_breaks_after_its_dispatch_ends_on_the_way_back(assistant: MakeAssistant) -> None:
    async with assistant(claims()) as hark:

        def explode(*_arguments: object) -> None:
            raise RuntimeError("not foreseen")

        hark.runtime.orchestrator.endings.handled = explode  # type: ignore[method-assign]
        hark.bus.emit(
            Message(
                topics.UTTERANCE_HANDLE,
                {"utterances": ["hello"]},
                {"source": "satellite-3", "destination": "hark"},
                Session("x"),
            )
        )
        await settle()
        [marker] = hark.of(topics.UTTERANCE_HANDLED)
    assert (marker.context["source"], marker.context["destination"]) == ("hark", "satellite-3")
    assert marker.context["skill_id"] == "claims"
