"""An intent as a matcher holds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hark.intents.grammar import Sentence
from hark.intents.patterns import Pattern
from hark.spec import dispatch_topic

Key = tuple[str, str]
"""What can be enabled and disabled: a label and a folded language tag."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Definition:
    """What one registration of an intent has in either method (INTENT-3 §3, INTENT-4 §5). Compared by identity."""

    skill_id: str
    intent_name: str
    lang: str
    """The tag in its usual case, as it is reported."""
    order: int
    """Place among all registrations; a replacement keeps its predecessor's."""
    slots: tuple[str, ...] = ()
    """Every slot there can be, in the order of writing."""
    required_slots: tuple[str, ...] = ()
    slot_blacklist: Mapping[str, frozenset[str]] | None = None
    """Values a slot cannot take."""
    requires_context: tuple[Any, ...] = ()
    excludes_context: tuple[Any, ...] = ()
    payload: Mapping[str, Any] | None = None
    """What it was read from."""

    label: str = field(init=False)
    """`skill_id:intent_name`."""
    tag: str = field(init=False)
    """The language, folded for comparison."""
    key: Key = field(init=False)
    """Label and folded language."""

    def __post_init__(self) -> None:
        # Asked for with every utterance, so worked out once.
        object.__setattr__(self, "label", dispatch_topic(self.skill_id, self.intent_name))
        object.__setattr__(self, "tag", self.lang.lower())
        object.__setattr__(self, "key", (self.label, self.tag))

    def bars(self, slot: str, value: str) -> bool:
        """Whether `slot` cannot take `value`, given as folded text."""
        return self.slot_blacklist is not None and value in self.slot_blacklist.get(slot, ())


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TemplateIntent(Definition):
    """One registered template intent in one language, compiled (INTENT-4 §6)."""

    patterns: tuple[Pattern, ...]
    """Its templates, compiled."""
    samples: tuple[Sentence, ...]
    """Sentences they stand for: all, or so many that the intent can be judged by them."""
    blacklist: tuple[str, ...] = ()
    """Phrases that rule the intent out."""
    required_keywords: tuple[str, ...] = ()
    """Phrases of which one has to occur, if there are any."""
