"""Chat with a language model behind an OpenAI-compatible endpoint, streamed. Needs the extra `persona`."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, urljoin, urlsplit

from hark.builtin.local_network import is_local, is_secret, is_this_machine
from hark.builtin.persona.errors import ChatError, Trouble, error_message
from hark.builtin.persona.markup import AnswerReader
from hark.builtin.persona.stream import events
from hark.builtin.persona.tool_calls import ToolCall, ToolCalls

if TYPE_CHECKING:
    import httpx

_LONGEST_PAGE: Final = 20_000
"""Bytes of an error page that are read."""
_LONGEST_LIST: Final = 5_000_000
"""Bytes of a list of models; some servers have hundreds."""
_REASONS: Final[Mapping[Trouble, str]] = {
    "too_long": "length max_tokens model_length model_context_window_exceeded",
    "refused": "content_filter safety refusal recitation prohibited_content blocklist sensitive",
    "server": "error abort insufficient_system_resource network_error malformed_function_call",
}
_UNFINISHED: Final = {reason: trouble for trouble, reasons in _REASONS.items() for reason in reasons.split()}
"""Why a model ends an answer that is not complete, as servers say it."""


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
        return is_this_machine(urlsplit(self.url).hostname or "")

    def address(self, path: str) -> str:
        """The URL of something there."""
        parts = urlsplit(self.url)
        before = parts.path.rstrip("/").removesuffix("/chat/completions")
        return parts._replace(path=f"{before}/{path}", fragment="").geturl()

    def problem(self) -> str | None:
        """Why the endpoint cannot be used as it is configured, if so."""
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            return f'{self.url!r} is not the URL of an endpoint, such as "http://127.0.0.1:11434/v1"'
        if parts.username or parts.password:
            return f"the URL of {self.name} holds a password; put it into a key_file instead"
        if secret := next((name for name, _ in parse_qsl(parts.query) if is_secret(name)), ""):
            return f"the URL of {self.name} holds a key ({secret}); put it into a key_file instead"
        if self.key and parts.scheme == "http" and not is_local(parts.hostname):
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
        self._think_first: set[str] = set()
        """Models whose last answer began with a thought that only its end separated from the answer: from the next one
        nothing is said before that.
        """
        timeout = httpx.Timeout(endpoint.stall_timeout, connect=endpoint.connect_timeout)
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=4)
        # Proxies collect what they compress, so it comes late. What is said to a model on this machine is not for a
        # proxy that is meant for the web.
        headers = {"User-Agent": "hark", "Accept-Encoding": "identity"}
        self._client = httpx.AsyncClient(
            timeout=timeout, limits=limits, headers=headers, trust_env=not endpoint.is_here
        )

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    @property
    def model(self) -> str:
        """The model that is asked unless another one is named: the configured one, else the first there is."""
        return self.endpoint.model or next(iter(self.known_models), "")

    async def models(self) -> list[str]:
        """The names of the models there. Raises `ChatError`.

        A URL of nothing but a host is completed by `/v1`, where it has them there and nowhere else.
        """
        try:
            return await self._models()
        except ChatError as error:
            parts = urlsplit(self.endpoint.url)
            if error.trouble != "not_found" or parts.path.strip("/"):
                raise
            given = self.endpoint
            self.endpoint = replace(given, url=parts._replace(path="/v1").geturl())
            try:
                return await self._models()
            except ChatError:
                self.endpoint = given
                raise error from None

    async def _models(self) -> list[str]:
        async with self._opened("GET", "models") as response:
            body = await self._body(response, _LONGEST_LIST)
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
        name = model or self.model
        if name:
            request["model"] = name
        if tools:
            request["tools"] = list(tools)
        calls = ToolCalls()
        described = {tool["function"]["name"]: tool["function"]["parameters"]["properties"] for tool in tools}
        reader = AnswerReader(calls, described, held=name in self._think_first)
        length = 0
        async with (
            self._opened("POST", "chat/completions", request) as response,
            aclosing(self._texts(response, calls)) as pieces,
        ):
            async for piece in pieces:
                if text := reader.read(piece):
                    length += len(text)
                    if length > self.endpoint.longest:
                        raise ChatError("too_long", f"the answer of {self.endpoint.name} did not end")
                    yield text
        if text := reader.rest():
            yield text
        if reader.thinks_first:
            self._think_first.add(name)
        else:
            self._think_first.discard(name)
        for call in calls.complete():
            yield call

    async def _texts(self, response: httpx.Response, calls: ToolCalls) -> AsyncGenerator[str, None]:
        """The pieces of text in a response; what it has of tool calls is added to `calls`."""
        place, now = self.endpoint.name, asyncio.get_running_loop().time
        latest = now() + self.endpoint.time_limit
        kind = response.headers.get("content-type", "")
        if "html" in kind.lower():
            raise ChatError("garbage", f"{place} answered with {kind}, not with a stream")
        reason, begun = "", False
        async for event in events(response):
            if now() > latest:
                raise ChatError("too_long", f"{place} took more than {self.endpoint.time_limit:g} s")
            reason = event.finish_reason or reason
            if event.is_whole and begun:
                continue
            begun = begun or bool(event.text or event.tool_calls)
            calls.add(event.tool_calls)
            if event.text:
                yield event.text
        if trouble := _UNFINISHED.get(reason.lower()):
            raise ChatError(trouble, f"{place} ended the answer early: {reason}")

    @asynccontextmanager
    async def _opened(
        self, method: str, path: str, body: Mapping[str, Any] | None = None
    ) -> AsyncIterator[httpx.Response]:
        import httpx

        place = self.endpoint.name
        headers = {"Authorization": f"Bearer {self.endpoint.key}"} if self.endpoint.key else {}
        url = self.endpoint.address(path)
        try:
            async with self._client.stream(method, url, json=body, headers=headers) as response:
                if response.status_code != 200:
                    raise _refusal(place, response, await self._body(response))
                yield response
        except ChatError as error:
            error.shorten(self.endpoint.key)
            raise
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
        except httpx.DecodingError as error:
            raise ChatError("garbage", f"what {place} sent is not compressed as it says: {_text(error)}") from error
        except httpx.HTTPError as error:
            raise ChatError("unreachable", f"{place}: {_text(error)}") from error

    async def _body(self, response: httpx.Response, longest: int = _LONGEST_PAGE) -> str:
        """The beginning of a page."""
        body = b""
        async for piece in response.aiter_bytes():
            body += piece
            if len(body) > longest:
                break
        return body.decode(errors="replace")


def _refusal(place: str, response: httpx.Response, body: str) -> ChatError:
    status = response.status_code
    said = f"{place} answered {status}: {_message(body)}".rstrip(": ")
    if response.is_redirect:
        there = urlsplit(urljoin(str(response.url), response.headers.get("location", "")))
        return ChatError("refused", f"{place} redirects to {there.scheme}://{there.netloc}, which is not followed")
    if status in (401, 403):
        return ChatError("key", said)
    if status == 404:
        v1 = "" if "/v1" in response.url.path else "; does the endpoint have to end with /v1?"
        return ChatError("not_found", said + v1)
    if status == 407:
        return ChatError("proxy", said)
    if status in (408, 425, 429):
        return ChatError("busy", said, _seconds(response.headers.get("retry-after")))
    if status < 300:
        return ChatError("garbage", said)
    return ChatError("server" if status >= 500 else "refused", said, status=status)


def _unreachable(place: str, error: Exception) -> ChatError:
    text = _text(error)
    lowered = text.lower()
    if "certificate" in lowered or "ssl" in lowered or "tls" in lowered:
        return ChatError("certificate", f"the connection to {place} is not secure: {text}")
    if "name or service" in lowered or "getaddrinfo" in lowered or "nodename" in lowered or "resolution" in lowered:
        return ChatError("unknown_host", f"the name in {place} is not known: {text}")
    return ChatError("unreachable", f"{place} cannot be reached: {text}")


def _message(body: str) -> str:
    """The error message in an answer."""
    try:
        return error_message(json.loads(body))
    except (ValueError, RecursionError):
        return error_message(body)


def _seconds(text: str | None) -> float | None:
    """The seconds of a `Retry-After`, which is a number or a date."""
    try:
        return max(0.0, float(text)) if text else None
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(text or "").timestamp() - time.time())
    except ValueError:
        return None


def _text(error: Exception) -> str:
    return (str(error) or type(error).__name__)[:300]
