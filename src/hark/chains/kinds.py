"""What the six kinds of chain do not have in common: their artifact, and what a transformer may make of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from hark.model import Audio, Frozen, MalformedMessage, Match, Session
from hark.model.frozen import Sealed, check_text
from hark.plugins import Ctx
from hark.spec.names import TransformerType

Given = Callable[[Any, Ctx], tuple[Any, ...]]
"""The arguments `transform` is called with."""

Taken = Callable[[Any, Any], Any]
"""The artifact to go on with, from the previous one and what `transform` returned; raises `MalformedResult`."""


class MalformedResult(ValueError):
    """A transformer returned what its kind may not return; its output counts for nothing (TRANSFORM-1 §7)."""


class ChainKind(msgspec.Struct, frozen=True):
    """One of the six."""

    name: TransformerType
    has_lang: bool
    given: Given
    taken: Taken


def _artifact(artifact: Any, ctx: Ctx) -> tuple[Any, ...]:
    return artifact, ctx


def _take_utterances(_before: tuple[str, ...], result: Any) -> tuple[str, ...]:
    if type(result) is not list and type(result) is not tuple:  # to look into another kind of list runs its code
        raise MalformedResult(f"transform() must return a list of texts, not {type(result).__name__}")
    for text in result:
        if type(text) is not str:
            raise MalformedResult(f"every utterance must be text, not {type(text).__name__}")
        if not text.isascii():
            _sayable(text)
    return tuple(result)


def _take_nothing(before: Any, result: Any) -> Any:
    if result is not None:
        raise MalformedResult(f"a metadata transformer changes ctx and returns nothing, not {type(result).__name__}")
    return before


def _take_match(before: Match, result: Any) -> Match:
    if type(result) is not Match:
        raise MalformedResult(f"transform() must return a Match, not {type(result).__name__}")
    match: Match = result
    if match is before:
        return before
    defect = claim_defect(match)
    if defect is not None:
        raise MalformedResult(f"the Match it returned is malformed: {defect}")
    if match.skill_id != before.skill_id or match.intent_name != before.intent_name:
        raise MalformedResult("an intent transformer cannot change skill_id or intent_name")
    if match.updated_session is not None:
        raise MalformedResult("an intent transformer changes the session through ctx.session, not updated_session")
    return match


def claim_defect(match: Match) -> str | None:
    """Why a Match that a plugin made is malformed, or None. What is in it must not have code of its own to run."""
    if type(match.slots) is not Sealed and type(match.slots) is not Frozen:
        return f"slots must be a dict of text to text, not {type(match.slots).__name__}"
    if match.updated_session is not None and type(match.updated_session) is not Session:
        return f"updated_session must be a Session, not {type(match.updated_session).__name__}"
    return match.defect()


def _take_text(_before: str, result: Any) -> str:
    if type(result) is not str:
        raise MalformedResult(f"transform() must return text, not {type(result).__name__}")
    _sayable(result)
    return result


def _take_audio(_before: Audio, result: Any) -> Audio:
    if type(result) is not Audio:
        raise MalformedResult(f"transform() must return Audio, not {type(result).__name__}")
    audio: Audio = result
    defect = audio.defect()
    if defect is not None:
        raise MalformedResult(f"the Audio it returned is malformed: {defect}")
    return audio


def _sayable(text: str) -> None:
    try:
        check_text(text)
    except MalformedMessage as error:
        raise MalformedResult(str(error)) from None


KINDS: Final[dict[TransformerType, ChainKind]] = {
    "audio": ChainKind("audio", True, _artifact, _take_audio),
    # Authors get a list of their own, so that changing it in place and then raising leaves no trace.
    "utterance": ChainKind("utterance", True, lambda utterances, ctx: (list(utterances), ctx), _take_utterances),
    "metadata": ChainKind("metadata", False, lambda _nothing, ctx: (ctx,), _take_nothing),
    "intent": ChainKind("intent", False, _artifact, _take_match),
    "dialog": ChainKind("dialog", True, _artifact, _take_text),
    "tts": ChainKind("tts", True, _artifact, _take_audio),
}
