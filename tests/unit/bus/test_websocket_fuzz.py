"""The attacks of fuzz/websocket.py in small numbers: nobody is harmed, nobody gets in."""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
from websocket_fixtures import connected, eventually, serving

from hark.bus.websocket import Credential, ServerLimits
from hark.model import Message

FUZZ = Path(__file__).parents[3] / "fuzz" / "attacks.py"
LIMITS = ServerLimits(message=100_000, backlog=2_000_000, connections=40, handshake=0.2)


def attacks() -> dict[str, Any]:
    spec = spec_from_file_location("fuzz_attacks", FUZZ)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    found: dict[str, Any] = module.ATTACKS
    return found


ATTACKS = attacks()
COUNTS = {"giant messages": 6, "slow readers": 8, "crowds": 80}


class OneToken:
    def find(self, token: str) -> Credential | None:
        return Credential("honest") if token == "honest" else None

    def is_valid(self, credential: Credential) -> bool:
        return True


@pytest.fixture(autouse=True)
def _attackers_write_to_whoever_is_gone(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    with caplog.at_level("CRITICAL", "asyncio"):
        yield


@pytest.mark.parametrize("needs_token", [False, True], ids=["open", "token"])
@pytest.mark.parametrize("name", ATTACKS)
async def test_an_attack_harms_no_other_client(name: str, needs_token: bool) -> None:
    heard: list[int] = []
    async with (
        serving(limits=LIMITS, credentials=OneToken(), needs_token=needs_token) as (server, url),
        connected(url, token="honest") as one,
        connected(url, token="honest") as other,
    ):
        other.on("test.honest", lambda message: heard.append(message.data["n"]))
        await other.carrier.flush()
        attack = asyncio.create_task(ATTACKS[name](url, random.Random(name), COUNTS.get(name, 30)))
        said = 0
        while not attack.done():
            one.emit(Message("test.honest", {"n": said}))
            said += 1
            await asyncio.wait({attack}, timeout=0.005)
        inside = await attack
        await one.carrier.flush()
        await other.carrier.flush()
        assert heard == list(range(said))
        if needs_token:
            assert inside == 0
        elif name == "crowds":
            assert inside <= LIMITS.connections - 2
        await eventually(lambda: len(server) == 2)
