"""MCP servers from the settings: each is a toolbox, with the name that the settings give it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from hark.builtin.mcp.connection import McpConnection, missing
from hark.builtin.mcp.settings import McpServer
from hark.plugins import Plugin, Tool, Toolbox
from hark.plugins.engines import Unavailable
from hark.spec import is_pipeline_id, topics

_FIRST: Final = 3.0
"""Seconds that the start of the assistant waits for servers; slower ones are there later."""

_LAST: Final = 5.0
"""Seconds in which servers end by themselves."""


class McpServers(Toolbox):
    """Connects to MCP servers; their tools are tools like all others."""

    id = "mcp"

    @dataclass(frozen=True)
    class Settings(Plugin.Settings):
        servers: dict[str, McpServer] = field(default_factory=dict)
        """The servers by name; each is a table with command and args, or url."""

    settings: Settings

    async def start(self) -> None:
        self._connections: list[McpConnection] = []
        if remedy := missing():
            raise Unavailable("mcp is not installed", remedy)
        for name, server in self.settings.servers.items():
            problem = server.problem() or ("" if is_pipeline_id(name) else "its name has letters, digits, _ and - only")
            if problem:
                raise Unavailable(f"the MCP server {name!r}: {problem}", f"correct [plugins.mcp.servers.{name}]")
        for name, server in self.settings.servers.items():
            connection = McpConnection(name, server, self.host.clock, self.host.log, self._changed)
            self._connections.append(connection)
            self.host.task(connection.run(), name)
        with suppress(TimeoutError):
            async with asyncio.timeout(_FIRST):
                for connection in self._connections:
                    await connection.tried.wait()

    async def stop(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(_LAST):
                await asyncio.gather(*(connection.close() for connection in self._connections))

    def problem(self) -> str:
        failing = [f"{one.name}: {one.failure}" for one in self._connections if one.failure]
        return "; ".join(failing)

    def toolboxes(self) -> Mapping[str, Sequence[Tool]]:
        return {connection.name: connection.tools for connection in self._connections}

    def _changed(self) -> None:
        self.host.emit(topics.TOOLS_CHANGED)
