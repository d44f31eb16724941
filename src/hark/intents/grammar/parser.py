"""Parsing a template into a tree, and what can be wrong with it (INTENT-1 §3).

Nesting is kept in a list, so depth is limited by memory alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NoReturn, TypeAlias

_SHOWN: Final = 200
"""Characters of a template that an error's text repeats."""


class Malformed(StrEnum):
    """Why a template is refused. One member for each malformed form, so that tools can distinguish them."""

    UNBALANCED = "unbalanced"
    EMPTY_GROUP = "empty-group"
    EMPTY_SAMPLE = "empty-sample"
    SLOT_ONLY = "slot-only"
    ADJACENT_SLOTS = "adjacent-slots"
    REPEATED_SLOT = "repeated-slot"
    INVALID_SLOT = "invalid-slot"
    SLOT_NOT_ALLOWED = "slot-not-allowed"
    PIPE_OUTSIDE_GROUP = "pipe-outside-group"
    INVALID_REFERENCE = "invalid-reference"
    UNDEFINED_VOCABULARY = "undefined-vocabulary"
    CYCLIC_VOCABULARY = "cyclic-vocabulary"
    EMPTY_VOCABULARY = "empty-vocabulary"
    TOO_MANY_SENTENCES = "too-many-sentences"


class TemplateError(ValueError):
    """A template that is malformed: what is wrong, and where."""

    def __init__(
        self,
        reason: str,
        template: str,
        position: int,
        kind: Malformed,
        *,
        chain: tuple[str, ...] = (),
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        place = f"column {position + 1 if column is None else column}"
        super().__init__(f"{reason}, at {place if line is None else f'line {line}, {place}'} of {shown(template)}")
        self.reason = reason
        self.template = template
        self.position = position
        """Offset into the template, from 0."""
        self.kind = kind
        self.chain = chain
        """The vocabularies that lead to the mistake, beginning with the one the template names."""
        self.line = line
        """Line of the file the template was read from, from 1, if it is known."""
        self.column = column
        """Column in that line, from 1."""

    def placed(self, line: int, column: int = 1) -> TemplateError:
        """The same error for a template that begins in this line and column of a file, both counted from 1."""
        return TemplateError(
            self.reason,
            self.template,
            self.position,
            self.kind,
            chain=self.chain,
            line=line,
            column=column + self.position,
        )


class Odd(StrEnum):
    """What a loader accepts and should warn about."""

    SINGLE_BRANCH = "single-branch"
    EMPTY_OPTIONAL = "empty-optional"
    UNREGISTERED_TYPE = "unregistered-type"


@dataclass(frozen=True, slots=True)
class Remark:
    """Something odd in a template that is still accepted."""

    kind: Odd
    reason: str
    position: int
    """Offset into the template, from 0."""


def shown(template: str) -> str:
    """A template as messages quote it: the beginning of a long one is enough."""
    return repr(template) if len(template) <= _SHOWN else f"{template[:_SHOWN]!r}..."


@dataclass(frozen=True, slots=True, eq=False)
class Literal:
    """Text that is said as it stands, spaces included; it may be part of a word, as in `light[s]`, or empty."""

    text: str
    position: int


@dataclass(frozen=True, slots=True, eq=False)
class Slot:
    """A place that is filled: by the user when it is matched, by the skill when it is spoken."""

    name: str
    type: str
    """The prefix of `{number:count}`, a hint without effect on name and sentences; else empty."""
    position: int


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """`<name>`: one member of a vocabulary."""

    name: str
    position: int


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Sequence:
    """One part after the other, with nothing between them but what literals hold."""

    parts: tuple[Node, ...]
    position: int

    def __repr__(self) -> str:
        return f"Sequence(<{len(self.parts)} parts>, position={self.position})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Choice:
    """One of several branches. What may be left out has an empty literal as its last branch."""

    branches: tuple[Node, ...]
    position: int

    def __repr__(self) -> str:
        # Trees can be deeper than Python recurses.
        return f"Choice(<{len(self.branches)} branches>, position={self.position})"


Node: TypeAlias = Literal | Slot | Reference | Sequence | Choice


REGISTERED_TYPES: Final = frozenset({"number", "duration", "date", "color", "language", "location", "timezone"})
"""The registered type prefixes (INTENT-1 §5.6). Others are read, remarked on and dropped."""

_PART = re.compile(r"[^()\[\]{}<>|]+|\{\{[^{}]*\}\}|\{[^{}]*\}|<[^<>]*>|.", re.DOTALL)
_SLOT = re.compile(r"\{\{?(?:([a-z_][a-z0-9_]*):)?([a-z_][a-z0-9_]*)\}\}?")
_NAME = re.compile(r"[a-z_][a-z0-9_]*")
_OPENERS: Final = {")": "(", "]": "["}


@dataclass(slots=True)
class Tree:
    """A parsed template."""

    text: str
    root: Node
    order: list[Node]
    """Every node that has parts or is one, parts before the whole."""
    slots: dict[str, Slot]
    """By name, where each stands first."""
    repeated: set[str]
    """Names of slots that stand in several places, which may be in different branches."""
    references: dict[str, Reference]
    remarks: list[Remark]


class _Group:
    """A bracket that is still open: its complete branches, and the parts of the one that is not."""

    __slots__ = ("branches", "opener", "parts", "position", "start")

    def __init__(self, opener: str, position: int) -> None:
        self.opener = opener
        self.position = position
        self.start = position + len(opener)
        """Where the branch that is being read begins."""
        self.branches: list[Node] = []
        self.parts: list[Node] = []


def read(text: str, *, slots: bool = True) -> Tree:
    """Parse a template; raises `TemplateError` for mistakes in its syntax."""
    return _Reader(text, slots).read()


class _Reader:
    __slots__ = ("_groups", "_references", "_remarks", "_repeated", "_slots", "_takes_slots", "order", "text")

    def __init__(self, text: str, takes_slots: bool) -> None:
        self.text = text
        self.order: list[Node] = []
        self._takes_slots = takes_slots
        self._groups = [_Group("", 0)]
        self._slots: dict[str, Slot] = {}
        self._repeated: set[str] = set()
        self._references: dict[str, Reference] = {}
        self._remarks: list[Remark] = []

    def read(self) -> Tree:
        groups, order = self._groups, self.order
        position = 0
        for part in _PART.findall(self.text):
            sign = part[0]
            if sign not in "()[]{}<>|":
                literal = Literal(part, position)
                order.append(literal)
                groups[-1].parts.append(literal)
            elif sign in "([":
                groups.append(_Group(sign, position))
            elif sign in ")]":
                self._close(sign, position)
            elif sign == "|":
                self._next_branch(position)
            elif sign in "}>" or len(part) == 1:
                self._fail(Malformed.UNBALANCED, f"{sign!r} has no partner", position)
            else:
                named = self._slot(part, position) if sign == "{" else self._reference(part, position)
                order.append(named)
                groups[-1].parts.append(named)
            position += len(part)
        if len(groups) > 1:
            self._fail(Malformed.UNBALANCED, f"{groups[-1].opener!r} is never closed", groups[-1].position)
        root = self._branch(groups[0])
        return Tree(self.text, root, self.order, self._slots, self._repeated, self._references, self._remarks)

    def _fail(self, kind: Malformed, reason: str, position: int) -> NoReturn:
        raise TemplateError(reason, self.text, position, kind)

    def _branch(self, group: _Group) -> Node:
        """The branch that ends here, as one node."""
        parts = group.parts
        if len(parts) == 1:
            return parts[0]
        node: Node = Sequence(tuple(parts), group.start) if parts else Literal("", group.start)
        self.order.append(node)
        return node

    def _next_branch(self, position: int) -> None:
        group = self._groups[-1]
        if not group.opener:
            self._fail(Malformed.PIPE_OUTSIDE_GROUP, "'|' stands outside every group", position)
        group.branches.append(self._branch(group))
        group.start = position + 1
        group.parts = []

    def _close(self, sign: str, position: int) -> None:
        group = self._groups[-1]
        if group.opener != _OPENERS[sign]:
            self._fail(Malformed.UNBALANCED, f"{sign!r} closes nothing", position)
        is_blank = not group.branches and not self.text[group.position + 1 : position].strip()
        if sign == ")" and is_blank:
            self._fail(Malformed.EMPTY_GROUP, "the group is empty", group.position)
        group.branches.append(self._branch(group))
        self._groups.pop()
        folded = self._folded(group, sign, is_blank)
        if folded is None:
            if sign == "]":
                empty = Literal("", position)
                self.order.append(empty)
                group.branches.append(empty)
            folded = Choice(tuple(group.branches), group.position)
            self.order.append(folded)
        self._groups[-1].parts.append(folded)

    def _folded(self, group: _Group, sign: str, is_blank: bool) -> Node | None:
        """The node of a group without a choice of its own; None for a group with one."""
        if len(group.branches) > 1:
            return None
        only = group.branches[0]
        if is_blank:
            self._remarks.append(Remark(Odd.EMPTY_OPTIONAL, "the brackets hold nothing", group.position))
            return only
        if sign == ")":
            inner = self.text[group.position + 1 : group.position + 40].partition(")")[0]
            reason = f"a group of one: '({inner})' says no more than '{inner}'"
            self._remarks.append(Remark(Odd.SINGLE_BRANCH, reason, group.position))
            return only
        # `[[x]]` is `[x]`: the inner part is optional already.
        return only if isinstance(only, Choice) and _is_empty(only.branches[-1]) else None

    def _slot(self, part: str, position: int) -> Slot:
        found = _SLOT.fullmatch(part)
        if found is None:
            reason = f"{part!r} is no slot: write {{name}} in lower-case letters, digits and '_', without spaces"
            self._fail(Malformed.INVALID_SLOT, reason, position)
        if not self._takes_slots:
            self._fail(Malformed.SLOT_NOT_ALLOWED, "there can be no slot here", position)
        type_, name = found[1] or "", found[2]
        if type_ and type_ not in REGISTERED_TYPES:
            reason = f"{type_!r} is no type of slot; {{{name}}} is what remains"
            self._remarks.append(Remark(Odd.UNREGISTERED_TYPE, reason, position))
        slot = Slot(name, type_, position)
        if self._slots.setdefault(name, slot) is not slot:
            self._repeated.add(name)
        return slot

    def _reference(self, part: str, position: int) -> Reference:
        name = part[1:-1]
        if _NAME.fullmatch(name) is None:
            reason = f"{part!r} is no vocabulary name: write <name> in lower-case letters, digits and '_'"
            self._fail(Malformed.INVALID_REFERENCE, reason, position)
        reference = Reference(name, position)
        self._references.setdefault(name, reference)
        return reference


def _is_empty(node: Node) -> bool:
    return isinstance(node, Literal) and not node.text
