"""A language model that says what a test wants: an OpenAI-compatible server on this machine, with every fault."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Final, Literal, Self

Fault = Literal["none", "cut", "stall", "garbage", "huge", "endless", "not a stream", "hang up", "keep alive"]

_HUGE: Final = 2 * 1024 * 1024


@dataclass(frozen=True)
class ModelReply:
    """What the model answers to one request."""

    pieces: Sequence[str] = ()
    """Its text, in the pieces in which it is streamed."""
    tools: Sequence[tuple[str, Mapping[str, Any] | str]] = ()
    """Tools it wants called: a name, and arguments as an object, or as text that may be no JSON."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    fault: Fault = "none"
    """What goes wrong after `pieces`."""
    gate: asyncio.Event | None = None
    """If set, the rest is sent once this is set; the first piece at once."""
    chunks: Sequence[bytes] = ()
    """If any: the stream as it is sent, in these chunks, instead of `pieces` and `tools`."""


class ModelServer:
    """Serves `/v1/chat/completions` and `/v1/models`, streamed and whole. For authors of personas and tools.

        async with ModelServer() as model:
            model.says("It is warm.", "Wear a hat.")
            ...
            assert model.requests[0]["messages"][-1]["content"] == "how warm is it"

    Replies are given in the order in which they were added; when there is none, the model echoes what it got.
    """

    def __init__(self, model: str = "test-model") -> None:
        self.model = model
        self.requests: list[dict[str, Any]] = []
        """The requests as they came, decoded."""
        self.headers: list[dict[str, str]] = []
        """Their headers, with names in lower case."""
        self.closed_early = 0
        """Streams that the client closed before they had ended."""
        self._change = asyncio.Condition()
        self._replies: deque[ModelReply] = deque()
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()
        self.url = ""
        """The URL for settings, with `/v1`."""

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.close()
        for task in list(self._open):
            task.cancel()
        if self._open:
            await asyncio.wait(self._open)

    def says(self, *pieces: str) -> None:
        """Answer the next request with this text, in these pieces."""
        self.replies(ModelReply(pieces))

    def wants(self, tool: str, /, **arguments: Any) -> None:
        """Answer the next request by wanting a tool called."""
        self.replies(ModelReply(tools=[(tool, arguments)]))

    def fails(self, status: int, **headers: str) -> None:
        """Answer the next request with an error status; a header is written `retry_after="1"`."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.replies(ModelReply(status=status, headers=named))

    def breaks(self, fault: Fault, *pieces: str) -> None:
        """Answer the next request with this text, and then break."""
        self.replies(ModelReply(pieces, fault=fault))

    def replies(self, *replies: ModelReply) -> None:
        """Answer the next requests with these."""
        self._replies.extend(replies)

    async def asked(self, number: int = 1) -> None:
        """Wait until this many requests have come altogether."""
        async with self._change:
            await self._change.wait_for(lambda: len(self.requests) >= number)

    async def closed(self, number: int = 1) -> None:
        """Wait until the client has closed this many streams before they had ended."""
        async with self._change:
            await self._change.wait_for(lambda: self.closed_early >= number)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            while await self._one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._open.discard(task)
            writer.close()
            with suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Serve a request; whether the connection stays open."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        path = head[0].split(" ")[1].partition("?")[0]
        if path == "/v1/models":
            return await _whole(writer, {"object": "list", "data": [{"id": self.model, "object": "model"}]})
        if path != "/v1/chat/completions":
            return await _whole(writer, {"error": {"message": f"there is no {path} here"}}, 404)
        request = json.loads(body or b"{}")
        async with self._change:
            self.requests.append(request)
            self.headers.append(headers)
            self._change.notify_all()
        reply = self._replies.popleft() if self._replies else ModelReply([_last_words(request)])
        if reply.fault == "hang up":
            return False
        if reply.status != 200:
            text = "".join(reply.pieces) or f"refused with {reply.status}"
            error = {"error": {"message": text, "type": "test"}}
            return await _whole(writer, error, reply.status, reply.headers)
        if reply.fault == "not a stream":
            return await _whole(writer, "<html>Welcome to the portal</html>", kind="text/html")
        if request.get("stream"):
            return await self._stream(reader, writer, reply)
        message: dict[str, Any] = {"role": "assistant", "content": "".join(reply.pieces) or None}
        if reply.tools:
            message["tool_calls"] = _tool_calls(reply)
        return await _whole(writer, {"object": "chat.completion", "choices": [{"index": 0, "message": message}]})

    async def _stream(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, reply: ModelReply) -> bool:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        gone = asyncio.ensure_future(reader.read(1))  # a client says nothing more until it has the answer
        try:
            for place, piece in enumerate(reply.pieces):
                await _send(writer, _chunk({"content": piece}))
                if reply.gate is not None and place == 0:
                    await _either(reply.gate.wait(), gone)
                if gone.done():
                    await self._count_closed()
                    return False
            for chunk in reply.chunks:
                await _send(writer, chunk)
            if reply.fault != "none":
                return await self._break(writer, reply.fault, gone)
            if not reply.chunks:
                await self._finish(writer, reply)
            writer.write(b"0\r\n\r\n")
            await writer.drain()
        finally:
            gone.cancel()
            with suppress(asyncio.CancelledError, ConnectionError):
                await gone
        return False

    async def _finish(self, writer: asyncio.StreamWriter, reply: ModelReply) -> None:
        for number, call in enumerate(_tool_calls(reply)):
            await _send(writer, _chunk({"tool_calls": [{"index": number, **call}]}))
        await _send(writer, _chunk({}, "tool_calls" if reply.tools else "stop"))
        await _send(writer, b"data: [DONE]\n\n")

    async def _count_closed(self) -> None:
        async with self._change:
            self.closed_early += 1
            self._change.notify_all()

    async def _break(self, writer: asyncio.StreamWriter, fault: Fault, gone: asyncio.Future[bytes]) -> bool:
        if fault == "garbage":
            await _send(writer, b'data: {"choices": [{"delta": \x00}]}\n\nwhat is this\n\n')
            await _send(writer, b"data: [DONE]\n\n")
        elif fault == "huge":
            await _send(writer, _chunk({"content": "a" * _HUGE}))
        elif fault == "endless":
            with suppress(ConnectionError):
                while not gone.done():
                    await _send(writer, _chunk({"content": "and on and on. "}))
                    await asyncio.sleep(0)
            await self._count_closed()
        elif fault == "keep alive":
            while not gone.done():
                await _send(writer, b": nothing yet\n\n")
                await asyncio.wait((gone,), timeout=0.01)
            await self._count_closed()
        elif fault == "stall":
            await asyncio.wait((gone,))
            await self._count_closed()
        writer.transport.abort()
        return False


async def _either(one: Any, other: asyncio.Future[bytes]) -> None:
    waiting = asyncio.ensure_future(one)
    await asyncio.wait((waiting, other), return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()


async def _send(writer: asyncio.StreamWriter, data: bytes) -> None:
    writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
    await writer.drain()


async def _whole(
    writer: asyncio.StreamWriter,
    body: object,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    kind: str = "application/json",
) -> bool:
    raw = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status} Status", f"Content-Type: {kind}", f"Content-Length: {len(raw)}"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + raw)
    await writer.drain()
    return True


def _chunk(delta: Mapping[str, Any], finish_reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return b"data: " + json.dumps({"object": "chat.completion.chunk", "choices": [choice]}).encode() + b"\n\n"


def _tool_calls(reply: ModelReply) -> list[dict[str, Any]]:
    return [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)},
        }
        for number, (name, given) in enumerate(reply.tools)
    ]


def _last_words(request: Mapping[str, Any]) -> str:
    messages = request.get("messages") or [{}]
    return f"You said: {messages[-1].get('content')}"
