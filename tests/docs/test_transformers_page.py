"""Every command on the page about transformers does what the page says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from hark.builtin.transformers import SHIPPED
from hark.cli import main

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "transformers.md").read_text("utf-8")
COMMANDS = re.findall(r"```\n\$ hark (transformers try .*)\n((?:.*\n)*?)```", PAGE)


@pytest.mark.parametrize(("command", "shown"), COMMANDS, ids=[" ".join(one.split()[2:4]) for one, _ in COMMANDS])
def test_a_command_shows_what_the_page_shows(
    command: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    data = tmp_path / "hark" / "plugins"
    (data / "corrections").mkdir(parents=True)
    (data / "corrections" / "corrections.txt").write_text("kitchen lied = kitchen light\n")
    (data / "entities" / "entities").mkdir(parents=True)
    (data / "entities" / "entities" / "artist.txt").write_text("ABBA = mbid:d87e52c5\n")
    assert main(shlex.split(command)) == 0
    *lines, _took = capsys.readouterr().out.splitlines()
    assert "\n".join(lines) == shown.rstrip("\n")


def test_every_transformer_is_on_the_page() -> None:
    assert len(COMMANDS) >= 10
    for one in SHIPPED:
        assert f"`{one.id}`" in PAGE
        assert f"**{one.id}**" in PAGE
