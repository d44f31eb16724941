"""A persona with the tools of Home Assistant's MCP server: by SSE, with a long-lived token."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from hark.builtin.mcp import McpServers
from hark.builtin.persona import Persona
from hark.model import SystemClock
from hark.testing import Assistant
from hark.testing.model_server import ModelReply, ModelServer
from interop.conftest import Peer
from interop.home_assistant import LAMP, HomeAssistant
from interop.test_mcp_servers import PIPELINE, tools


def _settings(home: HomeAssistant, model: ModelServer, token: Path, **server: Any) -> dict[str, Any]:
    reached = {"url": f"{home.url}/mcp_server/sse", "transport": "sse", "token_file": str(token), **server}
    tables = {"persona": {"endpoint": model.url}, "mcp": {"servers": {"home": reached}}}
    return {"assistant": {"pipeline": PIPELINE}, "plugins": tables}


@pytest.mark.peers("home-assistant")
async def test_a_persona_switches_a_lamp_of_home_assistant_and_finds_it_again(peer: Peer, tmp_path: Path) -> None:
    token, folder = tmp_path / "home-assistant.token", tmp_path / "home"
    folder.mkdir()
    async with ModelServer() as model, HomeAssistant(peer.folder, folder) as home:
        token.write_text("not the token\n")
        refused = McpServers()
        async with Assistant(refused, settings=_settings(home, model, token), clock=SystemClock()):
            for _ in range(600):
                await asyncio.sleep(0 if refused.problem() else 0.05)
            assert "401" in refused.problem()

        token.write_text(f"{home.token}\n")
        settings = _settings(home, model, token, dangerous=["HassTurnOff"])
        async with Assistant(Persona(), McpServers(), settings=settings, clock=SystemClock()) as assistant:
            assert {"HassTurnOn", "HassTurnOff", "HassLightSet", "GetLiveContext"} <= await tools(assistant)
            calls = [("home-HassTurnOn", {"name": "Desk lamp"}), ("home-GetLiveContext", {})]
            model.replies(ModelReply(tools=calls), ModelReply(["The lamp is on."]))
            assert await assistant.hears("it is rather dark at my desk") == ["The lamp is on."]
            await home.has_state(LAMP, "on")
            done, context = [one["content"] for one in model.requests[1]["messages"] if one["role"] == "tool"]
            assert "action_done" in done
            assert "Desk lamp" in context

            model.replies(ModelReply(tools=[("home-HassTurnOn", {"name": "Moon"})]), ModelReply(["There is no moon."]))
            assert await assistant.hears("please do something about the moon") == ["There is no moon."]
            assert model.requests[3]["messages"][-1]["content"].startswith("Error: McpError")

            model.replies(ModelReply(tools=[("home-HassTurnOff", {"name": "Desk lamp"})]), ModelReply(["As you like."]))
            turn = assistant.say("I should like it darker")
            for _ in range(600):
                await asyncio.sleep(0 if turn.spoken else 0.05)
            assert turn.spoken == ["Should I really do this: home: HassTurnOff, name Desk lamp?"]
            await assistant.hears("no")
            await turn.over.wait()
            assert turn.spoken[-1] == "As you like."
            assert await home.state(LAMP) == "on"

            await home.stop()
            await home.start()
            for _ in range(60):  # a call that fails shows that the connection is gone; then it is made anew
                model.replies(ModelReply(tools=[("home-HassTurnOn", {"name": "Desk lamp"})]), ModelReply(["It is on."]))
                assert await assistant.hears("and now it is dark again") == ["It is on."]
                if "action_done" in (done := model.requests[-1]["messages"][-1]["content"]):
                    break
                await asyncio.sleep(1.0)
            assert "action_done" in done
