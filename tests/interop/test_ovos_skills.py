"""Skills and tools of OVOS as they are, of both lines: on Hark's bus, and on a stock ovos-messagebus with Hark in the
place of ovos-core.

The skills of a line share one process, because of what its launcher loads. One skill of each line is started by the
launcher alone, and killed.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib.metadata import distributions
from pathlib import Path
from time import monotonic
from typing import Any, Final

import msgspec
import pytest

from flow.hark_process import eventually
from interop.conftest import Assistant, Peer, peers
from interop.test_programs import Bus, piped

HOST: Final = Path(__file__).parent / "programs" / "skill_host.py"
GROUPS: Final = ("ovos.plugin.skill", "opm.skill")
OWN: Final = [
    f"{name}.skill" for name in ("chance", "clock", "dates", "jokes", "parrot", "smalltalk", "spelling", "timers")
]
LOADED: Final = ("mycroft.skills.loaded", "ovos.skill.loaded")
REGISTRATIONS: Final = ("ovos.intent.register.", "ovos.entity.register", "padatious:register_", "register_")
HANDLED: Final = "ovos.utterance.handled"
SPEAK: Final = "ovos.utterance.speak"
LEGACY_SPEAK: Final = "speak"
RINGING: Final = (
    *("ovos.audio.play_sound", "ovos.audio.queue", "ovos.common_play.play", SPEAK),
    *("mycroft.audio.play_sound", "mycroft.audio.queue", LEGACY_SPEAK),
)
OWN_BUS: Final = "Hark's bus"
STOCK: Final = "stock bus"
HANDLER_ERROR: Final = "ovos.intent.handler.error"


def skills_of(peer: Peer) -> list[str]:
    """The skills that are installed in the environment of a peer."""
    [packages] = peer.folder.glob("lib/python3.*/site-packages")
    found = {
        point.name for one in distributions(path=[str(packages)]) for point in one.entry_points if point.group in GROUPS
    }
    return sorted(found)


class Row(msgspec.Struct, frozen=True):
    """What is said and what has to be heard. A step that begins with `>` is said, any other is a pattern of speech."""

    name: str
    skill: str
    """Part of the id of the skill that has to answer; none for any."""
    steps: tuple[str, ...]
    seconds: float = 20.0
    acceptance: str = ""
    """The row of the acceptance list that it belongs to."""

    def __str__(self) -> str:
        return self.name


DAY: Final = r"(?i).*(\d|(mon|tues|wednes|thurs|fri|satur|sun)day).*"
TIME: Final = r"(?i).*(\d|o'clock|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|noon|midnight).*"
ROWS: Final = (
    Row("hello world, wait=True", "hello-world", (">hello world", "(?i)hello world"), 1.0, acceptance="A3"),
    Row("how are you", "hello-world", (">how are you", r".+"), acceptance="A4"),
    Row("the time", "date-time", (">what time is it", TIME), acceptance="A5"),
    Row("the day", "date-time", (">what day is it", DAY), acceptance="A5"),
    Row(
        "converse",
        "parrot",
        (">start parrot", ".+", ">i am a teapot", "(?i)i am a teapot", ">stop parrot", ".+"),
        acceptance="A6",
    ),
    Row("get_response", "alerts", (">set an alarm", ".+", ">tomorrow at 7 am", r"(?i).*seven.*"), acceptance="A8"),
    Row("fallback", "fallback-unknown", (">blah bleh", ".+"), acceptance="A9"),
    Row("a keyword that is a regular expression", "spelling", (">spell hello", "(?i)h; e; l; l; o"), acceptance="A10"),
    Row("who made you", "personal", (">who made you", "(?i).*(openvoiceos|open voice).*"), acceptance="A11"),
    Row("flip a coin", "randomness", (">flip a coin", ".+"), acceptance="A11"),
    Row("a quote", "confucius", (">tell me a confucius quote", ".+"), acceptance="A11"),
)

FURTHER: Final = (
    Row("dad joke", "icanhazdadjokes", (">tell me a dad joke", ".+")),
    Row("fuster", "fuster-quotes", (">give me a fuster quote", ".+")),
    Row("history", "days-in-history", (">today in history", ".+")),
    Row("color", "color-picker", (">what color has a hex code of ff0000", ".*Red.*")),
    Row("quiz", "geography-practice", (">quiz me on capitals", "what is the capital of .+", ">stop")),
    Row("general question", "common_query", (">who was ada lovelace", ".*Lovelace.*")),
    # The fallback of that skill claims everything, and finds then that it has no answer.
    Row("fallback without an answer", "remarks", (">blah bleh", ".+")),
    Row("sleep", "naptime", (">go to sleep", ".+")),
)
"""Of packages that are in no list."""
WITHOUT_INTENTS: Final = ("fallback", "wiki-offline")
"""Parts of the ids of skills that only answer what nothing else understood, or general questions."""
READY: Final = "ovos-skill-boot-finished.openvoiceos"


class Installation:
    """An assistant with the skills of one line, and a client on its bus."""

    def __init__(self, world: Assistant, peer: Peer, bus: Bus) -> None:
        self.world = world
        self.peer = peer
        self.bus = bus
        self.skills: dict[str, subprocess.Popen[bytes]] = {}

    def launch(self, *skills: str) -> None:
        """Start a skill with the launcher of its own line, or several in one process."""
        command = [str(self.peer.folder / "bin" / "ovos-skill-launcher"), *skills]
        if len(skills) > 1:
            command = [str(self.peer.python), str(HOST), *skills]
        with (self.world.home / f"{skills[0]}.log").open("wb") as log:
            process = subprocess.Popen(command, env=self.environment, stdout=log, stderr=log)
        self.skills.update(dict.fromkeys(skills, process))

    @property
    def environment(self) -> dict[str, str]:
        home = self.world.home
        kept = {name: value for name, value in self.world.environment.items() if not name.startswith("PYTHON")}
        return {**kept, "XDG_DATA_HOME": str(home / "data"), "XDG_CACHE_HOME": str(home / "cache")}

    def wait_for(self, skills: Iterable[str]) -> None:
        """Wait until the skills are loaded, and what they registered is known."""
        missing = set(skills)
        while missing:
            loaded = self.bus.until(lambda one: one["type"] in LOADED, 240.0)
            missing -= {loaded["data"].get("skill_id"), loaded["data"].get("id")}
        missing = {one for one in skills if not any(part in one for part in WITHOUT_INTENTS)}
        deadline = monotonic() + 60.0
        while missing:
            assert monotonic() < deadline, f"these registered nothing: {missing}"
            self.settle(0.2)
            self.bus.emit("ovos.intent.list", {})
            listed = json.dumps(self.bus.topic("ovos.intent.list.response")["data"])
            missing = {one for one in missing if one not in listed}
        while any(one["type"].startswith(REGISTRATIONS) for one in self.settle(1.0)):
            pass  # a skill may say that it is loaded before it has registered everything

    def settle(self, seconds: float) -> list[dict[str, Any]]:
        """What comes in the next seconds."""
        before = len(self.bus.messages)
        with suppress(AssertionError):
            self.bus.until(lambda _: False, seconds)
        return self.bus.messages[before:]

    def run(self, row: Row) -> float:
        """Go through the steps; the seconds they took. One end marker for each utterance, no word twice."""
        self.settle(0.1)
        began, first, said, asked = monotonic(), len(self.bus.messages), 0, False
        seen = first
        for step in row.steps:
            if step.startswith(">"):
                if not asked:
                    self._ended(first, said, row.seconds)
                said += 1
                self.bus.say(step[1:], {"session_id": "default"})
                continue
            heard = self.next_spoken(seen, row.seconds + 10.0)
            assert re.fullmatch(step, heard["data"]["utterance"]), heard["data"]
            assert row.skill in heard["context"].get("skill_id", ""), heard["context"]
            seen = self.bus.messages.index(heard) + 1
            asked = True in (heard["data"].get("listen"), heard["data"].get("expect_response"))
        self._ended(first, said, row.seconds)
        took = monotonic() - began
        self.settle(0.6)
        messages = self.bus.messages[first:]
        assert sum(one["type"] == HANDLED for one in messages) == said, "one end marker for each utterance"
        assert [one["data"] for one in messages if one["type"] == HANDLER_ERROR] == []
        for topic in (SPEAK, LEGACY_SPEAK):
            words = [_words(one) for one in messages if one["type"] == topic]
            assert len(words) == len(set(words)), f"spoken twice: {words}"
        return took

    def spoken(self, first: int) -> list[dict[str, Any]]:
        """What was spoken after a Message, without the copies under the older name."""
        later = self.bus.messages[first:]
        known = {_words(one) for one in self.bus.messages if one["type"] == SPEAK}
        return [
            one for one in later if one["type"] == SPEAK or (one["type"] == LEGACY_SPEAK and _words(one) not in known)
        ]

    def next_spoken(self, first: int, seconds: float = 60.0) -> dict[str, Any]:
        """The first speech after a Message."""
        while not self.spoken(first):  # a copy of what was said before may come first
            self.bus.until(lambda one: one["type"] in (SPEAK, LEGACY_SPEAK), seconds)
        return self.spoken(first)[0]

    def _ended(self, first: int, count: int, seconds: float) -> None:
        """Wait until this many turns have ended."""

        def ended(_message: object = None) -> bool:
            return sum(one["type"] == HANDLED for one in self.bus.messages[first:]) >= count

        if not ended():
            self.bus.until(ended, seconds + 10.0)


def _words(speech: dict[str, Any]) -> tuple[str | None, str]:
    return speech["context"].get("utterance_id"), speech["data"]["utterance"]


@contextmanager
def stock_bus(world: Assistant) -> Iterator[None]:
    """A stock ovos-messagebus at the address of the assistant."""
    [peer] = peers("bus")
    kept = {name: value for name, value in world.environment.items() if not name.startswith("PYTHON")}
    with (world.home / "bus.log").open("wb") as log:
        process = subprocess.Popen([peer.folder / "bin" / "ovos-messagebus"], env=kept, stdout=log, stderr=log)
    try:
        eventually(lambda: world.hark("bus", "pipe", "--bus", world.url).returncode == 0)
        yield
    finally:
        process.kill()
        process.wait()


@contextmanager
def installed(home: Path, peer: Peer, place: str, *skills: str) -> Iterator[Installation]:
    """An assistant with these skills of a line, all loaded, and without its own that know the same sentences."""
    world = Assistant(home)
    world.write_settings(f"[deny]\nskills = {json.dumps(OWN)}\n")
    config = world.home / "config" / "mycroft" / "mycroft.conf"
    config.parent.mkdir(parents=True)
    websocket = {"host": "127.0.0.1", "port": world.port, "route": "/core", "ssl": False}
    config.write_text(json.dumps({"websocket": websocket, "lang": "en-US"}))
    with ExitStack() as stack:
        services: list[str] = []
        if place == STOCK:
            stack.enter_context(stock_bus(world))
            services = [word for name in ("understand", "act", "schedule", "speak") for word in ("--service", name)]
            services += ["--bus", world.url]
        hark = stack.enter_context(world.running("run", "-v", *services))
        eventually((world.state / "control.sock").exists)
        eventually(lambda: world.hark("bus", "pipe", "--bus", world.url).returncode == 0)
        made = Installation(world, peer, Bus(stack.enter_context(piped(world, world.url))))
        try:
            made.launch(*skills)
            made.wait_for(skills)
            yield made
        finally:
            for skill in made.skills.values():
                skill.kill()
                skill.wait()
        hark.signal(signal.SIGTERM)
        status, _ = hark.end()
        (world.home / "hark.log").write_text(hark.errors)
        assert status == 0


@pytest.fixture(scope="module", params=[OWN_BUS, STOCK])
def installation(
    request: pytest.FixtureRequest, peer: Peer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Installation]:
    with installed(tmp_path_factory.mktemp(peer.name), peer, request.param, *skills_of(peer)) as made:
        yield made


@pytest.mark.peers("skills", scope="module")
@pytest.mark.parametrize(
    "row", [pytest.param(row, id=row.name, marks=pytest.mark.acceptance(row.acceptance)) for row in ROWS]
)
def test_a_skill_answers(installation: Installation, row: Row) -> None:
    # A machine that is busy with other things may be late once.
    assert any(installation.run(row) < row.seconds for _ in range(3))
    installation.run(Row("afterwards", "", (">what is two plus three", ".*5.*")))


@pytest.mark.peers("skills", scope="module")
@pytest.mark.acceptance("A7")
def test_stop_silences_a_skill_that_is_busy(installation: Installation) -> None:
    bus, first = installation.bus, len(installation.bus.messages)
    bus.say("count to 20", {"session_id": "default"})
    while len(installation.spoken(first)) < 3:
        bus.until(lambda one: one["type"] in (SPEAK, LEGACY_SPEAK))
    bus.say("stop", {"session_id": "default"})
    said = monotonic()
    while sum(one["type"] == HANDLED for one in bus.messages[first:]) < 2:
        bus.topic(HANDLED, 5.0)
    assert monotonic() - said < 2.0
    installation.settle(max(0.0, said + 1.0 - monotonic()))
    before = len(bus.messages)
    installation.settle(3.0)
    assert [one["data"] for one in installation.spoken(before)] == []
    assert sum(one["type"] == HANDLED for one in bus.messages[first:]) == 2


@pytest.mark.peers("skills", scope="module")
def test_a_timer_rings(installation: Installation) -> None:
    installation.run(Row("a timer", "alerts", (">set a timer for 5 seconds", "(?i).*five seconds.*")))
    installation.bus.until(lambda one: one["type"] in RINGING, 15.0)
    installation.bus.say("stop", {"session_id": "default"})
    installation.bus.topic(HANDLED)


@pytest.mark.peers("skills", scope="module")
@pytest.mark.acceptance("A2")
def test_say_to_is_one_turn(installation: Installation) -> None:
    first = len(installation.bus.messages)
    tool = installation.peer.folder / "bin" / "ovos-say-to"
    subprocess.run([tool, "what time is it"], env=installation.environment, check=True, capture_output=True, timeout=60)
    installation.bus.topic(HANDLED)
    later = installation.settle(2.0)
    messages = installation.bus.messages[first:]
    assert sum(one["type"] == HANDLED for one in messages) == 1, later
    assert len(installation.spoken(first)) == 1


@pytest.mark.peers("further-skills")
@pytest.mark.parametrize("place", [OWN_BUS, STOCK])
def test_further_skills_answer_and_one_announces_once_that_all_is_ready(peer: Peer, place: str, tmp_path: Path) -> None:
    skills = skills_of(peer)
    with installed(tmp_path, peer, place, *(one for one in skills if one != READY)) as made:
        for row in FURTHER:
            made.run(row)
        if place == STOCK:
            return  # such a bus returns `mycroft.ready` to the launcher of that skill, which loads it again each time
        first = len(made.bus.messages)
        made.launch(READY)
        assert made.next_spoken(first)["context"]["skill_id"] == READY
        made.settle(5.0)
        assert [one["data"]["utterance"] for one in made.spoken(first)] == ["I am ready!"]


@pytest.mark.peers("skills")
@pytest.mark.parametrize("place", [OWN_BUS, STOCK])
@pytest.mark.acceptance("A22")
def test_a_skill_that_is_killed_is_not_called(peer: Peer, place: str, tmp_path: Path) -> None:
    skill_id = "ovos-skill-hello-world.openvoiceos"
    with installed(tmp_path, peer, place, skill_id) as made:
        made.run(Row("before", "hello-world", (">hello world", "(?i)hello world")))
        os.kill(made.skills[skill_id].pid, signal.SIGKILL)
        # On a stock bus only a ping that is not answered shows it.
        for limit in (2.0 if place == OWN_BUS else 20.0, 2.0):
            first, began = len(made.bus.messages), monotonic()
            made.bus.say("hello world", {"session_id": "default"})
            made.bus.topic(HANDLED)
            assert monotonic() - began < limit
            assert "hello world" not in [one["data"]["utterance"].casefold() for one in made.spoken(first)]
