"""One transformer on one artifact, as its chain would run it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from hark.chains import Flow
from hark.model import Message, Session
from hark.model.session_merge import Denials
from hark.plugins import Transformer
from hark.plugins.transformers import ArtifactPart
from hark.testing.assistant import Assistant
from hark.trace import TurnTrace


class Transformed(NamedTuple):
    """What a transformer made of an artifact."""

    artifact: Any
    """What goes on: the result, or what it was given when it failed."""
    lang: str | None
    context: Mapping[str, Any]
    session: Session
    outcome: str
    """`changed`, `unchanged`, `cancelled`, `failed`, `malformed` or `late`."""
    detail: str
    """The reason of a cancellation or a failure, or what was changed besides the artifact."""
    emitted: list[Message]
    """The Messages it emitted."""


async def transformed(
    plugin: Transformer,
    artifact: Any = None,
    *,
    lang: str | None = None,
    session: Session | None = None,
    context: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    position: int = 0,
    is_last: bool = True,
    data_root: Path | None = None,
) -> Transformed:
    """Start a transformer of any kind, run it on `artifact` as its chain would, and stop it.

    The artifact of an utterance transformer is a list of texts, of an audio or tts transformer an `Audio`, of an intent
    transformer a `Match`; a metadata transformer has none. `settings` are those of the plugin; `position` and `is_last`
    are those of a sentence or chunk; the plugin keeps its files under `data_root`.
    """
    tables = {"plugins": {plugin.id: dict(settings)}} if settings else {}
    async with Assistant(plugin, settings=tables, data_root=data_root) as assistant:
        chain = assistant.runtime.chains[plugin.type]
        if len(chain.deployed()) != 1:
            raise ValueError("; ".join(map(str, assistant.runtime.refusals)) or f"{plugin.id} is not loaded")
        carried = session or Session()
        origin = Message("test.origin", {}, {"utterance_id": "test", **(context or {})}, carried)
        given = tuple(artifact) if plugin.type == "utterance" else artifact
        part = ArtifactPart("test", position, is_last)
        flow = Flow(given, lang if plugin.type != "intent" else None, origin, carried, Denials.of(carried), part)
        trace = TurnTrace("test", carried.session_id, (), 0.0, assistant.clock.monotonic)
        before = len(assistant.messages)
        await chain.run(flow, trace)
        step = trace.steps[-1]
        result = list(flow.artifact) if plugin.type == "utterance" else flow.artifact
        emitted = assistant.messages[before:]
        return Transformed(result, flow.lang, flow.context, flow.session, step.outcome, step.detail, emitted)
