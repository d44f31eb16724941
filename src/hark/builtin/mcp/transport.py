"""How an MCP server is spoken to: by its standard input and output, streamable HTTP or SSE."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any, Final
from urllib.parse import urlsplit

from hark.builtin.local_network import is_this_machine
from hark.builtin.mcp.settings import McpServer

_LONGEST_ERRORS: Final = 2_000
"""Bytes that are kept of what the process of a server writes to its standard error."""


def transport_to(server: McpServer, token: str, errors: bytearray) -> Any:
    """The streams of a server, for `mcp.Client`; `errors` gets the end of what a server that is started here writes to
    its standard error.
    """
    if server.command:
        return _started(server, errors)
    headers = dict(server.headers)
    if token:
        headers["Authorization"] = f"Bearer {token}"
    if server.transport == "http":
        return _reached(server, headers)
    from mcp.client.sse import sse_client

    return sse_client(
        server.url, headers=headers, timeout=server.connect_timeout, httpx_client_factory=partial(_http, server)
    )


@asynccontextmanager
async def _started(server: McpServer, errors: bytearray) -> AsyncIterator[Any]:
    """A server that is a process of ours; the end of what it writes to its standard error is put into `errors`."""
    from mcp import StdioServerParameters, stdio_client

    parameters = StdioServerParameters(
        command=server.command,
        args=list(server.args),
        env=dict(server.env),
        cwd=server.cwd or None,
        encoding_error_handler="replace",  # one line that is no UTF-8 would end the reading of all others
    )
    loop, (reading, writing) = asyncio.get_running_loop(), os.pipe()
    os.set_blocking(reading, False)

    def take() -> None:
        with suppress(BlockingIOError):
            errors.extend(os.read(reading, 65_536))
            del errors[:-_LONGEST_ERRORS]

    loop.add_reader(reading, take)
    try:
        with os.fdopen(writing, "w") as errlog:
            async with stdio_client(parameters, errlog=errlog) as streams:
                yield streams
    finally:
        loop.remove_reader(reading)
        take()
        os.close(reading)


@asynccontextmanager
async def _reached(server: McpServer, headers: Mapping[str, str]) -> AsyncIterator[Any]:
    """A server by streamable HTTP; answers may take as long as calls may, which is bounded elsewhere."""
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    timeout = httpx2.Timeout(server.connect_timeout, read=None)
    async with (
        _http(server, dict(headers), timeout) as http,
        streamable_http_client(server.url, http_client=http) as streams,
    ):
        yield streams


def _http(server: McpServer, headers: dict[str, str] | None = None, timeout: Any = None, auth: Any = None) -> Any:
    """An HTTP client for a server; to this machine not through the proxy that is meant for the web."""
    import httpx2

    outside = not is_this_machine(urlsplit(server.url).hostname or "")
    return httpx2.AsyncClient(headers=headers, timeout=timeout, auth=auth, trust_env=outside)
