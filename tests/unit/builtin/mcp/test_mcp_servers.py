"""MCP servers as toolboxes, tried with a server of the official library."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from hark.builtin.mcp import McpServers
from hark.model import Message, SystemClock
from hark.spec import topics
from hark.testing import Assistant

SERVER = Path(__file__).parent / "small_mcp_server.py"
STDIO = {"command": sys.executable, "args": [str(SERVER)]}


@asynccontextmanager
async def connected(**server: Any) -> AsyncIterator[Assistant]:
    """An assistant with one MCP server, in real time: the server is a process."""
    settings = {"plugins": {"mcp": {"servers": {"small": {**STDIO, **server}}}}}
    async with Assistant(McpServers(), settings=settings, clock=SystemClock()) as assistant:
        if "url" not in server and server.get("command") is None:
            await eventually(lambda: names(assistant))
        yield assistant


async def eventually(holds: Callable[[], Awaitable[object]], seconds: float = 30.0) -> None:
    """Wait until something holds: another process brings it about, in its own time."""
    async with asyncio.timeout(seconds):
        for _ in range(10_000):
            if await holds():
                return
            await asyncio.sleep(0.02)


async def ask(assistant: Assistant, topic: str, **data: Any) -> Any:
    before = len(assistant.of(f"{topic}.response"))
    assistant.bus.emit(Message(topic, data))

    async def answered() -> bool:
        return len(assistant.of(f"{topic}.response")) > before

    await eventually(answered)
    return assistant.of(f"{topic}.response")[-1].data


async def invoke(assistant: Assistant, name: str, /, **args: Any) -> Any:
    return await ask(assistant, topics.TOOLS_INVOKE, name=name, args=args)


async def names(assistant: Assistant) -> set[str]:
    return {one["name"] for one in (await ask(assistant, topics.TOOLS_LIST))["tools"]}


async def test_the_tools_of_a_server_are_a_toolbox() -> None:
    async with connected() as assistant:
        found = (await ask(assistant, topics.PERSONA_TOOLS_DISCOVER))["tools"]
        assert {one["toolbox_id"] for one in found} == {"small"}
        assert {"add", "greet", "fail", "wait", "erase"} <= {one["name"] for one in found}
        assert [one["name"] for one in found if one.get("dangerous")] == ["erase", "shred", "write"]
        assert (await invoke(assistant, "add", a=2, b=3))["result"] == {"result": 5}
        assert (await invoke(assistant, "greet", name="Ann"))["result"] == "Hello, Ann!"
        assert (await invoke(assistant, "fail"))["error"] == "McpError: Error executing tool fail"
        wrong = (await invoke(assistant, "add", a="two", b=3))["error"]
        assert wrong == "the arguments do not fit: a: 'two' is not of type 'integer'"


async def test_a_server_neither_sees_our_environment_nor_has_us_fetch_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARK_SECRET", "42")
    fetched: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        fetched.append(await reader.readline())
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as elsewhere:
        refers_to = f"http://127.0.0.1:{elsewhere.sockets[0].getsockname()[1]}/schema"
        async with connected(env={"GIVEN": "1", "REFERS_TO": refers_to}) as assistant:
            seen = (await invoke(assistant, "secrets"))["result"]["result"]
            assert "GIVEN" in seen
            assert "HARK_SECRET" not in seen
            assert "Unresolvable" in (await invoke(assistant, "refer", what="x"))["error"]
            assert fetched == []


async def test_a_call_that_takes_too_long_is_given_up() -> None:
    async with connected(timeout=0.5) as assistant:
        assert "no answer within 0.5 s" in (await invoke(assistant, "wait"))["error"]
        assert (await invoke(assistant, "add", a=1, b=1))["result"] == {"result": 2}


async def test_only_allowed_tools_are_there() -> None:
    async with connected(only=["add", "gr*"], never=["grow"], dangerous=["add"]) as assistant:
        assert await names(assistant) == {"add", "greet"}
        assert (await ask(assistant, topics.TOOLS_GET, name="add"))["dangerous"] is True
        assert (await invoke(assistant, "fail"))["error"] == "Unknown tool: 'fail'"


async def test_a_changed_list_is_followed() -> None:
    async with connected() as assistant:
        changes = len(assistant.of(topics.TOOLS_CHANGED))
        assert (await invoke(assistant, "grow"))["result"]

        async def has_grown() -> bool:
            return "new" in await names(assistant)

        await eventually(has_grown)
        assert len(assistant.of(topics.TOOLS_CHANGED)) > changes


async def test_a_server_that_died_is_started_again() -> None:
    async with connected(timeout=5) as assistant:
        assert "error" in await invoke(assistant, "die")

        async def is_back() -> bool:
            return (await invoke(assistant, "add", a=1, b=2)).get("result") == {"result": 3}

        await eventually(is_back)


@pytest.mark.parametrize(("transport", "path"), [("http", "mcp"), ("sse", "sse")])
async def test_a_server_is_reached_by_its_url(transport: str, path: str) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(SERVER), transport, str(port), stderr=asyncio.subprocess.DEVNULL
    )
    try:
        url = f"http://127.0.0.1:{port}/{path}"
        async with connected(command="", args=[], url=url, transport=transport) as assistant:
            await eventually(lambda: names(assistant))
            assert (await invoke(assistant, "add", a=2, b=3))["result"] == {"result": 5}
    finally:
        process.kill()
        await process.wait()


@pytest.mark.parametrize(("transport", "path"), [("http", "mcp"), ("sse", "sse")])
async def test_a_server_that_was_started_again_is_reached_again(transport: str, path: str) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    async def serve() -> asyncio.subprocess.Process:
        null = asyncio.subprocess.DEVNULL
        command = [sys.executable, str(SERVER), transport, str(port)]
        return await asyncio.create_subprocess_exec(*command, stdout=null, stderr=null)

    process = await serve()
    try:
        url = f"http://127.0.0.1:{port}/{path}"
        async with connected(command="", args=[], url=url, transport=transport) as assistant:
            await eventually(lambda: names(assistant))
            process.kill()  # with the sessions of its clients
            await process.wait()
            process = await serve()

            async def is_back() -> bool:
                return (await invoke(assistant, "add", a=1, b=2)).get("result") == {"result": 3}

            await eventually(is_back)
    finally:
        process.kill()
        await process.wait()


async def test_a_server_may_write_to_where_its_messages_go(tmp_path: Path) -> None:
    noisy = tmp_path / "noisy.py"
    lines = ["import os, runpy", "print('Starting ...', flush=True)", 'print(\'{"not": "a message"}\', flush=True)']
    lines.append(r"os.write(1, b'\xff\xfe no text\n')")
    noisy.write_text("\n".join([*lines, f"runpy.run_path({str(SERVER)!r}, run_name='__main__')"]))
    async with connected(args=[str(noisy)]) as assistant:
        assert (await invoke(assistant, "add", a=2, b=3))["result"] == {"result": 5}
        (entry,) = assistant.runtime.plugin_set.toolboxes  # type: ignore[union-attr]
        assert entry.plugin.problem() == ""


RAW = """
import json, sys
tools, result = json.loads(sys.argv[1])
answers = {"tools/list": {"tools": tools}, "tools/call": result}
for line in sys.stdin:
    asked = json.loads(line)
    info = {"capabilities": {"tools": {}}, "serverInfo": {"name": "raw", "version": "1"}}
    start = {"protocolVersion": asked.get("params", {}).get("protocolVersion"), **info}
    known = {"initialize": start, **answers}.get(asked["method"])
    outcome = {"error": {"code": -32601, "message": "no such method"}} if known is None else {"result": known}
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **outcome}), flush=True)
"""


def raw(tools: list[dict[str, Any]], result: dict[str, Any]) -> dict[str, Any]:
    """A server that lists these tools, and answers every call with this result."""
    return {"command": sys.executable, "args": ["-c", RAW, json.dumps([tools, result])]}


def named(name: str) -> dict[str, Any]:
    return {"name": name, "description": "", "inputSchema": {"type": "object"}}


async def test_what_is_no_text_in_a_result_is_named() -> None:
    content = [
        {"type": "text", "text": "Here they are:"},
        {"type": "image", "data": "aGk=", "mimeType": "image/png"},
        {"type": "resource", "resource": {"uri": "file:///a.txt", "text": "inside"}},
        {"type": "resource", "resource": {"uri": "file:///a.bin", "blob": "aGk="}},
        {"type": "resource_link", "uri": "demo://bill", "name": "bill", "description": "of May"},
    ]
    async with connected(**raw([named("show")], {"content": content})) as assistant:
        lines = ["Here they are:", "(image, image/png)", "inside", "(resource, file:///a.bin)"]
        lines.append("(resource link, bill, of May, demo://bill)")
        assert (await invoke(assistant, "show"))["result"].splitlines() == lines


async def test_what_mcp_does_not_allow_is_said_in_one_line() -> None:
    async with connected(**raw([named("show")], {"content": "text"})) as assistant:
        error = (await invoke(assistant, "show"))["error"]
        assert error == "McpError: it sent what MCP does not allow: content: Input should be a valid list"
    async with connected(**raw([named("show"), {"name": "odd"}], {})) as assistant:
        (entry,) = assistant.runtime.plugin_set.toolboxes  # type: ignore[union-attr]
        failure = "small: it sent what MCP does not allow: tools.1.inputSchema: Field required"
        assert entry.plugin.problem() == failure


async def test_a_server_that_reports_changes_without_end_is_listed_now_and_then() -> None:
    told = '{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}'
    flood = RAW.replace("for line in sys.stdin:", f"for line in sys.stdin:\n    print(({told!r} + chr(10)) * 500)")
    server = {"command": sys.executable, "args": ["-c", flood, json.dumps([[named("show")], {"content": []}])]}
    async with connected(**server) as assistant:
        for _ in range(3):
            assert (await invoke(assistant, "show")) == {"name": "show", "result": ""}
        assert len(assistant.of(topics.TOOLS_CHANGED)) < 5


async def test_a_server_with_more_tools_than_are_used_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    async with connected(**raw([named(f"tool_{number}") for number in range(600)], {})) as assistant:
        assert len(await names(assistant)) == 500
        assert "small lists more tools than the first 500" in caplog.text


async def test_a_server_that_ends_or_never_answers_is_named_with_its_last_words(tmp_path: Path) -> None:
    mute = tmp_path / "mute.py"
    mute.write_text("import sys\nsys.stdin.read()\n")
    ends = tmp_path / "ends.py"
    ends.write_text("import os, sys\nprint('hello', file=sys.stderr)\nsys.exit('no ' + os.environ['KEY'])\n")
    servers = {
        "mute": {"command": sys.executable, "args": [str(mute)], "connect_timeout": 0.5},
        "ends": {"command": sys.executable, "args": [str(ends)], "env": {"KEY": "secret-0123456789"}},
    }
    plugin = McpServers()
    settings = {"plugins": {"mcp": {"servers": servers}}}
    async with Assistant(plugin, settings=settings, clock=SystemClock()):

        async def both_failed() -> bool:
            return plugin.problem().count(";") == 1

        await eventually(both_failed)
        assert plugin.problem() == "mute: it was not ready in time; ends: Connection closed (no (secret))"


async def test_a_server_that_cannot_be_reached_is_named() -> None:
    async with connected(command="/nowhere/server") as assistant:
        (entry,) = assistant.runtime.plugin_set.toolboxes  # type: ignore[union-attr]
        assert "small: " in entry.plugin.problem()
        assert "/nowhere/server" in entry.plugin.problem()


async def test_a_server_that_may_speak_sse_is_told_apart() -> None:
    async with connected(command="", args=[], url="http://127.0.0.1:9/sse", connect_timeout=5.0) as assistant:
        (entry,) = assistant.runtime.plugin_set.toolboxes  # type: ignore[union-attr]
        assert 'transport = "sse"' in entry.plugin.problem()
        call = await ask(assistant, topics.PERSONA_TOOLS_CALL, toolbox_id="small", name="add")
        assert call["error"] == "unknown tool 'add'; small has no tools at the moment"


async def test_nothing_secret_is_in_what_went_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "very-secret-0123456789"
    monkeypatch.setenv("MCP_TOKEN", secret)
    seen: list[bytes] = []

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(await reader.readuntil(b"\r\n\r\n"))
        page = f"no {secret}".encode()
        writer.write(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: %d\r\n\r\n%s" % (len(page), page))
        writer.close()

    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")  # not for what is on this machine
    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/{secret}/sse?token={secret}"
        given = {"command": "", "args": [], "url": url, "transport": "sse", "token_variable": "MCP_TOKEN"}
        async with connected(**given) as assistant:
            (entry,) = assistant.runtime.plugin_set.toolboxes  # type: ignore[union-attr]

            async def has_failed() -> bool:
                return bool(entry.plugin.problem())

            await eventually(has_failed)
            assert f"Bearer {secret}".encode() in seen[0]
            assert "401" in entry.plugin.problem()
            assert secret not in entry.plugin.problem()


@pytest.mark.parametrize(
    "wrong",
    [
        {"command": ""},
        {"url": "http://x"},
        {"command": "", "url": "ftp://x"},
        {"command": "", "url": "http://mcp.example.com/mcp", "token_variable": "HOME"},
        {"command": "", "url": "http://mcp.example.com/mcp?api_key=1"},
    ],
)
async def test_settings_that_name_no_server_are_refused(wrong: dict[str, Any]) -> None:
    async with connected(**wrong) as assistant:
        (refusal,) = assistant.runtime.refusals
        assert "the MCP server 'small'" in refusal.reason
        assert refusal.remedy == "correct [plugins.mcp.servers.small]"
