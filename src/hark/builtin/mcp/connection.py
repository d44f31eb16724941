"""The connection to one MCP server: kept up, its tools followed, its calls bounded."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import partial
from importlib import import_module
from logging import CRITICAL, Logger, getLogger
from typing import Any, Final, cast
from urllib.parse import urlsplit

from hark.builtin.mcp.settings import McpServer
from hark.builtin.mcp.transport import transport_to
from hark.hints import install_extra
from hark.model import thaw
from hark.plugins import Clock, Tool

_FIRST_WAIT: Final = 1.0
_LONGEST_WAIT: Final = 60.0
"""Seconds between two attempts to reach a server, at first and at most."""
_MOST_TOOLS: Final = 500
_MOST_PAGES: Final = 20
_LONGEST_TEXT: Final = 100_000
"""Characters of a result."""
_LONGEST_LINE: Final = 200
"""Characters that are shown of what the process of a server writes to its standard error."""
_SHORTEST_SECRET: Final = 6
"""Characters; what is shorter is no secret, and may be in any text."""
_LOST: Final = 15.0
"""Seconds between two checks whether the server is still there."""


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
        self._look_again = asyncio.Event()
        """Set when its tools are to be listed at once: they have changed, or it may be gone."""
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
        self._look_again.set()
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
            if self._server.may_speak_sse:
                self.failure += '; if this server speaks SSE, write: transport = "sse"'
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

        self._token = self._server.token() if self._server.url else ""
        client = Client(
            transport_to(self._server, self._token, self._errors),
            read_timeout_seconds=self._server.timeout,
            message_handler=self._notified,
            mode="legacy" if self._server.transport == "sse" and self._server.url else "auto",
        )
        async with asyncio.timeout(self._server.connect_timeout) as starting:
            async with client:
                self._client = client
                await self._list_tools()
                starting.reschedule(None)
                self.failure = ""
                self._was_connected = True
                self.tried.set()
                self._log.info("the MCP server %s has %d tools", self.name, len(self.tools))
                self._changed()
                following = asyncio.ensure_future(self._follow(client))
                try:
                    await self._keep_looking()
                finally:
                    following.cancel()

    async def _keep_looking(self) -> None:
        """List the tools again and again, until it is closed: a server that is gone does not say so."""
        while True:
            with suppress(TimeoutError):
                async with self._clock.timeout(_LOST):
                    await self._look_again.wait()
            self._look_again.clear()
            if self._closing.is_set():
                return
            known = [tool.definition(self.name) for tool in self.tools]
            async with asyncio.timeout(self._server.connect_timeout):
                await self._list_tools()
            if known != [tool.definition(self.name) for tool in self.tools]:
                self._changed()

    async def _follow(self, client: Any) -> None:
        """Follow changes of the tools where the server sends events; older ones send notifications."""
        from mcp.client.subscriptions import ListenNotSupportedError

        try:
            async with client.listen(tools_list_changed=True) as events:
                async for _ in events:
                    self._look_again.set()
        except ListenNotSupportedError:
            return
        except Exception as error:  # noqa: BLE001 - it is not offered, or the connection broke, which shows elsewhere
            self._log.debug("the MCP server %s sends no events: %s", self.name, self._reason(error))

    async def _notified(self, message: Any) -> None:
        if isinstance(message, Exception):  # such as a line that is no message; a lost connection shows elsewhere
            self._log.debug("the MCP server %s: %s", self.name, self._reason(message))
            return
        method = getattr(message, "method", None) or getattr(getattr(message, "root", None), "method", None)
        if method == "notifications/tools/list_changed":
            self._look_again.set()

    def _reason(self, error: BaseException) -> str:
        """What went wrong, without what is secret in the settings of the server."""
        while isinstance(error, BaseExceptionGroup) and error.exceptions:
            error = error.exceptions[0]
        if isinstance(error, TimeoutError):
            return "it was not ready in time"
        text = str(error) or type(error).__name__
        if isinstance(error, ValueError) and callable(found := getattr(error, "errors", None)):  # of pydantic
            first = found()[0]
            text = f"it sent what MCP does not allow: {'.'.join(map(str, first['loc']))}: {first['msg']}"
        return self._without_secrets(" ".join(text.split()))

    def _without_secrets(self, text: str) -> str:
        if self._server.url:
            parts = urlsplit(self._server.url)
            text = text.replace(self._server.url, f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}")
        for secret in (self._token, *self._server.headers.values(), *self._server.env.values()):
            text = text.replace(secret, "(secret)") if len(secret) >= _SHORTEST_SECRET else text
        return text

    async def _list_tools(self) -> None:
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
        if (cursor or len(found) > _MOST_TOOLS) and not self.tools:
            self._log.warning(
                "the MCP server %s lists more tools than the first %d, which are used", self.name, _MOST_TOOLS
            )
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
            plain = thaw(given)
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
            self._look_again.set()
            raise McpError(self._reason(error)) from None
        texts = [_text(content) for content in result.content]
        if result.is_error:
            raise McpError(self._without_secrets(" ".join(texts))[:2_000] or "the tool failed")
        if result.structured_content is not None:
            return result.structured_content
        return "\n".join(texts)[:_LONGEST_TEXT]


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
    about = content.resource if content.type == "resource" else content
    if isinstance(text := getattr(about, "text", None), str):
        return text
    named = (getattr(about, key, None) for key in ("title", "name", "description", "mime_type", "uri"))
    return f"({', '.join([content.type.replace('_', ' '), *(str(one) for one in named if one)])})"


def _is_one_of(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
