"""Chat with a language model behind an OpenAI-compatible endpoint, streamed. Needs the extra `persona`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Final, Literal
from urllib.parse import urlsplit

import msgspec

if TYPE_CHECKING:
    import httpx

Trouble = Literal[
    "address", "unreachable", "unknown_host", "certificate", "key", "not_found", "busy", "server", "cut", "stalled",
    "garbage", "too_long", "proxy", "refused", "silent",
]  # fmt: skip
"""What can go wrong; each has a sentence of its own to say."""

_ERROR_LENGTH: Final = 300
"""Characters of a server's error message that are passed on."""
_LAST_WORD: Final = 0.05
"""Seconds that a server has to end a stream after the last event."""
_LONGEST_PAGE: Final = 20_000
"""Bytes of an error page that are read."""
_LONGEST_LINE: Final = 1_000_000
"""Bytes of one event of a stream."""


class ChatError(Exception):
    """A model that could not answer: `trouble` says how, the text says it for people who operate it."""

    def __init__(self, trouble: Trouble, text: str, retry_after: float | None = None) -> None:
        super().__init__(text)
        self.trouble = trouble
        self.retry_after = retry_after
        """Seconds after which the server wants to be asked again, if it said so."""

    @property
    def may_pass(self) -> bool:
        """Whether it will help to ask elsewhere first for a while."""
        return self.trouble in ("unreachable", "busy", "server", "cut", "stalled", "proxy", "unknown_host")

    @property
    def may_pass_soon(self) -> bool:
        """Whether it may help to ask again at once."""
        return self.trouble in ("busy", "server", "cut")


@dataclass(frozen=True)
class ToolCall:
    """A tool that the model wants called."""

    id: str
    name: str
    arguments: str
    """JSON, as the model wrote it."""


@dataclass(frozen=True)
class ModelEndpoint:
    """Where a model is, and how long it may take."""

    url: str
    model: str = ""
    key: str = ""
    connect_timeout: float = 5.0
    stall_timeout: float = 30.0
    """Seconds between two pieces of an answer."""
    time_limit: float = 300.0
    """Seconds for the whole answer."""
    longest: int = 20_000
    """Characters of an answer; more is cut off."""

    @property
    def name(self) -> str:
        """The endpoint without secrets, for logs and traces."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"

    @property
    def is_here(self) -> bool:
        """Whether the endpoint is on this machine."""
        host = urlsplit(self.url).hostname or ""
        return host == "localhost" or host.startswith("127.") or host == "::1"

    def problem(self) -> str | None:
        """Why the endpoint cannot be used as it is configured, if so."""
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            return f'{self.url!r} is not the URL of an endpoint, such as "http://127.0.0.1:11434/v1"'
        if parts.username or parts.password:
            return f"the URL of {self.name} holds a password; put it into a key_file instead"
        if self.key and parts.scheme == "http" and not _is_local(parts.hostname):
            return f"the key for {self.name} would be sent unencrypted over the network; use an https URL"
        return None


class ChatClient:
    """Streams answers of one endpoint. One instance serves any number of conversations at once.

    To make one takes a while (certificates are read): best on another thread than that of the event loop.
    """

    def __init__(self, endpoint: ModelEndpoint) -> None:
        import httpx

        self.endpoint = endpoint
        self.known_models: list[str] = []
        """The models that the endpoint has, as far as is known."""
        timeout = httpx.Timeout(endpoint.stall_timeout, connect=endpoint.connect_timeout)
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=4)
        self._client = httpx.AsyncClient(timeout=timeout, limits=limits, headers={"User-Agent": "hark"})

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    @property
    def model(self) -> str:
        """The model that is asked unless another one is named: the configured one, else the first there is."""
        return self.endpoint.model or next(iter(self.known_models), "")

    async def models(self) -> list[str]:
        """The names of the models there. Raises `ChatError`."""
        async with self._opened("GET", "models") as response:
            body = await self._body(response)
        try:
            return [str(model["id"]) for model in json.loads(body)["data"]]
        except (ValueError, KeyError, TypeError):
            raise ChatError("garbage", f"{self.endpoint.name} is no OpenAI-compatible server") from None

    async def stream(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] = (), model: str = ""
    ) -> AsyncGenerator[str | ToolCall, None]:
        """The answer as it comes: pieces of text, and at the end the tools the model wants called.

        Raises `ChatError`. Closing the iterator closes the connection, so that the model stops.
        """
        request: dict[str, Any] = {"messages": list(messages), "stream": True}
        if name := model or self.model:
            request["model"] = name
        if tools:
            request["tools"] = list(tools)
        calls = _ToolCalls()
        length = 0
        now = asyncio.get_running_loop().time
        latest = now() + self.endpoint.time_limit
        async with self._opened("POST", "chat/completions", request) as response:
            kind = response.headers.get("content-type", "")
            if "event-stream" not in kind:
                sent = kind or "no content type"
                raise ChatError("garbage", f"{self.endpoint.name} answered with {sent}, not with a stream")
            async for event in _events(response):
                if now() > latest:
                    raise ChatError("too_long", f"{self.endpoint.name} took more than {self.endpoint.time_limit:g} s")
                for choice in event.choices[:1]:
                    calls.add(choice.delta.tool_calls or ())
                    if choice.delta.content:
                        length += len(choice.delta.content)
                        if length > self.endpoint.longest:
                            raise ChatError("too_long", f"the answer of {self.endpoint.name} did not end")
                        yield choice.delta.content
        for call in calls.complete():
            yield call

    @asynccontextmanager
    async def _opened(
        self, method: str, path: str, body: Mapping[str, Any] | None = None
    ) -> AsyncIterator[httpx.Response]:
        import httpx

        place = self.endpoint.name
        headers = {"Authorization": f"Bearer {self.endpoint.key}"} if self.endpoint.key else {}
        url = f"{self.endpoint.url.rstrip('/')}/{path}"
        try:
            async with self._client.stream(method, url, json=body, headers=headers) as response:
                if response.status_code != 200:
                    raise _refusal(place, response, await self._body(response))
                yield response
        except httpx.ProxyError as error:
            raise ChatError("proxy", f"the proxy on the way to {place} refused: {_text(error)}") from error
        except httpx.ConnectTimeout as error:
            raise ChatError("unreachable", f"{place} did not accept a connection in time") from error
        except httpx.ConnectError as error:
            raise _unreachable(place, error) from error
        except httpx.ReadTimeout as error:
            raise ChatError("stalled", f"{place} sent nothing for {self.endpoint.stall_timeout:g} s") from error
        except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError) as error:
            raise ChatError("cut", f"{place} broke off the answer: {_text(error)}") from error
        except httpx.HTTPError as error:
            raise ChatError("unreachable", f"{place}: {_text(error)}") from error

    async def _body(self, response: httpx.Response) -> str:
        """The beginning of an error page. A server may send back what it was sent: never the key."""
        body = b""
        async for piece in response.aiter_bytes():
            body += piece
            if len(body) > _LONGEST_PAGE:
                break
        text = body.decode(errors="replace")
        return text.replace(self.endpoint.key, "(key)") if self.endpoint.key else text


class _Function(msgspec.Struct):
    name: str | None = None
    arguments: str | None = None


class _CallPiece(msgspec.Struct):
    index: int = 0
    id: str | None = None
    function: _Function = msgspec.field(default_factory=_Function)


class _Delta(msgspec.Struct):
    content: str | None = None
    tool_calls: list[_CallPiece] | None = None


class _Choice(msgspec.Struct):
    delta: _Delta = msgspec.field(default_factory=_Delta)
    finish_reason: str | None = None


class _Event(msgspec.Struct):
    choices: list[_Choice] = msgspec.field(default_factory=list)
    error: Any = None


_NOTHING: Final = _Event()
_read_event = msgspec.json.Decoder(_Event).decode


class _ToolCalls:
    """Puts together tool calls, which come in pieces."""

    def __init__(self) -> None:
        self._calls: dict[int, list[str]] = {}

    def add(self, pieces: Sequence[_CallPiece]) -> None:
        for piece in pieces:
            call = self._calls.setdefault(piece.index, ["", "", ""])
            call[0] = call[0] or piece.id or ""
            call[1] += piece.function.name or ""
            call[2] += piece.function.arguments or ""
            if len(call[2]) > _LONGEST_LINE:
                raise ChatError("too_long", "the model wrote endless arguments for a tool")

    def complete(self) -> list[ToolCall]:
        named = [(number, call) for number, call in sorted(self._calls.items()) if call[1]]
        return [ToolCall(call[0] or f"call_{number}", call[1], call[2] or "{}") for number, call in named]


async def _events(response: httpx.Response) -> AsyncIterator[_Event]:
    """The events of a stream (server-sent events; comments and other fields are passed over)."""
    waiting = b""
    ended = False
    pieces = response.aiter_bytes()
    async for piece in pieces:
        yield _NOTHING  # so that the time is looked at, whatever it is that keeps coming
        *lines, waiting = (waiting + piece).split(b"\n")
        if len(waiting) > _LONGEST_LINE or any(len(line) > _LONGEST_LINE for line in lines):
            raise ChatError("too_long", "the model sent more in one piece than is read")
        for line in lines:
            data = line.rstrip(b"\r").removeprefix(b"data:").strip() if line.startswith(b"data:") else b""
            if data == b"[DONE]":
                # A connection that is read to its end can be used again; one that stays open is not waited for.
                with suppress(TimeoutError):
                    async with asyncio.timeout(_LAST_WORD):
                        async for _ in pieces:
                            pass
                return
            if data:
                event = _event(data)
                ended = ended or any(choice.finish_reason for choice in event.choices)
                yield event
    if not ended:
        raise ChatError("cut", "the answer broke off")


def _event(data: bytes) -> _Event:
    try:
        event = _read_event(data)
    except (msgspec.DecodeError, UnicodeError) as error:
        raise ChatError("garbage", f"the model sent what is no event of a chat: {str(error)[:100]}") from None
    if event.error:
        raise ChatError("server", f"the model reported an error: {str(event.error)[:_ERROR_LENGTH]}")
    return event


def _refusal(place: str, response: httpx.Response, body: str) -> ChatError:
    status = response.status_code
    said = f"{place} answered {status}: {_message(body)}".rstrip(": ")
    if status in (401, 403):
        return ChatError("key", said)
    if status == 404:
        return ChatError("not_found", said)
    if status == 407:
        return ChatError("proxy", said)
    if status in (408, 425, 429):
        return ChatError("busy", said, _seconds(response.headers.get("retry-after")))
    return ChatError("server", said) if status >= 500 else ChatError("refused", said)


def _unreachable(place: str, error: Exception) -> ChatError:
    text = _text(error)
    lowered = text.lower()
    if "certificate" in lowered or "ssl" in lowered or "tls" in lowered:
        return ChatError("certificate", f"the connection to {place} is not secure: {text}")
    if "name or service" in lowered or "getaddrinfo" in lowered or "nodename" in lowered or "resolution" in lowered:
        return ChatError("unknown_host", f"the name in {place} is not known: {text}")
    return ChatError("unreachable", f"{place} cannot be reached: {text}")


def _message(body: str) -> str:
    """The error message in an answer, shortened."""
    try:
        error = json.loads(body)["error"]
        body = str(error["message"] if isinstance(error, dict) else error)
    except (ValueError, KeyError, TypeError):
        pass
    return " ".join(body.split())[:_ERROR_LENGTH]


def _seconds(text: str | None) -> float | None:
    try:
        return max(0.0, float(text)) if text is not None else None
    except ValueError:
        return None  # a date: not worth waiting for


def _text(error: Exception) -> str:
    return (str(error) or type(error).__name__)[:_ERROR_LENGTH]


def _is_local(host: str) -> bool:
    """Whether a host is this machine or in the local network."""
    if host == "localhost" or host.endswith((".localhost", ".local", ".lan", ".home.arpa")) or "." not in host:
        return True
    try:
        address = ip_address(host.strip("[]"))
    except ValueError:
        return False
    return address.is_private or address.is_loopback
