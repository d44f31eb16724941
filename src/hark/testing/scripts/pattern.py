"""Patterns of a script, compared with what was said: text with `*`, `(a|b)`, `[a]` and `{name}`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple
from unicodedata import normalize

from hark.testing.scripts.errors import LineError

LOOSE: Final = frozenset(".,;:!?…\"'«»„“‚‘¿¡()[]{}<>|*\\")  # noqa: RUF001 - each of them is meant
"""Punctuation that counts only inside a word or number, as in 17:30 or don't."""
DASHES: Final = frozenset("-–—")  # noqa: RUF001
"""Punctuation that counts before a word as well, as in -5."""
_QUOTES: Final = str.maketrans({"’": "'", "”": '"'})  # noqa: RUF001
_MARKS, _DASHES = (re.escape("".join(sorted(signs))) for signs in (LOOSE, DASHES))
_DROPPED: Final = re.compile(rf"(?<!\w)[{_MARKS}]|[{_MARKS}](?!\w)|[{_DASHES}](?!\w)")


def plain(text: str) -> str:
    """`text` in lower case, with single spaces, without the punctuation around its words."""
    return " ".join(_DROPPED.sub(" ", same_quotes(text).casefold()).split())


def same_quotes(text: str) -> str:
    """`text` in one Unicode form, with straight apostrophes."""
    return normalize("NFC", text).translate(_QUOTES)


_TOKEN: Final = re.compile(r"\\(?P<escaped>.)|\{(?P<name>[^{}]*)\}|(?P<mark>[*()\[\]|{}\\])|(?P<char>.)", re.DOTALL)
_SPACE: Final = r"(?:\s+|^|$|(?<=\s))"
"""Between two words; nothing beside an optional part that is missing."""
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
    """A regular expression, and the name that each of its groups captures; raises `LineError`."""
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
                raise LineError("a | stands outside of ( )", f"write alternatives as in (a|b); {_REMEDY}")
            parts.append("|")
        else:
            if not open_marks or _OPENS[open_marks.pop()] != token.kind:
                raise LineError(f"a {token.kind} closes nothing", _REMEDY)
            parts.append(")" if token.kind == ")" else ")?")
    if open_marks:
        raise LineError(f"a {open_marks[-1]} is not closed", f"put a {_OPENS[open_marks[-1]]} behind it; {_REMEDY}")
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
                raise LineError(f"{{{found['name']}}} is not a name", f"write a word between the braces; {_REMEDY}")
            yield _Token("name", found["name"])
        elif found["mark"] is not None:
            if found["mark"] in "{}\\":
                raise LineError(f"a {found['mark']} stands alone", _REMEDY)
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


_FILL: Final = re.compile(r"\\([\\{}#])|\{([^{}]*)\}|([{}])")

Captured = Mapping[str, str]


class _Text:
    """The text of a line; equal if the texts are equal."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and str(other) == self.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.text!r})"


class UserText(_Text):
    """What a user says: text, in which `{name}` is what was captured under that name. Raises `LineError`."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        found = list(_FILL.finditer(text))
        self.names = frozenset(one[2] for one in found if one[2] is not None)
        """The names it uses."""
        if any(one[3] for one in found) or not all(map(str.isidentifier, self.names)):
            remedy = "write the name of something captured, as in {item}, or \\{ and \\} for braces"
            raise LineError("these braces mean nothing", remedy)

    def filled(self, captured: Captured) -> str:
        """The text with captured values filled in; raises `KeyError` for a name that was not captured."""
        return _FILL.sub(lambda found: captured[found[2]] if found[2] is not None else found[1], self.text)


class Pattern(_Text):
    """What Hark is expected to say. Case, spaces and the punctuation around words do not count. Raises `LineError`.

    `*` is any words, also none; `mil*` a word that begins so; `(a|b)` one of them; `[a]` may be missing; `{name}` is
    captured, or, when something was captured under that name before, just that. A backslash takes the meaning away.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._compiled = compiled(text, {})
        self.names = frozenset(self._compiled[1].values())
        """The names it captures, or uses."""

    def match(self, said: str, captured: Captured, *, within: bool = False) -> dict[str, str] | None:
        """The captured values if `said` matches, else None. `within`: there may be other words around."""
        known = {name: captured[name] for name in self.names if name in captured}
        regex, names = compiled(self.text, known) if known else self._compiled
        heard = plain(said)
        found = re.search(rf"(?<!\S)(?:{regex})(?!\S)", heard) if within else re.fullmatch(regex, heard)
        if found is None:
            return None
        values: dict[str, str] = {}
        for group, name in names.items():
            value = found[group]
            if value is not None and values.setdefault(name, value) != value:
                return None
        return values
