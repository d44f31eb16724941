"""What `hark doctor` and a starting assistant say of the program that has the port of the bus."""

from __future__ import annotations

import asyncio

import pytest

from hark.app.port_holder import remedy_for_taken

_UPGRADED = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (f"{_UPGRADED}\r\n", "such as ovos-messagebus: stop it, join it with url"),
        (f"{_UPGRADED}Sec-WebSocket-Protocol: hark.2\r\n\r\n", "another Hark assistant"),
        ("HTTP/1.1 404 Not Found\r\n\r\n", "stop the process that has the port"),
        ("", "stop the process that has the port"),
    ],
)
async def test_the_program_that_has_the_port_is_named_with_the_remedy(answer: str, said: str) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer.encode())
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        remedy = await asyncio.to_thread(remedy_for_taken, "127.0.0.1", port, "/core")
    assert said in remedy
    assert "serve = false" in remedy
