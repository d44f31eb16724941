"""What a worker leaves open when it dies is ended once, whoever lives on and whoever comes back."""

from __future__ import annotations

import pytest

from flow.workers_rig import Chores, Staff, staff
from hark.model import Message
from hark.spec import topics
from hark.testing.clock import settle


async def busy(team: Staff) -> list[str]:
    """Turns that are open at all of them."""
    marks = [team.say("take your time", f"session {n}") for n in range(6)] + [team.say("take your time")]
    await settle()
    return marks


def all_die(team: Staff) -> None:
    for name in team.workers:
        if name not in team.dead:
            team.kill(name)


def owned(team: Staff, name: str) -> list[str]:
    """What was said in turns of a worker."""
    started = [m for m in team.messages if m.type == topics.HANDLER_START]
    return [str(m.context["mark"]) for m in started if (m.utterance_id or "").startswith(f"{name}-")]


async def test_when_all_have_died_each_ends_what_it_had_open_when_it_comes_back() -> None:
    async with staff("a", "b") as team:
        marks = await busy(team)
        all_die(team)
        await team.pass_by(20.0)
        assert team.markers() == {}
        await team.revive("a")
        await team.pass_by(4.0)
        assert owned(team, "a")
        assert team.markers() == dict.fromkeys(owned(team, "a"), 1)
        await team.revive("b")
        await team.pass_by(5.0)
        assert team.markers() == dict.fromkeys(marks, 1)
        for mark in marks:
            assert team.of(mark)[-2:] == [topics.HANDLER_ERROR, topics.UTTERANCE_HANDLED]
        errors = [m for m in team.messages if m.type == topics.HANDLER_ERROR]
        assert {m.data["exception"] for m in errors} == {"the worker that had this turn is gone"}
        assert {(m.data["skill_id"], m.data["intent_name"]) for m in errors} == {("chores.skill", "take")}
        assert {m.session_id for m in errors} == {f"session {n}" for n in range(6)} | {"default"}
        assert not any(key.startswith("hark_") for m in errors for key in m.context)


@pytest.mark.parametrize("after", [0.5, 2.0, 4.5, 5.5, 20.0])
async def test_what_others_have_ended_is_not_ended_again(after: float) -> None:
    async with staff("a", "b") as team:
        marks = await busy(team)
        team.kill("a")
        await team.pass_by(after)
        again = await team.revive("a")
        await team.pass_by(8.0)
        assert team.markers() == dict.fromkeys(owned(team, "a"), 1)
        assert team.workers[again].notes.left == {}
        team.kill("b")  # now nobody is left who was there
        await team.pass_by(8.0)
        assert team.holders() == [again]
        assert team.markers() == dict.fromkeys(owned(team, "a") + owned(team, "b"), 1)
        assert set(team.markers()) == set(marks)


async def test_who_came_later_knows_what_was_ended_before() -> None:
    async with staff("a", "b") as team:
        await busy(team)
        team.kill("a")
        await team.pass_by(20.0)  # b has ended them, and tells it no longer
        await team.hire("c")
        await team.pass_by(1.0)
        team.kill("b")
        await team.pass_by(8.0)
        assert team.holders() == ["c"]
        await team.revive("a")
        await team.pass_by(8.0)
        assert set(team.markers().values()) == {1}


@pytest.mark.parametrize("order", ["ab", "ba"])
@pytest.mark.parametrize("pause", [0.0, 2.5])
async def test_who_has_ended_turns_knows_it_in_its_next_life(order: str, pause: float) -> None:
    async with staff("a", "b") as team:
        marks = await busy(team)
        team.kill("a")
        await team.pass_by(7.0)
        team.kill("b")
        await team.pass_by(60.0)
        first, second = order
        await team.revive(first)
        await team.pass_by(pause)
        await team.revive(second)
        await team.pass_by(9.0)
        assert team.markers() == dict.fromkeys(marks, 1)


async def test_a_worker_that_dies_again_leaves_it_to_the_life_after() -> None:
    async with staff("a") as team:
        marks = await busy(team)
        team.kill("a")
        await team.pass_by(1.0)
        again = await team.revive("a")
        await team.pass_by(0.5)
        team.kill(again)
        await team.pass_by(1.0)
        last = await team.revive(again)
        await team.pass_by(5.0)
        assert team.markers() == dict.fromkeys(marks, 1)
        team.kill(last)
        await team.revive(last)
        await team.pass_by(5.0)
        assert team.markers() == dict.fromkeys(marks, 1)


async def test_what_ended_in_good_order_is_left_to_nobody() -> None:
    chores = Chores()
    async with staff("a", "b", skills=[chores]) as team:
        marks = await busy(team)
        marks += [team.say("say so", f"s{n}") for n in range(4)]
        chores.go_on.set()
        await settle()
        all_die(team)
        for name in ("a", "b"):
            again = await team.revive(name)
            assert team.workers[again].notes.left == {}
        await team.pass_by(5.0)
        assert team.markers() == dict.fromkeys(marks, 1)


async def test_a_worker_that_was_cut_off_and_died_leaves_what_nobody_has_ended() -> None:
    async with staff("a", "b") as team:
        marks = await busy(team)
        team.wires["a"].cut()
        await team.pass_by(3.0)  # it has let go of its turns; b does not know yet
        all_die(team)
        await team.revive("a")
        await team.revive("b")
        await team.pass_by(5.0)
        assert team.markers() == dict.fromkeys(marks, 1)


async def test_a_turn_that_nobody_heard_of_is_ended_and_its_utterance_not_taken_again() -> None:
    async with staff("a", "b") as team:
        [holder] = team.holders()
        [other] = {"a", "b"} - {holder}
        broker = team.broker.exchange

        def publish(topic: str, frame: bytes) -> None:
            if topic in (topics.WORKER_OPENED, topics.INTENT_MATCHED, topics.HANDLER_START, "chores.skill:take"):
                return  # it died before any of this was sent
            type(broker).publish(broker, topic, frame)

        broker.publish = publish  # type: ignore[method-assign]
        team.wires[holder].unfollow(topics.UTTERANCE_HANDLE, "understand")  # so that it goes to the other
        mark = team.say("take your time", "s")
        await settle()
        team.kill(other)
        del broker.publish
        team.wires[holder].follow(topics.UTTERANCE_HANDLE, "understand")
        await team.revive(other)
        await team.pass_by(10.0)
        assert team.of(mark) == [topics.UTTERANCE_HANDLE, topics.HANDLER_ERROR, topics.UTTERANCE_HANDLED]


async def test_an_utterance_that_was_taken_again_is_not_ended_for_the_one_that_died_on_it() -> None:
    chores = Chores()
    async with staff("a", "b", skills=[chores]) as team:
        [holder] = team.holders()
        [other] = {"a", "b"} - {holder}
        broker = team.broker.exchange

        def publish(topic: str, frame: bytes) -> None:
            if topic in (topics.UTTERANCE_HANDLE, topics.WORKER_BEAT):
                type(broker).publish(broker, topic, frame)

        team.wires[holder].unfollow(topics.UTTERANCE_HANDLE, "understand")
        broker.publish = publish  # type: ignore[method-assign]
        mark = team.say("take your time", "s")
        await settle()
        team.kill(other)
        del broker.publish
        await team.pass_by(4.5)
        assert chores.calls["take"] == 1
        again = await team.revive(other)
        await team.pass_by(4.0)
        assert team.markers() == {}
        assert team.workers[again].notes.left == {}
        chores.go_on.set()
        await team.pass_by(8.0)
        assert team.of(mark)[-2:] == [topics.HANDLER_COMPLETE, topics.UTTERANCE_HANDLED]
        assert team.markers() == {mark: 1}


async def test_what_makes_no_sense_is_not_taken_for_a_turn() -> None:
    async with staff("a") as team:
        for data in ({}, {"utterance_id": 7, "key": ""}, {"utterance_id": "x-1"}, {"utterance_id": "x-1", "key": None}):
            team.bus.emit(Message(topics.WORKER_LEFT, data))
        team.bus.emit(Message(topics.WORKER_ENDED, {"ended": "x-1"}))
        team.bus.emit(Message(topics.WORKER_ENDED, {"ended": [7, None]}))
        await team.pass_by(3.0)
        assert team.markers() == {}


@pytest.mark.parametrize("after", [0.0, 1.0, 2.5])
async def test_who_comes_back_waits_whether_the_one_that_knows_what_became_of_its_turns_does_too(after: float) -> None:
    async with staff("a", "b") as team:
        marks = await busy(team)
        team.wires["a"].cut()
        await team.pass_by(8.0)  # b has ended what a had
        assert set(team.markers()) == set(owned(team, "a"))
        team.kill("b")
        team.wires["a"].mend()
        await team.pass_by(after)
        await team.revive("b")
        await team.pass_by(10.0)
        assert team.markers() == dict.fromkeys(marks, 1)


async def test_when_nobody_comes_back_who_knows_it_ends_what_it_knows() -> None:
    async with staff("a", "b") as team:
        marks = await busy(team)
        team.wires["a"].cut()
        await team.pass_by(3.0)
        team.kill("b")  # before it had ended anything
        team.wires["a"].mend()
        await team.pass_by(9.0)
        assert team.markers() == dict.fromkeys(marks, 1)
