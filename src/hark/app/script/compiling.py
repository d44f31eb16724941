"""From the patterns of a script to regular expressions over plain text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from hark.app.script.mistakes import Wrong
from hark.app.script.plain import DASHES, LOOSE, plain, same_quotes

_TOKEN: Final = re.compile(r"\\(?P<escaped>.)|\{(?P<name>[^{}]*)\}|(?P<mark>[*()\[\]|{}\\])|(?P<char>.)", re.DOTALL)
_SPACE: Final = r"(?:\s+|^|$|(?<=\s))"
"""Between two words; beside a part that is not there, nothing."""
_CAPTURE: Final = r"\S(?:.*?\S)?"
_OPENS: Final = {"(": ")", "[": "]"}
_REMEDY: Final = "write a backslash before signs that are meant as they are, such as \\( or \\*"


class _Token(NamedTuple):
    kind: str
    """`char`, `name`, or a mark as it is written."""
    text: str

    @property
    def is_wordish(self) -> bool:
        """Whether punctuation beside it is inside a word."""
        return self.kind in ("name", "*") or (self.kind == "char" and bool(re.match(r"\w", self.text)))


_EDGE: Final = _Token("|", "|")
_BLANK: Final = _Token("char", " ")


def compiled(text: str, captured: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """A regular expression, and the name that each of its groups captures; raises `Wrong`."""
    parts: list[str] = []
    names: dict[str, str] = {}
    open_marks: list[str] = []
    tokens = list(_tokens(text))
    for place, token in enumerate(tokens):
        if token.kind == "char":
            blank_before = place > 0 and tokens[place - 1] == _BLANK
            parts.append(re.escape(token.text) if token.text != " " else "" if blank_before else _SPACE)
        elif token.kind == "name":
            parts.append(_name(token.text, captured, names))
        elif token.kind == "*":
            parts.append(".*" if _stands_alone(tokens, place) else r"\S*")
        elif token.kind in _OPENS:
            open_marks.append(token.kind)
            parts.append("(?:")
        elif token.kind == "|":
            if open_marks[-1:] != ["("]:
                raise Wrong("a | stands outside of ( )", f"write alternatives as in (a|b); {_REMEDY}")
            parts.append("|")
        else:
            if not open_marks or _OPENS[open_marks.pop()] != token.kind:
                raise Wrong(f"a {token.kind} closes nothing", _REMEDY)
            parts.append(")" if token.kind == ")" else ")?")
    if open_marks:
        raise Wrong(f"a {open_marks[-1]} is not closed", f"put a {_OPENS[open_marks[-1]]} behind it; {_REMEDY}")
    return f"(?s:{''.join(parts)})", names


def _tokens(text: str) -> Iterator[_Token]:
    """The signs of a pattern, with punctuation that does not count as blanks."""
    found = list(_raw(same_quotes(text)))
    around = [_EDGE, *found, _EDGE]
    for before, token, after in zip(around, found, around[2:], strict=False):
        yield token if _counts(before, token, after) else _BLANK


def _counts(before: _Token, token: _Token, after: _Token) -> bool:
    """Whether a sign is more than punctuation around words; as in `plain`, with parts of the pattern as words."""
    if token.kind != "char" or token.text not in LOOSE | DASHES:
        return True
    return _is_begin(after) and (token.text in DASHES or _is_end(before))


def _raw(text: str) -> Iterator[_Token]:
    for found in _TOKEN.finditer(text):
        if found["name"] is not None:
            if not found["name"].isidentifier():
                raise Wrong(f"{{{found['name']}}} is no name", f"write a word between the braces; {_REMEDY}")
            yield _Token("name", found["name"])
        elif found["mark"] is not None:
            if found["mark"] in "{}\\":
                raise Wrong(f"a {found['mark']} stands alone", _REMEDY)
            yield _Token(found["mark"], found["mark"])
        else:
            for char in (found["escaped"] or found["char"]).casefold():
                yield _Token("char", " " if char.isspace() else char)


def _is_end(token: _Token) -> bool:
    return token.is_wordish or token.kind in (")", "]")


def _is_begin(token: _Token) -> bool:
    return token.is_wordish or token.kind in ("(", "[")


def _stands_alone(tokens: list[_Token], place: int) -> bool:
    """Whether a `*` is a word of its own, and not a part of one."""
    before = tokens[place - 1] if place else _EDGE
    after = tokens[place + 1] if place + 1 < len(tokens) else _EDGE
    return not _is_end(before) and not _is_begin(after)


def _name(name: str, captured: Mapping[str, str], names: dict[str, str]) -> str:
    if name in captured:
        return re.escape(plain(captured[name]))
    group = f"g{len(names)}"
    names[group] = name
    return f"(?P<{group}>{_CAPTURE})"
