"""An unmodified OVOS client says something in the default session, and the device is afterwards as it was before."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from flow import stock_client
from flow.hark_process import PATIENCE, World, eventually, free_url
from hark.bus import RemoteBus
from hark.bus.websocket import WebSocketCarrier
from hark.model import Message, SystemClock
from hark.spec import topics

PAGE = Path(__file__).parents[2] / "docs" / "bus.md"
[EXAMPLE] = [one for one in re.findall(r"```py\n(.*?)```", PAGE.read_text(), re.DOTALL) if "what time is it" in one]


@pytest.fixture
def url() -> str:
    return free_url()


@pytest.fixture
def world(tmp_path: Path, url: str) -> Iterator[World]:
    """A machine with a bus."""
    world = World(tmp_path)
    with world.running("bus", "--port", port_of(url)) as bus:
        assert "listens" in bus.line()
        yield world


def port_of(url: str) -> str:
    return url.removeprefix("ws://127.0.0.1:").removesuffix("/core")


@contextmanager
def assistant(world: World, url: str) -> Iterator[None]:
    services = [word for name in ("hear", "understand", "act", "speak") for word in ("--service", name)]
    with world.running("run", "--bus", url, *services) as running:
        eventually((world.state / "control.sock").exists)
        eventually(lambda: world.hark("say", "--lang", "en-US", "what time is it").stdout or None)
        yield
        running.signal(signal.SIGTERM)
        running.end()


def stock(url: str, times: int) -> list[str]:
    """What is spoken when the example is run so often."""
    block = EXAMPLE.replace("8181", port_of(url))
    command = [sys.executable, stock_client.__file__, port_of(url), str(times), block]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    spoken: list[str] = json.loads(done.stdout)
    return spoken


def device(url: str, text: str) -> list[str]:
    """What is answered in the default session, to a client that sends no session of its own."""

    async def ask() -> list[str]:
        bus = RemoteBus(WebSocketCarrier(url, SystemClock()))
        await bus.open()
        spoken: list[str] = []
        over = asyncio.Event()
        bus.on(topics.UTTERANCE_SPEAK, lambda message: spoken.append(message.data["utterance"]))
        bus.on(topics.UTTERANCE_HANDLED, lambda _: over.set())
        await bus.carrier.flush()
        bus.emit(Message(topics.UTTERANCE_HANDLE, {"utterances": [text]}))
        async with asyncio.timeout(PATIENCE):
            await over.wait()
        await bus.close()
        return spoken

    return asyncio.run(ask())


@pytest.mark.parametrize("device_lang", ["en-US", "de-DE"])
def test_the_device_is_as_it_was_after_a_stock_client(world: World, url: str, device_lang: str) -> None:
    world.write_settings(f'[assistant]\nlang = "{device_lang}"\nlangs = ["en-US", "de-DE"]\n')
    words = {"en-US": "what time is it", "de-DE": "wie spät ist es"}[device_lang]
    with assistant(world, url):
        assert len(device(url, words)) == 1
        before = json.loads((world.state / "session.json").read_bytes())
        understood = sum(text.startswith("It is ") for text in stock(url, 2))
        assert understood == (2 if device_lang == "en-US" else 0), "its words are English"
        assert len(device(url, words)) == 1
        after = json.loads((world.state / "session.json").read_bytes())
        assert {name for name in after if name not in before} <= {"active_handlers", "converse_handlers"}
    with assistant(world, url):
        assert len(device(url, words)) == 1
        assert world.hark("say", words).returncode == 0
