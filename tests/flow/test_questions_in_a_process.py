"""Questions at the terminal, and what becomes of one when its process dies."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest
from hark_process import World, eventually

PROBE = """
from hark.skills import Skill, intent

class Game(Skill):
    id = "game.skill"

    @intent("remember {word}")
    def keep(self, turn):
        turn.remember("word", turn.slots["word"])
        return "yes"

    @intent("what was it")
    def recall(self, turn):
        entry = turn.session.intent_context.get("game.skill:word")
        return f"it was {entry.value}" if entry else "I do not know"

    @intent("guess my number")
    async def guess(self, turn):
        turn.remember("playing", turns=9)
        first = await turn.ask("which number?", timeout=600)
        second = await turn.ask("and then?", timeout=600)
        if second == "boom":
            raise ValueError("boom")
        return f"{first} and {second}"
"""


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    made.install("probe", PROBE, "skill: Game")
    made.write_settings("[limits]\ngrace = 0.0\n")
    return made


def saved(world: World) -> dict[str, Any]:
    """The default session as it is on disk."""
    file = world.state / "session.json"
    session: dict[str, Any] = json.loads(file.read_bytes()) if file.exists() else {}
    return session


def test_after_kill_9_in_a_question_everything_is_as_it_was_but_the_question(world: World) -> None:
    # A command in place of an answer would hide whether the question is still open.
    world.write_settings("[limits]\ngrace = 0.0\n[plugins.interrupt]\nenabled = false\n")
    with world.running("run") as hark:
        assert hark.say("remember apples") == "yes"
        assert hark.say("say hello") == "hello"
        assert hark.say("guess my number") == "which number?"
        eventually(lambda: "response_mode" in saved(world))
        before = saved(world)
        hark.signal(signal.SIGKILL)
        assert hark.end()[0] == -signal.SIGKILL
    assert [one["skill_id"] for one in before["active_handlers"]] == ["game.skill", "parrot.skill"]
    assert before["intent_context"].keys() == {"game.skill:word", "game.skill:playing"}
    assert saved(world) == before
    with world.running("run") as hark:
        assert hark.say("what was it") == "it was apples", "an utterance and not an answer"
        eventually(lambda: "response_mode" not in saved(world))
        after = saved(world)
        assert [one["skill_id"] for one in after["active_handlers"]] == ["game.skill", "parrot.skill"]
        assert [one["skill_id"] for one in after["converse_handlers"]] == ["game.skill", "parrot.skill"]
        assert after["intent_context"].keys() == before["intent_context"].keys()
        assert hark.say("guess my number") == "which number?"
        assert hark.say("what was it") == "and then?", "asked again, it is the answer"
        assert hark.say("seven") == "what was it and seven"


def test_a_conversation_at_a_pipe_answers_questions_line_by_line(world: World) -> None:
    done = world.hark("run", said="guess my number\n3\n4\nwhat was it\n")
    assert done.stdout == "which number?\nand then?\n3 and 4\nI do not know\n"


def test_a_handler_that_fails_after_the_answer_is_told_of(world: World) -> None:
    done = world.hark("run", said="guess my number\n3\nboom\n")
    *_, last = done.stdout.splitlines()
    assert last.startswith("(game.skill:guess: ValueError: boom")


def test_one_utterance_alone_leaves_its_question_open_and_says_so(world: World) -> None:
    done = world.hark("say", "guess my number")
    assert done.stdout.splitlines() == [
        "which number?",
        "This question stays open. To answer questions, start a conversation: hark run",
    ]
    assert done.returncode == 1
    with world.running("run") as hark:
        assert hark.say("what was it") == "I do not know"
        done = world.hark("say", "guess my number")
        assert done.stdout.splitlines()[0] == "which number?"
        assert hark.say("what was it") == "I do not know", "that was asked of somebody else"
