"""What the pages show is run with the clients of OVOS as they are; afterwards the device is as it was."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from flow import stock_client
from flow.hark_process import PATIENCE, eventually
from interop.conftest import Assistant, Peer

DOCS = Path(__file__).resolve().parents[2] / "docs"
BLOCKS = {
    f"{page.name}-{number}": block
    for page in sorted(DOCS.glob("*.md"))
    for number, block in enumerate(re.findall(r"```py\n(.*?)```", page.read_text(), re.DOTALL), 1)
    if "import Message, MessageBusClient" in block
}
WORDS = {"en-US": "what time is it", "de-DE": "wie spät ist es"}
SHELL = [
    block
    for block in re.findall(r"```sh\n(.*?)```", (DOCS / "bus.md").read_text(), re.DOTALL)
    if "hark bus pipe" in block
]


@contextmanager
def running(world: Assistant) -> Iterator[None]:
    with world.running("run") as hark:
        eventually((world.state / "control.sock").exists)
        eventually(lambda: world.hark("bus", "pipe", "--bus", world.url).returncode == 0)
        yield
        hark.signal(signal.SIGTERM)
        status, complaints = hark.end()
        lines = [
            line for line in complaints.splitlines() if "counts as omitted" not in line
        ]  # the stable line sends null
        assert (status, lines) == (0, [])


def answered(world: Assistant, text: str) -> bool:
    """Whether the device answers in a session of its own, and in the default one by way of the bus."""
    said = world.hark("say", text)
    line = json.dumps({"type": "ovos.utterance.handle", "data": {"utterances": [text]}})
    pipe = ("bus", "pipe", "--bus", world.url, "--topic", "ovos.utterance.speak", "--until", "ovos.utterance.handled")
    default = world.hark(*pipe, said=f"{line}\n")
    return said.returncode == 0 and '"utterance"' in default.stdout


@pytest.mark.peers("client")
@pytest.mark.parametrize(
    "device_lang",
    [
        pytest.param("en-US", marks=pytest.mark.acceptance("A1")),
        pytest.param("de-DE", marks=pytest.mark.acceptance("A1b")),
    ],
)
@pytest.mark.parametrize("block", BLOCKS)
def test_the_device_is_as_it_was_after_the_example(world: Assistant, peer: Peer, block: str, device_lang: str) -> None:
    world.write_settings(f'[assistant]\nlang = "{device_lang}"\nlangs = ["en-US", "de-DE"]\n')
    words = WORDS[device_lang]
    with running(world):
        assert answered(world, words)
        before = json.loads((world.state / "session.json").read_bytes())
        code = BLOCKS[block].replace("8181", str(world.port))
        command = [peer.python, stock_client.__file__, str(world.port), "2", code]
        done = subprocess.run(command, capture_output=True, text=True, timeout=2 * PATIENCE, env=_home(world))
        assert done.returncode == 0, done.stderr[-2_000:]
        spoken = json.loads(done.stdout.splitlines()[-1])
        understood = sum(text.startswith("It is ") for text in spoken)
        assert understood == (2 if device_lang == "en-US" else 0), "its words are English"
        assert answered(world, words)
        after = json.loads((world.state / "session.json").read_bytes())
        assert {name for name in after if name not in before} <= {"active_handlers", "converse_handlers"}
    with running(world):
        assert answered(world, words), "after a restart"


def test_the_shell_block_answers(world: Assistant) -> None:
    with running(world):
        for block in SHELL:
            script = block.replace("hark bus pipe", f"hark bus pipe --bus {world.url}")
            done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, env=_home(world), timeout=60)
            assert re.fullmatch(r"It is .*\d.*\.\n", done.stdout), (done.stdout, done.stderr)


def test_there_are_blocks_to_run() -> None:
    assert BLOCKS
    assert SHELL


def _home(world: Assistant) -> dict[str, str]:
    """The environment of a program that is not Hark: the same home, without settings for Python."""
    path = f"{Path(__file__).resolve().parents[2] / '.venv' / 'bin'}:{world.environment['PATH']}"
    kept = {name: value for name, value in world.environment.items() if not name.startswith("PYTHON")}
    return {**kept, "PATH": path}
