"""Shapes of the identifiers that appear on the bus."""

from __future__ import annotations

import re

from hark.spec.names import RESERVED_INTENT_NAMES

_PIPELINE_ID = re.compile(r"[A-Za-z0-9_-]+")
_TRANSFORMER_ID = re.compile(r"[A-Za-z0-9._-]+")
_DOTTED = re.compile(r"[A-Za-z0-9_-]++(?:\.[A-Za-z0-9_-]++)*+")


def is_pipeline_id(text: object) -> bool:
    """Letters, digits, `_` and `-` only: it becomes one segment of a topic (PIPELINE-1 §3)."""
    return isinstance(text, str) and _PIPELINE_ID.fullmatch(text) is not None


def is_transformer_id(text: object) -> bool:
    """As a pipeline id, with dots allowed (TRANSFORM-1 §1.1)."""
    return isinstance(text, str) and _TRANSFORMER_ID.fullmatch(text) is not None


def is_skill_id(text: object) -> bool:
    """Dotted words: the left half of a dispatch topic (MSG-1 §2.1.1)."""
    return isinstance(text, str) and _DOTTED.fullmatch(text) is not None


def is_intent_name(text: object) -> bool:
    """Dotted words that are not reserved: what a skill may register (PIPELINE-1 §7.3)."""
    return is_skill_id(text) and text not in RESERVED_INTENT_NAMES
