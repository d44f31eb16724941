"""Words the specifications reserve, and the shapes of the identifiers that appear on the bus."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal

DEFAULT_SESSION_ID: Final = "default"

TransformerType = Literal["audio", "utterance", "metadata", "intent", "dialog", "tts"]
TRANSFORMER_TYPES: Final[tuple[TransformerType, ...]] = ("audio", "utterance", "metadata", "intent", "dialog", "tts")

RESERVED_INTENT_NAMES: Final = frozenset({"converse", "response", "stop", "fallback", "common_query"})
"""Intent names no skill may register (PIPELINE-1 §7.3)."""

PUSHING_RESERVED_NAMES: Final = frozenset({"fallback"})
"""The reserved names whose dispatch still makes the skill an active handler."""

CANCEL_REASONS: Final = ("stop_word", "transcription_invalid", "policy_block", "parental_control", "other")
"""Reasons with a fixed meaning; free text is allowed beside them (TRANSFORM-1 §8.1)."""

# Keys of `Message.context`.
SOURCE: Final = "source"
DESTINATION: Final = "destination"
SESSION: Final = "session"
SESSION_ID: Final = "session_id"
UTTERANCE_ID: Final = "utterance_id"
SKILL_ID: Final = "skill_id"
PIPELINE_ID: Final = "pipeline_id"
SCHEDULER: Final = "scheduler"
"""What the scheduler says of an event that it fires (SCHEDULER-1)."""
CLIENT: Final = "hark_client"
"""Which client an utterance or a schedule came from: set by the server of the bus, and not part of the turn."""
CANCELED: Final = "canceled"
CANCEL_REASON: Final = "cancel_reason"
CANCEL_BY: Final = "cancel_by"
CANCEL_KEYS: Final = (CANCELED, CANCEL_REASON, CANCEL_BY)
CAPTURE_ID: Final = "hark_capture"
"""Hark's own: the id of the recording an utterance was recognised from."""
TRACE_KEEP: Final = "hark_trace"
"""Hark's own: what traces may keep of a turn, `no-text` or `none`; without it, everything."""
WAKE_WORD: Final = "wake_word"
"""The phrase of the wake word that opened the microphone, on utterances that began with one."""
REMARK: Final = "hark_remark"
"""Context key of what is said, or not said, about a turn that ended without an answer."""
SAID: Final = "hark_said"
"""Context key of `ovos.intent.handler.error`: the skill has said itself that it failed, as those of OVOS do."""
DECLINED: Final = "hark_declined"
"""Context key of `ovos.intent.handler.complete`: a fallback said when it was called that it has no answer."""
NOTHING_STOPPED: Final = "nothing_to_stop"
"""The slot of a stop with the sentence that is said if nothing was under way; without it, such a stop is silent."""
AGAIN: Final = "hark_again"
"""Hark's own: this dispatch was emitted before, and may not have reached its handler."""

FOR_TURN: Final = "hark_for_turn"
"""Hark's own: the session fields an audio transformer set for one turn, each with its lasting value, or null."""
TOOL_TURN: Final = "hark_tool_turn"
"""Context key of a turn that a model asked for, with the intent it called: what its handler says goes to the model, and
is not spoken.
"""
RESPONSE_ID: Final = "hark_response"
"""Hark's own: the id of a response, on every Message that is derived from it."""

STAMP_KEYS: Final[Mapping[TransformerType, str]] = {kind: f"{kind}_transformer_ids" for kind in TRANSFORMER_TYPES}

RUNTIME_KEYS: Final = frozenset({SESSION, UTTERANCE_ID, FOR_TURN, RESPONSE_ID, *CANCEL_KEYS, *STAMP_KEYS.values()})
"""Context keys that only Hark writes; `Ctx` refuses them to transformers."""

# Session fields by role (SESSION-1 §3.4, ruling R5).
DENYLISTS: Final = (
    "blacklisted_skills",
    "blacklisted_intents",
    "blacklisted_pipelines",
    *(f"blacklisted_{kind}_transformers" for kind in TRANSFORMER_TYPES),
)
TRANSFORMER_PREFERENCES: Final = tuple(f"{kind}_transformers" for kind in TRANSFORMER_TYPES)

REIMPOSED: Final = (*TRANSFORMER_PREFERENCES, *DENYLISTS)
"""The fifteen fields a `Match.updated_session` cannot change."""

HANDLER_WRITES: Final = ("response_mode", "persona_id", "pipeline", "active_handlers", "converse_handlers")
"""The fields a handler may change, besides `intent_context`; of the two handler lists only its own entries."""

_PIPELINE_ID = re.compile(r"[A-Za-z0-9_-]+")
_TRANSFORMER_ID = re.compile(r"[A-Za-z0-9._-]+")
_DOTTED = re.compile(r"[A-Za-z0-9_-]++(?:\.[A-Za-z0-9_-]++)*+")


def stamp_key(kind: TransformerType) -> str:
    """The context key that lists which transformers of one type worked on a Message (TRANSFORM-1 §1.3)."""
    return STAMP_KEYS[kind]


def is_pipeline_id(text: object) -> bool:
    """Whether `text` has only letters, digits, `_` and `-`: it becomes one segment of a topic (PIPELINE-1 §3)."""
    return isinstance(text, str) and _PIPELINE_ID.fullmatch(text) is not None


def is_transformer_id(text: object) -> bool:
    """As `is_pipeline_id`, with dots allowed (TRANSFORM-1 §1.1)."""
    return isinstance(text, str) and _TRANSFORMER_ID.fullmatch(text) is not None


def is_skill_id(text: object) -> bool:
    """Whether `text` is words joined by single dots: the left half of a dispatch topic (MSG-1 §2.1.1)."""
    return isinstance(text, str) and _DOTTED.fullmatch(text) is not None


def is_intent_name(text: object) -> bool:
    """As `is_skill_id`, and not a reserved name: what a skill may register (PIPELINE-1 §7.3)."""
    return is_skill_id(text) and text not in RESERVED_INTENT_NAMES
