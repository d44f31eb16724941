"""Sentence templates as trees, in the words of both formats: Hark's locale files and hassil's sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Text:
    """Literal text with the spaces around it, which tell whether it is glued to its neighbours."""

    text: str


@dataclass(frozen=True, slots=True)
class Ref:
    """`<name>`: a vocabulary, or an expansion rule."""

    name: str


@dataclass(frozen=True, slots=True)
class Slot:
    """`{name}` or `{source:name}`: the source is a list in hassil and a type in Hark."""

    name: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class Alt:
    """`(a|b)`, or `[a|b]` when it can be left out."""

    branches: tuple[Seq, ...]
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Perm:
    """`(a;b)`: all of them in any order; hassil alone can say it."""

    members: tuple[Seq, ...]


Item: TypeAlias = Text | Ref | Slot | Alt | Perm


@dataclass(frozen=True, slots=True)
class Seq:
    """One item after another."""

    items: tuple[Item, ...] = ()


EMPTY = Seq()


def options(alt: Alt) -> tuple[Seq, ...]:
    """What an alternative can be, with nothing as the last choice when it may be left out."""
    return (*alt.branches, EMPTY) if alt.optional else alt.branches


def render(node: Seq | Item) -> str:
    """The template as text."""
    match node:
        case Text(text):
            return text
        case Ref(name):
            return f"<{name}>"
        case Slot(name, source):
            return f"{{{source}:{name}}}" if source else f"{{{name}}}"
        case Perm(members):
            return f"({';'.join(map(render, members))})"
        case Seq(items):
            return "".join(map(render, items))
        case Alt(branches, optional):
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
        case Alt(branches):
            yield node
            for branch in branches:
                yield from walk(branch)
        case Perm(members):
            yield node
            for member in members:
                yield from walk(member)
        case _:
            yield node


def slots_of(node: Seq | Item) -> list[Slot]:
    """The slots of a tree, each as often as it stands there."""
    return [item for item in walk(node) if isinstance(item, Slot)]


def refs_of(node: Seq | Item) -> list[str]:
    """The names a tree refers to, each once."""
    return list(dict.fromkeys(item.name for item in walk(node) if isinstance(item, Ref)))


def size(node: Seq | Item, of_ref: Callable[[str], int]) -> int:
    """How many sentences a tree stands for, equal ones counted as often as they come up."""
    match node:
        case Seq(items):
            return prod(size(item, of_ref) for item in items)
        case Alt(branches, optional):
            return sum(size(branch, of_ref) for branch in branches) + optional
        case Ref(name):
            return of_ref(name)
        case Perm():
            raise ValueError("permutations are written out before anybody counts")
        case _:
            return 1
