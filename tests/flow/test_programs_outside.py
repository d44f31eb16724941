"""Programs outside, in any language: registered, dispatched, ended once, gone and back (ruling R18)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from flow.program_rig import Program, outside
from flow.stage import MakeAssistant
from hark.builtin import Converse
from hark.plugins import Turn
from hark.skills import Skill, intent
from hark.spec import topics
from hark.testing import Assistant, settle

SKILL = "tea.example"


async def passed(hark: Assistant, seconds: float) -> None:
    """Let time pass for the assistant, in steps in which Messages of other processes arrive."""
    for _ in range(int(seconds / 0.5)):
        await hark.clock.advance(0.5)
        await asyncio.sleep(0)


async def seen(hark: Assistant, topic: str, number: int = 1) -> list[Any]:
    """Wait for so many Messages on a topic."""
    async with asyncio.timeout(20):
        while len(hark.of(topic)) < number:  # noqa: ASYNC110 - it may come from another process
            await asyncio.sleep(0.001)
    return hark.of(topic)


def ends(hark: Assistant) -> list[str]:
    wanted = (topics.HANDLER_COMPLETE, topics.HANDLER_ERROR, topics.INTENT_UNMATCHED)
    return [message.type for message in hark.messages if message.type in wanted]


async def registered(hark: Assistant, program: Program, *, completes: bool = False) -> None:
    program.register(SKILL, "brew", "make some tea", "make {kind} tea", **({"completes": True} if completes else {}))
    await program.through()
    await hark.bus.settled()
    await settle()


async def test_a_program_that_knows_only_the_specifications_ends_by_the_quiet_time(assistant: MakeAssistant) -> None:
    async with assistant() as hark, outside(hark.bus) as served:
        program = await served.program()
        await registered(hark, program)
        turn = hark.say("make green tea")
        dispatch = await program.next(f"{SKILL}:brew")
        assert dispatch["data"]["slots"] == {"kind": "green"}
        await passed(hark, 30.0)
        assert hark.of(topics.UTTERANCE_HANDLED) == [], "it thinks"
        program.speak(dispatch, "Here is your tea.")
        await program.through()
        await seen(hark, topics.UTTERANCE_SPEAK)
        await passed(hark, 9.0)
        assert hark.of(topics.UTTERANCE_HANDLED) == []
        await passed(hark, 2.0)
        await seen(hark, topics.UTTERANCE_HANDLED)
        assert ends(hark) == [topics.HANDLER_COMPLETE]
        assert turn.spoken == ["Here is your tea."]
        await program.kill()


@pytest.mark.parametrize("how", ["hark", "mycroft", "hark error", "mycroft error"])
async def test_a_program_that_says_so_ends_its_turn_at_once(assistant: MakeAssistant, how: str) -> None:
    async with assistant() as hark, outside(hark.bus) as served:
        program, other = await served.program(), await served.program()
        await registered(hark, program)
        hark.say("make some tea")
        dispatch = await program.next(f"{SKILL}:brew")
        data: dict[str, Any] = {"exception": "no water"} if "error" in how else {}
        topic = topics.HANDLER_DONE
        if "mycroft" in how:
            topic = f"mycroft.skill.handler.{'error' if 'error' in how else 'complete'}"
        else:
            data["topic"] = dispatch["type"]
        other.send(topic, data, dispatch["context"])
        await other.through()
        assert hark.of(topics.UTTERANCE_HANDLED) == [], "another client cannot end it"
        program.send(topic, data, dispatch["context"])
        await seen(hark, topics.UTTERANCE_HANDLED)
        assert ends(hark) == [topics.HANDLER_ERROR if "error" in how else topics.HANDLER_COMPLETE]
        if "error" in how:
            assert hark.of(topics.HANDLER_ERROR)[0].data["exception"] == "no water"
        await other.through()
        assert topic not in [one["type"] for one in other.got], "it is not relayed"
        await program.kill()
        await other.kill()


@pytest.mark.parametrize("announced", [True, False], ids=["announced", "has done it before"])
async def test_a_program_that_completes_is_never_timed(assistant: MakeAssistant, announced: bool) -> None:
    async with assistant() as hark, outside(hark.bus) as served:
        program = await served.program()
        await registered(hark, program, completes=announced)
        number = 0
        if not announced:
            hark.say("make some tea")
            first = await program.next(f"{SKILL}:brew")
            program.send(topics.HANDLER_DONE, {"topic": first["type"]}, first["context"])
            await seen(hark, topics.UTTERANCE_HANDLED)
            number = 1
        hark.say("make some tea")
        dispatch = await program.next(f"{SKILL}:brew")
        program.speak(dispatch, "One moment.")
        await program.through()
        await passed(hark, 60.0)
        assert len(hark.of(topics.UTTERANCE_HANDLED)) == number
        program.send(topics.HANDLER_DONE, {"topic": dispatch["type"]}, dispatch["context"])
        await seen(hark, topics.UTTERANCE_HANDLED, number + 1)
        assert ends(hark) == [topics.HANDLER_COMPLETE] * (number + 1)
        await program.kill()


async def test_a_program_that_asks_is_not_timed_while_it_waits_for_the_answer(assistant: MakeAssistant) -> None:
    settings = {"assistant": {"pipeline": ["converse", "template"]}}
    async with assistant(settings=settings) as hark, outside(hark.bus) as served:
        program = await served.program()
        await registered(hark, program)
        hark.say("make some tea")
        dispatch = await program.next(f"{SKILL}:brew")
        asks = {"skill_id": SKILL, "expires_at": hark.clock.wall() + 60}
        program.speak(dispatch, "Which one?", {**dispatch["context"]["session"], "response_mode": asks})
        await program.through()
        await seen(hark, topics.UTTERANCE_SPEAK)
        await passed(hark, 30.0)
        assert hark.of(topics.UTTERANCE_HANDLED) == []
        await program.kill()
        await seen(hark, topics.UTTERANCE_HANDLED)
        assert ends(hark) == [topics.HANDLER_ERROR]
        assert hark.of(topics.UTTERANCE_HANDLED)[0].session.response_mode is None  # type: ignore[union-attr]


async def test_the_intents_of_a_program_that_is_gone_stop_matching_at_once(assistant: MakeAssistant) -> None:
    async with assistant() as hark, outside(hark.bus) as served:
        program = await served.program()
        await registered(hark, program)
        await program.kill()
        await served.gone()
        await seen(hark, topics.SKILL_DETACHED)
        await hark.hears("make some tea")
        assert ends(hark) == [topics.INTENT_UNMATCHED]
        back = await served.program()
        await registered(hark, back, completes=True)
        hark.say("make some tea")
        dispatch = await back.next(f"{SKILL}:brew")
        back.send(topics.HANDLER_DONE, {"topic": dispatch["type"]}, dispatch["context"])
        await seen(hark, topics.UTTERANCE_HANDLED, 2)
        assert ends(hark) == [topics.INTENT_UNMATCHED, topics.HANDLER_COMPLETE]
        await passed(hark, 31.0)
        hark.say("make some tea")
        dispatch = await back.next(f"{SKILL}:brew")
        back.send(topics.HANDLER_DONE, {"topic": dispatch["type"]}, dispatch["context"])
        await seen(hark, topics.UTTERANCE_HANDLED, 3)
        await back.kill()


async def test_what_a_program_does_not_register_again_is_deleted(assistant: MakeAssistant) -> None:
    async with assistant() as hark, outside(hark.bus) as served:
        program = await served.program()
        await registered(hark, program)
        program.register(SKILL, "pour", "pour it")
        await program.through()
        await program.kill()
        await served.gone()
        await seen(hark, topics.SKILL_DETACHED)
        back = await served.program()
        await registered(hark, back)
        await passed(hark, 31.0)
        await seen(hark, topics.INTENT_DEREGISTER)
        assert [one.data["intent_name"] for one in hark.of(topics.INTENT_DEREGISTER)] == ["pour"]
        await back.kill()
        await seen(hark, topics.SKILL_DETACHED, 2)
        await passed(hark, 31.0)
        assert [one.data["skill_id"] for one in await seen(hark, topics.SKILL_DEREGISTER)] == [SKILL]


async def test_a_turn_ends_as_soon_as_its_program_is_gone(assistant: MakeAssistant) -> None:
    async with assistant() as hark, outside(hark.bus) as served:
        program = await served.program()
        await registered(hark, program)
        hark.say("make some tea")
        await program.next(f"{SKILL}:brew")
        await program.kill()
        [error] = await seen(hark, topics.HANDLER_ERROR)
        assert error.data["exception"] == f"the program of {SKILL} lost its connection"
        await seen(hark, topics.UTTERANCE_HANDLED)


async def test_when_understanding_begins_programs_are_asked_to_register(assistant: MakeAssistant) -> None:
    async with assistant() as hark, outside(hark.bus) as served:
        assert hark.of(topics.INTENTS_READY), "a program that is connected already hears it"
        program = await served.program()
        await hark.runtime.announce()  # type: ignore[union-attr]
        await program.next(topics.INTENTS_READY)
        await program.kill()


class Waiter(Skill):
    id = "waiter.skill"

    @intent("bring me a drink")
    async def bring(self, turn: Turn) -> str:
        drink = await turn.listen("Which one?")
        return f"Here is your {drink}."


async def test_a_client_that_keeps_the_latest_session_can_answer_a_question(assistant: MakeAssistant) -> None:
    settings = {"assistant": {"pipeline": ["converse", "template"]}}
    async with assistant(Waiter(), Converse(), settings=settings) as hark, outside(hark.bus) as served:
        client = await served.program()
        context: dict[str, Any] = {"session": {"session_id": "satellite"}, "source": "satellite"}
        client.send(topics.UTTERANCE_HANDLE, {"utterances": ["bring me a drink"]}, context)
        asked = await client.next(topics.UTTERANCE_SPEAK)
        assert asked["data"]["utterance"] == "Which one?"
        await client.through()
        assert [one["type"] for one in client.all if one["type"].startswith("hark.")] == [], "they are for no client"
        sessions = [one.get("context", {}).get("session", {}) for one in client.all]
        latest = [one for one in sessions if one.get("session_id") == "satellite"][-1]
        assert latest["response_mode"]["skill_id"] == "waiter.skill"
        client.send(topics.UTTERANCE_HANDLE, {"utterances": ["lemonade"]}, {**context, "session": latest})
        answer = await client.next(topics.UTTERANCE_SPEAK)
        assert answer["data"]["utterance"] == "Here is your lemonade."
        await seen(hark, topics.UTTERANCE_HANDLED, 2)
        await client.kill()


async def test_private_signals_are_addressed_to_no_client(assistant: MakeAssistant) -> None:
    async with assistant(Waiter()) as hark:
        hark.say("bring me a drink", context={"source": "satellite", "destination": "hark"})
        await seen(hark, topics.HANDLER_WAITING)
        private = [one for one in hark.messages if one.type.startswith("hark.") and one.utterance_id]
        assert len(private) >= 2
        assert [one.type for one in private if "destination" in one.context] == []
        [dispatch] = hark.of("waiter.skill:bring")
        assert dispatch.context["destination"] == "satellite"


@pytest.mark.parametrize("field", ["can_handle", "result"])
async def test_a_program_converses(assistant: MakeAssistant, field: str) -> None:
    settings = {"assistant": {"pipeline": ["converse", "template"]}}
    async with assistant(Converse(), settings=settings) as hark, outside(hark.bus) as served:
        program = await served.program()
        await registered(hark, program, completes=True)
        hark.say("make some tea")
        dispatch = await program.next(f"{SKILL}:brew")
        program.send(topics.HANDLER_DONE, {"topic": dispatch["type"]}, dispatch["context"])
        await seen(hark, topics.UTTERANCE_HANDLED)
        hark.say("with sugar")
        ping = await program.next(topics.CONVERSE_PING)
        program.send(topics.CONVERSE_PONG, {"skill_id": SKILL, field: True}, ping["context"])
        dispatch = await program.next(f"{SKILL}:converse")
        assert dispatch["data"]["utterance"] == "with sugar"
        program.send(topics.HANDLER_DONE, {"topic": dispatch["type"]}, dispatch["context"])
        await seen(hark, topics.UTTERANCE_HANDLED, 2)
        await program.kill()


async def test_a_program_that_does_not_converse_is_waited_for_only_a_few_times(assistant: MakeAssistant) -> None:
    settings = {"assistant": {"pipeline": ["converse", "template"]}}
    async with assistant(Converse(), settings=settings) as hark, outside(hark.bus) as served:
        program = await served.program()
        await registered(hark, program, completes=True)
        hark.say("make some tea")
        dispatch = await program.next(f"{SKILL}:brew")
        program.send(topics.HANDLER_DONE, {"topic": dispatch["type"]}, dispatch["context"])
        await seen(hark, topics.UTTERANCE_HANDLED)
        for number in range(2, 5):
            hark.say("something else")
            await seen(hark, topics.CONVERSE_PING, number - 1)
            await passed(hark, 0.5)
            await seen(hark, topics.UTTERANCE_HANDLED, number)
        hark.say("something else")
        await seen(hark, topics.UTTERANCE_HANDLED, 5)
        assert len(hark.of(topics.CONVERSE_PING)) == 3
        await program.kill()
