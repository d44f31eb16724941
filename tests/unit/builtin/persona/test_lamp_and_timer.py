"""A model that has two skills do something, one of them the timers that come with Hark."""

from __future__ import annotations

from hark.builtin.skills.timers import TimersSkill
from hark.model import Session
from hark.plugins import Turn
from hark.skills import Skill, intent
from hark.spec import topics
from hark.testing.model_server import ModelReply
from persona_talk import talking


class DeskLamp(Skill):
    id = "lamp.skill"

    def __init__(self) -> None:
        self.is_on = False

    @intent("turn on [the] desk lamp")
    def switch_on(self, turn: Turn) -> str:
        """Switch the lamp on the desk on."""
        self.is_on = True
        return "The desk lamp is on."


async def test_turn_on_the_desk_lamp_and_set_a_timer_for_it() -> None:
    lamp = DeskLamp()
    async with talking(lamp, TimersSkill()) as (assistant, model):
        calls = [("lamp-switch_on", {}), ("timers-set_timer", {"duration": "ten minutes", "name": "desk lamp"})]
        answer = ["The desk lamp is on, and I will tell you ", "in ten minutes."]
        model.replies(ModelReply(tools=calls), ModelReply(answer))
        # The skills would take it, each its half, and ask how long: here everything goes to the model.
        client = Session("desk").replace(pipeline=("stop", "converse", "persona_fallback"))
        said = await assistant.hears("turn on the desk lamp and set a timer for it", session=client)
        assert said == ["The desk lamp is on, and I will tell you in ten minutes."]
        assert lamp.is_on
        told = [one["content"] for one in model.requests[1]["messages"] if one["role"] == "tool"]
        assert told[0] == "The desk lamp is on."
        assert "10 minutes" in told[1]
        assert len(assistant.of(topics.UTTERANCE_HANDLED)) == 3

        (left,) = await assistant.hears("what timers do i have", session=client.replace(pipeline=("template",)))
        assert left == "You have the desk lamp timer with 10 minutes left."
        assert len(model.requests) == 2, "the skill answers, not the model"
