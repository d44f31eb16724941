"""What an assistant remembers over its own death."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest
from hark_process import Running, World, eventually

PROBE = """
from hark.skills import Skill, intent

class Memory(Skill):
    id = "memory.skill"

    @intent("remember {word}")
    def keep(self, turn):
        turn.remember("word", turn.slots["word"])
        return "yes"

    @intent("what was it")
    def recall(self, turn):
        entry = turn.session.intent_context.get("memory.skill:word")
        return f"it was {entry.value}" if entry else "I do not know"

    @intent("think about it")
    async def think(self, turn):
        turn.remember("word", "unfinished")
        await turn.speak("hm")
        await self.host.clock.sleep(3600)
"""


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    made.install("probe", PROBE, "skill: Memory")
    return made


def saved(world: World) -> dict[str, Any]:
    """The default session as it is on disk."""
    session: dict[str, Any] = json.loads((world.state / "session.json").read_bytes())
    return session


def active(world: World) -> list[str]:
    """The handlers the session on disk calls active."""
    if not (world.state / "session.json").exists():
        return []
    return [handler["skill_id"] for handler in saved(world)["active_handlers"]]


def remembered(world: World) -> str | None:
    """The word the session on disk holds."""
    if not (world.state / "session.json").exists():
        return None
    word: str = saved(world)["intent_context"]["memory.skill:word"]["value"]
    return word


def kill(hark: Running) -> None:
    hark.signal(signal.SIGKILL)
    assert hark.end()[0] == -signal.SIGKILL


def test_after_kill_9_the_default_session_is_as_it_was_at_the_last_end_marker(world: World) -> None:
    with world.running("run") as hark:
        assert hark.say("remember apples") == "yes"
        assert hark.say("say hello") == "hello"
        eventually(lambda: active(world) == ["parrot.skill", "memory.skill"])
        before = saved(world)
        # A turn is under way: what it wanted to change is not part of the session before it ends.
        assert hark.say("think about it") == "hm"
        kill(hark)
    assert saved(world)["intent_context"] == before["intent_context"]
    with world.running("run") as hark:
        assert hark.say("what was it") == "it was apples"
        eventually(lambda: active(world) == ["memory.skill", "parrot.skill"])


def test_killed_over_and_over_it_forgets_nothing(world: World) -> None:
    for word in ("apples", "pears", "plums"):
        with world.running("run") as hark:
            assert hark.say(f"remember {word}") == "yes"
            eventually(lambda w=word: remembered(world) == w)
            kill(hark)
    assert world.hark("say", "what was it").stdout == "it was plums\n"


def test_a_clean_end_loses_nothing(world: World) -> None:
    assert world.hark("run", said="remember apples\n").stdout == "yes\n"
    assert world.hark("run", said="what was it\n").stdout == "it was apples\n"
    assert world.hark("say", "what was it").stdout == "it was apples\n"


def test_the_turns_before_a_kill_can_still_be_explained(world: World) -> None:
    with world.running("run") as hark:
        assert hark.say("remember apples") == "yes"
        eventually(lambda: (world.state / "traces.jsonl").exists() and (world.state / "traces.jsonl").read_bytes())
        kill(hark)
    assert '"remember apples"  session default' in world.hark("why").stdout


@pytest.mark.parametrize("text", ["", "{", "[1, 2]", '{"session_id": "somebody else"}', "\udcff\udcfe"])
def test_a_session_that_cannot_be_read_is_set_aside_and_the_assistant_starts(world: World, text: str) -> None:
    world.state.mkdir(parents=True)
    world.state.chmod(0o700)
    octets = text.encode("utf-8", "surrogateescape")
    (world.state / "session.json").write_bytes(octets)
    done = world.hark("run", said="what was it\n")
    assert (done.returncode, done.stdout) == (0, "I do not know\n")
    assert f"{world.state}/session.json cannot be used" in done.stderr
    assert f"it is kept as {world.state}/session.json.broken" in done.stderr
    assert (world.state / "session.json.broken").read_bytes() == octets
    assert saved(world)["active_handlers"][0]["skill_id"] == "memory.skill"


def test_an_open_question_dies_with_the_process_that_asked_it(world: World) -> None:
    world.state.mkdir(parents=True)
    world.state.chmod(0o700)
    question = {"skill_id": "memory.skill", "expires_at": 4_000_000_000}
    (world.state / "session.json").write_text(json.dumps({"lang": "en-US", "response_mode": question, "mine": [1]}))
    assert world.hark("run", said="say hello\n").stdout == "hello\n"
    assert "response_mode" not in saved(world)
    assert saved(world)["mine"] == [1]
