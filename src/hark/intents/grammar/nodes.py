"""The tree of a template. Nodes are compared by identity, never change, and know where they stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True, eq=False)
class Literal:
    """Text that is said as it stands, spaces included; it may be part of a word, as in `light[s]`, or empty."""

    text: str
    position: int


@dataclass(frozen=True, slots=True, eq=False)
class Slot:
    """A place that is filled by what was said, or by who speaks."""

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
