"""Registered intents as a matcher holds them, and reading them from payloads (INTENT-4 §5 to §8).

Reading is tolerant of single items and strict about identity and structure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from hark.intents.grammar import Sentence, TemplateError, phrases
from hark.intents.numerals import other_form
from hark.intents.patterns import Pattern, PatternGraph, compiled, sampled, slots_of
from hark.model.lang import canonical, is_tag
from hark.spec import RESERVED_INTENT_NAMES, dispatch_topic, is_intent_name, is_skill_id

Key = tuple[str, str]
"""A label and a folded language tag: what can be enabled and disabled."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class IntentDefinition:
    """One registered intent of either method (INTENT-3 §3, INTENT-4 §5). Compared by identity."""

    skill_id: str
    intent_name: str
    lang: str
    """The tag in its usual case, as it is reported."""
    order: int
    """Place among all registrations; a replacement keeps its predecessor's."""
    slots: tuple[str, ...] = ()
    """Every possible slot, in the order of writing."""
    required_slots: tuple[str, ...] = ()
    slot_blacklist: Mapping[str, frozenset[str]] | None = None
    """Values a slot cannot take."""
    requires_context: tuple[Any, ...] = ()
    excludes_context: tuple[Any, ...] = ()
    payload: Mapping[str, Any] | None = None
    """The payload it was read from."""

    label: str = field(init=False)
    """`skill_id:intent_name`."""
    tag: str = field(init=False)
    """The language, folded for comparison."""
    key: Key = field(init=False)
    """Label and folded language."""

    def __post_init__(self) -> None:
        # Used for every utterance, so computed once.
        object.__setattr__(self, "label", dispatch_topic(self.skill_id, self.intent_name))
        object.__setattr__(self, "tag", self.lang.lower())
        object.__setattr__(self, "key", (self.label, self.tag))

    def settle(self) -> None:
        """Drop what only its registration needed."""

    def bars(self, slot: str, value: str) -> bool:
        """Whether `slot` cannot take `value`, given as folded text."""
        return self.slot_blacklist is not None and value in self.slot_blacklist.get(slot, ())


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TemplateIntent(IntentDefinition):
    """One registered template intent in one language, compiled (INTENT-4 §6)."""

    patterns: tuple[Pattern, ...]
    """Its templates, compiled."""
    sample_lines: str
    """`samples`, one in a line: as tuples they would take four times as much."""
    blacklist: tuple[str, ...] = ()
    """Phrases that exclude the intent."""
    required_keywords: tuple[str, ...] = ()
    """Phrases of which one has to occur, if there are any."""

    @property
    def samples(self) -> tuple[Sentence, ...]:
        """Sentences its templates stand for: all, or enough to be representative."""
        return tuple([tuple(line.split(" ")) for line in self.sample_lines.split("\n")])

    def settle(self) -> None:
        """Drop the graphs of its templates until they are needed."""
        for pattern in self.patterns:
            if isinstance(pattern, PatternGraph):
                pattern.release()


T = TypeVar("T")


class Rejected(ValueError):
    """A registration message that has no effect, and why."""


class Skipped(NamedTuple):
    """One item that was left out of a registration, and why."""

    item: str
    reason: str


def read_name(data: Mapping[str, Any], field: str) -> str:
    """An identity field that has to be there: `skill_id`, `intent_name`, `entity_name`."""
    value = data.get(field)
    if not isinstance(value, str) or not value:
        raise Rejected(f"{field} is missing")
    if field == "intent_name" and value in RESERVED_INTENT_NAMES:
        raise Rejected(f"intent_name {value!r} is reserved")
    if not (is_intent_name(value) if field == "intent_name" else is_skill_id(value)):
        raise Rejected(f"{field} {value!r} is malformed: letters, digits, '_', '-' and '.' only")
    return value


def read_lang(data: Mapping[str, Any], required: bool = True) -> str | None:
    """The language, in its usual case; None, for all languages, only where it may be left out."""
    if "lang" not in data and not required:
        return None
    value = data.get("lang")
    if not isinstance(value, str) or not value:
        raise Rejected("lang is missing")
    if not is_tag(value):
        raise Rejected(f"lang {value!r} is no BCP-47 tag")
    return canonical(value)


def read_intent(data: Mapping[str, Any], order: int) -> tuple[TemplateIntent, list[Skipped]]:
    """The intent a payload of `ovos.intent.register.template` describes, and the items that were left out."""
    skill_id, intent_name = read_name(data, "skill_id"), read_name(data, "intent_name")
    lang = read_lang(data) or ""
    skipped: list[Skipped] = []
    patterns = tuple(_items(data, "samples", lang, _patterns, skipped))
    if not patterns:
        raise Rejected("samples hold no usable template")
    named = [name for pattern in patterns for name in slots_of(pattern)]
    beside = [name for pattern in patterns for name in sorted(pattern.kinds.get("", ()))]
    slots = tuple(dict.fromkeys(named + beside))
    required = tuple(_array(data, "required_slots"))
    for name in required:
        if name not in slots:
            raise Rejected(f"required_slots names {name!r}, which no template has")
    intent = TemplateIntent(
        skill_id=skill_id,
        intent_name=intent_name,
        lang=lang,
        order=order,
        patterns=patterns,
        sample_lines="\n".join(map(" ".join, sampled(patterns))),
        slots=slots,
        required_slots=required,
        blacklist=tuple(_items(data, "blacklist", lang, phrases, skipped)),
        required_keywords=tuple(_items(data, "required_keywords", lang, phrases, skipped)),
        slot_blacklist=_slot_blacklist(data, lang, skipped),
        requires_context=tuple(_array(data, "requires_context")),
        excludes_context=tuple(_array(data, "excludes_context")),
        payload=data,
    )
    return intent, skipped


def read_entity(data: Mapping[str, Any]) -> tuple[tuple[str, str, str], frozenset[str], list[Skipped]]:
    """Skill, slot and folded language of an entity registration, its values, and the items that were left out."""
    skill_id, entity_name = read_name(data, "skill_id"), read_name(data, "entity_name")
    lang = read_lang(data) or ""
    skipped: list[Skipped] = []
    values = _items(data, "samples", lang, phrases, skipped)
    if not values:
        raise Rejected("samples hold no usable value")
    both = [form for value in values if (form := other_form(value, lang))]
    return (skill_id, entity_name, lang.lower()), frozenset([*values, *both]), skipped


def _patterns(template: str, lang: str) -> tuple[Pattern, ...]:
    pattern = compiled(template, lang)
    return () if pattern is None else (pattern,)


def _array(data: Mapping[str, Any], field: str) -> tuple[Any, ...] | list[Any]:
    value = data.get(field, ())
    if not isinstance(value, (tuple, list)):
        raise Rejected(f"{field} is no array")
    return value


def _items(
    data: Mapping[str, Any],
    field: str,
    lang: str,
    read: Callable[[str, str], tuple[T, ...]],
    skipped: list[Skipped],
) -> list[T]:
    """The expanded templates of one field; malformed ones are skipped one by one."""
    found: list[T] = []
    for item in _array(data, field):
        if not isinstance(item, str):
            skipped.append(Skipped(repr(item), f"{field} takes text"))
            continue
        try:
            found += read(item, lang)
        except TemplateError as error:
            skipped.append(Skipped(item, f"{field}: {error}"))
    return found


def _slot_blacklist(data: Mapping[str, Any], lang: str, skipped: list[Skipped]) -> dict[str, frozenset[str]] | None:
    value = data.get("slot_blacklist", {})
    if not isinstance(value, dict):
        raise Rejected("slot_blacklist is no object")
    return {slot: frozenset(_items(value, slot, lang, phrases, skipped)) for slot in value} or None
