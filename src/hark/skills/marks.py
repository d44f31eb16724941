"""What authors write above their methods, as values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from hark.model.lang import is_tag
from hark.plugins import handles
from hark.skills.errors import MalformedIntent
from hark.spec import RESERVED_INTENT_NAMES, is_intent_name

F = TypeVar("F", bound=Callable[..., Any])

Gate = str | Mapping[str, str]
"""A key of the skill's own context, or `{"key": ..., "scope": "shared"}` (CONTEXT-1 §6)."""

_MARK: Final = "__hark_intents__"


@dataclass(frozen=True)
class Gates:
    """What has to be, and what must not be, remembered for an intent to be meant."""

    requires: tuple[Gate, ...] = ()
    excludes: tuple[Gate, ...] = ()


@dataclass(frozen=True)
class Wording:
    """One `@intent` mark: samples in one language, or a file in every language, and what rides along."""

    where: str
    """The method."""
    samples: tuple[str, ...]
    file: str | None
    lang: str | None
    """None for the skill's own language, with a file for every language."""
    required_slots: tuple[str, ...]
    blacklist: tuple[str, ...]
    gates: Gates


@dataclass(frozen=True)
class Vocabulary:
    """A vocabulary of a keyword intent."""

    name: str
    samples: tuple[str, ...] | None
    """None for a `.voc` file of that name."""


@dataclass(frozen=True)
class Keywords:
    """One `@keywords` mark."""

    where: str
    required: tuple[Vocabulary, ...]
    optional: tuple[Vocabulary, ...]
    one_of: tuple[tuple[Vocabulary, ...], ...]
    excluded: tuple[Vocabulary, ...]
    lang: str | None
    """None for every language that has all the files, or for the skill's own when samples are written inline."""
    gates: Gates

    @property
    def vocabularies(self) -> tuple[Vocabulary, ...]:
        """All of them, whatever their role."""
        return (*self.required, *self.optional, *(one for group in self.one_of for one in group), *self.excluded)


@dataclass(frozen=True)
class Marked:
    """What the marks of one method come to."""

    intent_name: str
    is_named: bool
    """Whether the author gave the name, instead of leaving it to the method's."""
    wordings: tuple[Wording, ...] = ()
    keywords: tuple[Keywords, ...] = ()


def mark(method: F, added: Marked) -> F:
    """Put one more mark on a method, which becomes the intent's handler."""
    where = where_of(method)
    marked = _joined(where, getattr(method, _MARK, None), added)
    if not is_intent_name(marked.intent_name):
        why = "reserved" if marked.intent_name in RESERVED_INTENT_NAMES else "not letters, digits, '_', '-' and '.'"
        raise MalformedIntent(f"{where}: the intent name {marked.intent_name!r} is {why}; choose one with name=")
    setattr(method, _MARK, marked)
    return handles(marked.intent_name)(method)


def intents_of(skill: type) -> dict[str, Marked]:
    """What a class understands, by intent name, its bases included; raises when two methods share a name."""
    by_method: dict[str, Marked] = {}
    for owner in reversed(skill.__mro__):
        for attribute, member in vars(owner).items():
            marked = getattr(member, _MARK, None)
            if isinstance(marked, Marked):
                by_method[attribute] = marked
    found: dict[str, Marked] = {}
    for attribute, marked in by_method.items():
        if marked.intent_name in found:
            raise MalformedIntent(
                f"{skill.__qualname__}.{attribute}: another method has {marked.intent_name!r} already"
            )
        found[marked.intent_name] = marked
    return found


def where_of(method: Callable[..., Any]) -> str:
    """How a method is named in messages."""
    return getattr(method, "__qualname__", repr(method))


def several(where: str, option: str, values: Any) -> tuple[Any, ...]:
    """What an author gave for an option that takes several."""
    if isinstance(values, (str, Mapping)):
        raise MalformedIntent(f"{where}: {option} takes several: write {option}=[{values!r}]")
    return tuple(values)


def read_gates(where: str, requires: Any, excludes: Any) -> Gates:
    """The context gates an author gave; one that is asked for and ruled out at once could never be passed."""
    gates = Gates(
        tuple(_gate(where, gate) for gate in several(where, "requires", requires)),
        tuple(_gate(where, gate) for gate in several(where, "excludes", excludes)),
    )
    check_gates(where, gates)
    return gates


def check_gates(where: str, gates: Gates) -> None:
    """Refuse gates that contradict each other."""
    both = {_key(gate) for gate in gates.requires} & {_key(gate) for gate in gates.excludes}
    if both:
        key, _ = min(both)
        raise MalformedIntent(f"{where}: {key!r} is in requires and in excludes, so nobody could ever say this")


def check_lang(where: str, lang: str | None) -> None:
    """Refuse what is no language tag."""
    if lang is not None and not is_tag(lang):
        raise MalformedIntent(f"{where}: lang {lang!r} is no language tag such as 'en-US'")


def _gate(where: str, gate: Any) -> Gate:
    key, scope = _key(gate)
    if not isinstance(key, str) or not key or ":" in key or scope not in ("private", "shared"):
        raise MalformedIntent(
            f"{where}: {gate!r} is no context key; write 'key' or {{'key': 'key', 'scope': 'shared'}}"
        )
    return gate if isinstance(gate, str) else dict(gate)


def _key(gate: Any) -> tuple[Any, Any]:
    return (gate.get("key"), gate.get("scope", "private")) if isinstance(gate, Mapping) else (gate, "private")


def _joined(where: str, before: Marked | None, added: Marked) -> Marked:
    """The lower mark with the upper one added. A name that was given beats the method's."""
    if before is None:
        return added
    if before.is_named and added.is_named and before.intent_name != added.intent_name:
        raise MalformedIntent(
            f"{where}: one method has one intent, not {before.intent_name!r} and {added.intent_name!r}"
        )
    named = added if added.is_named else before
    return Marked(named.intent_name, named.is_named, before.wordings + added.wordings, before.keywords + added.keywords)
