"""Programs on a bus that names no connections: their Messages stand for them, an unanswered ping for their end."""

from __future__ import annotations

from typing import Any

import pytest

from hark.builtin import TemplateMatcher
from hark.bus import LocalBus
from hark.model import Message
from hark.spec import topics
from hark.testing import Assistant, settle

SKILL = "tea.example"


class StockBus(LocalBus):
    """A bus whose server is not Hark's own."""

    @property
    def is_foreign(self) -> bool:
        return True


class Program:
    """A skill that answers pings as long as it lives."""

    def __init__(self, hark: Assistant) -> None:
        self.hark = hark
        self.lives = True
        self.dispatches: list[Message] = []
        hark.bus.on(f"{SKILL}:brew", self.dispatches.append)
        hark.bus.on(topics.STOP_PING, self._pong)
        names = {"skill_id": SKILL, "intent_name": "brew", "lang": "en-US"}
        hark.bus.emit(Message(topics.REGISTER_TEMPLATE, {**names, "samples": ["make tea"]}))

    def _pong(self, ping: Message) -> None:
        if self.lives:
            self.hark.bus.emit(ping.reply(topics.STOP_PONG, {"skill_id": SKILL, "can_handle": True}))

    def send(self, topic: str, **data: Any) -> None:
        self.hark.bus.emit(self.dispatches[-1].forward(topic, data))


def assistant() -> Assistant:
    settings = {"assistant": {"pipeline": ["template"]}}
    return Assistant(bus=StockBus, matchers=(TemplateMatcher,), settings=settings)


async def test_a_program_that_answers_pings_may_think_for_long() -> None:
    async with assistant() as hark:
        program = Program(hark)
        hark.say("make tea")
        await hark.clock.advance(60.0)
        assert hark.of(topics.UTTERANCE_HANDLED) == []
        assert len(hark.of(topics.STOP_PING)) > 5
        program.send(topics.UTTERANCE_SPEAK, utterance="Tea.", lang="en-US")
        await hark.clock.advance(11.0)
        assert [len(hark.of(topic)) for topic in (topics.HANDLER_COMPLETE, topics.UTTERANCE_HANDLED)] == [1, 1]


async def test_a_program_that_answers_no_ping_is_gone_until_it_shows_itself() -> None:
    async with assistant() as hark:
        program = Program(hark)
        program.lives = False
        hark.say("make tea")
        await hark.clock.advance(14.0)
        [error] = hark.of(topics.HANDLER_ERROR)
        assert error.data["exception"] == f"the program of {SKILL} lost its connection"
        await hark.hears("make tea")
        assert len(hark.of(topics.INTENT_UNMATCHED)) == 1, "its intents do not match"
        program.lives = True
        hark.bus.emit(Message("tea.is.ready", {}, {"skill_id": SKILL}))
        hark.say("make tea")
        await settle()
        assert len(program.dispatches) == 2
        program.send("mycroft.skill.handler.complete")
        await settle()
        assert len(hark.of(topics.UTTERANCE_HANDLED)) == 3


@pytest.mark.parametrize(("how", "ends"), [("complete", topics.HANDLER_COMPLETE), ("error", topics.HANDLER_ERROR)])
async def test_a_program_that_says_so_ends_its_turn_at_once(how: str, ends: str) -> None:
    async with assistant() as hark:
        program = Program(hark)
        hark.say("make tea")
        await settle()
        program.send("mycroft.skill.handler.start")
        await settle()
        await hark.clock.advance(30.0)
        assert hark.of(topics.UTTERANCE_HANDLED) == []
        program.send(f"mycroft.skill.handler.{how}")
        await settle()
        assert [len(hark.of(topic)) for topic in (ends, topics.UTTERANCE_HANDLED)] == [1, 1]
