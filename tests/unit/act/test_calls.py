"""Calls by other processes: each handler is started once, however often it is called."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from hark.act.calls import Calls
from hark.bus import LocalBus
from hark.model import Message
from hark.spec import topics

Found = Literal["start", "started", "over"]


class Notes:
    """A log in which the first note of a turn counts."""

    found: Found = "start"

    def __init__(self) -> None:
        self.noted: list[tuple[str, str]] = []

    async def start(self, key: str, _dispatch: Message, host: str) -> Found:
        self.noted.append((key, host))
        return self.found

    def is_key(self, utterance_id: str | None) -> bool:
        return utterance_id is not None and utterance_id.startswith("k")


class Host:
    def __init__(self, *, sole: bool = True) -> None:
        self.bus, self.notes = LocalBus(), Notes()
        self.sent: list[Message] = []
        self.bus.tap(self.sent.append)
        self.calls = Calls(self.bus, "h1", self.notes, lambda skill_id: sole and skill_id == "a.skill", None)

    def told(self) -> list[tuple[str, Any]]:
        private = (topics.HANDLER_ACCEPTED, topics.HANDLER_DONE, topics.HOST_STATUS_RESPONSE)
        return [(message.type, dict(message.data)) for message in self.sent if message.type in private]

    def ask(self, *calls: object) -> None:
        self.bus.emit(Message(topics.HOST_STATUS, {"calls": list(calls)}))


def call(key: str = "k1") -> Message:
    return Message("a.skill:go", {}, {"utterance_id": key})


ACCEPTED = (topics.HANDLER_ACCEPTED, {"topic": "a.skill:go", "host": "h1"})


async def test_a_call_that_comes_again_is_answered_and_not_made() -> None:
    host = Host()
    assert await host.calls.begin(call(), is_repeated=False)
    assert not await host.calls.begin(call(), is_repeated=True)
    assert host.told() == [ACCEPTED]
    host.calls.ended(call(), call().forward(topics.HANDLER_DONE, {"topic": "a.skill:go"}))
    assert not await host.calls.begin(call(), is_repeated=True)
    assert host.told() == [ACCEPTED, ACCEPTED, (topics.HANDLER_DONE, {"topic": "a.skill:go"})]
    assert host.notes.noted == [("k1", "h1")]


async def test_what_its_former_life_has_started_ends_with_an_error() -> None:
    host = Host()
    host.notes.found = "started"
    assert not await host.calls.begin(call(), is_repeated=True)
    [(topic, data)] = host.told()
    assert topic == topics.HANDLER_DONE
    assert data["exception"] == "the handler may have run in a process that is gone"


async def test_what_another_process_with_the_same_plugin_has_started_is_left_to_it() -> None:
    host = Host(sole=False)
    host.notes.found = "started"
    assert not await host.calls.begin(call(), is_repeated=True)
    assert host.told() == []


async def test_a_handler_of_a_turn_that_has_ended_is_not_started() -> None:
    host = Host()
    host.notes.found = "over"
    assert not await host.calls.begin(call(), is_repeated=True)
    assert host.told() == []


async def test_a_call_that_no_worker_has_made_is_not_noted() -> None:
    host = Host()
    assert await host.calls.begin(call("no key"), is_repeated=False)
    assert await host.calls.begin(call("no key"), is_repeated=False)
    assert host.notes.noted == []


async def test_a_host_says_what_runs_and_what_it_does_not_know() -> None:
    host = Host()
    await host.calls.begin(call("k1"), is_repeated=False)
    await host.calls.begin(call("k2"), is_repeated=False)
    done = call("k2").forward(topics.HANDLER_DONE, {"topic": "a.skill:go"})
    host.calls.ended(call("k2"), done)
    host.ask(*([key, "a.skill:go", "h1"] for key in ("k1", "k2", "k3")))
    answer = (topics.HOST_STATUS_RESPONSE, {"host": "h1", "running": ("k1",), "unknown": ("k3",)})
    assert host.told() == [(topics.HANDLER_DONE, {"topic": "a.skill:go"}), answer]


@pytest.mark.parametrize(("sole", "answers"), [(True, 1), (False, 0)])
async def test_for_a_host_that_is_gone_the_next_host_of_its_skill_answers(sole: bool, answers: int) -> None:
    host = Host(sole=sole)
    host.ask(["k1", "a.skill:go", "the last one"], ["k2", "b.skill:go", "another"])
    told = [data["unknown"] for _, data in host.told()]
    assert told == [("k1",)] * answers


@pytest.mark.parametrize("calls", [7, ["k1"], [["k1", "a.skill:go"]], [["k1", 7, "h1"]]])
async def test_a_question_that_makes_no_sense_has_no_answer(calls: Any) -> None:
    host = Host()
    host.bus.emit(Message(topics.HOST_STATUS, {"calls": calls}))
    assert host.told() == []


async def test_the_last_thousand_outcomes_are_remembered() -> None:
    host = Host()
    for number in range(1_001):
        await host.calls.begin(call(f"k{number}"), is_repeated=False)
        host.calls.ended(call(f"k{number}"), call(f"k{number}").forward(topics.HANDLER_DONE))
    host.sent.clear()
    host.ask(["k0", "a.skill:go", "h1"], ["k1", "a.skill:go", "h1"])
    assert host.told()[0][0] == topics.HANDLER_DONE
    assert host.told()[1][1]["unknown"] == ("k0",)
