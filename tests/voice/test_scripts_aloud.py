"""Conversation scripts, spoken and heard."""

import pytest

from hark.plugins import Turn
from hark.skills import Skill, intent
from hark.testing import play
from hark.testing.scripts.voice import VoiceSetup
from voice_engines import voice_settings


class Pizza(Skill):
    """Asks something, and talks for long."""

    id = "pizza.skill"

    @intent("order a pizza")
    async def order(self, turn: Turn) -> None:
        size = await turn.ask_choice(["small", "large"], "Would you like a small or a large one?", retries=0)
        await turn.speak("Another time, then." if size is None else f"A {size} pizza is on its way.")

    @intent("tell me about pizza")
    async def tell(self, turn: Turn) -> None:
        await turn.speak("Pizza is a flat bread with tomatoes and cheese. People in Naples have baked it for ages.")
        await turn.speak("It is eaten all over the world.")


COMMAND = """
language: en-US
timezone: Europe/Lisbon
now: 2026-03-05 17:30
user: what time is it
hark: it is 5:30 PM
[20 minutes later]
user: what time is it
hark: it is 5:50 PM
hark says nothing
"""

FOLLOW_UP = """
language: en-US
user: order a pizza
hark asks: would you like a small or a large one?
user: a large one please
hark: a large pizza is on its way
happens: pizza.skill:response
"""

NOBODY_ANSWERS = """
language: en-US
user: order a pizza
hark asks: would you like a small or a large one?
[1 minute later]
hark: another time, then
"""

BARGE_IN = """
language: en-US
timezone: UTC
now: 2026-03-05 08:00
user: tell me about pizza
hark: pizza is a flat bread *
user interrupts: what time is it
hark: it is 8:00 AM
hark says nothing
"""

STOPPED = """
language: en-US
user: tell me about pizza
hark: pizza is a flat bread *
user interrupts: stop
hark says nothing
never: all over the world
"""

TIMER = """
language: en-US
timezone: UTC
now: 2026-03-05 08:00
user: set a timer for five minutes
hark: timer set for 5 minutes
[2 minutes later]
user: how much time is left
hark: * left
[3 minutes later]
hark: time is up: the timer for 5 minutes
user: stop
hark says nothing
[10 minutes later]
hark says nothing
"""

SCRIPTS = {
    "command": COMMAND,
    "follow-up": FOLLOW_UP,
    "nobody answers": NOBODY_ANSWERS,
    "barge-in": BARGE_IN,
    "stop": STOPPED,
    "timer": TIMER,
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
async def test_a_script_holds_aloud(script: str, ensemble: VoiceSetup) -> None:
    await play(script, Pizza, settings=voice_settings(), aloud=ensemble)


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
async def test_the_same_script_holds_as_text(script: str) -> None:
    await play(script, Pizza)


async def test_it_holds_with_the_voice_that_answers_by_default() -> None:
    """Which gives its sentences in pieces; the user then has the other one. What is loaded for it is let go."""
    await play(COMMAND, settings=voice_settings(tts="hibari"), aloud=True)
