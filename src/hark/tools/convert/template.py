"""Sentence templates as trees, read from and written to both formats: Hark's locale files and hassil's sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod
from typing import Any, Final, TypeAlias

from hark.intents.grammar import Choice, Direction, Literal, Node, Reference, Sequence, Slot, TemplateError, parse
from hark.tools.convert.files import require_module


@dataclass(frozen=True, slots=True)
class TextItem:
    """Literal text with the spaces around it, which separate it from its neighbours."""

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
    """`(a;b)`: all of them in any order; only hassil has it."""

    members: tuple[Seq, ...]


Item: TypeAlias = TextItem | RefItem | SlotItem | AltItem | PermItem


@dataclass(frozen=True, slots=True)
class Seq:
    """One item after another."""

    items: tuple[Item, ...] = ()


EMPTY = Seq()
_DEEPEST: Final = 60
_TOO_DEEP: Final = f"groups are nested more than {_DEEPEST} deep"


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
    """The slots of a tree, with repetitions."""
    return [item for item in walk(node) if isinstance(item, SlotItem)]


def refs_of(node: Seq | Item) -> list[str]:
    """The names a tree refers to, each once."""
    return list(dict.fromkeys(item.name for item in walk(node) if isinstance(item, RefItem)))


def size(node: Seq | Item, of_ref: Callable[[str], int]) -> int:
    """The number of sentences a tree stands for, equal ones counted each time."""
    match node:
        case Seq(items):
            return prod(size(item, of_ref) for item in items)
        case AltItem(branches, optional):
            return sum(size(branch, of_ref) for branch in branches) + optional
        case RefItem(name):
            return of_ref(name)
        case PermItem():
            raise ValueError("permutations are written out before sentences are counted")
        case _:
            return 1


class UnreadableTemplate(ValueError):
    """A text that is not a template of its format."""


def read_hassil(text: str) -> Seq:
    """Parse a sentence of hassil with hassil's own parser; raises `UnreadableTemplate`."""
    hassil = require_module("hassil.parse_expression")
    try:
        body = _sequence([hassil.parse_sentence(text).expression], 0)
    except hassil.ParseExpressionError:
        raise UnreadableTemplate("a bracket has no partner") from None
    except hassil.ParseError as error:
        # hassil's message repeats the sentence, and reports count equal reasons.
        is_open = str(error).startswith("Unable to find end")
        raise UnreadableTemplate("a bracket is never closed" if is_open else "a bracket has no partner") from None
    except AssertionError as error:
        reason = "a pair of brackets is empty" if "short" in str(error) else "| and ; are mixed in one group"
        raise UnreadableTemplate(reason) from None
    except RecursionError:
        raise UnreadableTemplate(_TOO_DEEP) from None
    return _without_outer_group(body)


def read_locale_line(line: str) -> Seq:
    """Parse a line of a locale file with the parser of `hark.intents`; raises `UnreadableTemplate`."""
    try:
        # What the assistant speaks has the fewest restrictions; the files of other roles were checked by lint.
        root = parse(line, direction=Direction.OUTPUT).root
        return _without_outer_group(Seq((_from_hark(root, 0),)))
    except TemplateError as error:
        raise UnreadableTemplate(error.reason) from None


def _without_outer_group(body: Seq) -> Seq:
    while len(body.items) == 1:
        only = body.items[0]
        if not isinstance(only, AltItem) or len(only.branches) > 1 or only.optional:
            break
        body = only.branches[0]
    return body


def _sequence(expressions: list[Any], depth: int) -> Seq:
    """Items for expressions of hassil; its parser makes a text chunk of every word, which are joined here."""
    items: list[Item] = []
    for expression in expressions:
        item = _from_hassil(expression, depth)
        last = items[-1] if items else None
        if isinstance(item, TextItem) and isinstance(last, TextItem):
            items[-1] = TextItem(last.text + item.text)
        else:
            items.append(item)
    return Seq(tuple(items))


def _from_hassil(expression: Any, depth: int) -> Item:
    if depth > _DEEPEST:
        raise UnreadableTemplate(_TOO_DEEP)
    hassil = require_module("hassil.expression")
    match expression:
        case hassil.TextChunk():
            return TextItem(expression.original_text)
        case hassil.RuleReference():
            return RefItem(expression.rule_name.strip())
        case hassil.ListReference():
            source, name = expression.list_name.strip(), expression.slot_name.strip()
            if not name:
                raise UnreadableTemplate("a slot has no name")
            return SlotItem(name, "" if source == name else source)
        case hassil.Permutation():
            # hassil puts a space before and after each member.
            return PermItem(tuple(_sequence(member.items[1:-1], depth + 1) for member in expression.items))
        case hassil.Alternative():
            members = expression.items[:-1] if expression.is_optional else expression.items
            branches = tuple(_branch(member, depth + 1, padded=len(members) == 1) for member in members)
            inner = branches[0].items[0] if len(branches) == 1 and len(branches[0].items) == 1 else None
            if isinstance(inner, AltItem) and not inner.optional:
                branches = inner.branches
            return AltItem(branches, expression.is_optional)
        case _:
            body = _sequence(expression.items, depth + 1)
            inner = body.items[0] if len(body.items) == 1 else None
            return inner if isinstance(inner, (AltItem, PermItem)) else AltItem((body,))


def _branch(expression: Any, depth: int, *, padded: bool) -> Seq:
    """A branch of an alternative: a sequence, or a permutation as in `[a;b]` or, not `padded` by hassil, `(a;b|c)`."""
    if isinstance(expression, require_module("hassil.expression").Permutation):
        if padded:
            return Seq((_from_hassil(expression, depth),))
        return Seq((PermItem(tuple(_sequence(member.items, depth) for member in expression.items)),))
    return _sequence(expression.items, depth)


def _from_hark(node: Node, depth: int) -> Item:
    if depth > 2 * _DEEPEST:  # a group is a choice of sequences
        raise UnreadableTemplate(_TOO_DEEP)
    match node:
        case Literal():
            return TextItem(node.text)
        case Slot():
            return SlotItem(node.name, node.type)
        case Reference():
            return RefItem(node.name)
        case Sequence():
            return AltItem((Seq(tuple(_from_hark(part, depth + 1) for part in node.parts)),))
        case Choice():
            last = node.branches[-1]
            optional = isinstance(last, Literal) and not last.text
            branches = node.branches[:-1] if optional else node.branches
            return AltItem(
                tuple(_without_outer_group(Seq((_from_hark(branch, depth + 1),))) for branch in branches), optional
            )
