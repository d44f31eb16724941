"""Asking several candidates at once which of them wants something (ruling R8)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from bus_fixtures import of_session

from hark.bus import LocalBus, Poll
from hark.model import Message
from hark.testing import FakeClock, settle


class Polling:
    """A poll on `test.ping`, and the pings that were emitted."""

    def __init__(self, bus: LocalBus) -> None:
        self.bus = bus
        self.clock = FakeClock()
        self.poll = Poll(bus, self.clock)
        self.pings: list[Message] = []
        bus.on("test.ping", self.pings.append)

    def start(self, *candidates: str, entry: Message | None = None, **options: Any) -> asyncio.Task[dict[str, Message]]:
        """Begin a round with a window of two seconds."""
        entry = entry or of_session("x")
        run = self.poll.run(entry, "test.ping", "test.pong", candidates, 2.0, **options)
        return asyncio.ensure_future(run)

    def pong(self, skill_id: Any, to: int = -1, **data: Any) -> None:
        """Let a candidate answer a ping."""
        self.bus.emit(self.pings[to].forward("test.pong", {"skill_id": skill_id, **data}))


@pytest.fixture
def polling(bus: LocalBus) -> Polling:
    return Polling(bus)


async def test_a_round_is_over_when_all_have_answered(polling: Polling) -> None:
    round_ = polling.start("a", "b", data={"utterances": ["hello"]})
    await settle()
    [ping] = polling.pings
    assert (ping.data, ping.session_id, ping.utterance_id) == ({"utterances": ("hello",)}, "x", "u1")
    polling.pong("b", can_handle=True)
    await settle()
    assert not round_.done()
    polling.pong("a", can_handle=False)
    answers = await asyncio.wait_for(round_, 5)
    assert list(answers) == ["a", "b"], "in the candidates' order"
    assert answers["b"].data["can_handle"] is True


async def test_a_round_is_over_when_its_window_closes(polling: Polling) -> None:
    round_ = polling.start("a", "b")
    await settle()
    polling.pong("b")
    await polling.clock.advance(1.9)
    assert not round_.done()
    await polling.clock.advance(0.2)
    assert list(await round_) == ["b"]


async def test_a_round_is_over_when_enough_is_known(polling: Polling) -> None:
    def enough(answers: Any) -> bool:
        return any(answer.data["can_handle"] for answer in answers.values())

    round_ = polling.start("a", "b", "c", enough=enough)
    await settle()
    polling.pong("b", can_handle=False)
    await settle()
    assert not round_.done()
    polling.pong("c", can_handle=True)
    assert list(await asyncio.wait_for(round_, 5)) == ["b", "c"]


async def test_without_candidates_nothing_is_emitted(polling: Polling) -> None:
    assert await polling.start() == {}
    assert polling.pings == []


@pytest.mark.parametrize(
    "stray",
    [
        lambda ping: ping.forward("test.pong", {"skill_id": "stranger"}),
        lambda ping: ping.forward("test.pong", {"skill_id": ["a"]}),
        lambda ping: ping.forward("test.pong", {"skill_id": {"a": 1}}),
        lambda ping: ping.forward("test.pong", {}),
        lambda ping: ping.forward("test.pong", {"skill_id": "a"}).carrying(utterance_id="stale"),
        lambda ping: ping.forward("test.pong", {"skill_id": "a"}).carrying(utterance_id=None),
        lambda ping: ping.forward("test.pong", {"skill_id": "a"}).carrying(None),
    ],
)
async def test_answers_of_others_do_not_count(polling: Polling, stray: Callable[[Message], Message]) -> None:
    round_ = polling.start("a")
    await settle()
    polling.bus.emit(stray(polling.pings[0]))
    await polling.clock.advance(2.1)
    assert await round_ == {}


async def test_only_the_first_answer_of_a_candidate_counts(polling: Polling) -> None:
    round_ = polling.start("a", "b")
    await settle()
    polling.pong("a", n=1)
    polling.pong("a", n=2)
    polling.pong("b", n=3)
    assert {name: answer.data["n"] for name, answer in (await round_).items()} == {"a": 1, "b": 3}


async def test_rounds_of_different_turns_run_side_by_side(polling: Polling) -> None:
    entries = [of_session("x", "u1"), of_session("x", "u2"), of_session("y", "u1")]
    rounds = [polling.start("a", entry=entry) for entry in entries]
    await settle()
    for to in (2, 0, 1):
        polling.pong("a", to, n=to)
    assert [(await one)["a"].data["n"] for one in rounds] == [0, 1, 2]


async def test_two_rounds_of_one_turn_on_one_topic_would_be_mixed_up_and_are_refused(polling: Polling) -> None:
    first = polling.start("a")
    await settle()
    with pytest.raises(RuntimeError, match="under way"):
        await polling.start("b")
    polling.pong("a")
    assert list(await first) == ["a"]
    again = polling.start("a")
    await settle()
    polling.pong("a")
    assert list(await again) == ["a"], "one after the other is fine"


async def test_an_answer_after_the_window_is_dropped(polling: Polling) -> None:
    round_ = polling.start("a")
    await polling.clock.advance(2.1)
    assert await round_ == {}
    polling.pong("a")
    await settle()


async def test_a_cancelled_round_leaves_nothing_behind(polling: Polling) -> None:
    round_ = polling.start("a")
    await settle()
    round_.cancel()
    await settle()
    again = polling.start("a")
    await settle()
    polling.pong("a")
    assert list(await again) == ["a"]


async def test_closing_ends_rounds_with_what_they_have(polling: Polling) -> None:
    round_ = polling.start("a", "b")
    await settle()
    polling.pong("a")
    await settle()
    polling.poll.close()
    assert list(await round_) == ["a"]
