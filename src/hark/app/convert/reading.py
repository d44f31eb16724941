"""Reading a sentence template of either format into a tree."""

from __future__ import annotations

import re
from typing import Final

from hark.app.convert.tree import EMPTY, Alt, Item, Perm, Ref, Seq, Slot, Text

_TOKEN: Final = re.compile(r"(?:\\.|[^\\()\[\]{}<>|;])+|\{\{[^{}]*\}\}|\{[^{}]*\}|<[^<>]*>|.", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_CLOSERS: Final = {"(": ")", "[": "]"}
_DEEPEST: Final = 60


class Unreadable(ValueError):
    """A sentence that is no template."""


def read(text: str) -> Seq:
    """The tree of a template; raises `Unreadable`.

    As hassil reads it: a backslash takes its meaning from the sign behind it, and `|` needs no group around it.
    """
    reader = _Reader(_TOKEN.findall(text.strip()))
    body = reader.group("")
    # A group around everything is no group.
    while len(body.items) == 1 and isinstance(body.items[0], Alt) and _is_plain(body.items[0]):
        body = body.items[0].branches[0]
    return body


def _is_plain(alt: Alt) -> bool:
    return len(alt.branches) == 1 and not alt.optional


class _Reader:
    """One pass over the tokens; groups call themselves."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._place = 0
        self._depth = 0

    def group(self, opener: str) -> Seq:
        """What stands up to the closing bracket, which is read too."""
        if self._depth == _DEEPEST:
            raise Unreadable(f"groups are nested more than {_DEEPEST} deep")
        self._depth += 1
        done: list[Seq] = []
        current: list[Item] = []
        separator = ""
        while (token := self._next(opener)) != _CLOSERS.get(opener, ""):
            if token in ("|", ";"):
                done, current = self._divide(done, current, separator, token), []
                separator = token
            else:
                current.append(self._item(token))
        self._depth -= 1
        return _grouped([*done, Seq(tuple(current))], separator)

    def _divide(self, done: list[Seq], current: list[Item], before: str, now: str) -> list[Seq]:
        parts = [*done, Seq(tuple(current))]
        # `(a;b|c)`: what was read so far is the first of the new kind.
        return parts if before in ("", now) else [_grouped(parts, before)]

    def _next(self, opener: str) -> str:
        if self._place == len(self._tokens):
            if opener:
                raise Unreadable(f"{opener!r} is never closed")
            return ""
        token = self._tokens[self._place]
        self._place += 1
        return token

    def _item(self, token: str) -> Item:
        if token in _CLOSERS:
            return _bracketed(token, self.group(token))
        if token[0] == "{" and len(token) > 1:
            return _slot(token)
        if token[0] == "<" and len(token) > 1:
            return Ref(token[1:-1].strip())
        if token in ("{", "}", "<", ">", ")", "]"):
            raise Unreadable(f"{token!r} has no partner")
        return Text(_ESCAPE.sub(r"\1", token))


def _grouped(parts: list[Seq], separator: str) -> Seq:
    if separator == "|":
        return Seq((Alt(tuple(parts)),))
    if separator == ";":
        return Seq((Perm(tuple(parts)),))
    return parts[0]


def _bracketed(opener: str, body: Seq) -> Item:
    inner = body.items[0] if len(body.items) == 1 else None
    if opener == "[":
        if isinstance(inner, Alt) and not inner.optional:
            return Alt(inner.branches, optional=True)
        return Alt((body,), optional=True)
    if isinstance(inner, (Alt, Perm)):
        return inner
    if body == EMPTY:
        raise Unreadable("a group is empty")
    return Alt((body,))


def _slot(token: str) -> Slot:
    source, colon, name = token.strip("{}").strip().rpartition(":")
    name = name.strip().removeprefix("@")
    if not name:
        raise Unreadable(f"{token!r} names no slot")
    return Slot(name, source.strip()) if colon else Slot(name)
