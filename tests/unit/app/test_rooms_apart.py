"""Rooms in processes of their own: who has which, that nothing said early is lost, and what they know together."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from deployment import deployed

from hark.app.rooms.role import Taken
from hark.app.rooms.view import View
from hark.app.state.keeping import State
from hark.builtin import Converse, Normalize, ParrotSkill, TemplateMatcher
from hark.model import Message, Session, SystemClock, encode
from hark.plugins import DialogTransformer, Turn
from hark.skills import Skill, intent
from hark.spec import topics
from hark.testing import settle
from hark.understand.notes import Notes


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


async def test_a_second_claimant_is_refused_and_the_first_is_named() -> None:
    async with deployed() as deployment:
        first = await deployment.lodge("understand")
        with pytest.raises(Taken) as refused:
            await deployment.lodge("understand")
        assert f"the room understand is taken on this bus by {first.role.holder}" in str(refused.value)
        assert f"process {first.role.holder.pid} on {first.role.holder.host}, since 20" in str(refused.value)
        await deployment.lodge("act")


async def test_of_two_that_claim_at_once_one_gets_the_room() -> None:
    async with deployed() as deployment:
        both = asyncio.gather(deployment.lodge("act"), deployment.lodge("act"), return_exceptions=True)
        outcomes = await deployment.meanwhile(both)
        assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Lodging", "Taken"]


async def test_rooms_can_share_a_process_and_are_claimed_one_by_one() -> None:
    async with deployed() as deployment:
        await deployment.lodge("hear", "speak")
        with pytest.raises(Taken, match="the room speak is taken"):
            await deployment.lodge("speak")


async def test_workers_share_a_room_and_with_nobody_else() -> None:
    async with deployed() as deployment:
        await deployment.lodge("understand", is_worker=True)
        await deployment.lodge("understand", is_worker=True)
        with pytest.raises(Taken):
            await deployment.lodge("understand")


async def test_a_room_whose_process_left_or_died_can_be_taken_again() -> None:
    async with deployed() as deployment:
        first = await deployment.lodge("act")
        await deployment.meanwhile(first.__aexit__(None, None, None))
        deployment.lodgings.clear()
        second = await deployment.lodge("act")
        await deployment.die(second)
        third = await deployment.lodge("act")
        front = await deployment.front()
        assert [holder.id for holder in front.roster] == [third.role.holder.id]


async def test_whoever_was_too_busy_to_object_is_obeyed_later() -> None:
    async with deployed() as deployment:
        first = await deployment.lodge("speak")
        bus = await deployment.bus()
        carrier = first.house.bus.carrier  # type: ignore[attr-defined]
        heard, carrier._receive = carrier._receive, None  # its event loop stands still
        await deployment.lodge("speak")
        assert deployment.lost == []
        carrier._receive = heard
        bus.emit(Message(topics.ROLE_CLAIM, {}))
        await settle()
        assert [holder.id for holder in deployment.lost] == [first.role.holder.id]


@pytest.mark.parametrize("order", [("act", "understand"), ("understand", "act")], ids=" then ".join)
async def test_nothing_that_was_registered_is_lost_whoever_comes_first(order: tuple[str, str]) -> None:
    async with deployed() as deployment:
        plugins = [TemplateMatcher(), ParrotSkill()]
        for room in order:
            await deployment.lodge(room, plugins=plugins)  # type: ignore[arg-type]
        await deployment.lodge("speak")
        front = await deployment.front()
        asked = await front.talk.ask("say hello", deployment.aside.append)
        assert (asked.outcome, deployment.aside) == ("complete", ["hello"])


async def test_a_room_that_comes_back_knows_again_what_skills_registered() -> None:
    async with deployed() as deployment:
        await deployment.lodge("act", plugins=[ParrotSkill()])
        await deployment.lodge("speak")
        first = await deployment.lodge("understand", plugins=[TemplateMatcher()])
        await deployment.die(first)
        again = await deployment.lodge("understand", plugins=[TemplateMatcher()])
        assert {definition.key.skill_id for definition in again.house.orchestrator.manifest} == {"parrot.skill"}


async def test_the_story_of_a_turn_is_told_in_one_piece_whatever_room_a_step_was_in() -> None:
    async with deployed() as deployment:
        plugins = [Normalize(), TemplateMatcher(), ParrotSkill(), Loud()]
        lodged = {room: await deployment.lodge(room, plugins=plugins) for room in ("understand", "act", "speak")}  # type: ignore[arg-type]
        front = await deployment.front()
        await front.talk.ask("say hello", deployment.aside.append)
        await front.talk.ask("what nobody understands", deployment.aside.append)
        assert deployment.aside == ["HELLO"]
        last = await front.stories.find()
        assert last is not None
        assert last.utterances == ["what nobody understands"]
        first = next(iter(lodged["understand"].house.traces))
        story = await front.stories.find(first.utterance_id)
        assert story is not None
        assert story.outcome == "complete"
        assert [step.stage for step in story.steps] == ["utterance", "match", "handler", "dialog", "speak"]
        await deployment.die(lodged["speak"])
        front.stories._window = 0.01  # of real time: it does not answer any more
        partial = await front.stories.find(first.utterance_id)
        assert partial is not None
        assert [step.stage for step in partial.steps] == ["utterance", "match", "handler"]
        assert await front.stories.find("nobody-knows") is None


async def test_the_doctor_looks_at_all_rooms_and_says_which_is_missing() -> None:
    async with deployed(plugins={"loud": {}, "nobody": {}}) as deployment:
        plugins = [Normalize(), TemplateMatcher(), ParrotSkill()]
        for room in ("understand", "act", "hear"):
            await deployment.lodge(room, plugins=plugins)  # type: ignore[arg-type]
        front = await deployment.front()
        report = await front.doctor.examine()
        assert [(one.room, bool(one.held_by), one.is_ready) for one in report.rooms] == [
            ("hear", True, True),
            ("understand", True, True),
            ("act", True, True),
            ("speak", False, False),
        ]
        assert not report.healthy
        assert report.advice == [], "of a room that is missing, nobody can say what is loaded there"
        await deployment.lodge("speak", plugins=[Loud()])
        report = await front.doctor.examine()
        assert report.advice == ["[plugins] names 'nobody', which is not loaded"]
        assert [chain.kind for chain in report.chains if chain.members] == ["utterance", "dialog"]
        assert [asked.entry for asked in report.pipeline] == ["template"]
        assert [skill.member.id for skill in report.skills] == ["parrot.skill"]


async def test_the_doctor_lists_all_workers_and_tells_what_they_have_alike_once() -> None:
    async with deployed() as deployment:
        for _ in range(2):
            await deployment.lodge("understand", plugins=[Normalize(), TemplateMatcher()], is_worker=True)
        await deployment.lodge("act", "speak", plugins=[ParrotSkill()])
        view = View(await deployment.bus(), deployment.clock, deployment.lodgings[0].role.roster, deployment.settings)
        report = await view.examine()
        assert [room.room for room in report.rooms] == ["understand", "understand", "act", "speak"]
        assert [asked.entry for asked in report.pipeline] == ["template"]
        assert [chain.kind for chain in report.chains].count("utterance") == 1
        assert report.healthy


async def test_a_question_and_its_answer_cross_the_rooms() -> None:
    async with deployed(assistant={"pipeline": ["converse", "template"]}) as deployment:
        plugins = [Converse(), TemplateMatcher(), Asking()]
        for room in ("understand", "act", "speak"):
            await deployment.lodge(room, plugins=plugins)  # type: ignore[arg-type]
        front = await deployment.front()
        asked = await front.talk.ask("ask me", deployment.aside.append, session_id="kitchen")
        assert (asked.outcome, deployment.aside) == ("asked", ["Which one?"])
        answered = await front.talk.ask("the red one", deployment.aside.append, session_id="kitchen")
        assert answered.outcome == "complete"
        assert deployment.aside[1:] == ["You said the red one."]


async def test_only_who_is_there_is_spoken_to_and_a_speaker_that_came_back_knows_who_is() -> None:
    async with deployed() as deployment:
        await deployment.watch()
        speak = await deployment.lodge("speak")
        front = await deployment.front()
        asking = asyncio.ensure_future(front.talk.ask("hello", deployment.aside.append, session_id="kitchen"))
        await settle()
        await deployment.die(speak)
        await deployment.lodge("speak")
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
        await deployment.lodge("act", plugins=[Slow(), ParrotSkill()])
        state = State(tmp_path, SystemClock(), traces=False, parts=["understand"])
        first = await deployment.lodge("understand", plugins=[TemplateMatcher()], state=state)
        bus = await deployment.bus()
        for text in ("take your time", "say hello"):
            bus.emit(Message(topics.UTTERANCE_HANDLE, {"utterances": [text]}, {"source": "me"}, Session(text)))
        await settle()
        assert [message.session_id for message in deployment.of(topics.UTTERANCE_HANDLED)] == ["say hello"]
        journal, first.house.orchestrator._journal = first.house.orchestrator._journal, None  # it writes nothing more
        await deployment.die(first)
        assert journal is state.turns
        state.close()
        state = State(tmp_path, SystemClock(), traces=False, parts=["understand"])
        await deployment.lodge("understand", plugins=[TemplateMatcher()], state=state)
        await settle()
        assert [message.session_id for message in deployment.of(topics.UTTERANCE_HANDLED)] == [
            "say hello",
            "take your time",
        ]
        [error] = deployment.of(topics.HANDLER_ERROR)
        assert error.data["exception"] == "the assistant was restarted in the middle of this turn"
        assert (error.data["skill_id"], error.context["destination"]) == ("slow.skill", "me")
        state.close()


async def test_turns_of_a_worker_that_died_with_all_others_end_once_when_it_comes_back(tmp_path: Path) -> None:
    async with deployed(assistant={"pipeline": ["template"]}) as deployment:
        await deployment.watch()
        await deployment.lodge("act", plugins=[Slow()])
        bus = await deployment.bus()
        for life in range(3):
            state = State(tmp_path, SystemClock(), traces=False, parts=["understand"])
            worker = await deployment.lodge("understand", plugins=[TemplateMatcher()], state=state, is_worker=True)
            await deployment.clock.advance(6.0)
            if not life:
                data = {"utterances": ["take your time"]}
                bus.emit(Message(topics.UTTERANCE_HANDLE, data, {"source": "me"}, Session("x")))
                await settle()
                assert deployment.of(topics.UTTERANCE_HANDLED) == []
            notes = worker.house.orchestrator._journal
            assert isinstance(notes, Notes)
            notes._journal = None  # it writes nothing more
            await deployment.die(worker)
            state.close()
            assert len(deployment.of(topics.UTTERANCE_HANDLED)) == min(life, 1)
        [error] = deployment.of(topics.HANDLER_ERROR)
        assert error.data["exception"] == "the worker that had this turn is gone"
        assert (error.data["skill_id"], error.context["destination"]) == ("slow.skill", "me")


async def test_a_call_that_came_while_its_host_was_being_started_again_is_made_when_it_is_back() -> None:
    async with deployed() as deployment:
        await deployment.watch()
        await deployment.lodge("understand", plugins=[TemplateMatcher()])
        await deployment.die(await deployment.lodge("act", plugins=[ParrotSkill()]))
        bus = await deployment.bus()
        bus.emit(Message(topics.UTTERANCE_HANDLE, {"utterances": ["say hello"]}, {}, Session("x")))
        await settle()
        assert deployment.of(topics.UTTERANCE_HANDLED) == []
        await deployment.lodge("act", plugins=[ParrotSkill()])
        await settle()
        assert [message.data.get("utterance") for message in deployment.of(topics.UTTERANCE_SPEAK)] == ["hello"]
        assert len(deployment.of(topics.HANDLER_COMPLETE)) == len(deployment.of(topics.UTTERANCE_HANDLED)) == 1


async def test_a_handler_whose_host_died_is_given_up_after_three_missed_beats() -> None:
    async with deployed() as deployment:
        await deployment.watch()
        await deployment.lodge("understand", plugins=[TemplateMatcher()])
        act = await deployment.lodge("act", plugins=[Slow()])
        bus = await deployment.bus()
        bus.emit(Message(topics.UTTERANCE_HANDLE, {"utterances": ["take your time"]}, {}, Session("x")))
        await deployment.clock.advance(10)
        assert deployment.of(topics.UTTERANCE_HANDLED) == []
        await deployment.die(act)
        await deployment.lodge("act", plugins=[Slow()])
        await deployment.clock.advance(10)
        [error] = deployment.of(topics.HANDLER_ERROR)
        assert error.data["exception"] == "handler host lost: no sign of life for 6 s"
        assert len(deployment.of(topics.UTTERANCE_HANDLED)) == 1


async def test_a_handler_whose_answer_was_lost_on_the_way_is_noticed_while_its_host_is_busy_with_others() -> None:
    async with deployed() as deployment:
        await deployment.watch()
        await deployment.lodge("understand", plugins=[TemplateMatcher()])
        act = await deployment.lodge("act", plugins=[Slow(), ParrotSkill()])
        bus = await deployment.bus()
        bus.emit(Message(topics.UTTERANCE_HANDLE, {"utterances": ["take your time"]}, {}, Session("x")))
        await settle()
        carrier = act.house.bus.carrier  # type: ignore[attr-defined]
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
        asking = asyncio.ensure_future(front.talk.ask("hello", deployment.aside.append))
        await settle()
        front._bus._received(encode(Message(topics.BUS_AGAIN)), "")
        await deployment.clock.advance(9)
        assert not asking.done()
        await deployment.clock.advance(2)
        asked = await asking
        assert (asked.outcome, asked.detail) == ("broken", "the bus was lost in the middle of this turn")


async def test_everybody_says_again_who_they_are_when_the_bus_was_lost() -> None:
    async with deployed() as deployment:
        act = await deployment.lodge("act", plugins=[ParrotSkill()])
        await deployment.watch()
        act.house.bus._received(encode(Message(topics.BUS_AGAIN)), "")  # type: ignore[attr-defined]
        await settle()
        [held] = deployment.of(topics.ROLE_HELD)
        assert held.data["holder"]["id"] == act.role.holder.id
        [began] = deployment.of(topics.HOST_BEGAN)
        assert began.data["skills"] == ("parrot.skill",)
