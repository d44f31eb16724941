"""An assistant in several processes: it talks as one does, and survives the death of any of them."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from flow.hark_process import PATIENCE, Running, World, eventually, free_url
from flow.hark_process import processes as children
from hark.app.bus_address import BusAddress
from hark.app.settings.bus_tables import BusTable
from hark.bus import RemoteBus
from hark.model import Message, Session, SystemClock
from hark.spec import DEFAULT_SESSION_ID, topics

ROOMS = ("bus", "hear", "understand", "act", "speak")

STALLING = """
import time
from hark.skills import Skill, intent

class Stalling(Skill):
    id = "stalling.skill"

    @intent("hang the house")
    async def hang(self, turn):
        time.sleep(60)
"""

WAITING = """
import asyncio
from hark.skills import Skill, intent

class Waiting(Skill):
    id = "waiting.skill"

    @intent("take your time")
    async def wait(self, turn):
        await asyncio.Event().wait()
"""
KEEPING = """
from hark.skills import Skill, intent

class Keeping(Skill):
    id = "keeping.skill"

    @intent("remember {word}")
    def keep(self, turn):
        turn.remember("word", turn.slots["word"])
        return "yes"

    @intent("tell me", requires=("word",))
    def tell(self, turn):
        return "it is " + turn.session.intent_context["keeping.skill:word"].value

    @intent("who was called")
    def called(self, turn):
        return ", ".join(entry.skill_id for entry in turn.session.active_handlers)
"""


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def url() -> Iterator[str]:
    """An address nobody has; at the end, no process is left that was given it."""
    address = free_url()
    yield address
    eventually(lambda: not children(address))


def restarted(url: str, room: str, before: int) -> None:
    eventually(lambda: children(url).get(room, before) != before)


def test_lines_on_standard_input_are_answered_and_then_all_is_over(world: World, url: str) -> None:
    done = world.hark("run", "--split", "--bus", url, said="say hello world\nwhat nobody understands\n")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "hello world"
    assert len(done.stdout.splitlines()) == 2
    assert done.stderr == ""
    told = world.hark("why")
    assert '"what nobody understands"' in told.stdout


def test_say_why_and_doctor_talk_to_all_rooms_as_to_one(world: World, url: str) -> None:
    with world.running("run", "--split", "--bus", url) as running:
        assert running.say("say hello") == "hello"
        said = world.hark("say", "say", "good", "morning", "--why")
        assert (said.returncode, said.stdout.splitlines()[0]) == (0, "good morning")
        stages = [line.split()[2] for line in said.stdout.splitlines()[2:-1]]
        # Speech may be heard before its handler is through: they are in processes of their own.
        assert (stages[-3], set(stages[-2:])) == ("intent", {"handler", "speak"})
        told = world.hark("why").stdout
        assert '"say good morning"' in told
        assert "rendered" in told
        looked = world.hark("doctor")
        assert looked.returncode == 0, looked.stdout
        assert all(
            f"{room} room: process {pid} on " in looked.stdout for room, pid in children(url).items() if room != "bus"
        )
        taken = world.hark("run", "--room", "act", "--bus", url, "--state", str(world.home / "other"))
        assert taken.returncode == 2
        assert f"the room act is taken on this bus by process {children(url)['act']}" in taken.stderr
        status, errors = running.end()
    assert (status, errors) == (0, "")
    # What is on disk is told in one piece as well, when nobody runs any more.
    assert "rendered" in world.hark("why").stdout


def test_whichever_process_is_killed_it_comes_back_by_itself(world: World, url: str) -> None:
    with world.running("run", "--split", "--bus", url) as running:
        assert running.say("say first") == "first"
        # It was heard; that it is over as well may be on its way, and would be lost with the bus.
        eventually(lambda: "\nAnswered." in world.hark("why").stdout)
        for room in ROOMS:
            pid = children(url)[room]
            os.kill(pid, signal.SIGKILL)
            restarted(url, room, pid)
            said = eventually(lambda: _answered(world, f"say {room} is back"))  # noqa: B023
            assert said == f"{room} is back"
        assert running.say("say last") == "last"
        status, errors = running.end()
    assert status == 0
    for room in ROOMS:
        assert f"{room} was ended by SIGKILL; it is started again in 0.1 s" in errors


def _answered(world: World, text: str) -> str | None:
    done = world.hark("say", text)
    return done.stdout.strip() if done.returncode == 0 else None


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_one_signal_ends_all_of_them(world: World, url: str, number: signal.Signals) -> None:
    with world.running("run", "--split", "--stay", "--bus", url) as running:
        assert running.say("say hello") == "hello"
        assert set(children(url)) == set(ROOMS)
        running.signal(number)
        status, errors = running.end(hang_up=False)
    assert (status, errors) == (0, "")
    assert not (world.state / "control.sock").exists()


def test_when_the_supervisor_is_killed_nobody_is_left(world: World, url: str) -> None:
    with world.running("run", "--split", "--bus", url) as running:
        assert running.say("say hello") == "hello"
        running.signal(signal.SIGKILL)
        eventually(lambda: not children(url))


def test_a_process_that_stands_still_is_started_again_and_the_culprit_named(world: World, url: str) -> None:
    world.install("stalling", STALLING, "skill: Stalling")
    world.write_settings("[rooms]\nstalled = 2.0\n")
    with world.running("run", "--split", "--bus", url) as running:
        assert running.say("say hello") == "hello"
        pid = children(url)["act"]
        assert "handler host lost" in running.say("hang the house")
        restarted(url, "act", pid)
        assert eventually(lambda: _answered(world, "say again")) == "again"
        running.end()
        errors = running.errors
    assert "act: ERROR hark.watchdog: the event loop has stood still" in errors
    assert "stalling.skill:hang" in errors
    assert "ERROR hark.split: act has stood still for" in errors


def test_a_room_that_cannot_be_started_ends_the_whole_with_its_reason(world: World, url: str) -> None:
    host = url.removeprefix("ws://").removesuffix("/core").split(":")
    with socket.socket() as taken:
        taken.bind((host[0], int(host[1])))
        taken.listen()
        done = world.hark("run", "--split", "--bus", url)
    assert done.returncode == 2
    assert "bus: hark: " in done.stderr
    assert "bus cannot be started; see above" in done.stderr


async def test_what_was_remembered_by_the_marker_is_there_when_understand_was_killed_with_it(
    world: World, url: str
) -> None:
    """Three times: something is remembered, `understand` is killed in the moment of the marker, and asked when back."""
    world.install("probe", KEEPING, "skill: Keeping")
    with world.running("run", "--split", "--stay", "--bus", url) as running:
        await asyncio.to_thread(running.say, "say hello")
        bus = await BusAddress(BusTable(url=url)).connect(SystemClock())
        killed = asyncio.Event()
        doomed = 0

        def handled(message: Message) -> None:
            if message.session_id == DEFAULT_SESSION_ID and doomed:
                os.kill(doomed, signal.SIGKILL)
                killed.set()

        bus.on(topics.UTTERANCE_HANDLED, handled)
        await bus.settled()
        for word in ("apples", "pears", "plums"):
            killed.clear()
            doomed = children(url)["understand"]
            assert await asyncio.to_thread(running.say, f"remember {word}") == "yes"
            async with asyncio.timeout(PATIENCE):
                await killed.wait()
            doomed = 0
            # Only what is remembered makes this an intent at all.
            assert await asyncio.to_thread(running.say, "tell me") == f"it is {word}"
            assert await asyncio.to_thread(running.say, "who was called") == "keeping.skill, parrot.skill"
        await bus.close()
        await asyncio.to_thread(_end, running)


class Markers:
    """Counts the end markers of visitors' utterances, and says more of them."""

    def __init__(self, bus: RemoteBus, wanted: int) -> None:
        self._bus = bus
        self._wanted = wanted
        self._all = asyncio.Event()
        self.ended: Counter[str] = Counter()
        bus.on(topics.UTTERANCE_HANDLED, self._handled)

    def say(self, text: str, visitors: range) -> None:
        for number in visitors:
            session = Session(f"visitor-{number}")
            self._bus.emit(Message(topics.UTTERANCE_HANDLE, {"utterances": [text]}, {}, session))

    async def are_all_there_once(self) -> None:
        with suppress(TimeoutError):  # what is missing then says more than that it took too long
            async with asyncio.timeout(PATIENCE):
                await self._all.wait()
        await self._bus.settled()
        assert self.ended == {f"visitor-{number}": 1 for number in range(self._wanted)}

    def _handled(self, message: Message) -> None:
        if message.session_id.startswith("visitor-"):
            self.ended[message.session_id] += 1
            if len(self.ended) == self._wanted:
                self._all.set()


async def test_each_utterance_ends_once_although_understand_is_killed_in_the_middle(world: World, url: str) -> None:
    """Forty turns are open, forty utterances on their way to it, and forty are said while nobody is there."""
    world.install("waiting", WAITING, "skill: Waiting")
    with world.running("run", "--split", "--stay", "--bus", url) as running:
        await asyncio.to_thread(running.say, "say hello")
        bus = await BusAddress(BusTable(url=url)).connect(SystemClock())
        markers, errors = Markers(bus, 120), Counter[str]()
        bus.on(topics.HANDLER_ERROR, lambda message: errors.update([message.session_id]))
        pid = children(url)["understand"]
        markers.say("take your time", range(40))
        notes = world.state / "turns.log"
        await asyncio.to_thread(eventually, lambda: notes.read_bytes().count(b"+{") >= 2 * 40)  # opened and dispatched
        os.kill(pid, signal.SIGSTOP)
        markers.say("say hello", range(40, 80))
        await bus.carrier.flush()
        os.kill(pid, signal.SIGKILL)
        markers.say("say hello", range(80, 120))
        await markers.are_all_there_once()
        assert errors == {f"visitor-{number}": 1 for number in range(40)}
        await bus.close()
        await asyncio.to_thread(_end, running)


@pytest.mark.parametrize("room", ["act", "bus"])
async def test_each_utterance_ends_once_although_one_that_notes_nothing_is_killed_in_the_middle(
    world: World, url: str, room: str
) -> None:
    """Seventy at once, a kill, and seventy more while nobody is there."""
    with world.running("run", "--split", "--stay", "--bus", url) as running:
        await asyncio.to_thread(running.say, "say hello")
        bus = await BusAddress(BusTable(url=url)).connect(SystemClock())
        markers = Markers(bus, 140)
        await bus.settled()
        markers.say("say hello", range(70))
        await bus.carrier.flush()
        os.kill(children(url)[room], signal.SIGKILL)
        markers.say("say hello", range(70, 140))
        await markers.are_all_there_once()
        await bus.close()
        await asyncio.to_thread(_end, running)


def _end(running: Running) -> None:
    running.signal(signal.SIGTERM)
    running.end(hang_up=False)
