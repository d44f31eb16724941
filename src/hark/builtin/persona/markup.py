"""What models write between tags in their answers: what they think aloud, and calls of tools."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Collection, Iterator
from contextlib import aclosing
from typing import Any, Final

from hark.builtin.persona.stream import ChatError, ToolCalls

_MARK: Final = re.compile(
    r"<(think|thinking|thought|tool_call)>|(\[TOOL_CALLS\]|<\|python_tag\|>)|<\|[\w.-]{1,40}\|>", re.I
)
"""The tags that begin a block, those after which everything is calls, and what models use among themselves."""
_BEGUN: Final = re.compile(r"(?:<[\w|.-]{0,42}|\[[A-Z_]{0,10})$")
"""What may become one of them with the next piece."""
_CALLS: Final = ("tool_call", "calls")
_JSON: Final = re.compile(r"[{\[]")
_read: Final = json.JSONDecoder()
_LONGEST: Final = 8_000
"""Characters of calls in one block."""


async def spoken_part(
    answer: AsyncGenerator[str, None], calls: ToolCalls, tools: Collection[str]
) -> AsyncGenerator[str, None]:
    """The part of an answer that is for the user. Calls of tools in it are added to `calls`.

    Servers that have no parser for the calls of a model pass them on as text; without tags, only what names one of
    `tools` is a call.
    """
    reader = _AnswerReader(calls, tools)
    async with aclosing(answer) as pieces:
        async for piece in pieces:
            if text := reader.read(piece):
                yield text
    if text := reader.rest():
        yield text


class _AnswerReader:
    def __init__(self, calls: ToolCalls, tools: Collection[str]) -> None:
        self._calls = calls
        self._tools = tools
        self._waiting = ""
        self._block = ""
        """The tag of the block that is being read; `calls` and `object` go on to the end of the answer."""
        self._begun = False
        """Whether anything was said."""

    def read(self, piece: str) -> str:
        """What is to be said when this has come."""
        self._waiting += piece
        said = ""
        while not self._block or self._leave_block():
            said += self._until_block()
            if not self._block:
                break
        return said

    def rest(self) -> str:
        """What is left to be said when no more comes."""
        if self._block in _CALLS:
            self._add_calls(self._waiting)
        elif self._block == "object":
            written = list(_calls_in(self._waiting))
            if not written or any(name not in self._tools for name, _ in written):
                return self._waiting
            self._add_calls(self._waiting)
        return "" if self._block else self._waiting

    def _until_block(self) -> str:
        """What is said before the next block."""
        if not self._begun:
            self._waiting = self._waiting.lstrip()
            if self._tools and self._waiting.startswith("{"):
                self._block = "object"
                return ""
        said = ""
        while not self._block and (found := _MARK.search(self._waiting)):
            said, self._waiting = said + self._waiting[: found.start()], self._waiting[found.end() :]
            self._block = "calls" if found[2] else (found[1] or "").lower()
        if not self._block:
            begun = _BEGUN.search(self._waiting)
            end = begun.start() if begun else len(self._waiting)
            said, self._waiting = said + self._waiting[:end], self._waiting[end:]
        self._begun = self._begun or bool(said)
        return said

    def _leave_block(self) -> bool:
        """Whether the block has ended; then what comes after it is waiting."""
        end = f"</{self._block}>"
        at = self._waiting.lower().find(end)
        if at >= 0:
            if self._block in _CALLS:
                self._add_calls(self._waiting[:at])
            self._block, self._waiting = "", self._waiting[at + len(end) :]
        elif self._block not in (*_CALLS, "object"):
            self._waiting = self._waiting[-len(end) :]
        elif len(self._waiting) > _LONGEST:
            raise ChatError("too_long", "the model wrote a tool call without end")
        return at >= 0

    def _add_calls(self, text: str) -> None:
        for name, arguments in _calls_in(text):
            self._calls.add_whole(name, arguments)


def _calls_in(text: str) -> Iterator[tuple[str, str]]:
    """The name and the arguments of each call in a text of JSON values."""
    at = 0
    while found := _JSON.search(text, at):
        try:
            value, at = _read.raw_decode(text, found.start())
        except (ValueError, RecursionError):
            return
        for one in value if isinstance(value, list) else [value]:
            call: Any = one.get("function", one) if isinstance(one, dict) else None
            if isinstance(call, dict) and isinstance(name := call.get("name"), str) and name:
                given = call.get("arguments", call.get("parameters", {}))
                yield name, given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
