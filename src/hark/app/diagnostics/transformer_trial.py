"""Running one transformer on one artifact, without an assistant."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from hark.app.plugin_set import plugin_files, plugins, wanted_by
from hark.app.runtime import Runtime, Storage
from hark.app.settings import Settings
from hark.builtin.transformers import SHIPPED
from hark.bus import LocalBus
from hark.chains import Flow
from hark.errors import UserError
from hark.hosting import Refusal
from hark.model import Audio, Match, Message, Session, SystemClock
from hark.model.audio import describe_audio
from hark.model.session_merge import Denials
from hark.plugins import Plugin, Transformer
from hark.spec import TransformerType, topics
from hark.trace import TurnTrace


class Trial(NamedTuple):
    """What is tried: a transformer by chain and id, on an artifact."""

    kind: TransformerType
    id: str
    artifact: Any
    """A text, a sound, or None for the metadata chain."""
    lang: str | None = None
    session_id: str = "default"
    settings: Mapping[str, Any] = {}
    """Settings of the transformer, besides those of the settings file."""
    slots: Mapping[str, str] = {}
    """Slots of the match, in the intent chain."""
    context: Mapping[str, Any] = {}
    """Context keys of the Message."""


class TrialResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a transformer did."""

    outcome: str
    seconds: float
    detail: str
    before: str
    after: str
    lang_before: str | None
    lang: str | None
    context: dict[str, Any]
    """The context keys it set."""
    session: dict[str, Any]
    """The session fields it changed."""
    emitted: list[tuple[str, dict[str, Any]]]
    audio: Audio | None = None


async def try_transformer(
    trial: Trial, settings: Settings, settings_file: Path, data_root: Path, *, installed: bool
) -> TrialResult:
    """Load the transformer alone and run it once; raises `UserError` when it does not exist or does not start."""
    plugin = _found(trial, settings, settings_file, installed)
    own = {**settings.plugins, trial.id: {**settings.plugins.get(trial.id, {}), **trial.settings}}
    alone = msgspec.structs.replace(settings, plugins=own, transformers=type(settings.transformers)())
    bus = LocalBus()
    await bus.open()
    emitted: list[Message] = []
    runtime = Runtime(alone, bus, SystemClock(), [plugin], storage=Storage(data_root=data_root))
    await runtime.start()
    try:
        if trial.id not in runtime.chains[trial.kind].registry:
            reasons = "; ".join(f"{one.reason}; {one.remedy}".rstrip("; ") for one in runtime.refusals)
            raise UserError(f"{trial.kind} {trial.id} cannot be loaded: {reasons}")
        bus.tap(emitted.append)
        return await _run(trial, runtime, emitted)
    finally:
        await runtime.stop()
        await bus.close()


def _found(trial: Trial, settings: Settings, settings_file: Path, installed: bool) -> Transformer:
    wanted = (*wanted_by(settings), f"{trial.kind}.{trial.id}")
    made = plugins(installed=installed, files=plugin_files(settings, settings_file), wanted=wanted)
    known: list[str] = []
    for plugin in made:
        if isinstance(plugin, Refusal | Plugin) and not isinstance(plugin, Transformer):
            continue
        if isinstance(plugin, Transformer) and plugin.type == trial.kind:
            if plugin.id == trial.id:
                return plugin
            known.append(plugin.id)
    known += [one.id for one in SHIPPED if one.kind == trial.kind]
    raise UserError(f"there is no {trial.kind} transformer {trial.id!r}; there are: {', '.join(sorted(set(known)))}")


async def _run(trial: Trial, runtime: Runtime, emitted: list[Message]) -> TrialResult:
    session = Session(trial.session_id)
    origin = Message(topics.UTTERANCE_HANDLE, {}, {**trial.context, "utterance_id": "trial"}, session)
    artifact = _artifact(trial, runtime.settings.assistant.lang)
    has_lang = trial.kind != "intent"
    flow = Flow(artifact, trial.lang if has_lang else None, origin, session, Denials())
    trace = TurnTrace("trial", session.session_id, (), 0.0, runtime.clock.monotonic)
    await runtime.chains[trial.kind].run(flow, trace)
    await runtime.bus.settled()
    step = trace.steps[-1]
    stamps = f"{trial.kind}_transformer_ids"
    context = {key: value for key, value in flow.context.items() if key != stamps and origin.context.get(key) != value}
    changed = {name for name in {*session, *flow.session} if session.get(name) != flow.session.get(name)}
    before, after = _shown(artifact), _shown(flow.artifact)
    return TrialResult(
        outcome=step.outcome,
        seconds=step.seconds,
        detail=step.detail if step.outcome not in ("changed", "unchanged") else "",
        before=before,
        after=f"{after}, other samples" if after == before and flow.artifact != artifact else after,
        lang_before=trial.lang if has_lang else None,
        lang=flow.lang,
        context=context,
        session={name: flow.session.get(name) for name in changed},
        emitted=[(one.type, dict(one.data)) for one in emitted if not one.type.startswith("hark.")],
        audio=flow.artifact if isinstance(flow.artifact, Audio) else None,
    )


def _artifact(trial: Trial, lang: str) -> Any:
    if trial.kind == "utterance":
        return (trial.artifact,)
    if trial.kind == "intent":
        return Match("trial.skill", "trial", trial.lang or lang, trial.artifact, dict(trial.slots))
    return trial.artifact


def _shown(artifact: Any) -> str:
    if artifact is None:
        return ""
    if isinstance(artifact, Audio):
        return describe_audio(artifact)
    if isinstance(artifact, Match):
        slots = "".join(f", {name} = {text}" for name, text in artifact.slots.items())
        return f'"{artifact.utterance}"{slots}'
    if isinstance(artifact, tuple):
        return " | ".join(f'"{text}"' for text in artifact) or "(no speech)"
    return f'"{artifact}"'
