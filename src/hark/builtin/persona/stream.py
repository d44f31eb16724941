"""The answer of a language model as it comes over the network: events with pieces of text and of tool calls."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import msgspec

from hark.builtin.persona.errors import ChatError, error_message
from hark.builtin.persona.tool_calls import CallFunction, CallPiece

if TYPE_CHECKING:
    import httpx

_AFTER_THE_END: Final = 1.0
"""Seconds that a server has to say more once the model has said that the answer is complete."""
_LAST_WORD: Final = 0.05
"""Seconds that a server has to end a stream after the last event."""
_LONGEST_LINE: Final = 1_000_000
"""Bytes of one event of a stream."""
_BLANK: Final = b"\xef\xbb\xbf \t"
"""What may be before a line, the mark of the byte order among them."""
_LINE_END: Final = re.compile(rb"\r\n|\r|\n")
_OTHER_FIELDS: Final = (b"", b"event", b"id", b"retry")
_HALF: Final = re.compile(rb"\\u[dD][89abAB]..(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB]..)\\u[dD][c-fC-F]..", re.DOTALL)
"""Half a character, as a JSON text can have it."""


class _Delta(msgspec.Struct):
    content: Any = None
    """Text; of some servers, a list of parts."""
    refusal: str | None = None
    """What the model says instead of an answer, where a server keeps the two apart."""
    tool_calls: list[CallPiece] | CallPiece | None = None
    function_call: CallFunction | None = None
    """A single call, as it was written before there were `tool_calls`."""


class _Choice(msgspec.Struct):
    delta: _Delta | None = None
    message: _Delta | None = None
    """The whole answer, of a server that does not stream, or says it again at the end of a stream."""
    finish_reason: Any = None
    error: Any = None


class ChatEvent(msgspec.Struct):
    """One event of a stream. Servers leave out, or set to null, whatever they have nothing for."""

    choices: list[_Choice] | None = None
    error: Any = None
    message: Any = None
    detail: Any = None
    """The error, of servers that do not name it `error`."""

    @property
    def _choice(self) -> _Choice:
        return self.choices[0] if self.choices else _NO_CHOICE

    @property
    def _delta(self) -> _Delta:
        return self._choice.delta or self._choice.message or _NO_DELTA

    @property
    def is_whole(self) -> bool:
        """Whether it brings the whole answer, not a piece of it."""
        return self._choice.delta is None and self._choice.message is not None

    @property
    def text(self) -> str:
        """The piece of the answer that it brings."""
        return _text(self._delta.content) or self._delta.refusal or ""

    @property
    def tool_calls(self) -> Sequence[CallPiece]:
        """The pieces of tool calls that it brings."""
        calls, called = self._delta.tool_calls or (), self._delta.function_call
        pieces = (calls,) if isinstance(calls, CallPiece) else calls
        return (*pieces, CallPiece(function=called)) if called else pieces

    @property
    def finish_reason(self) -> str:
        """Why the answer is complete, if it is."""
        reasons = (choice.finish_reason for choice in self.choices or ())
        return next((reason if isinstance(reason, str) else "stop" for reason in reasons if reason), "")

    @property
    def reported(self) -> str:
        """The error that it reports."""
        if error := self.error or self._choice.error:
            return error_message(error)
        unnamed = self.detail or (self.message if isinstance(self.message, str) else None)
        return error_message(unnamed) if unnamed and self.choices is None else ""


_NO_DELTA: Final = _Delta()
_NO_CHOICE: Final = _Choice()
_NOTHING: Final = ChatEvent()
_read_event = msgspec.json.Decoder(ChatEvent | None, strict=False).decode


def _text(content: Any) -> str:
    """The text of what servers write as content; of parts, some are thoughts."""
    if isinstance(content, list):
        return "".join(map(_text, content))
    if isinstance(content, dict):
        return _text(content.get("text")) if content.get("type", "text") in ("text", "output_text") else ""
    return "" if content is None else str(content)


async def events(response: httpx.Response) -> AsyncIterator[ChatEvent]:
    """The events of a stream, or the one event that an answer is which is not streamed. Raises `ChatError`.

    What comes decides which it is: servers and proxies name the type of either as they like.
    """
    import httpx

    reader = _EventReader()
    lines = _lines(response.aiter_bytes())
    while not reader.done:
        try:
            async with asyncio.timeout(_AFTER_THE_END if reader.finished else None):
                line = await anext(lines)
        except StopAsyncIteration:
            if last := reader.rest():
                yield last
            return
        except TimeoutError:
            return
        except httpx.HTTPError:
            if reader.finished:
                return
            raise
        event = _NOTHING if line is None else reader.read(line)
        if event is not None:
            yield event  # also an empty one, so that the time is looked at, whatever it is that keeps coming
    # A connection that is read to its end can be used again; one that stays open is not waited for, and how one ends
    # does not matter any more.
    with suppress(TimeoutError, httpx.HTTPError):
        async with asyncio.timeout(_LAST_WORD):
            async for _ in lines:
                pass


class _EventReader:
    """Makes events of lines: server-sent events, of which comments and other fields are passed over, or JSON."""

    def __init__(self) -> None:
        self.done = False
        """Whether the server has said that the stream is over."""
        self.finished = False
        """Whether the model has said that the answer is."""
        self._begun = False
        self._whole = bytearray()
        """An answer that is not streamed."""
        self._unread = b""
        """Data that is no event yet: one may be spread over several lines."""
        self._wrong: ChatError | None = None
        """Why it is not."""

    def read(self, line: bytes) -> ChatEvent | None:
        """The event that this line completes."""
        if self._whole or (not self._begun and line.lstrip(_BLANK)[:1] in (b"{", b"[")):
            self._whole += line + b"\n"
            if len(self._whole) > _LONGEST_LINE:
                raise ChatError("too_long", "the model sent more than is read")
            return None
        data = _data(line)
        if self._wrong is not None and (not line or data == b"[DONE]"):
            raise self._wrong
        if data is None and not self._begun:
            raise ChatError("garbage", f"the model sent what is no stream: {line[:100].decode(errors='replace')}")
        if not data:
            return None
        self._begun, self.done = True, data == b"[DONE]"
        return None if self.done else self._event(data)

    def _event(self, data: bytes) -> ChatEvent | None:
        self._unread += b"\n" + data if self._unread else data
        try:
            event = read_event(self._unread)
        except ChatError as error:
            if error.trouble != "garbage" or len(self._unread) > _LONGEST_LINE:
                raise
            self._wrong = error.with_traceback(None)  # which would keep what was read
            return None
        self._unread, self._wrong = b"", None
        self.finished = self.finished or bool(event.finish_reason)
        return event

    def rest(self) -> ChatEvent | None:
        """What is left when no more comes."""
        if self._whole:
            event = read_event(bytes(self._whole.lstrip(_BLANK)))
            if not event.choices:
                raise ChatError("garbage", "the model sent JSON that is no answer of a chat")
            return event
        if not self.finished or self._unread:
            raise ChatError("cut", "the answer broke off")
        return None


async def _lines(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes | None]:
    """The lines of a stream. None for every piece too: what comes without an end of a line is noticed."""
    waiting = b""
    after_return = False
    async for piece in pieces:
        yield None
        new = piece[1:] if after_return and piece.startswith(b"\n") else piece
        after_return = piece.endswith(b"\r")
        *lines, waiting = _LINE_END.split(waiting + new)
        if len(waiting) > _LONGEST_LINE or any(len(line) > _LONGEST_LINE for line in lines):
            raise ChatError("too_long", "the model sent more in one piece than is read")
        for line in lines:
            yield line
    if waiting:
        yield waiting


def _data(line: bytes) -> bytes | None:
    """What an event has in a line; None where the line is not one of a stream.

    Some versions of llama.cpp name the field of an error `error`.
    """
    field, _, value = line.lstrip(_BLANK).partition(b":")
    if field == b"error":
        return b'{"error":' + value + b"}"
    if field == b"data":
        return value.strip()
    return b"" if field in _OTHER_FIELDS else None


def read_event(data: bytes) -> ChatEvent:
    """An event, or an answer that was not streamed. Raises `ChatError` where it is neither, or reports an error."""
    try:
        try:
            event = _read_event(data)
        except (msgspec.DecodeError, UnicodeError):  # characters that are cut in two spoil no answer
            event = _read_event(_HALF.sub(rb"\\ufffd", data.decode(errors="replace").encode()))
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise ChatError("garbage", f"the model sent what is no event of a chat: {str(error)[:100]}") from None
    if event is not None and event.reported:
        raise ChatError("server", f"the model reported an error: {event.reported}")
    return event or _NOTHING
