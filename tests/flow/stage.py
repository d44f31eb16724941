"""Plugins made of functions, and ways to look at what an assistant did."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable, Mapping
from typing import Any

from hark.model import Message, Session
from hark.plugins import (
    AudioTransformer,
    DialogTransformer,
    IntentTransformer,
    Match,
    MetadataTransformer,
    PipelinePlugin,
    Plugin,
    Transformer,
    TTSTransformer,
    Turn,
    UtteranceTransformer,
    handles,
)
from hark.spec import TransformerType, topics
from hark.testing import Assistant

BASES: Mapping[TransformerType, type[Transformer]] = {
    "audio": AudioTransformer,
    "utterance": UtteranceTransformer,
    "metadata": MetadataTransformer,
    "intent": IntentTransformer,
    "dialog": DialogTransformer,
    "tts": TTSTransformer,
}

Work = Callable[..., Any]
MakeAssistant = Callable[..., Assistant]
"""The `assistant` fixture: makes an assistant on each kind of bus."""


def transformer(
    kind: TransformerType, plugin_id: str, work: Work, *, priority: int = 50, quick: bool | None = None
) -> Transformer:
    """A transformer that does `work`, which takes what `transform` takes."""
    members = {"id": plugin_id, "priority": priority, "quick": _quick(work, quick), "transform": staticmethod(work)}
    made: Transformer = type(f"Made{kind.title()}", (BASES[kind],), members)()
    return made


def matcher(plugin_id: str, match: Work, *, quick: bool | None = None, **handlers: Work) -> PipelinePlugin:
    """A pipeline plugin with this `match`, and a handler for each further keyword."""
    members = {
        "id": plugin_id,
        "quick": _quick(match, quick),
        "match": staticmethod(match),
        **members_for(handlers),
    }
    made: PipelinePlugin = type("MadeMatcher", (PipelinePlugin,), members)()
    return made


def skill(skill_id: str, *, quick: bool = False, **handlers: Work) -> Plugin:
    """A plugin that has handlers and nothing else."""
    made: Plugin = type("MadeSkill", (Plugin,), {"id": skill_id, "quick": quick, **members_for(handlers)})()
    return made


def echo(turn: Turn) -> str:
    """A handler that says what was said."""
    return turn.utterance


def silent(turn: Turn) -> None:
    """A handler that does nothing."""


def claim_of(topic: str, **changes: Any) -> Callable[[Any, str, Session], Match]:
    """A `match` that claims whatever it hears for the handler on `topic`."""
    skill_id, _, intent_name = topic.partition(":")

    def match(utterances: Any, lang: str, session: Session) -> Match:
        claim = Match(skill_id, intent_name, lang, utterances[0])
        return claim.replace(**changes) if changes else claim

    return match


def claims(plugin_id: str = "claims", handler: Work = echo, *, quick: bool = True, **changes: Any) -> PipelinePlugin:
    """A pipeline plugin that claims everything for its own handler `go`."""
    return matcher(plugin_id, claim_of(f"{plugin_id}:go", **changes), quick=quick, go=handler)


def declines(plugin_id: str = "declines", seen: list[Any] | None = None, *, answer: Any = None) -> PipelinePlugin:
    """A pipeline plugin that declines everything, and notes what it was asked."""

    def match(utterances: Any, lang: str, session: Session) -> Any:
        if seen is not None:
            seen.append((tuple(utterances), lang, session))
        return answer

    return matcher(plugin_id, match)


def _quick(work: Work, quick: bool | None) -> bool:
    return not inspect.iscoroutinefunction(work) if quick is None else quick


def members_for(handlers: Mapping[str, Work]) -> dict[str, Any]:
    return {f"on_{name}": handles(name)(staticmethod(handler)) for name, handler in handlers.items()}


async def reached(event: threading.Event) -> None:
    """Wait for something to happen on another thread."""
    assert await asyncio.to_thread(event.wait, 20), "the other thread never got there"


def public(messages: list[Message]) -> list[str]:
    """The topics of what everybody may read, registrations at the start apart."""
    skipped = (*topics.REGISTRATION, topics.UTTERANCE_HANDLE)
    return [m.type for m in messages if not m.type.startswith("hark.") and m.type not in skipped]


def turn_of(assistant: Assistant, marker: int = -1) -> list[Message]:
    """The public Messages of one turn, by the number of its end marker."""
    utterance_id = assistant.of(topics.UTTERANCE_HANDLED)[marker].utterance_id
    return [m for m in assistant.messages if m.utterance_id == utterance_id and not m.type.startswith("hark.")]


def outcomes(assistant: Assistant, stage: str) -> list[tuple[str, str]]:
    """Who did what at one stage of the last turn."""
    return [(step.who, step.outcome) for step in assistant.trace().steps if step.stage == stage]


MATCHED = [
    topics.INTENT_MATCHED,
    topics.HANDLER_START,
    "claims:go",
    topics.UTTERANCE_SPEAK,
    topics.HANDLER_COMPLETE,
    topics.UTTERANCE_HANDLED,
]
UNMATCHED = [topics.INTENT_UNMATCHED, topics.UTTERANCE_HANDLED]
CANCELLED = [topics.UTTERANCE_CANCELLED, topics.UTTERANCE_HANDLED]
