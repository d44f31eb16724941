"""Skills and tools of OVOS as they are, of both lines, on Hark's bus.

The skills of the stable line have a process each; those of the pre-release line share one, because of what its launcher
loads. One skill of each line is started by the launcher alone, and killed.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib.metadata import distributions
from pathlib import Path
from time import monotonic
from typing import Any, Final

import msgspec
import pytest

from flow.hark_process import eventually
from interop.conftest import Assistant, Peer
from interop.test_programs import Bus, piped

HOST: Final = Path(__file__).parent / "programs" / "skill_host.py"
GROUPS: Final = ("ovos.plugin.skill", "opm.skill")
OWN: Final = [f"{name}.skill" for name in ("chance", "clock", "dates", "parrot", "smalltalk", "spelling", "timers")]
LOADED: Final = ("mycroft.skills.loaded", "ovos.skill.loaded")
HANDLED: Final = "ovos.utterance.handled"
SPEAK: Final = "ovos.utterance.speak"
RINGING: Final = ("ovos.audio.play_sound", "ovos.audio.queue", "ovos.common_play.play", SPEAK)
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

    def __str__(self) -> str:
        return self.name


DAY: Final = r"(?i).*(\d|(mon|tues|wednes|thurs|fri|satur|sun)day).*"
TIME: Final = r"(?i).*(\d|o'clock|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve).*"
ROWS: Final = (
    Row("hello world, wait=True", "hello-world", (">hello world", "(?i)hello world"), 1.0),
    Row("how are you", "hello-world", (">how are you", r".+")),
    Row("the time", "date-time", (">what time is it", TIME)),
    Row("the day", "date-time", (">what day is it", DAY)),
    Row("converse", "parrot", (">start parrot", ".+", ">i am a teapot", "(?i)i am a teapot", ">stop parrot", ".+")),
    Row("get_response", "alerts", (">set an alarm", ".+", ">tomorrow at 7 am", r"(?i).*seven.*")),
    Row("fallback", "fallback-unknown", (">blah bleh", ".+")),
    Row("a keyword that is a regular expression", "spelling", (">spell hello", "(?i)h; e; l; l; o")),
    Row("who made you", "personal", (">who made you", "(?i).*(openvoiceos|open voice).*")),
    Row("flip a coin", "randomness", (">flip a coin", ".+")),
    Row("a quote", "confucius", (">tell me a confucius quote", ".+")),
)


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
            heard = self._spoken_after(seen, row.seconds + 10.0)
            assert re.fullmatch(step, heard["data"]["utterance"]), heard["data"]
            assert row.skill in heard["context"].get("skill_id", ""), heard["context"]
            seen, asked = self.bus.messages.index(heard) + 1, heard["data"].get("listen") is True
        self._ended(first, said, row.seconds)
        took = monotonic() - began
        self.settle(0.6)
        messages = self.bus.messages[first:]
        assert sum(one["type"] == HANDLED for one in messages) == said, "one end marker for each utterance"
        assert [one["data"] for one in messages if one["type"] == HANDLER_ERROR] == []
        words = [
            (one["context"].get("utterance_id"), one["data"]["utterance"]) for one in messages if one["type"] == SPEAK
        ]
        assert len(words) == len(set(words)), f"spoken twice: {words}"
        return took

    def _ended(self, first: int, count: int, seconds: float) -> None:
        """Wait until this many turns have ended."""

        def ended(_message: object = None) -> bool:
            return sum(one["type"] == HANDLED for one in self.bus.messages[first:]) >= count

        if not ended():
            self.bus.until(ended, seconds + 10.0)

    def _spoken_after(self, seen: int, seconds: float) -> dict[str, Any]:
        for one in self.bus.messages[seen:]:
            if one["type"] == SPEAK:
                return one
        return self.bus.topic(SPEAK, seconds)


@contextmanager
def installed(home: Path, peer: Peer, *skills: str) -> Iterator[Installation]:
    """An assistant with these skills of a line, all loaded, and without its own that know the same sentences."""
    world = Assistant(home)
    world.write_settings(f"[deny]\nskills = {json.dumps(OWN)}\n")
    config = world.home / "config" / "mycroft" / "mycroft.conf"
    config.parent.mkdir(parents=True)
    websocket = {"host": "127.0.0.1", "port": world.port, "route": "/core", "ssl": False}
    config.write_text(json.dumps({"websocket": websocket, "lang": "en-US"}))
    with ExitStack() as stack:
        hark = stack.enter_context(world.running("run", "-v"))
        eventually((world.state / "control.sock").exists)
        eventually(lambda: world.hark("bus", "pipe", "--bus", world.url).returncode == 0)
        made = Installation(world, peer, Bus(stack.enter_context(piped(world, world.url))))
        try:
            for together in [skills] if "prerelease" in peer.name else [(one,) for one in skills]:
                made.launch(*together)
            missing = set(skills)
            while missing:
                loaded = made.bus.until(lambda one: one["type"] in LOADED, 240.0)
                missing -= {loaded["data"].get("skill_id"), loaded["data"].get("id")}
            made.settle(1.5)  # what is registered in pieces is put together
            yield made
        finally:
            for skill in made.skills.values():
                skill.kill()
                skill.wait()
        hark.signal(signal.SIGTERM)
        status, _ = hark.end()
        (world.home / "hark.log").write_text(hark.errors)
        assert status == 0


@pytest.fixture(scope="module")
def installation(peer: Peer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    with installed(tmp_path_factory.mktemp(peer.name), peer, *skills_of(peer)) as made:
        yield made


@pytest.mark.peers("skills", scope="module")
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_a_skill_answers(installation: Installation, row: Row) -> None:
    took = installation.run(row)
    assert took < row.seconds
    installation.run(Row("afterwards", "", (">what is two plus three", ".*5.*")))


@pytest.mark.peers("skills", scope="module")
def test_stop_silences_a_skill_that_is_busy(installation: Installation) -> None:
    bus, first = installation.bus, len(installation.bus.messages)
    bus.say("count to 20", {"session_id": "default"})
    for _ in range(3):
        bus.topic(SPEAK)
    bus.say("stop", {"session_id": "default"})
    said = monotonic()
    while sum(one["type"] == HANDLED for one in bus.messages[first:]) < 2:
        bus.topic(HANDLED, 5.0)
    assert monotonic() - said < 2.0
    installation.settle(max(0.0, said + 1.0 - monotonic()))
    later = installation.settle(3.0)
    assert [one["data"] for one in later if one["type"] == SPEAK] == []
    assert sum(one["type"] == HANDLED for one in bus.messages[first:]) == 2


@pytest.mark.peers("skills", scope="module")
def test_a_timer_rings(installation: Installation) -> None:
    installation.run(Row("a timer", "alerts", (">set a timer for 5 seconds", "(?i).*five seconds.*")))
    installation.bus.until(lambda one: "scheduler" in one.get("context", {}), 15.0)
    rung = installation.settle(4.0)
    assert [one for one in rung if one["type"] in RINGING]
    installation.bus.say("stop", {"session_id": "default"})
    installation.bus.topic(HANDLED)


@pytest.mark.peers("skills", scope="module")
def test_say_to_is_one_turn(installation: Installation) -> None:
    first = len(installation.bus.messages)
    tool = installation.peer.folder / "bin" / "ovos-say-to"
    subprocess.run([tool, "what time is it"], env=installation.environment, check=True, capture_output=True, timeout=60)
    installation.bus.topic(HANDLED)
    later = installation.settle(2.0)
    messages = installation.bus.messages[first:]
    assert sum(one["type"] == HANDLED for one in messages) == 1, later
    assert sum(one["type"] == SPEAK for one in messages) == 1


@pytest.mark.peers("skills")
def test_a_skill_that_is_killed_is_not_called(peer: Peer, tmp_path: Path) -> None:
    skill_id = "ovos-skill-hello-world.openvoiceos"
    with installed(tmp_path, peer, skill_id) as made:
        made.run(Row("before", "hello-world", (">hello world", "(?i)hello world")))
        os.kill(made.skills[skill_id].pid, signal.SIGKILL)
        for _ in range(2):
            first, began = len(made.bus.messages), monotonic()
            made.bus.say("hello world", {"session_id": "default"})
            made.bus.topic(HANDLED)
            assert monotonic() - began < 2.0
            assert "hello world" not in [
                one["data"]["utterance"].casefold() for one in made.bus.messages[first:] if one["type"] == SPEAK
            ]
