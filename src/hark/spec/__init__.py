"""Names the specifications fix: topics, reserved names and the shapes of identifiers."""

from hark.spec import topics
from hark.spec.names import (
    CANCEL_REASONS,
    DEFAULT_SESSION_ID,
    RESERVED_INTENT_NAMES,
    TRANSFORMER_TYPES,
    TransformerType,
    is_intent_name,
    is_pipeline_id,
    is_skill_id,
    is_transformer_id,
    stamp_key,
)
from hark.spec.topics import dispatch_topic, is_dispatch_topic, is_topic, split_dispatch

__all__ = [
    "CANCEL_REASONS",
    "DEFAULT_SESSION_ID",
    "RESERVED_INTENT_NAMES",
    "TRANSFORMER_TYPES",
    "TransformerType",
    "dispatch_topic",
    "is_dispatch_topic",
    "is_intent_name",
    "is_pipeline_id",
    "is_skill_id",
    "is_topic",
    "is_transformer_id",
    "split_dispatch",
    "stamp_key",
    "topics",
]
