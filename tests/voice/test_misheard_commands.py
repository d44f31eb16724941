"""Registered commands are understood where they would be misheard: in a whole assistant, with real engines."""

from __future__ import annotations

from hark.plugins import Turn
from hark.skills import Skill, intent
from hark.testing.voice.assistant import VoiceAssistant
from voice_engines import Real, voice_settings

COMMAND = "put sports talk on in the basement"


class Radio(Skill):
    id = "radio.skill"

    @intent("put (sports talk|the news) on in the (basement|attic)")
    def play(self, turn: Turn) -> str:
        return "There you are."


async def heard_in_a_house(real: Real, *skills: Skill) -> list[str]:
    engines = real.engines(("vad", "silero"), ("stt", "faster-whisper"))
    async with VoiceAssistant(*skills, engines=engines, settings=voice_settings()) as house:
        await house.hears(real.says(COMMAND, "nanotts"))
        return list(house.following.heard)


async def test_a_command_is_understood_because_a_skill_registered_it(real: Real) -> None:
    [with_it] = await heard_in_a_house(real, Radio())
    assert with_it.lower().rstrip(".") == COMMAND
    # The next house shares the model, and knows nothing of the skills of the one before.
    [without_it] = await heard_in_a_house(real)
    assert without_it.lower().rstrip(".") != COMMAND
