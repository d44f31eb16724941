"""Each utterance that the broker has acknowledged ends once, whichever process is killed, hangs or leaves."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Iterator, Sequence

import pytest

from flow.workers_rig import Chores, Workers, workers
from hark.bus.nats import Delivery, NatsOptions
from hark.model import Match, Message, Session, encode
from hark.plugins import PipelinePlugin, Turn, handles
from hark.spec import topics
from hark.testing import FakeClock
from hark.testing.nats_server import NatsServer

NAMED = Session("kitchen")


@pytest.fixture
async def team(nats_server: NatsServer, nats_options: NatsOptions) -> AsyncIterator[Workers]:
    async with workers(nats_server, nats_options.prefix) as made:
        yield made


async def test_two_identical_utterances_while_no_worker_is_there_end_twice(team: Workers) -> None:
    chores = Chores()
    await team.host("act", chores)
    team.say("say hello", NAMED)
    team.say("say hello", NAMED)
    await team.worker("w1")
    await team.until(lambda: len(team.of(topics.UTTERANCE_HANDLED)) == 2)
    ids = {message.utterance_id for message in team.of(topics.UTTERANCE_HANDLED)}
    assert len(ids) == 2
    assert chores.calls["say"] == 2
    assert len(team.of(topics.UTTERANCE_HANDLE)) == 2, "who looks on sees each once"


async def test_named_sessions_go_to_all_workers_and_each_turn_to_one(team: Workers) -> None:
    chores = Chores()
    await team.host("act", chores)
    for name in ("w1", "w2"):
        await team.worker(name)
    for number in range(60):
        team.say(f"say {number}", Session(f"s{number}"), mark=f"{number}")
    await team.until(lambda: len(team.markers) == 60)
    assert set(team.markers.values()) == {1}
    assert chores.calls["say"] == 60
    taken = [house.turns.taken for name, house in team.houses.items() if name != "act"]  # type: ignore[attr-defined]
    assert sum(taken) == 60
    assert min(taken) > 0


async def test_a_turn_of_a_killed_worker_goes_on_at_another_and_its_handler_runs_once(team: Workers) -> None:
    chores = Chores()
    await team.host("act", chores)
    await team.worker("w1")
    team.say("take your time", NAMED, mark="it")
    await team.until(lambda: chores.calls["take"] == 1)
    await team.kill("w1")
    await team.worker("w2")
    taken = team.houses["w2"].turns
    await team.until(lambda: taken.taken == 1)  # type: ignore[attr-defined]
    chores.go_on.set()
    await team.until(lambda: bool(team.markers))
    assert (team.markers, team.errors, team.spoken) == ({"it": 1}, [], ["at last"])
    assert chores.calls["take"] == 1
    assert len(team.of(topics.HANDLER_COMPLETE)) == 1


async def test_a_worker_that_is_told_to_stop_hands_its_turns_over_at_once(team: Workers) -> None:
    chores = Chores()
    await team.host("act", chores)
    first = await team.worker("w1")
    team.say("take your time", mark="default")
    team.say("take your time", NAMED, mark="named")
    await team.until(lambda: chores.calls["take"] == 2)
    second = await team.worker("w2")
    assert first.turns.store.owned
    began = time.monotonic()
    await team.stop("w1")
    await team.until(lambda: second.turns.taken == 2)  # type: ignore[attr-defined]
    assert time.monotonic() - began < 1.9, "before the broker would have noticed by itself"
    chores.go_on.set()
    await team.until(lambda: len(team.markers) == 2)
    assert (team.markers, team.errors) == ({"default": 1, "named": 1}, [])
    assert chores.calls["take"] == 2


async def test_when_the_holder_of_the_default_session_is_killed_another_goes_on_with_it(team: Workers) -> None:
    await team.host("act", Chores())
    await team.worker("w1")
    team.say("remember roses", mark="a")
    await team.until(lambda: team.markers["a"] == 1)
    second = await team.worker("w2")
    assert team.holder() == "w1"
    await team.kill("w1")
    team.say("say hello", mark="b")
    await team.until(lambda: team.markers["b"] == 1)
    assert second.turns.store.owned
    [context] = second.turns.store.current.intent_context.values()
    assert context.value == "roses"
    assert team.of(topics.UTTERANCE_HANDLED)[-1].session is not None
    assert team.markers == {"a": 1, "b": 1}


async def test_a_holder_that_comes_back_finds_its_lease_taken_and_ends_nothing_twice(team: Workers) -> None:
    chores = Chores()
    await team.host("act", chores)
    first = await team.worker("w1")
    team.say("take your time", mark="it")
    await team.until(lambda: chores.calls["take"] == 1)
    second = await team.worker("w2")
    team.links["w1"].hang()
    await team.until(lambda: second.turns.store.owned and second.turns.taken == 1)  # type: ignore[attr-defined]
    chores.go_on.set()
    await team.until(lambda: team.markers["it"] == 1)
    team.links["w1"].flow()
    await team.until(lambda: not first.turns.store.owned)
    team.say("remember lilies", mark="next")
    await team.until(lambda: team.markers["next"] == 1)
    await team.until(lambda: len(first.turns.store.current.intent_context) == 1)
    assert (team.markers, team.errors, chores.calls["take"]) == ({"it": 1, "next": 1}, [], 1)


async def test_a_worker_that_loses_the_broker_and_finds_it_again_goes_on(team: Workers) -> None:
    chores = Chores()
    await team.host("act", chores)
    await team.worker("w1")
    team.say("take your time", NAMED, mark="it")
    await team.until(lambda: chores.calls["take"] == 1)
    team.links["w1"].cut()
    await team.until(lambda: not team.carriers["w1"].connected)
    chores.go_on.set()  # its answer reaches nobody
    await team.until(lambda: "at last" in team.spoken)
    await team.links["w1"].restore()
    await team.until(lambda: team.markers["it"] == 1)
    assert (team.errors, chores.calls["take"]) == ([], 1)


async def test_a_handler_whose_host_is_killed_ends_with_an_error_once_its_skill_is_hosted_again(team: Workers) -> None:
    chores = Chores()
    await team.host("act", chores)
    await team.worker("w1")
    team.say("take your time", NAMED, mark="it")
    await team.until(lambda: bool(team.of(topics.HANDLER_ACCEPTED)))
    await team.kill("act")
    await team.host("act again", Chores())
    await team.until(lambda: team.markers["it"] == 1)
    assert team.errors == ["handler host lost: it was started again"]
    chores.go_on.set()


async def test_a_handler_whose_host_is_gone_for_good_ends_with_an_error(team: Workers) -> None:
    chores = Chores()
    await team.host("act", chores)
    await team.worker("w1")
    team.say("take your time", NAMED, mark="it")
    await team.until(lambda: bool(team.of(topics.HANDLER_ACCEPTED)))
    await team.kill("act")
    await team.until(lambda: team.markers["it"] == 1)
    assert team.errors == ["handler host lost: no answer for 3 s"]
    chores.go_on.set()


async def test_a_call_waits_for_a_host_that_is_being_started_again(team: Workers) -> None:
    await team.host("act", Chores())
    await team.worker("w1")
    await team.kill("act")
    team.say("say hello", NAMED, mark="it")
    await team.until(lambda: bool(team.of(topics.HANDLER_CALL)))
    again = Chores()
    await team.host("act again", again)
    await team.until(lambda: team.markers["it"] == 1)
    assert (team.errors, team.spoken, again.calls["say"]) == ([], ["hello"], 1)


async def test_a_handler_that_no_host_accepts_is_given_up_and_cannot_be_started_later(team: Workers) -> None:
    await team.host("act", Chores())
    await team.worker("w1")
    await team.kill("act")
    team.say("say hello", NAMED, mark="it")
    await team.until(lambda: team.markers["it"] == 1)
    assert team.errors == ["no handler accepted the dispatch within 5 s"]
    [call] = team.of("chores.skill:say")
    assert await team.streams.start(call.utterance_id or "", call, "a host that wakes late") == "over"


async def test_the_log_has_one_marker_and_one_start_of_each_turn(team: Workers) -> None:
    key, call = "0" * 32, Message("chores.skill:say", {}, {"utterance_id": "0" * 32})
    assert await team.streams.start(key, call, "one") == "start"
    assert await team.streams.start(key, call, "other") == "started"
    assert await team.streams.close_calls(key) == "one"
    marker = b'{"type":"ovos.utterance.handled","context":{"mark":"it"}}'
    assert await team.streams.end(key, [marker])
    assert not await team.streams.end(key, [marker])
    assert await team.streams.start(key, call, "late") == "over"
    await team.until(lambda: bool(team.markers))
    assert team.markers == {"it": 1}


async def test_a_question_is_answered_although_its_worker_died_five_minutes_after_it_was_asked(
    nats_server: NatsServer, nats_options: NatsOptions
) -> None:
    clock = FakeClock()
    chores = Chores()
    async with workers(nats_server, nats_options.prefix, clock) as team:
        await team.host("act", chores)
        await team.worker("w1")
        team.say("ask me", mark="asking")
        await team.until(lambda: team.spoken == ["Which one?"])
        await clock.advance(300.0)
        assert not team.markers
        await team.kill("w1")
        second = await team.worker("w2")
        await team.until(lambda: second.turns.store.owned and second.turns.taken == 1)  # type: ignore[attr-defined]
        team.say("the red one", mark="answer")
        await team.until(lambda: len(team.markers) == 2)
        assert (team.markers, team.errors) == ({"asking": 1, "answer": 1}, [])
        assert team.spoken == ["Which one?", "so the red one"]
        assert chores.calls["question"] == 1


async def test_a_turn_within_a_turn_ends_although_the_worker_of_both_is_killed(team: Workers) -> None:
    chores = Chores()
    await team.host("act", chores)
    await team.worker("w1")
    team.say("begin another", NAMED, mark="outer")
    await team.until(lambda: chores.calls["take"] == 1)
    await team.kill("w1")
    second = await team.worker("w2")
    await team.until(lambda: second.turns.taken == 2)  # type: ignore[attr-defined]
    chores.go_on.set()
    await team.until(lambda: len(team.of(topics.UTTERANCE_HANDLED)) == 2)
    assert sorted(message.session_id for message in team.of(topics.UTTERANCE_HANDLED)) == ["inner", "kitchen"]
    assert (team.errors, chores.calls["nested"], chores.calls["take"]) == ([], 1, 1)


async def test_a_worker_whose_event_loop_stalls_keeps_its_turns(team: Workers) -> None:
    chores = Chores()
    await team.host("act", chores)
    await team.worker("w1")
    team.say("take your time", mark="default")
    team.say("take your time", NAMED, mark="named")
    await team.until(lambda: chores.calls["take"] == 2)
    time.sleep(3.0)  # noqa: ASYNC251 - this is what is looked at
    chores.go_on.set()
    team.say("say hello", mark="after")
    await team.until(lambda: len(team.markers) == 3)
    assert (team.markers, team.errors) == ({"default": 1, "named": 1, "after": 1}, [])
    assert chores.calls == {"take": 2, "say": 1}
    assert team.houses["w1"].turns.store.owned


async def test_a_worker_that_hangs_shares_its_turns_with_another_and_each_ends_once(team: Workers) -> None:
    chores = Chores()
    await team.host("act", chores)
    await team.worker("w1")
    team.say("take your time", NAMED, mark="it")
    await team.until(lambda: chores.calls["take"] == 1)
    second = await team.worker("w2")
    team.links["w1"].hang()
    await team.until(lambda: second.turns.taken == 1)  # type: ignore[attr-defined]
    team.links["w1"].flow()
    chores.go_on.set()
    await team.until(lambda: team.markers["it"] == 1)
    team.say("say hello", NAMED, mark="after")
    await team.until(lambda: team.markers["after"] == 1)
    assert (team.markers, team.errors, chores.calls["take"]) == ({"it": 1, "after": 1}, [], 1)


async def test_turns_outlive_a_broker_that_is_killed(own_nats_server: NatsServer) -> None:
    chores = Chores()
    async with workers(own_nats_server, "hark.") as team:
        await team.host("act", chores)
        for name in ("w1", "w2"):
            await team.worker(name)
        team.say("remember roses", mark="before")
        await team.until(lambda: team.markers["before"] == 1)
        team.say("take your time", mark="default")
        team.say("take your time", NAMED, mark="named")
        await team.until(lambda: chores.calls["take"] == 2)
        await team.kill_broker()
        team.say("say hello", NAMED, mark="meanwhile")
        chores.go_on.set()
        await team.start_broker()
        await team.until(lambda: len(team.markers) == 4)
        assert set(team.markers.values()) == {1}
        assert team.errors == []
        assert chores.calls == {"note": 1, "take": 2, "say": 1}
        store = team.houses[team.holder()].turns.store
        assert [entry.value for entry in store.current.intent_context.values()] == ["roses"]


class Shouting(PipelinePlugin):
    """A matcher with a handler of its own, which every worker has."""

    id = "shouting"
    runs: list[str]

    def __init__(self, runs: list[str]) -> None:
        super().__init__()
        self.runs = runs

    def match(self, utterances: Sequence[str], lang: str, _session: Session) -> Match | None:
        if not utterances[0].startswith("shout "):
            return None
        return self.claim("shout", lang=lang, utterance=utterances[0], slots={})

    @handles("shout")
    async def shout(self, turn: Turn) -> str:
        self.runs.append(turn.utterance)
        return (await turn.ask("How loud?") or "").upper()


async def test_a_handler_that_every_worker_has_runs_in_one_of_them_and_gets_its_answer(team: Workers) -> None:
    runs: list[str] = []
    team.before = ["shouting"]
    for name in ("w1", "w2"):
        await team.worker(name, Shouting(runs))
    for number in range(10):
        session = Session(f"s{number}")
        team.say(f"shout {number}", session, mark=f"ask {number}")
        await team.until(lambda number=number: team.spoken.count("How loud?") == number + 1)  # type: ignore[misc]
        asked = team.of(topics.UTTERANCE_SPEAK)[-1].session
        team.say("very", asked, mark=f"answer {number}")
        await team.until(lambda number=number: team.markers[f"ask {number}"] == 1)  # type: ignore[misc]
    assert sorted(runs) == [f"shout {number}" for number in range(10)]
    assert team.spoken.count("VERY") == 10
    assert (set(team.markers.values()), team.errors) == ({1}, [])


async def test_what_is_asked_of_all_workers_is_answered_by_one(team: Workers) -> None:
    await team.host("act", Chores())
    for name in ("w1", "w2"):
        await team.worker(name)
    for topic in (topics.INTENT_LIST, topics.CONVERSE_ACTIVE_LIST, topics.SKILLS_LIST):
        team.bus.emit(Message(topic))
    team.say("say hello", mark="after")
    await team.until(lambda: team.markers["after"] == 1)
    for topic in (topics.INTENT_LIST, topics.CONVERSE_ACTIVE_LIST, topics.SKILLS_LIST):
        assert len(team.of(topics.response_topic(topic))) == 1


async def test_utterances_that_come_while_the_last_worker_leaves_wait_for_the_next(team: Workers) -> None:
    await team.host("act", Chores())
    await team.worker("w1")
    await team.stop("w1")
    team.say("say hello", mark="default")
    team.say("say hello", NAMED, mark="named")
    await team.worker("w2")
    await team.until(lambda: len(team.markers) == 2)
    assert (team.markers, team.spoken) == ({"default": 1, "named": 1}, ["hello", "hello"])


@pytest.mark.parametrize("seed", [1, 2])
async def test_whatever_fails_each_utterance_ends_once(team: Workers, seed: int) -> None:
    chance = random.Random(seed)
    chores = Chores()
    chores.go_on.set()
    await team.host("act", chores)
    for name in ("w1", "w2", "w3"):
        await team.worker(name)
    said = 0
    for _ in range(12):
        link = team.links[chance.choice(("w1", "w2", "w3", "act"))]
        fail, end = chance.choice(((link.cut, link.restore), (link.hang, link.flow)))
        fail()
        for _ in range(10):
            text = chance.choice(("say hello", "take your time", "remember roses", "nonsense"))
            session = chance.choice((None, Session(f"s{said}")))
            team.say(text, session, mark=f"{said}")
            said += 1
            await asyncio.sleep(chance.uniform(0.0, 0.1))
        ended = end()
        if ended is not None:
            await ended
    await team.until(lambda: len(team.markers) == said, within=20.0)
    assert set(team.markers.values()) == {1}
    ids = [message.utterance_id for message in team.of(topics.UTTERANCE_HANDLED)]
    assert len(ids) == len(set(ids))


async def test_what_other_programs_put_into_the_queue_is_dropped(
    team: Workers, nats_options: NatsOptions, caplog: pytest.LogCaptureFixture
) -> None:
    await team.host("act", Chores())
    queue = nats_options.prefix.removesuffix(".").replace(".", "-") + "-turns.named"
    team.carriers["onlooker"].connection.publish(queue, b"without a key")
    team.streams.publish(b"no Message")
    await team.worker("w1")
    team.say("say hello", NAMED, mark="it")
    await team.until(lambda: team.markers["it"] == 1)
    assert "an utterance without a key was dropped" in caplog.text
    assert "an utterance that is no Message was dropped" in caplog.text
    assert team.houses["w1"].orchestrator.open_turns == 0


async def test_an_utterance_whose_marker_is_stored_is_not_taken_again(team: Workers) -> None:
    chores = Chores()
    await team.host("act", chores)
    said = Message(topics.UTTERANCE_HANDLE, {"utterances": ["say hello"]}, {"mark": "it"}, NAMED)
    key = team.streams.publish(encode(said))
    marker = said.carrying(utterance_id=key).reply(topics.UTTERANCE_HANDLED)
    assert await team.streams.end(key, [encode(marker)])
    taken: list[Delivery] = []
    queue = team.streams.work_queue("named", taken.append)
    queue.open()  # a worker that died after it had stored the marker
    await team.until(lambda: len(taken) == 1)
    queue.close()
    team.streams.hand_over(taken[0])
    worker = await team.worker("w1")
    await team.until(lambda: worker.turns.taken == 1)  # type: ignore[attr-defined]
    team.say("say goodbye", NAMED, mark="next")
    await team.until(lambda: team.markers["next"] == 1)
    assert (team.markers["it"], chores.calls["say"]) == (1, 1)


@pytest.fixture(scope="module")
def small_nats_server() -> Iterator[NatsServer]:
    """A server that takes 64 KB at once."""
    with NatsServer(max_payload=65_536) as server:
        yield server


async def test_an_ending_that_is_larger_than_an_entry_may_be_is_still_one_ending(small_nats_server: NatsServer) -> None:
    async with workers(small_nats_server, "larger.") as team:
        await team.host("act", Chores())
        await team.worker("w1")
        team.say("say hello", Session("large", note="x" * 40_000), mark="it")
        await team.until(lambda: team.markers["it"] == 1)
        assert len(team.of(topics.HANDLER_COMPLETE)) == 1


async def test_a_session_that_fills_an_entry_alone_is_left_out_of_the_marker(
    small_nats_server: NatsServer, caplog: pytest.LogCaptureFixture
) -> None:
    async with workers(small_nats_server, "fills.") as team:
        await team.host("act", Chores())
        await team.worker("w1")
        team.say("say hello", Session("large", note="x" * 65_200), mark="it")
        await team.until(lambda: team.markers["it"] == 1)
        assert "the end marker is too large for the broker; its session is left out" in caplog.text
        assert team.of(topics.UTTERANCE_HANDLED)[0].session is None
