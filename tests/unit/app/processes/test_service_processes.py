"""Rooms in processes of their own: who has which, that nothing said early is lost, and what they know together."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from deployment import Deployment, MemoryClaim, deployed

from hark.app.control.protocol import Forget
from hark.app.processes.claims import Settlement, this_process
from hark.app.state.store import State
from hark.builtin import Converse, Normalize, ParrotSkill, TemplateMatcher
from hark.model import Message, Session, SystemClock, encode
from hark.plugins import DialogTransformer, Turn
from hark.skills import Skill, intent
from hark.spec import topics
from hark.testing import settle


class Loud(DialogTransformer):
    id = "loud"
    quick = True

    def transform(self, text: str, ctx: object) -> str:
        return text.upper()


class Slow(Skill):
    id = "slow.skill"

    @intent("take your time")
    async def wait(self, turn: Turn) -> None:
        await asyncio.Event().wait()


class Asking(Skill):
    id = "asking.skill"

    @intent("ask me")
    async def ask(self, turn: Turn) -> str:
        return f"You said {await turn.ask('Which one?')}."


@pytest.mark.parametrize("order", [("act", "understand"), ("understand", "act")], ids=" then ".join)
async def test_nothing_that_was_registered_is_lost_whoever_comes_first(order: tuple[str, str]) -> None:
    async with deployed() as deployment:
        plugins = [TemplateMatcher(), ParrotSkill()]
        for room in order:
            await deployment.start(room, plugins=plugins)  # type: ignore[arg-type]
        await deployment.start("speak")
        front = await deployment.front()
        asked = await front.client.ask("say hello", deployment.aside.append)
        assert (asked.outcome, deployment.aside) == ("complete", ["hello"])


async def _act_that_is_starting(deployment: Deployment) -> MemoryClaim:
    """The claim of a process that has the skills, and is not ready."""
    claim = MemoryClaim(deployment.members, this_process(("act",), 0.0))
    Settlement(await deployment.bus(), deployment.members, claim.info.id)
    await claim.take()
    return claim


async def test_what_is_said_while_the_skills_are_starting_waits_for_them() -> None:
    async with deployed() as deployment:
        starting = await _act_that_is_starting(deployment)
        await deployment.start("understand", plugins=[TemplateMatcher()])
        await deployment.start("speak")
        front = await deployment.front()
        asking = asyncio.ensure_future(front.client.ask("say hello", deployment.aside.append))
        await deployment.clock.advance(5)
        assert not asking.done()
        await starting.leave()
        await deployment.start("act", plugins=[ParrotSkill()])
        asked = await deployment.meanwhile(asking)
        assert (asked.outcome, deployment.aside) == ("complete", ["hello"])


async def test_skills_that_do_not_start_are_not_waited_for_for_ever() -> None:
    async with deployed() as deployment:
        await _act_that_is_starting(deployment)
        await deployment.start("understand", plugins=[TemplateMatcher()])
        await deployment.start("speak")
        front = await deployment.front()
        asking = asyncio.ensure_future(front.client.ask("say hello", deployment.aside.append))
        await deployment.clock.advance(10)
        assert not asking.done()
        assert (await deployment.meanwhile(asking)).outcome == "unmatched"


async def test_a_room_that_comes_back_knows_again_what_skills_registered() -> None:
    async with deployed() as deployment:
        await deployment.start("act", plugins=[ParrotSkill()])
        await deployment.start("speak")
        first = await deployment.start("understand", plugins=[TemplateMatcher()])
        await deployment.die(first)
        again = await deployment.start("understand", plugins=[TemplateMatcher()])
        assert {definition.key.skill_id for definition in again.runtime.orchestrator.manifest} == {"parrot.skill"}


async def test_the_story_of_a_turn_is_told_in_one_piece_whatever_room_a_step_was_in() -> None:
    async with deployed() as deployment:
        plugins = [Normalize(), TemplateMatcher(), ParrotSkill(), Loud()]
        started = {room: await deployment.start(room, plugins=plugins) for room in ("understand", "act", "speak")}  # type: ignore[arg-type]
        front = await deployment.front()
        await front.client.ask("say hello", deployment.aside.append)
        await deployment.meanwhile(front.client.ask("what nobody understands", deployment.aside.append))
        assert deployment.aside == ["HELLO"]
        last = await front.view.traces.find()
        assert last is not None
        assert last.utterances == ["what nobody understands"]
        first = next(iter(started["understand"].runtime.traces))
        story = await front.view.traces.find(first.utterance_id)
        assert story is not None
        assert story.outcome == "complete"
        assert [step.stage for step in story.steps] == ["utterance", "match", "handler", "dialog", "speak"]
        await deployment.die(started["speak"])
        front.view.traces.window = 0.01  # of real time: it does not answer any more
        partial = await front.view.traces.find(first.utterance_id)
        assert partial is not None
        assert [step.stage for step in partial.steps] == ["utterance", "match", "handler"]
        assert await front.view.traces.find("nobody-knows") is None


async def test_what_several_processes_keep_is_shown_and_forgotten_in_all_of_them() -> None:
    async with deployed() as deployment:
        plugins = [TemplateMatcher(), ParrotSkill(), Loud()]
        for room in ("understand", "act", "speak"):
            await deployment.start(room, plugins=plugins)  # type: ignore[arg-type]
        front = await deployment.front()
        for session_id in ("kitchen", "hall"):
            await front.client.ask("say hello", deployment.aside.append, session_id=session_id)
        said = Message(topics.UTTERANCE_HANDLE, {"utterances": ["say hello"]}, session=Session(site_id="attic"))
        deployment.buses[0].emit(said)
        await settle()
        assert (await front.view.device_session(reset=False)).site_id == "attic"
        assert await front.view.forget(Forget(session="hall")) == 1
        assert await front.view.forget(Forget()) == 2
        assert await front.view.traces.find() is None
        assert all(not list(process.runtime.traces) for process in deployment.processes)
        assert (await front.view.device_session(reset=False)).site_id is None
        deployment.buses[0].emit(said)
        await settle()
        assert (await front.view.device_session(reset=True)).site_id is None


async def test_the_doctor_looks_at_all_rooms_and_says_which_is_missing() -> None:
    async with deployed(plugins={"loud": {}, "nobody": {}}) as deployment:
        plugins = [Normalize(), TemplateMatcher(), ParrotSkill()]
        for room in ("understand", "act", "hear", "schedule"):
            await deployment.start(room, plugins=plugins)  # type: ignore[arg-type]
        front = await deployment.front()
        report = await front.view.reports.examine()
        assert [(one.service, bool(one.process), one.is_ready) for one in report.services] == [
            ("schedule", True, True),
            ("hear", True, True),
            ("understand", True, True),
            ("act", True, True),
            ("speak", False, False),
        ]
        assert not report.healthy
        assert report.advice == [], "of a room that is missing, nobody can say what is loaded there"
        await deployment.start("speak", plugins=[Loud()])
        report = await front.view.reports.examine()
        assert report.advice == ["[plugins] names 'nobody', which is not loaded"]
        assert [chain.kind for chain in report.chains if chain.members] == ["utterance", "dialog"]
        assert [asked.entry for asked in report.pipeline] == ["template"]
        assert [skill.member.id for skill in report.skills] == ["parrot.skill"]


async def test_a_question_and_its_answer_cross_the_rooms() -> None:
    async with deployed(assistant={"pipeline": ["converse", "template"]}) as deployment:
        plugins = [Converse(), TemplateMatcher(), Asking()]
        for room in ("understand", "act", "speak"):
            await deployment.start(room, plugins=plugins)  # type: ignore[arg-type]
        front = await deployment.front()
        asked = await front.client.ask("ask me", deployment.aside.append, session_id="kitchen")
        assert (asked.outcome, deployment.aside) == ("asked", ["Which one?"])
        answered = await front.client.ask("the red one", deployment.aside.append, session_id="kitchen")
        assert answered.outcome == "complete"
        assert deployment.aside[1:] == ["You said the red one."]


async def test_only_who_is_there_is_spoken_to_and_a_speaker_that_came_back_knows_who_is() -> None:
    async with deployed() as deployment:
        await deployment.watch()
        speak = await deployment.start("speak")
        front = await deployment.front()
        asking = asyncio.ensure_future(front.client.ask("hello", deployment.aside.append, session_id="kitchen"))
        await settle()
        await deployment.die(speak)
        await deployment.start("speak")
        await settle()
        bus = await deployment.bus()
        for session_id in ("kitchen", "nobody"):
            bus.emit(Message(topics.UTTERANCE_SPEAK, {"utterance": session_id}, {}, Session(session_id)))
        await settle()
        assert [message.data["utterance"] for message in deployment.of(topics.SPEECH_SHOWN)] == ["kitchen"]
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)


async def test_turns_of_a_process_that_died_end_once_when_the_next_one_comes(tmp_path: Path) -> None:
    async with deployed(assistant={"pipeline": ["template"]}) as deployment:
        await deployment.watch()
        await deployment.start("act", plugins=[Slow(), ParrotSkill()])
        state = State(tmp_path, SystemClock(), traces=False, parts=["understand"])
        first = await deployment.start("understand", plugins=[TemplateMatcher()], state=state)
        bus = await deployment.bus()
        for text in ("take your time", "say hello"):
            bus.emit(Message(topics.UTTERANCE_HANDLE, {"utterances": [text]}, {"source": "me"}, Session(text)))
        await settle()
        assert [message.session_id for message in deployment.of(topics.UTTERANCE_HANDLED)] == ["say hello"]
        notes = (tmp_path / "turns.log").read_bytes()
        await deployment.die(first)
        state.close()
        (tmp_path / "turns.log").write_bytes(notes)  # as SIGKILL leaves it: the process could not end its turns
        state = State(tmp_path, SystemClock(), traces=False, parts=["understand"])
        await deployment.start("understand", plugins=[TemplateMatcher()], state=state)
        await settle()
        assert [message.session_id for message in deployment.of(topics.UTTERANCE_HANDLED)] == [
            "say hello",
            "take your time",
        ]
        [error] = deployment.of(topics.HANDLER_ERROR)
        assert error.data["exception"] == "the assistant was restarted in the middle of this turn"
        assert (error.data["skill_id"], error.context["destination"]) == ("slow.skill", "me")
        state.close()


async def test_a_handler_whose_host_died_is_given_up_after_three_missed_beats() -> None:
    async with deployed() as deployment:
        await deployment.watch()
        await deployment.start("understand", plugins=[TemplateMatcher()])
        act = await deployment.start("act", plugins=[Slow()])
        bus = await deployment.bus()
        bus.emit(Message(topics.UTTERANCE_HANDLE, {"utterances": ["take your time"]}, {}, Session("x")))
        await deployment.clock.advance(10)
        assert deployment.of(topics.UTTERANCE_HANDLED) == []
        await deployment.die(act)
        await deployment.start("act", plugins=[Slow()])
        await deployment.clock.advance(10)
        [error] = deployment.of(topics.HANDLER_ERROR)
        assert error.data["exception"] == "handler host lost: no sign of life for 6 s"
        assert len(deployment.of(topics.UTTERANCE_HANDLED)) == 1


async def test_a_handler_whose_answer_was_lost_on_the_way_is_noticed_while_its_host_is_busy_with_others() -> None:
    async with deployed() as deployment:
        await deployment.watch()
        await deployment.start("understand", plugins=[TemplateMatcher()])
        act = await deployment.start("act", plugins=[Slow(), ParrotSkill()])
        bus = await deployment.bus()
        bus.emit(Message(topics.UTTERANCE_HANDLE, {"utterances": ["take your time"]}, {}, Session("x")))
        await settle()
        carrier = act.runtime.bus.carrier  # type: ignore[attr-defined]
        send = carrier.send
        carrier.send = lambda topic, frame: None if topic == topics.HANDLER_DONE else send(topic, frame)
        bus.emit(Message(topics.UTTERANCE_HANDLE, {"utterances": ["say hello"]}, {}, Session("y")))
        await settle()
        assert deployment.of(topics.UTTERANCE_HANDLED) == []
        carrier.send = send
        await deployment.clock.advance(10)
        assert [message.session_id for message in deployment.of(topics.UTTERANCE_HANDLED)] == ["y"]
        [error] = deployment.of(topics.HANDLER_ERROR)
        assert error.data["exception"] == "the handler has ended, and how was lost on the way"


async def test_a_turn_of_which_nothing_is_heard_after_the_bus_was_lost_is_given_up() -> None:
    async with deployed() as deployment:
        front = await deployment.front()
        asking = asyncio.ensure_future(front.client.ask("hello", deployment.aside.append))
        await settle()
        deployment.buses[-1].received(encode(Message(topics.BUS_AGAIN)), "")  # as its carrier does when it reconnected
        await deployment.clock.advance(9)
        assert not asking.done()
        await deployment.clock.advance(2)
        asked = await asking
        assert (asked.outcome, asked.detail) == ("broken", "the bus was lost in the middle of this turn")
