"""A persona with the tools of the reference server of MCP, by its standard input and output and by HTTP."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import pytest

from flow.hark_process import free_port
from hark.builtin.mcp import McpServers
from hark.builtin.persona import Persona
from hark.bus import ask
from hark.model import Message, SystemClock
from hark.spec import topics
from hark.testing import Assistant
from hark.testing.model_server import ModelReply, ModelServer
from interop.conftest import Peer

PIPELINE: Final = ["stop", "converse", "template", "common_query", "persona", "persona_fallback", "fallback"]


def _program(peer: Peer) -> str:
    return str(peer.folder / "node_modules" / ".bin" / "mcp-server-everything")


@asynccontextmanager
async def _serving(peer: Peer, transport: str) -> AsyncIterator[dict[str, Any]]:
    """The settings of the server, which runs if nobody else starts it."""
    if transport == "stdio":
        yield {"command": _program(peer), "args": ["stdio"]}
        return
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        _program(peer),
        "streamableHttp" if transport == "http" else "sse",
        env={**os.environ, "PORT": str(port)},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        path = "mcp" if transport == "http" else "sse"
        yield {"url": f"http://127.0.0.1:{port}/{path}", "transport": transport}
    finally:
        process.terminate()
        await process.wait()


async def tools(assistant: Assistant) -> set[str]:
    """The tools that the model is offered, once there are any."""
    async with asyncio.timeout(90):
        while True:
            answer = await ask(assistant.bus, assistant.clock, Message(topics.TOOLS_LIST))
            if answer.data["tools"]:
                await asyncio.sleep(1.0)  # the persona hears of it
                return {tool["name"] for tool in answer.data["tools"]}
            await asyncio.sleep(0.3)


@pytest.mark.peers("mcp")
@pytest.mark.parametrize("transport", ["stdio", "http", "sse"])
async def test_a_persona_calls_the_tools_of_the_reference_server(peer: Peer, transport: str) -> None:
    async with ModelServer() as model, _serving(peer, transport) as server:
        tables = {"persona": {"endpoint": model.url}, "mcp": {"servers": {"everything": server}}}
        settings = {"assistant": {"pipeline": PIPELINE}, "plugins": tables}
        async with Assistant(Persona(), McpServers(), settings=settings, clock=SystemClock()) as assistant:
            assert {"echo", "get-sum"} <= await tools(assistant)
            calls = [("everything-echo", {"message": "hello"}), ("everything-get-sum", {"a": 2, "b": 40})]
            model.replies(ModelReply(tools=calls), ModelReply(["It is 42."]))
            said = await assistant.hears("please do the sum")
            assert said == ["It is 42."]
            offered = {one["function"]["name"] for one in model.requests[0]["tools"]}
            assert {f"everything-{name}" for name in ("echo", "get-sum")} <= offered
            results = [one["content"] for one in model.requests[1]["messages"] if one["role"] == "tool"]
            assert "hello" in results[0]
            assert "42" in results[1]
