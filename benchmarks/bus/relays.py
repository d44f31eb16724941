"""The barest relay that each library allows: `relays.py LIBRARY PORT`. What comes from one goes to all."""

from __future__ import annotations

import asyncio
import sys
from typing import Any


async def with_picows(port: int) -> None:
    from picows import WSListener, WSMsgType, ws_create_server

    connected: set[Any] = set()

    class Client(WSListener):
        def on_ws_connected(self, transport: Any) -> None:
            connected.add(transport)

        def on_ws_disconnected(self, transport: Any) -> None:
            connected.discard(transport)

        def on_ws_frame(self, transport: Any, frame: Any) -> None:
            if frame.msg_type == WSMsgType.TEXT:
                payload = frame.get_payload_as_bytes()
                for other in connected:
                    other.send(WSMsgType.TEXT, payload)

    await ws_create_server(lambda _request: Client(), "127.0.0.1", port)
    await asyncio.Event().wait()


async def with_websockets(port: int) -> None:
    from websockets.asyncio.server import broadcast, serve

    connected: set[Any] = set()

    async def client(connection: Any) -> None:
        connected.add(connection)
        try:
            async for message in connection:
                broadcast(connected, message)
        finally:
            connected.discard(connection)

    async with serve(client, "127.0.0.1", port, compression=None):
        await asyncio.Event().wait()


async def with_aiohttp(port: int) -> None:
    from aiohttp import WSMsgType, web

    connected: set[Any] = set()

    async def client(request: Any) -> Any:
        connection = web.WebSocketResponse(compress=False)
        await connection.prepare(request)
        connected.add(connection)
        try:
            async for message in connection:
                if message.type == WSMsgType.TEXT:
                    for other in list(connected):
                        await other.send_str(message.data)
        finally:
            connected.discard(connection)
        return connection

    app = web.Application()
    app.router.add_get("/core", client)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    await asyncio.Event().wait()


if __name__ == "__main__":
    name, _, loop = sys.argv[1].partition("+")
    work = {"picows": with_picows, "websockets": with_websockets, "aiohttp": with_aiohttp}[name](int(sys.argv[2]))
    if loop == "uvloop":
        import uvloop

        uvloop.run(work)
    else:
        asyncio.run(work)
