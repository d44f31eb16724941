"""One client with many slow turns does not lock out the others."""

from __future__ import annotations

import asyncio
import logging

import pytest

from flow.program_rig import Program, outside
from flow.stage import MakeAssistant, claims
from hark.plugins import Turn
from hark.spec import topics
from hark.testing import Assistant


async def until(hark: Assistant, topic: str, number: int) -> None:
    async with asyncio.timeout(20):
        while len(hark.of(topic)) < number:  # noqa: ASYNC110 - it comes over the network
            await asyncio.sleep(0.001)


def say(program: Program, text: str, session_id: str) -> None:
    context = {"session": {"session_id": session_id}, "hark_client": "somebody else"}
    program.send(topics.UTTERANCE_HANDLE, {"utterances": [text]}, context)


@pytest.mark.one_worker  # the limit is for each of them
async def test_a_client_has_its_part_of_the_open_turns(
    assistant: MakeAssistant, caplog: pytest.LogCaptureFixture
) -> None:
    go_on = asyncio.Event()

    async def handler(turn: Turn) -> str:
        if turn.utterance == "slow":
            await go_on.wait()
        return "Done."

    limits = {"limits": {"open_turns": 20, "client_turns": 10}}
    async with assistant(claims(handler=handler), settings=limits) as hark, outside(hark.bus) as served:
        greedy, second, third = [await served.program() for _ in range(3)]
        with caplog.at_level(logging.ERROR, "hark.understand"):
            for number in range(50):
                say(greedy, "slow", f"g{number}")
            await until(hark, topics.INTENT_UNMATCHED, 40)
        assert len([record for record in caplog.records if "overload" in record.message]) == 1
        say(second, "quick", "s")
        assert (await second.next(topics.UTTERANCE_SPEAK))["data"]["utterance"] == "Done."
        for number in range(10):
            say(third, "slow", f"t{number}")
        await until(hark, topics.INTENT_UNMATCHED, 44)
        assert await hark.hears("the device itself") == ["Done."], "clients together have 16 of 20"
        await second.through()
        assert "hark_client" not in str([one.get("context") for one in second.all if "somebody" not in str(one)])
        assert [one for one in hark.messages if ":" in one.type and "hark_client" in one.context] == []
        go_on.set()
        await until(hark, topics.UTTERANCE_HANDLED, 62)
        say(greedy, "quick", "g")
        await until(hark, topics.UTTERANCE_HANDLED, 63)
        assert len(hark.of(topics.INTENT_UNMATCHED)) == 44
        for program in (greedy, second, third):
            await program.kill()


@pytest.mark.one_worker  # the limit is for each of them
async def test_the_open_turns_of_a_client_are_bounded_in_bytes(assistant: MakeAssistant) -> None:
    go_on = asyncio.Event()

    async def handler(turn: Turn) -> str:
        if turn.utterance == "slow":
            await go_on.wait()
        return "Done."

    async with assistant(claims(handler=handler)) as hark, outside(hark.bus) as served:
        greedy, other = await served.program(), await served.program()
        for number in range(8):
            session = {"session_id": f"g{number}"}
            greedy.send(topics.UTTERANCE_HANDLE, {"utterances": ["slow"], "x": "x" * 3_000_000}, {"session": session})
        await until(hark, topics.INTENT_UNMATCHED, 3)
        say(other, "quick", "o")
        assert (await other.next(topics.UTTERANCE_SPEAK))["data"]["utterance"] == "Done."
        go_on.set()
        await until(hark, topics.UTTERANCE_HANDLED, 9)
        assert len(hark.of(topics.INTENT_UNMATCHED)) == 3, "16 MB are open at once"
        for program in (greedy, other):
            await program.kill()
