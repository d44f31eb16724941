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

from hark.bus import LocalBus
from hark.bus.websocket import Credential, Permissions, ServerLimits
from hark.model import Message, decode

FUZZ = Path(__file__).parents[3] / "fuzz" / "attacks" / "wire.py"
LIMITS = ServerLimits(message=100_000, backlog=2_000_000, connections=40, handshake=0.2)


def attacks() -> Any:
    spec = spec_from_file_location("fuzz_attacks", FUZZ)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


FUZZER = attacks()
ATTACKS: dict[str, Any] = FUZZER.ATTACKS
COUNTS = {"giant messages": 6, "slow readers": 8, "slow followers": 8, "long names": 10, "crowds": 80}


class TwoTokens:
    def find(self, token: str) -> Credential | None:
        bound = Permissions(sources=("fuzz",), sessions=("fuzz",))
        return {"honest": Credential("honest"), "bound": Credential("bound", bound)}.get(token)

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
    forged: list[str] = []
    bus = LocalBus()

    def look(message: Message) -> None:
        if message.type in FUZZER.FORBIDDEN and FUZZER.is_forged(message.type, message.data, message.context):
            forged.append(message.type)

    bus.tap(look)
    async with (
        serving(limits=LIMITS, bus=bus, credentials=TwoTokens(), needs_token=needs_token) as (server, url),
        connected(url, token="honest") as one,
        connected(url, token="honest") as other,
    ):
        other.on("test.honest", lambda message: heard.append(message.data["n"]))
        await other.carrier.flush()
        one.emit(decode(FUZZER.REGISTER_HONEST))
        await one.carrier.flush()
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
        assert forged == []
        if needs_token or name in FUZZER.MUST_BE_REFUSED:
            assert inside == 0
        elif name == "crowds":
            assert inside <= LIMITS.connections - 2
        await eventually(lambda: len(server) == 2)
