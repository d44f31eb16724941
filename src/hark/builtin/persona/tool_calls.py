"""The tools that a model wants called, put together from the pieces in which servers send them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from hark.builtin.persona.errors import ChatError

_LONGEST_CALLS: Final = 1_000_000
"""Characters of all tool calls of an answer."""
_MOST_CALLS: Final = 256


@dataclass(frozen=True)
class ToolCall:
    """A tool that the model wants called."""

    id: str
    name: str
    arguments: str
    """JSON, as the model wrote it."""


class CallFunction(msgspec.Struct):
    name: str | None = None
    arguments: Any = None
    """JSON as text, or, of some servers, what that would be."""


class CallPiece(msgspec.Struct):
    index: int | None = None
    id: str | int | None = None
    function: CallFunction | None = None


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
        self._written: list[_Call] = []
        """Those that the model wrote into its text."""
        self._numbered: dict[int, _Call] = {}
        self._size = 0

    def add(self, pieces: Sequence[CallPiece]) -> None:
        """Take in the pieces of one event."""
        for number, piece in enumerate(pieces):
            function = piece.function or CallFunction()
            name, given = function.name or "", function.arguments
            call = self._call_of(piece, name, begins=number > 0)
            call.id = call.id or str(piece.id or "")
            if call.name != name:  # some servers say it with every piece
                call.name += name
            added = given if isinstance(given, str) else "" if given is None else json.dumps(given, ensure_ascii=False)
            call.arguments += added
            self._count(len(added) + len(name))

    def _call_of(self, piece: CallPiece, name: str, *, begins: bool) -> _Call:
        """The call that a piece belongs to. Some servers give no number, or the same to every call; then a piece that
        `begins` after another one in the same event is one of its own.
        """
        latest = self._calls[-1] if self._calls and not begins else None
        call = latest if piece.index is None else self._numbered.get(piece.index)
        if call is not None and name and call.name:
            another = str(piece.id) != call.id if piece.id and call.id else call.is_complete
            call = None if another else call
        if call is None:
            call = _Call("", "", "")
            self._calls.append(call)
            if piece.index is not None:
                self._numbered[piece.index] = call
        return call

    def add_written(self, name: str, arguments: str) -> None:
        """Take in a call that the model wrote into its text."""
        self._written.append(_Call("", name, arguments))
        self._count(len(name) + len(arguments))

    def _count(self, size: int) -> None:
        self._size += size
        if self._size > _LONGEST_CALLS or len(self._calls) + len(self._written) > _MOST_CALLS:
            raise ChatError("too_long", "the model wanted tools without end")

    def complete(self) -> list[ToolCall]:
        """The calls, in the order in which they were begun. Those in the text count where there are no others: some
        servers leave there what they have read.
        """
        calls = self._calls or self._written
        named = [(number, call) for number, call in enumerate(calls) if call.name]
        return [ToolCall(call.id or f"call_{number}", call.name, call.arguments or "{}") for number, call in named]
