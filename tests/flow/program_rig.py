"""A program outside: a bare websocket client that registers skills, as one in any language would."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from picows import WSFrame, WSListener, WSMsgType, WSTransport, ws_connect

from hark.bridges.ovos import OvosBridge
from hark.bus import Bus
from hark.bus.websocket import Endpoint, ServerLimits, WebSocketServer
from hark.model import SystemClock
from hark.testing import settle

PATIENCE = 20

Wire = dict[str, Any]


class Program(WSListener):
    """One connection. It knows no Hark: Messages are JSON objects."""

    def __init__(self) -> None:
        self.transport: WSTransport
        self.got: list[Wire] = []
        self.all: list[Wire] = []
        """Everything that came, in order; `next` takes Messages out of `got`."""
        self._more = asyncio.Event()
        self._closed = asyncio.Event()

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        if frame.msg_type == WSMsgType.TEXT:
            self.got.append(json.loads(frame.get_payload_as_bytes()))
            self.all.append(self.got[-1])
            self._more.set()

    def on_ws_disconnected(self, transport: WSTransport) -> None:
        self._closed.set()

    def send(self, topic: str, data: Wire | None = None, context: Wire | None = None) -> None:
        message = {"type": topic, "data": data or {}, "context": context or {}}
        self.transport.send(WSMsgType.TEXT, json.dumps(message).encode())

    def register(self, skill_id: str, intent_name: str, *samples: str, **more: Any) -> None:
        names = {"skill_id": skill_id, "intent_name": intent_name, "lang": "en-US"}
        self.send("ovos.intent.register.template", {**names, "samples": list(samples), **more})

    async def next(self, topic: str) -> Wire:
        """The next Message on a topic, taken out of what came."""
        async with asyncio.timeout(PATIENCE):
            while True:
                for number, one in enumerate(self.got):
                    if one["type"] == topic:
                        return self.got.pop(number)
                self._more.clear()
                await self._more.wait()

    async def through(self) -> None:
        """Wait until the bus has what was sent, and this program what was on the bus before."""
        self.send("test.through")
        await self.next("test.through")
        await settle()

    def speak(self, dispatch: Wire, text: str, session: Wire | None = None) -> None:
        context = {**dispatch["context"], **({"session": session} if session is not None else {})}
        self.send("ovos.utterance.speak", {"utterance": text, "lang": "en-US"}, context)

    async def kill(self) -> None:
        """Be gone without a word, as after kill -9."""
        self.transport.disconnect(graceful=False)
        async with asyncio.timeout(PATIENCE):
            await self._closed.wait()


class Outside:
    """The websocket server of an assistant. It runs in real time, whatever the clock of the assistant says."""

    def __init__(self, bus: Bus, *, ovos: bool = False) -> None:
        self.bridge = OvosBridge(bus, SystemClock(), "en-US") if ovos else None
        translators = self.bridge.translator if self.bridge is not None else None
        endpoints = [Endpoint(port=0)]
        self.server = WebSocketServer(
            bus, endpoints, ServerLimits(), SystemClock(), has_assistant=True, translators=translators
        )
        self.url = ""

    async def program(self) -> Program:
        transport, listener = await ws_connect(Program, self.url)
        assert isinstance(listener, Program)
        listener.transport = transport
        await listener.next("connected")
        return listener

    async def gone(self, left: int = 0) -> None:
        """Wait until the server has noticed that so many programs are left."""
        async with asyncio.timeout(PATIENCE):
            while len(self.server) > left:  # noqa: ASYNC110 - the network does not say when it is through
                await asyncio.sleep(0.001)
        await settle()


@asynccontextmanager
async def outside(bus: Bus, *, ovos: bool = False) -> AsyncIterator[Outside]:
    """A server on the bus of an assistant; with `ovos`, clients of OVOS are translated for."""
    served = Outside(bus, ovos=ovos)
    [served.url] = await served.server.start()
    try:
        yield served
    finally:
        await served.server.close()
        if served.bridge is not None:
            served.bridge.close()
