"""Saying what a skill understands: the `@intent` mark on its methods."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from hark.intents import TemplateError, phrases, sentences
from hark.model.lang import canonical, is_tag
from hark.plugins import handles
from hark.spec import RESERVED_INTENT_NAMES, is_intent_name

F = TypeVar("F", bound=Callable[..., Any])

Gate = str | Mapping[str, str]
"""A key of the skill's own context, or `{"key": ..., "scope": "shared"}` (CONTEXT-1 §6)."""

_MARK: Final = "__hark_intents__"


class MalformedIntent(ValueError):
    """An `@intent` that cannot be registered; the text names the method and what is wrong with it."""


@dataclass(frozen=True)
class Wording:
    """One `@intent` mark: samples in one language, and what rides along."""

    samples: tuple[str, ...]
    lang: str | None
    """None for the skill's own language."""
    required_slots: tuple[str, ...]
    blacklist: tuple[str, ...]
    requires: tuple[Gate, ...]
    excludes: tuple[Gate, ...]

    def payload(self) -> dict[str, list[Any]]:
        """The registration fields of INTENT-4 §6; riders only where there are any."""
        riders = {
            "required_slots": self.required_slots,
            "blacklist": self.blacklist,
            "requires_context": self.requires,
            "excludes_context": self.excludes,
        }
        return {"samples": list(self.samples), **{key: list(value) for key, value in riders.items() if value}}


@dataclass(frozen=True)
class Marked:
    """What the `@intent` marks of one method come to."""

    intent_name: str
    is_named: bool
    """Whether the author gave the name, instead of leaving it to the method's."""
    wordings: tuple[Wording, ...]


def intent(
    *samples: str,
    lang: str | None = None,
    name: str | None = None,
    required_slots: tuple[str, ...] | list[str] = (),
    blacklist: tuple[str, ...] | list[str] = (),
    requires: tuple[Gate, ...] | list[Gate] = (),
    excludes: tuple[Gate, ...] | list[Gate] = (),
) -> Callable[[F], F]:
    """Make a method of a `Skill` the handler of what these samples say.

    Samples are templates: `"turn (on|off) [the] {room} light"`. The intent is called like the method unless `name` says
    otherwise. Put one mark on top of the other for several languages; without `lang`, samples are in the skill's own.
    `required_slots` must be filled, a phrase of `blacklist` rules the intent out, `requires` and `excludes` name what
    has to be, or must not be, remembered. Mistakes raise `MalformedIntent` here, not when somebody speaks.
    """

    def mark(method: F) -> F:
        where = getattr(method, "__qualname__", repr(method))
        wording = Wording(
            samples,
            lang,
            _several(where, "required_slots", required_slots),
            _several(where, "blacklist", blacklist),
            tuple(_gate(where, gate) for gate in _several(where, "requires", requires)),
            tuple(_gate(where, gate) for gate in _several(where, "excludes", excludes)),
        )
        _check(where, wording)
        before: Marked | None = getattr(method, _MARK, None)
        marked = _joined(where, before, Marked(name or method.__name__, name is not None, (wording,)))
        if not is_intent_name(marked.intent_name):
            why = "reserved" if marked.intent_name in RESERVED_INTENT_NAMES else "not letters, digits, '_', '-' and '.'"
            raise MalformedIntent(f"{where}: the intent name {marked.intent_name!r} is {why}; choose one with name=")
        setattr(method, _MARK, marked)
        return handles(marked.intent_name)(method)

    return mark


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


def payloads(marked: Marked, own_lang: str) -> Iterator[tuple[str, dict[str, list[Any]]]]:
    """One language and its registration fields after the other; marks in the same language are joined."""
    by_lang: dict[str, dict[str, list[Any]]] = {}
    for wording in marked.wordings:
        fields = by_lang.setdefault(canonical(wording.lang or own_lang), {})
        for key, values in wording.payload().items():
            fields[key] = fields.get(key, []) + [value for value in values if value not in fields.get(key, [])]
    yield from by_lang.items()


def _several(where: str, option: str, values: Any) -> tuple[Any, ...]:
    if isinstance(values, (str, Mapping)):
        raise MalformedIntent(f"{where}: {option} takes several: write {option}=[{values!r}]")
    return tuple(values)


def _gate(where: str, gate: Any) -> Gate:
    key = gate.get("key") if isinstance(gate, Mapping) else gate
    scope = gate.get("scope", "private") if isinstance(gate, Mapping) else "private"
    if not isinstance(key, str) or not key or ":" in key or scope not in ("private", "shared"):
        raise MalformedIntent(
            f"{where}: {gate!r} is no context key; write 'key' or {{'key': 'key', 'scope': 'shared'}}"
        )
    return gate if isinstance(gate, str) else dict(gate)


def _joined(where: str, before: Marked | None, added: Marked) -> Marked:
    """The lower mark with the upper one added. A name that was given beats the method's."""
    if before is None:
        return added
    if before.is_named and added.is_named and before.intent_name != added.intent_name:
        raise MalformedIntent(
            f"{where}: one method has one intent, not {before.intent_name!r} and {added.intent_name!r}"
        )
    named = added if added.is_named else before
    return Marked(named.intent_name, named.is_named, before.wordings + added.wordings)


def _check(where: str, wording: Wording) -> None:
    if wording.lang is not None and not is_tag(wording.lang):
        raise MalformedIntent(f"{where}: lang {wording.lang!r} is no language tag such as 'en-US'")
    if not wording.samples:
        raise MalformedIntent(f"{where}: @intent needs at least one sample sentence")
    slots: set[str] = set()
    try:
        for sample in wording.samples:
            slots.update(word for sentence in sentences(sample) for word in sentence)
        for phrase in wording.blacklist:
            phrases(phrase)
    except TemplateError as error:
        raise MalformedIntent(f"{where}: {error}") from None
    except TypeError:
        raise MalformedIntent(f"{where}: samples and blacklist are text") from None
    for name in wording.required_slots:
        if f"{{{name}}}" not in slots:
            raise MalformedIntent(f"{where}: required_slots names {name!r}, which no sample has")
