"""The connection to one MCP server: kept up, its tools followed, its calls bounded."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import partial
from importlib import import_module
from logging import CRITICAL, Logger, getLogger
from pathlib import Path
from typing import Any, Final, Literal, cast
from urllib.parse import parse_qsl, urlsplit

from hark.builtin.local_network import is_local, is_secret, is_this_machine
from hark.hints import install_extra
from hark.plugins import Clock, Tool

_FIRST_WAIT: Final = 1.0
_LONGEST_WAIT: Final = 60.0
"""Seconds between two attempts to reach a server, at first and at most."""
_MOST_TOOLS: Final = 500
_MOST_PAGES: Final = 20
_LONGEST_TEXT: Final = 100_000
"""Characters of a result."""
_LONGEST_ERRORS: Final = 2_000
"""Bytes that are kept of what the process of a server writes to its standard error."""
_LONGEST_LINE: Final = 200
"""Characters of it that are shown."""
_SHORTEST_SECRET: Final = 6
"""Characters; what is shorter is no secret, and may be in any text."""
_LOST: Final = 15.0
"""Seconds between two checks whether the server is still there."""


@dataclass(frozen=True)
class McpServer:
    """The table `[plugins.mcp.servers.<name>]`: a command that is started here, or the URL of a server."""

    command: str = ""
    """The program of a server that is started here and spoken to by its standard input and output."""
    args: tuple[str, ...] = ()
    """Its arguments."""
    env: dict[str, str] = field(default_factory=dict)
    """Its environment, beside PATH, HOME and the like: nothing else of ours is passed on."""
    cwd: str = ""
    """The folder it is started in."""
    url: str = ""
    """Or the URL of a server that runs."""
    transport: Literal["http", "sse"] = "http"
    """How that server speaks: streamable HTTP, or the older SSE."""
    headers: dict[str, str] = field(default_factory=dict)
    """Headers of requests to it."""
    token_file: str = ""
    """A file with a token, which is sent as `Authorization: Bearer ...`."""
    token_variable: str = ""
    """Or the environment variable that holds it."""
    only: tuple[str, ...] = ()
    """If any: the tools that are used; `*` is any text."""
    never: tuple[str, ...] = ()
    """Tools that are not used."""
    dangerous: tuple[str, ...] = ()
    """Tools that a persona asks the user about before it calls them, beside those that the server calls destructive."""
    timeout: float = 30.0
    """Seconds that a call may take."""
    connect_timeout: float = 20.0
    """Seconds in which the server has to be ready."""

    def problem(self) -> str:
        """What is wrong with these settings; empty if nothing is."""
        if bool(self.command) == bool(self.url):
            return "it needs either a command or a url"
        parts = urlsplit(self.url)
        if self.url and (parts.scheme not in ("http", "https") or not parts.hostname):
            return f"{self.url!r} is no http or https URL"
        named = [*self.headers, *(name for name, _ in parse_qsl(parts.query))]
        sends_secret = self.token_file or self.token_variable or any(map(is_secret, named))
        if sends_secret and parts.scheme == "http" and not is_local(parts.hostname or ""):
            return "its token would be sent unencrypted over the network; use an https URL"
        return ""

    def token(self) -> str:
        """The token for its requests; raises `OSError` or `LookupError` where there should be one and is none."""
        if self.token_variable:
            token = os.environ.get(self.token_variable, "")
            if not token:
                raise LookupError(f"the environment variable {self.token_variable} holds no token")
            return token.strip()
        return Path(self.token_file).expanduser().read_text().strip() if self.token_file else ""


class McpError(Exception):
    """A server could not do what it was asked for."""


class McpConnection:
    """Reaches a server, and reaches it again when it is lost."""

    def __init__(self, name: str, server: McpServer, clock: Clock, log: Logger, changed: Callable[[], None]) -> None:
        self.name = name
        self.tools: Sequence[Tool] = ()
        self.failure = ""
        """Why it is not connected, if it is not."""
        self._server = server
        self._clock = clock
        self._log = log
        self._changed = changed
        self._client: Any = None
        self._doubt = asyncio.Event()
        """Set when it is to be found out at once whether the server is still there."""
        self.tried = asyncio.Event()
        """Set when the first attempt has succeeded or failed."""
        self._was_connected = False
        self._token = ""
        self._errors = bytearray()
        """The end of what the process of the server wrote to its standard error."""
        self._closing = asyncio.Event()
        self._ended = asyncio.Event()

    async def close(self) -> None:
        """Leave the server, and have it end if it was started here."""
        self._closing.set()
        self._doubt.set()
        await self._ended.wait()

    async def run(self) -> None:
        """Stay connected until closed."""
        await asyncio.to_thread(import_module, "mcp")  # it takes a second, and others have to go on meanwhile
        getLogger("mcp").setLevel(CRITICAL)  # it logs what servers send, secrets and all; failures are reported here
        wait = _FIRST_WAIT
        try:
            while not self._closing.is_set():
                wait = await self._attempt(wait)
        finally:
            self._ended.set()

    async def _attempt(self, wait: float) -> float:
        """Connect, and stay connected as long as it lasts; seconds to wait before the attempt after the next."""
        self._was_connected = False
        self._errors.clear()
        try:
            await self._stay_connected()
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001 - the library raises groups of whatever happened
            if self._closing.is_set():
                return wait
            wait = _FIRST_WAIT if self._was_connected else wait
            said = self._errors.decode(errors="replace").strip().rpartition("\n")[2][:_LONGEST_LINE]
            self.failure = self._reason(error) + (f" ({self._without_secrets(said)})" if said else "")
            self._log.warning("the MCP server %s: %s; trying again in %g s", self.name, self.failure, wait)
        finally:
            self._client = None
            had, self.tools = self.tools, ()
            if had:
                self._changed()
        self.tried.set()
        with suppress(TimeoutError):
            async with self._clock.timeout(wait):
                await self._closing.wait()
        return min(wait * 2, _LONGEST_WAIT)

    async def _stay_connected(self) -> None:
        from mcp import Client

        client = Client(
            self._transport(),
            read_timeout_seconds=self._server.timeout,
            message_handler=self._notified,
            mode="legacy" if self._server.transport == "sse" and self._server.url else "auto",
        )
        async with asyncio.timeout(self._server.connect_timeout) as starting:
            async with client:
                self._client = client
                await self.list_tools()
                starting.reschedule(None)
                self.failure = ""
                self._was_connected = True
                self.tried.set()
                self._log.info("the MCP server %s has %d tools", self.name, len(self.tools))
                self._changed()
                following = asyncio.ensure_future(self._follow(client))
                try:
                    while not self._closing.is_set():
                        with suppress(TimeoutError):
                            async with self._clock.timeout(_LOST):
                                await self._doubt.wait()
                        self._doubt.clear()
                        async with asyncio.timeout(self._server.connect_timeout):
                            await self.list_tools()  # a server that is gone does not say so
                finally:
                    following.cancel()

    async def _follow(self, client: Any) -> None:
        """Follow changes of the tools where the server sends events; older ones send notifications."""
        from mcp.client.subscriptions import ListenNotSupportedError

        try:
            async with client.listen(tools_list_changed=True) as events:
                async for _ in events:
                    await self.list_tools()
                    self._changed()
        except ListenNotSupportedError:
            return
        except Exception as error:  # noqa: BLE001 - it is not offered, or the connection broke, which shows elsewhere
            self._log.debug("the MCP server %s sends no events: %s", self.name, self._reason(error))

    def _transport(self) -> Any:
        server = self._server
        if server.command:
            return _started(server, self._errors)
        headers, self._token = dict(server.headers), server.token()
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        if server.transport == "sse":
            from mcp.client.sse import sse_client

            return sse_client(
                server.url, headers=headers, timeout=server.connect_timeout, httpx_client_factory=partial(_http, server)
            )
        return _reached(server, headers)

    async def _notified(self, message: Any) -> None:
        if isinstance(
            message, Exception
        ):  # such as a line that is no message; a connection that is lost shows elsewhere
            self._log.debug("the MCP server %s: %s", self.name, self._reason(message))
            return
        method = getattr(message, "method", None) or getattr(getattr(message, "root", None), "method", None)
        if method == "notifications/tools/list_changed":
            await self.list_tools()
            self._changed()

    def _reason(self, error: BaseException) -> str:
        """What went wrong, without what is secret in the settings of the server."""
        while isinstance(error, BaseExceptionGroup) and error.exceptions:
            error = error.exceptions[0]
        if isinstance(error, TimeoutError):
            return "it was not ready in time"
        return self._without_secrets(str(error) or type(error).__name__)

    def _without_secrets(self, text: str) -> str:
        if self._server.url:
            parts = urlsplit(self._server.url)
            text = text.replace(self._server.url, f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}")
        for secret in (self._token, *self._server.headers.values(), *self._server.env.values()):
            text = text.replace(secret, "(secret)") if len(secret) >= _SHORTEST_SECRET else text
        return text

    async def list_tools(self) -> None:
        """Read the list of tools from the server, if it is connected."""
        if self._client is None:
            return
        found: list[Any] = []
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            page = await self._client.list_tools(cursor=cursor, cache_mode="bypass")
            found += page.tools
            cursor = page.next_cursor
            if not cursor or len(found) >= _MOST_TOOLS:
                break
        only, never = self._server.only, self._server.never
        self.tools = [
            self._tool(one)
            for one in found[:_MOST_TOOLS]
            if (not only or _is_one_of(one.name, only)) and not _is_one_of(one.name, never)
        ]

    def _tool(self, described: Any) -> Tool:
        from jsonschema.validators import validator_for  # type: ignore[import-untyped]
        from referencing import Registry

        takes = cast("Mapping[str, Any]", described.input_schema)
        gives: Mapping[str, Any] = described.output_schema or {}
        hints = described.annotations
        # With a registry of its own, nothing that a schema refers to is fetched from anywhere.
        arguments = validator_for(takes)(takes, registry=Registry())
        results = validator_for(gives)(gives, registry=Registry())
        # A hint may only make a tool more dangerous; one that changes things is destructive unless it says otherwise.
        destructive = hints is not None and (
            hints.destructive_hint is True or (hints.read_only_hint is False and hints.destructive_hint is None)
        )

        def check_arguments(given: Mapping[str, Any]) -> Mapping[str, Any]:
            plain = _thawed(given)
            _check(arguments, plain)
            return {"arguments": plain}

        def check_result(result: Any) -> Any:
            _check(results, result)
            return result

        return Tool(
            described.name,
            described.description or described.title or described.name,
            takes,
            gives,
            partial(self.call, described.name),
            check_arguments,
            check_result,
            destructive or _is_one_of(described.name, self._server.dangerous),
            self._server.timeout + 1.0,
        )

    async def call(self, name: str, arguments: dict[str, Any]) -> Any:
        """What a tool answers: its structured content, else its texts."""
        client = self._client
        if client is None:
            raise McpError(f"the MCP server {self.name} is not connected: {self.failure or 'it is starting'}")
        try:
            async with asyncio.timeout(self._server.timeout):
                result = await client.call_tool(name, arguments)
        except TimeoutError:
            raise McpError(f"no answer within {self._server.timeout:g} s") from None
        except Exception as error:  # noqa: BLE001 - transports raise what their libraries do
            self._doubt.set()
            raise McpError(self._reason(error)) from None
        texts = [_text(content) for content in result.content]
        if result.is_error:
            raise McpError(self._without_secrets(" ".join(texts))[:2_000] or "the tool failed")
        if result.structured_content is not None:
            return result.structured_content
        return "\n".join(texts)[:_LONGEST_TEXT]


@asynccontextmanager
async def _started(server: McpServer, errors: bytearray) -> AsyncIterator[Any]:
    """A server that is a process of ours; the end of what it writes to its standard error is put into `errors`."""
    from mcp import StdioServerParameters, stdio_client

    parameters = StdioServerParameters(
        command=server.command, args=list(server.args), env=dict(server.env), cwd=server.cwd or None
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


def missing() -> str:
    """What to install, if the library is not there."""
    from importlib.util import find_spec

    return "" if find_spec("mcp") is not None else install_extra("mcp")


def _check(validator: Any, value: Any) -> None:
    error = next(iter(validator.iter_errors(value)), None)
    if error is not None:
        place = ".".join(map(str, error.absolute_path))
        raise ValueError(f"{place}: {error.message}" if place else error.message)


def _text(content: Any) -> str:
    """A piece of a result as text; what is no text is named."""
    if content.type == "text":
        return str(content.text)
    if content.type == "resource" and getattr(content.resource, "text", None):
        return str(content.resource.text)
    return f"({content.type})"


def _is_one_of(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _thawed(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _thawed(one) for key, one in value.items()}
    return [_thawed(one) for one in value] if isinstance(value, (tuple, list)) else value
