"""What differs between the six kinds of chain: the artifact, and which results a transformer may return."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from hark.model import Audio, MalformedMessage, Match
from hark.model.frozen import check_text
from hark.plugins import Ctx
from hark.spec.names import TransformerType

Arguments = Callable[[Any, Ctx], tuple[Any, ...]]
"""The arguments `transform` is called with."""

Accept = Callable[[Any, Any], Any]
"""The next artifact, from the previous one and the result of `transform`; raises `MalformedResult`."""


class MalformedResult(ValueError):
    """A transformer returned a result its kind may not return; the result is dropped (TRANSFORM-1 §7)."""


class ChainKind(msgspec.Struct, frozen=True):
    """One of the six kinds."""

    name: TransformerType
    has_lang: bool
    arguments: Arguments
    accept: Accept
    ticked: bool = False
    """Whether it runs after the turn was counted off what the intent context keeps."""


def _artifact(artifact: Any, ctx: Ctx) -> tuple[Any, ...]:
    return artifact, ctx


def _accept_utterances(_before: tuple[str, ...], result: Any) -> tuple[str, ...]:
    if type(result) is not list and type(result) is not tuple:  # a list subclass could run its own code when iterated
        raise MalformedResult(f"transform() must return a list of texts, not {type(result).__name__}")
    for text in result:
        if type(text) is not str:
            raise MalformedResult(f"every utterance must be text, not {type(text).__name__}")
        if not text.isascii():
            _check_text(text)
    return tuple(result)


def _accept_nothing(before: Any, result: Any) -> Any:
    if result is not None:
        raise MalformedResult(f"a metadata transformer changes ctx and returns nothing, not {type(result).__name__}")
    return before


def _accept_match(before: Match, result: Any) -> Match:
    if type(result) is not Match:
        raise MalformedResult(f"transform() must return a Match, not {type(result).__name__}")
    match: Match = result
    if match is before:
        return before
    defect = match.defect()
    if defect is not None:
        raise MalformedResult(f"the Match it returned is malformed: {defect}")
    if match.skill_id != before.skill_id or match.intent_name != before.intent_name:
        raise MalformedResult("an intent transformer cannot change skill_id or intent_name")
    if match.updated_session is not None:
        raise MalformedResult("an intent transformer changes the session through ctx.session, not updated_session")
    return match


def _accept_text(_before: str, result: Any) -> str:
    if type(result) is not str:
        raise MalformedResult(f"transform() must return text, not {type(result).__name__}")
    _check_text(result)
    return result


def _accept_audio(_before: Audio, result: Any) -> Audio:
    if type(result) is not Audio:
        raise MalformedResult(f"transform() must return Audio, not {type(result).__name__}")
    audio: Audio = result
    defect = audio.defect()
    if defect is not None:
        raise MalformedResult(f"the Audio it returned is malformed: {defect}")
    return audio


def _check_text(text: str) -> None:
    try:
        check_text(text)
    except MalformedMessage as error:
        raise MalformedResult(str(error)) from None


KINDS: Final[dict[TransformerType, ChainKind]] = {
    "audio": ChainKind("audio", True, _artifact, _accept_audio),
    # Each transformer gets its own list, so that changing it in place and then raising has no effect.
    "utterance": ChainKind("utterance", True, lambda utterances, ctx: (list(utterances), ctx), _accept_utterances),
    "metadata": ChainKind("metadata", False, lambda _nothing, ctx: (ctx,), _accept_nothing),
    "intent": ChainKind("intent", False, _artifact, _accept_match, ticked=True),
    "dialog": ChainKind("dialog", True, _artifact, _accept_text, ticked=True),
    "tts": ChainKind("tts", True, _artifact, _accept_audio, ticked=True),
}
