"""Sentence templates as trees, read from and written to both formats: Hark's locale files and hassil's sentences."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod
from typing import Final, TypeAlias


@dataclass(frozen=True, slots=True)
class TextItem:
    """Literal text with the spaces around it, which tell whether it is glued to its neighbours."""

    text: str


@dataclass(frozen=True, slots=True)
class RefItem:
    """`<name>`: a vocabulary, or an expansion rule."""

    name: str


@dataclass(frozen=True, slots=True)
class SlotItem:
    """`{name}` or `{source:name}`: the source is a list in hassil and a type in Hark."""

    name: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class AltItem:
    """`(a|b)`, or `[a|b]` when it can be left out."""

    branches: tuple[Seq, ...]
    optional: bool = False


@dataclass(frozen=True, slots=True)
class PermItem:
    """`(a;b)`: all of them in any order; hassil alone can say it."""

    members: tuple[Seq, ...]


Item: TypeAlias = TextItem | RefItem | SlotItem | AltItem | PermItem


@dataclass(frozen=True, slots=True)
class Seq:
    """One item after another."""

    items: tuple[Item, ...] = ()


EMPTY = Seq()


def options(alt: AltItem) -> tuple[Seq, ...]:
    """What an alternative can be, with nothing as the last choice when it may be left out."""
    return (*alt.branches, EMPTY) if alt.optional else alt.branches


def render(node: Seq | Item) -> str:
    """The template as text."""
    match node:
        case TextItem(text):
            return text
        case RefItem(name):
            return f"<{name}>"
        case SlotItem(name, source):
            return f"{{{source}:{name}}}" if source else f"{{{name}}}"
        case PermItem(members):
            return f"({';'.join(map(render, members))})"
        case Seq(items):
            return "".join(map(render, items))
        case AltItem(branches, optional):
            body = "|".join(map(render, branches))
            if optional:
                return f"[{body}]"
            return body if len(branches) == 1 else f"({body})"


def walk(node: Seq | Item) -> Iterator[Item]:
    """Every item of a tree, in the order of writing."""
    match node:
        case Seq(items):
            for item in items:
                yield from walk(item)
        case AltItem(branches):
            yield node
            for branch in branches:
                yield from walk(branch)
        case PermItem(members):
            yield node
            for member in members:
                yield from walk(member)
        case _:
            yield node


def slots_of(node: Seq | Item) -> list[SlotItem]:
    """The slots of a tree, each as often as it stands there."""
    return [item for item in walk(node) if isinstance(item, SlotItem)]


def refs_of(node: Seq | Item) -> list[str]:
    """The names a tree refers to, each once."""
    return list(dict.fromkeys(item.name for item in walk(node) if isinstance(item, RefItem)))


def size(node: Seq | Item, of_ref: Callable[[str], int]) -> int:
    """How many sentences a tree stands for, equal ones counted as often as they come up."""
    match node:
        case Seq(items):
            return prod(size(item, of_ref) for item in items)
        case AltItem(branches, optional):
            return sum(size(branch, of_ref) for branch in branches) + optional
        case RefItem(name):
            return of_ref(name)
        case PermItem():
            raise ValueError("permutations are written out before anybody counts")
        case _:
            return 1


_TOKEN: Final = re.compile(r"(?:\\.|[^\\()\[\]{}<>|;])+|\{\{[^{}]*\}\}|\{[^{}]*\}|<[^<>]*>|.", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_CLOSERS: Final = {"(": ")", "[": "]"}
_DEEPEST: Final = 60


class UnreadableTemplate(ValueError):
    """A sentence that is no template."""


def read_hassil(text: str) -> Seq:
    """The tree of a template; raises `UnreadableTemplate`.

    As hassil reads it: a backslash takes its meaning from the sign behind it, and `|` needs no group around it.
    """
    reader = _Reader(_TOKEN.findall(text.strip()))
    body = reader.group("")
    # A group around everything is no group.
    while len(body.items) == 1 and isinstance(body.items[0], AltItem) and _is_plain(body.items[0]):
        body = body.items[0].branches[0]
    return body


def _is_plain(alt: AltItem) -> bool:
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
            raise UnreadableTemplate(f"groups are nested more than {_DEEPEST} deep")
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
                raise UnreadableTemplate(f"{opener!r} is never closed")
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
            return RefItem(token[1:-1].strip())
        if token in ("{", "}", "<", ">", ")", "]"):
            raise UnreadableTemplate(f"{token!r} has no partner")
        return TextItem(_ESCAPE.sub(r"\1", token))


def _grouped(parts: list[Seq], separator: str) -> Seq:
    if separator == "|":
        return Seq((AltItem(tuple(parts)),))
    if separator == ";":
        return Seq((PermItem(tuple(parts)),))
    return parts[0]


def _bracketed(opener: str, body: Seq) -> Item:
    inner = body.items[0] if len(body.items) == 1 else None
    if opener == "[":
        if isinstance(inner, AltItem) and not inner.optional:
            return AltItem(inner.branches, optional=True)
        return AltItem((body,), optional=True)
    if isinstance(inner, (AltItem, PermItem)):
        return inner
    if body == EMPTY:
        raise UnreadableTemplate("a group is empty")
    return AltItem((body,))


def _slot(token: str) -> SlotItem:
    source, colon, name = token.strip("{}").strip().rpartition(":")
    name = name.strip().removeprefix("@")
    if not name:
        raise UnreadableTemplate(f"{token!r} names no slot")
    return SlotItem(name, source.strip()) if colon else SlotItem(name)
