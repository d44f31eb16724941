"""Several workers share the work, and stand in for each other."""

from __future__ import annotations

import asyncio

import pytest

from flow.workers_rig import Chores, staff
from hark.model import Message, Session
from hark.spec import topics
from hark.testing.clock import settle

DONE = [
    topics.UTTERANCE_HANDLE,
    topics.INTENT_MATCHED,
    topics.HANDLER_START,
    "chores.skill:say",
    topics.UTTERANCE_SPEAK,
    topics.HANDLER_COMPLETE,
    topics.UTTERANCE_HANDLED,
]


async def test_named_sessions_go_to_all_workers_and_each_turn_to_one() -> None:
    async with staff("a", "b", "c") as team:
        marks = [team.say(f"say {n}", f"session {n}") for n in range(30)]
        await settle()
        assert all(team.of(mark) == DONE for mark in marks)
        assert {team.by(mark) for mark in marks} == {"a", "b", "c"}


async def test_the_default_session_is_held_by_one_and_its_turns_keep_their_order() -> None:
    async with staff("b", "a", "c") as team:
        [holder] = team.holders()
        marks = [team.say(f"say {n}") for n in range(20)]
        await settle()
        assert all(team.of(mark) == DONE for mark in marks)
        assert {team.by(mark) for mark in marks} == {holder}
        dispatched = [m for m in team.messages if m.type == "chores.skill:say"]
        assert [m.data["slots"]["words"] for m in dispatched] == [str(n) for n in range(20)]


async def test_when_the_holder_dies_another_takes_over_with_what_was_known_last() -> None:
    async with staff("a", "b") as team:
        [holder] = team.holders()
        team.say("remember apples")
        await settle()
        team.kill(holder)
        waiting = [team.say(f"say {n}") for n in range(5)]
        await settle()
        assert team.markers()[waiting[0]] == 0
        await team.pass_by(7.0)
        [survivor] = team.holders()
        assert survivor != holder
        assert [team.of(mark) for mark in waiting] == [DONE] * 5
        context = team.workers[survivor].store.current.intent_context
        assert context["chores.skill:word"].value == "apples"


async def test_the_open_turns_of_a_dead_worker_end_with_an_error_and_one_marker() -> None:
    async with staff("a", "b") as team:
        marks = [team.say("take your time", f"session {n}") for n in range(10)]
        marks += [team.say("take your time")]
        await settle()
        [holder] = team.holders()
        team.kill(holder)
        await team.pass_by(7.0)
        ended = {mark for mark, number in team.markers().items() if number}
        lost = [mark for mark in marks if mark in ended]
        assert marks[-1] in lost
        assert 3 < len(lost) < len(marks)
        for mark in lost:
            assert team.of(mark)[-2:] == [topics.HANDLER_ERROR, topics.UTTERANCE_HANDLED]
        assert set(team.markers().values()) == {1}
        errors = [m for m in team.messages if m.type == topics.HANDLER_ERROR]
        assert {m.data["exception"] for m in errors} == {"the worker that had this turn is gone"}
        assert {m.data["skill_id"] for m in errors} == {"chores.skill"}
        assert {m.session_id for m in errors} <= {f"session {n}" for n in range(10)} | {"default"}


async def test_a_dead_worker_that_did_not_hold_the_lease_is_missed_too() -> None:
    async with staff("a", "b") as team:
        [holder] = team.holders()
        [other] = {"a", "b"} - {holder}
        marks = [team.say("take your time", f"session {n}") for n in range(10)]
        await settle()
        team.kill(other)
        await team.pass_by(7.0)
        assert team.holders() == [holder]
        assert 3 < sum(team.markers()[mark] for mark in marks) < 10
        assert set(team.markers().values()) == {1}


async def test_an_utterance_that_went_to_a_worker_that_died_on_it_is_taken_by_another() -> None:
    async with staff("a", "b") as team:
        [other] = {"a", "b"} - set(team.holders())
        marks = [team.say(f"say {n}", f"session {n}") for n in range(10)]
        team.kill(other)  # what was sent to it is on its way
        await settle()
        missing = [mark for mark in marks if not team.markers()[mark]]
        assert len(missing) == 5
        await team.pass_by(8.0)
        assert all(team.of(mark) == DONE for mark in marks)
        assert set(team.markers().values()) == {1}


async def test_a_worker_that_comes_back_does_not_end_what_others_have_ended() -> None:
    chores = Chores()
    async with staff("a", "b", skills=[chores]) as team:
        [holder] = team.holders()
        marks = [team.say("take your time", f"session {n}") for n in range(6)] + [team.say("take your time")]
        await settle()
        team.wires[holder].cut()
        await team.pass_by(8.0)
        assert len(team.holders()) == 1
        assert holder not in team.holders()
        team.wires[holder].mend()
        await team.pass_by(3.0)
        assert len(team.holders()) == 1
        chores.go_on.set()
        await team.pass_by(3.0)
        assert [team.markers()[mark] for mark in marks] == [1] * 7
        more = [team.say(f"say {n}", f"session {n}") for n in range(6)]
        await settle()
        assert {team.by(mark) for mark in more} == {"a", "b"}


async def test_a_short_break_is_nobodys_death() -> None:
    chores = Chores()
    async with staff("a", "b", skills=[chores]) as team:
        [holder] = team.holders()
        mark = team.say("take your time")
        await settle()
        team.wires[holder].cut()
        await team.pass_by(0.9)
        team.wires[holder].mend()
        await team.pass_by(7.0)
        assert team.holders() == [holder]
        chores.go_on.set()
        await settle()
        assert team.of(mark)[-2:] == [topics.HANDLER_COMPLETE, topics.UTTERANCE_HANDLED]


async def test_the_end_of_a_turn_that_got_lost_is_told_again() -> None:
    async with staff("a") as team:
        broker, lost = team.broker.exchange, []

        def publish(topic: str, frame: bytes) -> None:
            if topic in (topics.HANDLER_COMPLETE, topics.UTTERANCE_HANDLED) and len(lost) < 2:
                lost.append(topic)
            else:
                type(broker).publish(broker, topic, frame)

        broker.publish = publish  # type: ignore[method-assign]
        mark = team.say("say so", "s")
        await settle()
        assert (len(lost), team.markers()[mark]) == (2, 0)
        await team.pass_by(2.0)
        assert team.of(mark) == DONE


async def test_when_all_are_cut_off_at_once_everything_ends_all_the_same() -> None:
    async with staff("a", "b", "c") as team:
        marks = [team.say("take your time", f"session {n}") for n in range(6)] + [team.say("take your time")]
        await settle()
        for wire in team.wires.values():
            wire.cut()
        await team.pass_by(7.0)
        for wire in team.wires.values():
            wire.mend()
        await team.pass_by(8.0)
        assert [team.markers()[mark] for mark in marks] == [1] * 7
        assert len(team.holders()) == 1


async def test_who_comes_later_knows_the_session_and_the_open_turns() -> None:
    async with staff("a") as team:
        mark = team.say("take your time", "s")
        team.say("remember pears")
        await settle()
        late = await team.hire("b")
        await team.pass_by(1.0)
        assert team.holders() == ["a"]
        assert late.store.current.intent_context["chores.skill:word"].value == "pears"
        team.kill("a")
        await team.pass_by(7.0)
        assert team.of(mark)[-1] == topics.UTTERANCE_HANDLED
        assert team.holders() == ["b"]
        assert team.markers()[mark] == 1


async def test_two_holders_that_meet_agree_on_one() -> None:
    async with staff("a", "b") as team:
        for worker in team.workers.values():
            worker.lease.role = "holding"  # as after a split between two brokers
            worker.lease._own_term = 7
            worker.store.owned = True
        await team.pass_by(2.0)
        assert team.holders() == ["a"]
        assert [worker.store.owned for worker in team.workers.values()] == [True, False]


async def test_a_worker_that_leaves_hands_on_and_nothing_waits() -> None:
    async with staff("a", "b") as team:
        [holder] = team.holders()
        team.say("remember plums")
        await settle()
        house = team.houses.pop(holder)
        await house.stop()
        mark = team.say("say goodbye")
        await team.pass_by(0.5)
        assert team.of(mark) == DONE
        [survivor] = team.holders()
        assert team.workers[survivor].store.current.intent_context["chores.skill:word"].value == "plums"
        await house.bus.close()


async def test_a_question_is_answered_whichever_worker_takes_the_answer() -> None:
    async with staff("a", "b") as team:
        mark = team.say("ask me", "s")
        await settle()
        [question] = [m for m in team.messages if m.type == topics.UTTERANCE_SPEAK]
        session = question.session or Session()
        for said in ("red", "blue"):
            answer = question.forward(topics.UTTERANCE_HANDLE, {"utterances": [said]}).carrying(mark=said)
            team.bus.emit(answer.carrying(session))
            await settle()
        assert team.of(mark)[-2:] == [topics.HANDLER_COMPLETE, topics.UTTERANCE_HANDLED]
        spoken = [m.data["utterance"] for m in team.messages if m.type == topics.UTTERANCE_SPEAK]
        assert spoken[:2] == ["Which one?", "so red"]
        assert set(team.markers().values()) == {1}


async def test_turns_of_one_session_that_are_open_at_once_are_at_one_worker() -> None:
    async with staff("a", "b", "c") as team:
        marks = [team.say("take your time", "s")]
        await settle()
        marks += [team.say(f"say {n}", "s") for n in range(6)]
        await settle()
        matched = [m for m in team.messages if m.type == topics.INTENT_MATCHED and m.session_id == "s"]
        assert len(matched) == len(marks)
        assert len({(m.utterance_id or "").rpartition("-")[0] for m in matched}) == 1


async def test_what_is_handed_to_a_worker_that_dies_on_it_is_taken_by_another() -> None:
    async with staff("a", "b") as team:
        [other] = {"a", "b"} - set(team.holders())
        team.wires[team.holders()[0]].unfollow(topics.UTTERANCE_HANDLE, "understand")  # so that it goes to the other
        long = team.say("take your time", "s")
        await settle()
        team.wires[team.holders()[0]].follow(topics.UTTERANCE_HANDLE, "understand")
        marks = [team.say(f"say {n}", "s") for n in range(4)]
        team.kill(other)
        await team.pass_by(9.0)
        assert [team.markers()[mark] for mark in (long, *marks)] == [1] * 5
        assert all(team.of(mark) == DONE for mark in marks)


async def test_what_is_asked_of_the_session_is_answered_by_its_holder_alone() -> None:
    async with staff("a", "b") as team:
        for _ in range(3):
            team.bus.emit(Message(topics.CONVERSE_ACTIVE_LIST))
        await settle()
        answers = topics.response_topic(topics.CONVERSE_ACTIVE_LIST)
        assert len([m for m in team.messages if m.type == answers]) == 3


async def test_a_handler_that_every_worker_has_runs_in_one_of_them() -> None:
    async with staff("a", "b") as team:
        marks = [team.say("stop", f"session {n}") for n in range(6)]
        await team.pass_by(3.0)
        ends = [team.of(mark)[-2:] for mark in marks]
        assert ends == [[topics.HANDLER_COMPLETE, topics.UTTERANCE_HANDLED]] * 6
        accepted = [m.utterance_id for m in team.messages if m.type == topics.HANDLER_ACCEPTED]
        assert len(accepted) == len(set(accepted)) == 6
        assert {(one or "").rpartition("-")[0] for one in accepted} == {"a", "b"}


async def test_what_is_registered_and_loaded_is_told_by_one_of_them() -> None:
    asked = [
        Message(topics.INTENT_LIST),
        Message(topics.INTENT_DESCRIBE, {"skill_id": "chores.skill"}),
        Message(topics.SKILLS_LIST),
        Message(topics.pipeline_intents_list("template")),
        Message(topics.transformer_list("utterance")),
    ]
    async with staff("a", "b") as team:
        for killed in ((), team.holders()):
            for name in killed:
                team.wires[name].cut()
                await team.wires[name].close()  # as a broker notices when a process is gone
            team.messages.clear()
            for question in asked:
                team.bus.emit(question)
            await settle()
            for question in asked:
                [answer] = [m for m in team.messages if m.type == topics.response_topic(question.type)]
                assert "intents" not in answer.data or len(answer.data["intents"]) >= 4
            team.dead.update(killed)


@pytest.mark.parametrize("said", ["say goodbye", "take your time"])
@pytest.mark.parametrize("session", [None, "s"])
async def test_when_all_leave_at_once_what_is_said_meanwhile_is_turned_away_with_one_marker(
    said: str, session: str | None
) -> None:
    chores = Chores()
    async with staff("a", "b", "c", skills=[chores]) as team:
        team.say("take your time", "long")
        await settle()
        houses = [team.houses.pop(name) for name in ("a", "b", "c")]
        leaving = [asyncio.ensure_future(house.stop()) for house in houses]
        await team.pass_by(0.1)
        late = [team.say(said, session) for _ in range(4)]
        await team.pass_by(1.5)
        late += [team.say(said, session) for _ in range(4)]
        await team.pass_by(8.0)
        await asyncio.gather(*leaving)
        for house in houses:
            await house.bus.close()
        assert [team.of(mark) for mark in late] == [
            [topics.UTTERANCE_HANDLE, topics.INTENT_UNMATCHED, topics.UTTERANCE_HANDLED]
        ] * 8
        assert set(team.markers().values()) == {1}


async def test_one_who_leaves_comes_back_when_nobody_else_is_left() -> None:
    async with staff("a", "b") as team:
        [holder] = team.holders()
        [other] = {"a", "b"} - {holder}
        for number in range(4):
            team.say("take your time", f"session {number}")  # so that leaving takes a while
        await settle()
        team.kill(holder)
        await team.pass_by(2.0)
        house = team.houses.pop(other)
        leaving = asyncio.ensure_future(house.stop())  # it does not know yet that the other is gone
        marks = [team.say("say so"), team.say("say so", "s")]
        await team.pass_by(12.0)
        await leaving
        await house.bus.close()
        assert [team.markers()[mark] for mark in marks] == [1, 1]


@pytest.mark.parametrize("session", [None, "s"])
async def test_what_the_holder_has_not_heard_is_offered_to_it_once(session: str | None) -> None:
    async with staff("a", "b") as team:
        [holder] = team.holders()
        [other] = {"a", "b"} - {holder}
        team.wires[other].unfollow(topics.UTTERANCE_HANDLE, "understand")  # it only overhears
        team.wires[holder].cut()
        mark = team.say("say so", session)
        await team.pass_by(0.9)
        team.wires[holder].mend()
        await team.pass_by(9.0)
        assert team.holders() == [holder]
        assert team.of(mark) == DONE
        assert team.markers() == {mark: 1}


async def test_an_offer_that_makes_no_sense_is_none() -> None:
    async with staff("a") as team:
        entry = Message(topics.WORKER_OFFER, {"utterances": ["say so"]})
        for offer in (7, {"key": 7, "lately": 1.0}, {"key": "k", "lately": "1"}):
            team.bus.emit(entry.carrying(hark_untaken=offer))
        await team.pass_by(5.0)
        assert team.markers() == {}


async def test_signs_of_life_that_make_no_sense_are_nobodys() -> None:
    async with staff("a") as team:
        team.bus.emit(Message(topics.WORKER_BEAT, {"worker": "x", "generation": "1", "number": 1}))
        team.bus.emit(Message(topics.WORKER_BEAT, {"worker": "b", "generation": 2, "number": 1, "role": "following"}))
        await settle()
        team.bus.emit(Message(topics.WORKER_BEAT, {"worker": "b", "generation": 1, "number": 9, "role": "holding"}))
        await team.pass_by(8.0)
        mark = team.say("say so")
        await settle()
        assert team.of(mark) == DONE
        assert team.holders() == ["a"]


async def test_who_is_about_to_leave_is_handed_nothing_more() -> None:
    async with staff("a", "b") as team:
        team.wires["b"].unfollow(topics.UTTERANCE_HANDLE, "understand")
        team.say("take your time", "s")
        await settle()
        team.wires["b"].follow(topics.UTTERANCE_HANDLE, "understand")
        house = team.houses.pop("a")
        leaving = asyncio.ensure_future(house.stop())
        await settle()
        mark = team.say("say so", "s")
        await settle()
        assert team.of(mark) == DONE
        assert team.by(mark) == "b"
        await team.pass_by(8.0)
        await leaving
        await house.bus.close()
        assert set(team.markers().values()) == {1}
