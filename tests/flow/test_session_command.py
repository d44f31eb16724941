"""`hark session`, with an assistant that runs and without one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flow.hark_process import World, eventually


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_the_stored_session_is_shown_and_reset(world: World) -> None:
    assert json.loads(world.hark("session", "show").stdout) == {}
    world.state.mkdir(parents=True, exist_ok=True)
    stored = world.state / "session.json"
    stored.write_text('{"site_id": "kitchen", "pipeline": ["stop_high"]}')
    assert json.loads(world.hark("session", "show").stdout)["site_id"] == "kitchen"
    report = world.hark("doctor").stdout
    assert "session.json holds pipeline from an older version" in report
    assert world.hark("session", "reset").returncode == 0
    assert json.loads(stored.read_bytes()) == {}
    assert json.loads(world.hark("session", "show").stdout) == {}


def test_the_session_of_a_running_assistant_is_shown_and_reset(world: World) -> None:
    world.state.mkdir(parents=True, exist_ok=True)
    (world.state / "session.json").write_text('{"site_id": "kitchen", "pipeline": ["stop_high"]}')
    with world.running("run") as running:
        eventually((world.state / "control.sock").exists)
        assert json.loads(world.hark("session", "show").stdout) == {"site_id": "kitchen"}
        assert world.hark("session", "reset").returncode == 0
        assert json.loads(world.hark("session", "show").stdout) == {}
        assert "good morning" in running.say("say good morning")
    assert "site_id" not in json.loads((world.state / "session.json").read_bytes())
