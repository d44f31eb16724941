"""What models write into their answers that is not for the user: what they think, calls of tools, marks of their own.

Servers take it out where they know the model; where they do not, it is left in the text. No two families of models
write it alike, so the words of a mark tell what it begins or ends, whatever its brackets are.
"""

from __future__ import annotations

import json
import re
from ast import literal_eval
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Any, Final, NamedTuple

from hark.builtin.persona.errors import ChatError
from hark.builtin.persona.tool_calls import ToolCalls

# ruff: noqa: RUF001 - marks of many models

Properties = Mapping[str, Any]
"""The parameters of a tool, each with its JSON Schema."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_THOUGHTS: Final = _words("think thinking thought thoughts reasoning reflection scratchpad scratch_pad")
_CALLS: Final = _words(
    "tool_call tool_calls toolcall toolcalls function_call function_calls functioncall tool_request function invoke "
    "action python python_tag"
)
_HEADERS: Final = frozenset(("start", "channel"))
"""The marks of Harmony before the header of a message, which says whom it is for."""
_ENDS: Final = frozenset(("end", "return", "call"))
"""Those after a message."""
_MESSAGE: Final = "message"
"""The one between the two; and the name of a message that is a call."""

_TAGS: Final = "|".join(sorted((_THOUGHTS | _CALLS) - _words("action python python_tag"), key=len, reverse=True))
_NAME: Final = r"[\w:.▁|｜\"-]"
"""A letter of a mark with bars."""
_REST: Final = r"(?:(?:(?<=invoke) |=)[^<>\n]{0,100})?"
"""What may follow the name of a tag: `=add` or ` name="add"`."""
_WIDE_REST: Final = r"(?:[= ][^<>\n]{0,100})?"
"""The same in a mark with bars, which nobody writes who means something else."""
_MARK: Final = re.compile(
    rf"</?(?:\w{{1,12}}:)?(?:{_TAGS}|\w{{1,12}}_of_turn){_REST}>"  # <think>, <function=add>
    rf"|</?[|｜]{_NAME}{{1,60}}{_WIDE_REST}>|<\w{{1,40}}[|｜]>"  # <|im_end|>, <|channel>, <channel|>
    r"|(?-i:\[/?(?:END_)?(?:THINK|TOOL_CALLS?|TOOL_REQUEST|ARGS)\])|◁/?think▷"
    r"|(?-i:assistant(?:analysis|commentary|final)(?=[^a-z]))",  # of Harmony, where the rest of a mark is left out
    re.IGNORECASE,
)
_BEGUN: Final = re.compile(
    rf"(?:</?{_NAME}{{0,60}}{_REST}|</?[|｜]{_NAME}{{1,60}}{_WIDE_REST}|\[/?[A-Z_]{{0,16}}|◁/?\w{{0,10}}"
    r"|assistant[a-z]{0,10})$"
)
"""What may become a mark with the next piece."""
_AFFIX: Final = re.compile(r"^(?:start|begin|end)(?:_of)?_|(?:_section)?_(?:start|begin|end)$")
_UNMARKED: Final = re.compile(r"(?:analysis|commentary)(?=[A-Z]| to=)")
"""How an answer begins in Harmony where its first marks are left out."""
_BARE: Final = ("analysis", "commentary to=")
"""What that is at first."""
_OBJECT: Final = re.compile(r"(?:```(?:json)?\s*)?\[?\s*\{\s*\"|\[[\w.-]{1,64}\(")
"""How an answer begins that may be nothing but calls."""
_OPENING: Final = re.compile(r"[`json\[{\s]{1,20}|\[[\w.-]{1,64}")
"""What may become that with the next piece."""
_TAIL: Final = 20
"""Characters at the end of a thought that may be part of a mark."""
_RECIPIENT: Final = re.compile(r"\bto=(?!assistant|user)\S")
_UNENDED: Final = re.compile(rf"{_RECIPIENT.pattern}.*\{{|^\s*thought\n", re.DOTALL)
"""A header without the mark after it: some servers leave it out, some models have none."""
_LONGEST: Final = 8_000
"""Characters of calls in one block, and of what is held back until it is known to be said."""

_ITEM: Final = re.compile(
    r"<[^<>]{0,8}?parameter(?:=|\s+name=\")([\w.-]+)\"?[^<>]*>(.*?)</[^<>]{0,8}?parameter>"
    r"|<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)</arg_value>"
    r"|(\w+)=(\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|[\w.+-]+)(?=\s*[,)])"
    r"|([{\[])|([\w.:-]+)",
    re.DOTALL,
)
"""A parameter and its value, what may begin a JSON value, and a word, which may be the name of a tool."""
_NO_LETTER: Final = re.compile(r"[^A-Za-z0-9]+")
_read: Final = json.JSONDecoder()


class _Mark(NamedTuple):
    text: str
    name: str
    closes: bool


def _mark(text: str) -> _Mark:
    """A mark: its name without brackets and without the words that say whether it begins or ends something."""
    bare = text.strip("<>[]◁▷|｜").replace("▁", "_").lower()
    closes = bare.startswith("/") or (text.endswith("|>") and text[1] not in "|｜")
    words = re.split(r"[|｜:=\s]", bare.strip("/｜|"))
    full = next((word for word in words if word in _THOUGHTS | _CALLS), words[0])
    name = full
    while _AFFIX.search(name):
        closes = closes or "end" in _AFFIX.search(name)[0]  # type: ignore[index]
        name = _AFFIX.sub("", name, count=1)
    return _Mark(text, name, closes)


class AnswerReader:
    """Takes apart an answer that comes in pieces. Calls of tools in it are added to `calls`.

    Where there are no marks, only what names one of `tools` is a call.
    """

    def __init__(self, calls: ToolCalls, tools: Mapping[str, Properties], *, held: bool = False) -> None:
        self._calls = calls
        self._tools = tools
        self._waiting = ""
        """What may be part of a mark."""
        self._block = "held" if held else ""
        """What is being read, unless it is to be said: `thought`, `calls`, `header`; `object`, which may be calls; or
        `held`, which is a thought if it ends like one.
        """
        self._name = ""
        """The mark that began the calls."""
        self._text = ""
        """What the block has so far, or what came before anything was said."""
        self._said = False
        """Whether anything was said."""
        self.thinks_first = False
        """Whether the answer began with a thought that had no beginning, only an end: many models are asked in such a
        way that they think from the first word on.
        """

    def read(self, piece: str) -> str:
        """What is to be said when this has come."""
        self._waiting += piece
        said = ""
        while found := _MARK.search(self._waiting):
            before, self._waiting = self._waiting[: found.start()], self._waiting[found.end() :]
            said += self._take_text(before) + self._take_mark(_mark(found[0]))
        begun = _BEGUN.search(self._waiting)
        end = begun.start() if begun else len(self._waiting)
        if self._block == "thought":
            end = max(0, min(end, len(self._waiting) - _TAIL))
        before, self._waiting = self._waiting[:end], self._waiting[end:]
        return said + self._take_text(before)

    def rest(self) -> str:
        """What is left to be said when no more comes."""
        said = self._take_text(self._waiting)
        self._waiting = ""
        if self._block == "calls":
            self._add_calls()
        elif self._block == "object":
            written = _calls_in(self._text, self._tools if self._text.startswith("[") else {})
            if not written or any(name not in self._tools for name, _ in written):
                return self._text
            for name, arguments in written:
                self._calls.add_written(name, arguments)
        elif self._block in ("", "held"):
            return said + self._text
        return said

    def _take_text(self, text: str) -> str:
        """Take in what is no mark; what of it is to be said."""
        if self._block == "thought":
            return ""
        if not self._block and self._said:
            return text
        self._text += text
        if not self._block:
            return self._begin()
        if self._block == "header" and _UNENDED.search(self._text):
            self._leave_header()
        elif self._block == "held":
            self._text = self._text[-_LONGEST:]
        elif len(self._text) > _LONGEST:
            raise ChatError("too_long", "the model wrote a tool call without end")
        return ""

    def _begin(self) -> str:
        """What is to be said of the beginning of an answer."""
        self._text = self._text.lstrip()
        if bare := _UNMARKED.match(self._text):
            self._block = "thought" if bare[0] == "analysis" else "header"
            return self._take_text("")
        if self._tools and _OBJECT.match(self._text):
            self._block = "object"
        elif not _OPENING.fullmatch(self._text) and not any(one.startswith(self._text) for one in _BARE):
            said, self._text, self._said = self._text, "", True
            return said
        return ""

    def _take_mark(self, mark: _Mark) -> str:
        """Go on after a mark; what is to be said."""
        if self._block == "calls":
            ended = mark.name in _ENDS | _HEADERS if self._name == _MESSAGE else mark.closes and mark.name == self._name
            if not ended:
                self._text += mark.text
                return ""
            self._add_calls()
            self._leave()
        elif self._block == "object":
            return ""
        if mark.name in _THOUGHTS:
            return self._take_thought(mark.closes)
        said = ""
        if mark.name in _CALLS and not mark.closes:
            said = self._leave()
            self._block, self._name, self._text = "calls", mark.name, mark.text
        elif mark.name in _HEADERS and not mark.closes:
            said = self._leave() if self._block != "header" else ""
            self._block, self._text = "header", f"{self._text} "
        elif mark.name.startswith("assistant"):
            said = self._leave()
            self._block, self._text = "header", mark.name
            if not mark.name.endswith("commentary"):
                self._leave_header()
        elif mark.name == _MESSAGE and self._block == "header":
            self._text += " "
            self._leave_header()
        elif mark.name in _ENDS | _HEADERS and self._block in ("thought", "header"):
            self._leave()
        return said

    def _take_thought(self, closes: bool) -> str:
        if closes and self._block in ("", "held"):
            self.thinks_first = self._said or self._block == "held"
            self._block, self._text = "", ""
            return "\n\n" if self._said else ""  # what was said is no part of the sentence that follows
        said = self._leave()
        self._block = "" if closes else "thought"
        return said

    def _leave(self) -> str:
        """Leave a block; what was held back and is to be said."""
        said = self._text if self._block in ("", "held") else ""
        self._block, self._text = "", ""
        self._said = self._said or bool(said)
        return said

    def _leave_header(self) -> None:
        """Go on with the message that a header announces."""
        if self._text.lstrip().startswith("thought"):
            self._block, self._text = "thought", ""
        elif _RECIPIENT.search(self._text):
            self._block, self._name = "calls", _MESSAGE
        else:
            self._block, self._text = "thought" if "analysis" in self._text else "", ""

    def _add_calls(self) -> None:
        for name, arguments in _calls_in(self._text, self._tools):
            self._calls.add_written(name, arguments)
        self._text = ""


def _calls_in(text: str, tools: Mapping[str, Properties]) -> list[tuple[str, str]]:
    """The name and the arguments of each call in a text.

    Either is a JSON object; or the name, which is that of one of `tools`, comes first, and then the arguments do, as a
    JSON object or one by one, as tags or as in Python.
    """
    calls: list[tuple[str, Any]] = []
    called, given = "", {}
    at = 0
    while found := _ITEM.search(text, at):
        at = found.end()
        *parameter, brace, word = found.groups()
        if brace:
            values, at = _values(text, found.start())
            for one in values:
                call = _call_in(one)
                if call and (not called or offered_name(call[0], tools) in tools):
                    calls.append(call)
                elif called and isinstance(one, dict):
                    given.update(one)
        elif word and (name := offered_name(word, tools)) in tools:
            called, given = name, {}
            calls.append((called, given))
        elif called and not word:
            named, value = (one for one in parameter if one is not None)
            given[named.strip()] = _value(value, tools[called].get(named.strip()))
    return [
        (name, args if isinstance(args, str) else json.dumps(args or {}, ensure_ascii=False)) for name, args in calls
    ]


def _values(text: str, at: int) -> tuple[list[Any], int]:
    """The elements of the list at a place, or the one JSON value that is there, or nothing; and where it ends."""
    try:
        value, end = _read.raw_decode(text, at)
    except ValueError:
        return [], at + 1
    except RecursionError:
        return [], len(text)
    return value if isinstance(value, list) else [value], end


def _call_in(value: Any) -> tuple[str, Any] | None:
    """The call that a JSON value is."""
    call = value.get("function", value) if isinstance(value, dict) else None
    if not isinstance(call, dict):
        return None
    name = call.get("name", call.get("tool_name"))
    return (name, call.get("arguments", call.get("parameters", {}))) if isinstance(name, str) and name else None


def _value(written: str, schema: Any) -> Any:
    """A value that is written as in Python, or without the quotes of JSON."""
    text = written.strip("\n")
    if text[:1] in ("'", '"') or text in ("True", "False", "None"):
        with suppress(ValueError, SyntaxError):
            return literal_eval(text)
    if isinstance(schema, Mapping) and schema.get("type") == "string":
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def offered_name(name: str, offered: Collection[str]) -> str:
    """The tool that a model means: some write other signs than those of its name, or something before or after it."""
    if name in offered:
        return name
    meant = _letters(re.sub(r"<\|.*|:\d+$", "", name.strip().removeprefix("functions.")))
    found = [one for one in offered if _letters(one) == meant]
    return found[0] if len(found) == 1 else name


def _letters(name: str) -> str:
    return _NO_LETTER.sub("", name).lower()
