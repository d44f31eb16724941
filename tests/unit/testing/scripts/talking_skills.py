"""Skills to talk to, for scripts that are tests of scripts."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime

from hark.builtin.converse import Converse
from hark.builtin.stop import Stop
from hark.plugins import Turn
from hark.skills import Skill, intent
from hark.testing import play

CONVERSING = {"assistant": {"pipeline": ["stop", "converse", "template"]}}


class Pizza(Skill):
    """Asks back."""

    id = "pizza.skill"

    @intent("order a pizza")
    async def order(self, turn: Turn) -> str:
        size = await turn.ask_choice(["small", "large"], "Which size?", retries=0)
        return f"A {size} pizza is on its way." if size is not None else "Then not."


class Kettle(Skill):
    """Takes its time, in every way there is."""

    id = "kettle.skill"

    @intent("put the kettle on")
    async def boil(self, turn: Turn) -> None:
        await turn.speak("The kettle is on.")
        await self.host.clock.sleep(180)
        await turn.speak("The water boils.")

    @intent("wake me in a minute")
    async def wake(self, turn: Turn) -> None:
        turn.task(self._wake(), "waking")

    async def _wake(self) -> None:
        await self.host.clock.sleep(60)
        self.host.speak("Wake up!")

    @intent("what does the kettle show")
    def show(self, turn: Turn) -> str:
        return f"{datetime.fromtimestamp(self.host.clock.wall(), UTC):%H:%M}"

    @intent("think on a thread")
    def think(self, turn: Turn) -> str:
        time.sleep(0.02)
        return "I have thought."

    @intent("read the wire")
    async def read(self, turn: Turn) -> str:
        await asyncio.sleep(0.1)  # real time, as a network takes it
        return "I have read."


class Drawer(Skill):
    """Remembers: on disk, in the session, or in itself."""

    id = "drawer.skill"

    def __init__(self) -> None:
        self.count = 0

    @intent("lay {item} into the drawer")
    def put(self, turn: Turn) -> str:
        self.count += 1
        file = self.host.data_dir / "drawer.txt"
        file.write_text(turn.slots["item"])
        turn.remember("item", turn.slots["item"])
        return f"{turn.slots['item'].title()} is in the drawer."

    @intent("what lies in the drawer")
    def tell(self, turn: Turn) -> str:
        file = self.host.data_dir / "drawer.txt"
        return f"There is {file.read_text()}, {self.count} since I began." if file.exists() else "Nothing."

    @intent("what was it", requires=("item",))
    def recall(self, turn: Turn) -> str:
        return f"It was {turn.session.intent_context['drawer.skill:item'].value}."

    @intent("ring")
    def ring(self, turn: Turn) -> None:
        turn.emit("drawer.bell", {"loud": True, "times": 2, "rooms": ["hall", "kitchen"], "pitch": 1.5})

    @intent("fall over")
    def fall(self, turn: Turn) -> None:
        raise LookupError("no floor")

    @intent("talk a lot")
    async def talk(self, turn: Turn) -> None:
        for word in ("one", "two", "three"):
            await turn.speak(word)


async def converse(script: str) -> None:
    """Play a script on all of them."""
    head = "language: en-US\n"
    await play(f"{head}{script}", Pizza, Kettle, Drawer, Converse, Stop, settings=CONVERSING)


async def differs(script: str) -> str:
    """What is told when a script is played that does not hold."""
    try:
        await converse(script)
    except AssertionError as error:
        return str(error)
    raise AssertionError("the script holds")
