"""What people type and write into files: commands, options, settings, entry-point groups."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from hark.plugins.engines import ENGINE_KINDS
from hark.spec import TRANSFORMER_TYPES
from surface.pinned import check

HERE = Path(__file__).parent
PATIENCE = 60.0


def hark(*arguments: str, **environment: str) -> str:
    """What a `hark` command prints."""
    done = subprocess.run(
        [sys.executable, "-m", "hark", *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "COLUMNS": "100", **environment},
    )
    assert done.stdout, done.stderr
    return done.stdout


# Commands.


def usage(*command: str) -> tuple[dict[str, Any], list[str]]:
    """The options and arguments of a command, and the names of those below it."""
    text = hark(*command, "--help")
    head = " ".join(text.split("\n\n")[0].split())
    options = [
        re.sub(r"(?<=[\w-]) [A-Z]+", "", option)  # FILE, TAG: words for people
        for option in re.findall(r"^  (-.*?)(?:  |$)", text, re.MULTILINE)
    ]
    below = re.search(r"^  [A-Z]+\n((?:    .*\n)+)", text, re.MULTILINE) if head.endswith((" ...", " ...]")) else None
    if below:
        return {"options": options}, re.findall(r"^    (\S+)", below.group(1), re.MULTILINE)
    arguments = re.sub(r" *\[-[^]]*\]", "", head).removeprefix(" ".join(("usage: hark", *command)))
    return {"options": options, "arguments": arguments.strip()}, []


def every_command(*command: str) -> dict[str, Any]:
    found, below = usage(*command)
    commands = {" ".join(("hark", *command)): found}
    for name in below:
        commands |= every_command(*command, name)
    return commands


def test_every_command_keeps_its_name_options_and_arguments() -> None:
    check(HERE / "commands.json", every_command())


# Settings.


def keys(text: str) -> dict[str, str]:
    """Each table and key of a settings file with its default, whether it is commented out or not."""
    found: dict[str, str] = {}
    table = ""
    for line in text.splitlines():
        if heading := re.fullmatch(r"#?\[([\w.\"-]+)\]", line):
            table = heading.group(1)
            found[f"[{table}]"] = ""
        elif key := re.fullmatch(r"#?(\w+) = (.*)", line):
            found[f"[{table}] {key.group(1)}"] = key.group(2)
        elif unset := re.match(r"# (\w+) is not set", line):
            found[f"[{table}] {unset.group(1)}"] = "not set"
    return found


def test_every_setting_keeps_its_table_name_and_default() -> None:
    check(HERE / "settings.json", keys(hark("settings", "--no-plugins")))


# Entry-point groups.

PROBE = """
import os

def __getattr__(name):
    if name.startswith("Probe_"):
        with open(os.environ["HARK_PROBE_LOG"], "a") as log:
            log.write(name.removeprefix("Probe_").replace("_", ".") + "\\n")
    raise AttributeError(name)
"""

GROUPS = (
    *(f"hark.transformer.{kind}" for kind in TRANSFORMER_TYPES),
    "hark.pipeline",
    "hark.skill",
    *(f"hark.engine.{kind}" for kind in ENGINE_KINDS),
)


def test_packages_are_found_by_the_same_entry_point_groups(tmp_path: Path) -> None:
    """A package offers one class in each group; those that `hark doctor` tries to load are read by Hark."""
    site, log = tmp_path / "site", tmp_path / "log"
    (site / "surface_probe-1.0.dist-info").mkdir(parents=True)
    (site / "surface_probe.py").write_text(PROBE)
    (site / "surface_probe-1.0.dist-info" / "METADATA").write_text("Name: surface-probe\nVersion: 1.0\n")
    (site / "surface_probe-1.0.dist-info" / "entry_points.txt").write_text(
        "".join(f"[{group}]\nprobe = surface_probe:Probe_{group.replace('.', '_')}\n" for group in GROUPS)
    )
    settings = tmp_path / "hark.toml"
    settings.write_text("[voice]\n" + "".join(f'{kind} = ["probe"]\n' for kind in ENGINE_KINDS))
    state = ("--state", str(tmp_path / "state"))
    hark(
        *("doctor", "--voice", "--alone", "--settings", str(settings), *state),
        PYTHONPATH=str(site),
        HARK_PROBE_LOG=str(log),
    )
    check(HERE / "entry_points.json", {"groups": sorted(set(log.read_text().split()))})
