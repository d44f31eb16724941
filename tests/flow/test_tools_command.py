"""`hark tools` in a terminal: what there is, calling one, and what is said when it does not work."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from flow.hark_process import World, free_port

HOUSE = '''
from typing import Annotated

from hark.plugins import Toolbox, tool


class House(Toolbox):
    id = "house"

    @tool
    def temperature(self, room: Annotated[str, "a room"], unit: str = "celsius") -> float:
        """How warm a room is."""
        return 21.5

    @tool(dangerous=True)
    async def open_garage(self) -> str:
        """Open the garage door."""
        return "open"
'''


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A machine on which an assistant with a toolbox runs."""
    home: Path = tmp_path_factory.mktemp("tools")
    (home / "house.py").write_text(HOUSE)
    machine = World(home)
    files = json.dumps([str(home / "house.py")])
    machine.write_settings(f"[assistant]\nfiles = {files}\n[bus]\nport = {free_port()}\n")
    with machine.running("run") as assistant:
        assert assistant.say("what is two plus two")
        yield machine


def test_tools_are_listed(world: World) -> None:
    listed = world.hark("tools")
    assert listed.stdout == (
        "house:\n  temperature(room, unit)  How warm a room is.\n  open_garage()  Open the garage door.  [asks first]\n"
    )
    described = json.loads(world.hark("tools", "list", "--format", "json").stdout)
    assert [(one["toolbox_id"], one["name"]) for one in described] == [
        ("house", "temperature"),
        ("house", "open_garage"),
    ]


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        (["temperature", "room=kitchen"], "21.5\n"),
        (["house/temperature", "room=kitchen", "unit=kelvin"], "21.5\n"),
        (["open_garage"], "open\n"),
        (["open_garage", "--format", "json"], '"open"\n'),
    ],
)
def test_a_tool_is_called(world: World, arguments: list[str], printed: str) -> None:
    assert world.hark("tools", "call", *arguments).stdout == printed


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "name a tool"),
        (["temperature"], "missing required field `room`"),
        (["temperature", "kitchen"], "'kitchen' is not KEY=VALUE"),
        (["house/humidity"], "unknown tool 'humidity'"),
        (["humidity"], "Unknown tool: 'humidity'"),
        (["garden/temperature"], "no toolbox 'garden' answered; there are house"),
    ],
)
def test_what_cannot_be_called_is_explained(world: World, arguments: list[str], complaint: str) -> None:
    refused = world.hark("tools", "call", *arguments)
    assert refused.returncode != 0
    assert refused.stdout == ""
    assert complaint in refused.stderr
