"""The answer of a language model as it comes over the network: events with pieces of text and of tool calls."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

if TYPE_CHECKING:
    import httpx

Trouble = Literal[
    "address", "unreachable", "unknown_host", "certificate", "key", "not_found", "busy", "server", "cut", "stalled",
    "garbage", "too_long", "proxy", "refused", "silent",
]  # fmt: skip
"""What can go wrong; each has a sentence of its own to say."""

_LONGEST_ERROR: Final = 400
"""Characters of an error that are passed on."""
_LAST_WORD: Final = 0.05
"""Seconds that a server has to end a stream after the last event."""
_LONGEST_LINE: Final = 1_000_000
"""Bytes of one event of a stream."""
_LONGEST_CALLS: Final = 1_000_000
"""Characters of all tool calls of an answer."""
_MOST_CALLS: Final = 256


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

    @property
    def may_be_about_tools(self) -> bool:
        """Whether it may help to ask without tools: not every model takes them, and they make a request long."""
        return self.trouble == "refused" or (self.trouble == "server" and "tool" in str(self).lower())

    def shorten(self, key: str) -> None:
        """Cut the text, and take the key out first: a server may have sent back what it was sent."""
        text = str(self).replace(key, "(key)") if key else str(self)
        self.args = (text[:_LONGEST_ERROR],)


@dataclass(frozen=True)
class ToolCall:
    """A tool that the model wants called."""

    id: str
    name: str
    arguments: str
    """JSON, as the model wrote it."""


class _Function(msgspec.Struct):
    name: str | None = None
    arguments: str | dict[str, Any] | None = None


class _CallPiece(msgspec.Struct):
    index: int | None = None
    id: str | None = None
    function: _Function | None = None


class _Delta(msgspec.Struct):
    content: str | list[Any] | None = None
    refusal: str | None = None
    """What the model says instead of an answer, where a server keeps the two apart."""
    tool_calls: list[_CallPiece] | None = None


class _Choice(msgspec.Struct):
    delta: _Delta | None = None
    message: _Delta | None = None
    """The whole answer, of a server that does not stream."""
    finish_reason: str | None = None


class ChatEvent(msgspec.Struct):
    """One event of a stream. Servers leave out, or set to null, whatever they have nothing for."""

    choices: list[_Choice] | None = None
    error: Any = None

    @property
    def _delta(self) -> _Delta:
        choice = self.choices[0] if self.choices else None
        return (choice and (choice.delta or choice.message)) or _NO_DELTA

    @property
    def text(self) -> str:
        """The piece of the answer that it brings."""
        content = self._delta.content
        if isinstance(content, list):  # parts, of which some are thoughts
            return "".join(part["text"] for part in content if _is_text(part))
        return content or self._delta.refusal or ""

    @property
    def tool_calls(self) -> Sequence[_CallPiece]:
        """The pieces of tool calls that it brings."""
        return self._delta.tool_calls or ()

    @property
    def is_last(self) -> bool:
        """Whether the model says that the answer is complete."""
        return any(choice.finish_reason for choice in self.choices or ())


_NO_DELTA: Final = _Delta()
_NOTHING: Final = ChatEvent()
_read_event = msgspec.json.Decoder(ChatEvent, strict=False).decode


def _is_text(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type", "text") == "text" and isinstance(part.get("text"), str)


class _Call(msgspec.Struct):
    id: str
    name: str
    arguments: str

    @property
    def is_complete(self) -> bool:
        """Whether the arguments are whole; only asked where a server does not number its calls."""
        try:
            msgspec.json.decode(self.arguments)
        except (msgspec.DecodeError, RecursionError):
            return False
        return True


class ToolCalls:
    """Puts together tool calls, which come in pieces."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._numbered: dict[int, _Call] = {}
        self._size = 0

    def add(self, pieces: Sequence[_CallPiece]) -> None:
        """Take in the pieces of one event."""
        for piece in pieces:
            function = piece.function or _Function()
            name, given = function.name or "", function.arguments or ""
            call = self._call_of(piece, name)
            call.id = call.id or piece.id or ""
            if call.name != name:  # some servers say it with every piece
                call.name += name
            added = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
            call.arguments += added
            self._size += len(added) + len(name)
            if self._size > _LONGEST_CALLS or len(self._calls) > _MOST_CALLS:
                raise ChatError("too_long", "the model wanted tools without end")

    def _call_of(self, piece: _CallPiece, name: str) -> _Call:
        """The call that a piece belongs to. Some servers give no number, or the same to every call."""
        latest = self._calls[-1] if self._calls else None
        call = latest if piece.index is None else self._numbered.get(piece.index)
        if call is not None and name and call.name:
            another = piece.id != call.id if piece.id and call.id else call.is_complete
            call = None if another else call
        if call is None:
            call = _Call("", "", "")
            self._calls.append(call)
            if piece.index is not None:
                self._numbered[piece.index] = call
        return call

    def complete(self) -> list[ToolCall]:
        """The calls, in the order in which they were begun."""
        named = [(number, call) for number, call in enumerate(self._calls) if call.name]
        return [ToolCall(call.id or f"call_{number}", call.name, call.arguments or "{}") for number, call in named]


async def events(response: httpx.Response) -> AsyncIterator[ChatEvent]:
    """The events of a stream (server-sent events; comments and other fields are passed over). Raises `ChatError`."""
    import httpx

    ended = False
    lines = _lines(response.aiter_bytes())
    async for line in lines:
        data = _data(line)
        if data == b"[DONE]":
            # A connection that is read to its end can be used again; one that stays open is not waited for, and how
            # one ends does not matter any more.
            with suppress(TimeoutError, httpx.HTTPError):
                async with asyncio.timeout(_LAST_WORD):
                    async for _ in lines:
                        pass
            return
        event = read_event(data) if data else _NOTHING
        ended = ended or event.is_last
        yield event  # also an empty one, so that the time is looked at, whatever it is that keeps coming
    if not ended:
        raise ChatError("cut", "the answer broke off")


async def _lines(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The lines of a stream. An empty one for every piece too: what comes without an end of a line is noticed."""
    waiting = b""
    async for piece in pieces:
        yield b""
        *lines, waiting = (waiting + piece).replace(b"\r", b"\n").split(b"\n")
        if len(waiting) > _LONGEST_LINE or any(len(line) > _LONGEST_LINE for line in lines):
            raise ChatError("too_long", "the model sent more in one piece than is read")
        for line in lines:
            yield line
    yield waiting


def _data(line: bytes) -> bytes:
    """What an event has in a line; some versions of llama.cpp name the field of an error `error`."""
    field, colon, value = line.partition(b":")
    if colon and field in (b"data", b"\xef\xbb\xbfdata"):
        return value.strip()
    return b'{"error":' + value + b"}" if colon and field == b"error" else b""


def read_event(data: bytes) -> ChatEvent:
    """An event, or an answer that was not streamed. Raises `ChatError` where it is neither, or reports an error."""
    try:
        try:
            event = _read_event(data)
        except UnicodeDecodeError:
            event = _read_event(data.decode(errors="replace"))
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise ChatError("garbage", f"the model sent what is no event of a chat: {str(error)[:100]}") from None
    if event.error:
        raise ChatError("server", f"the model reported an error: {_error_message(event.error)}")
    return event


def _error_message(error: Any) -> str:
    message = error.get("message") if isinstance(error, dict) else error
    return " ".join(str(message or error).split())
