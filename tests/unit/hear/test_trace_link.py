"""What was heard is part of the story of the turn."""

from __future__ import annotations

from flow.listening import Listening, command, ears_of, ended
from flow.stage import transformer
from hark.bus import LocalBus
from hark.plugins import Turn
from hark.skills import Skill, intent
from hark.spec import topics
from hark.testing import Assistant
from hark.testing.voice.input import Scene
from hark.trace import render


class Egg(Skill):
    id = "egg.skill"

    @intent("boil an egg")
    def boil(self, turn: Turn) -> str:
        return "Four minutes."


async def test_the_trace_of_a_turn_begins_with_what_was_heard(bus_type: type[LocalBus]) -> None:
    louder = transformer("audio", "louder", lambda audio, ctx: ctx.set("louder.by", 2) or audio)
    async with Assistant(Egg(), louder, bus=bus_type) as assistant, ears_of(assistant) as ears:
        await ears.hears(command("boil an egg"))
        await ended(assistant, 1)
        assert assistant.topics()[-1] == topics.UTTERANCE_HANDLED
        [spoken] = assistant.of(topics.UTTERANCE_SPEAK)
        assert spoken.data["utterance"] == "Four minutes."
        trace = assistant.trace()
        assert [(step.stage, step.who, step.outcome) for step in trace.steps][:3] == [
            ("record", "hey_jarvis", "spoken"),
            ("audio", "louder", "changed"),
            ("stt", "fake-stt", "heard"),
        ]
        assert trace.outcome == "complete"
        assert all(step.at <= 0 for step in trace.steps[:3])
        why = assistant.why()
        assert "ended by silence" in why
        assert "s of sound, 16000 Hz" in why
        assert len(assistant.runtime.traces) == 1


async def test_an_unmatched_turn_has_its_recording_in_the_trace_too(bus_type: type[LocalBus]) -> None:
    async with Assistant(bus=bus_type) as assistant, ears_of(assistant) as ears:
        await ears.hears(command("what is the meaning of this"))
        await ended(assistant, 1)
        assert assistant.trace().outcome == "unmatched"
        assert [step.stage for step in assistant.trace().steps][:2] == ["record", "stt"]


async def test_a_command_that_came_to_nothing_has_a_story_of_its_own(bus: LocalBus) -> None:
    async with Listening(bus) as stage:
        await stage.hears(Scene().says("hey jarvis").silence(6))
        [trace] = stage.traces
        assert trace.outcome == "not understood"
        told = render(trace.record())
        assert "no speech" in told
        assert "ended by no speech" in told


async def test_a_turn_of_another_process_leaves_its_part_here(bus: LocalBus) -> None:
    async with Listening(bus) as stage:
        await stage.hears(command())
        [handle] = stage.of(topics.UTTERANCE_HANDLE)
        context = {"hark_capture": handle.context["hark_capture"], "utterance_id": "far-away-1"}
        for _ in range(2):
            await stage.told(topics.UTTERANCE_HANDLED, None, **context)
        trace = stage.traces.of("far-away-1")
        assert trace is not None
        assert [step.stage for step in trace.steps] == ["record", "stt"]


async def test_traces_of_commands_without_a_turn_are_dropped(bus: LocalBus) -> None:
    async with Listening(bus) as stage:
        for _ in range(70):
            await stage.hears(Scene().says("hey jarvis").silence(0.2).says("go").silence(0.8))
        assert len(stage.said()) == 70
        for number, handle in enumerate(stage.of(topics.UTTERANCE_HANDLE)):
            capture_id = handle.context["hark_capture"]
            await stage.told(topics.UTTERANCE_HANDLED, None, hark_capture=capture_id, utterance_id=str(number))
        assert stage.traces.of("0") is None
        assert stage.traces.of("69") is not None


async def test_messages_that_say_nothing_of_a_command_are_left_alone(bus: LocalBus) -> None:
    async with Listening(bus) as stage:
        await stage.told(topics.UTTERANCE_HANDLED, None, utterance_id="a")
        await stage.told(topics.UTTERANCE_HANDLED, None, utterance_id="a", hark_capture=7)
        await stage.told(topics.UTTERANCE_HANDLED, None, utterance_id="a", hark_capture="unknown")
        assert len(stage.traces) == 0
