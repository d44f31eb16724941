"""Make the report of `hark doctor`: of one process, and of several processes together."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain as concatenated
from typing import Any, Final, NamedTuple, TypeVar

from hark import __version__
from hark.app.diagnostics.advice import Inventory, advice, advise, engines_of, unused_entries
from hark.app.diagnostics.report import (
    ChainReport,
    DoctorReport,
    EngineReport,
    MissingPlugin,
    OvosPluginReport,
    PipelineReport,
    PluginReport,
    ServiceReport,
    SkillReport,
)
from hark.app.runtime import Runtime
from hark.app.settings import Settings
from hark.app.text import counted
from hark.bridges import opm
from hark.builtin import DEFAULT_PLUGINS, TemplateMatcher
from hark.hosting import Engines, Loaded, Refusal, Runner, sendable_text
from hark.plugins.handlers import handlers_of
from hark.spec import TRANSFORMER_TYPES, TransformerType


class _InstalledPlugins:
    """The plugins of OVOS that are installed. To look takes a second on a small machine, so it is remembered."""

    def __init__(self) -> None:
        self._found: Sequence[opm.FoundPlugin] = ()
        self._until = float("-inf")

    async def look(self) -> Sequence[opm.FoundPlugin]:
        if time.monotonic() >= self._until:
            self._found = await asyncio.to_thread(lambda: [*opm.found()])
            self._until = time.monotonic() + _REMEMBERED
        return self._found


_REMEMBERED: Final = 60.0
_TOOLS: Final = ("solver", "toolbox")
"""The kinds of plugins of OVOS whose tools personas can call."""
_installed: Final = _InstalledPlugins()


async def examine(runtime: Runtime, settings_file: str, *, compare: bool = True) -> DoctorReport:
    """The report on a started runtime; where services are in other processes, on those that are here.

    Unless `compare` is False the sentences of all intents are compared, a little at a time beside turns.
    """
    settings, options = runtime.settings, runtime.settings.understanding()
    pipeline = [_pipeline_entry(runtime, name) for name in options.pipeline] if "understand" in runtime.services else []
    reached = {entry.plugin.id for entry in pipeline if entry.plugin is not None}
    shared = await _shared_sentences(runtime) if compare else _SharedSentences([], [], [])
    installed = await _installed.look()
    return DoctorReport(
        version=__version__,
        settings_file=settings_file,
        lang=options.lang,
        langs=sorted(options.langs),
        chains=[_chain(runtime, kind) for kind in runtime.chains],
        taps=[_member(entry) for entry in runtime.plugin_set.taps],
        pipeline=pipeline,
        never_asked=[entry.id for entry in runtime.pipeline if entry.id not in reached],
        skills=[
            SkillReport(member=_member(entry), intents=sorted(handlers_of(entry.plugin))) for entry in runtime.skills
        ],
        toolboxes=[_member(entry, problem=_problem(entry, runtime.runner)) for entry in runtime.plugin_set.toolboxes],
        engines=[engine for engines in engines_of(runtime) for engine in engines_in(engines, runtime.runner)],
        overlaps=shared.overlaps,
        thefts=shared.thefts,
        own_overlaps=shared.own,
        sentence_model="; ".join(
            entry.plugin.sentence_model() for entry in runtime.pipeline if isinstance(entry.plugin, TemplateMatcher)
        ),
        missing=missing_in(runtime.refusals),
        ovos=[*_ovos_plugins(runtime, installed)],
        advice=[*map(str, advice(runtime)), *map(str, unused_entries(settings))] if runtime.is_whole else [],
    )


class _SharedSentences(NamedTuple):
    """Sentences that intents of several skills claim, as lines of the report."""

    overlaps: list[str]
    own: list[str]
    """The overlaps and thefts between two skills that come with Hark."""
    thefts: list[str]


async def _shared_sentences(runtime: Runtime) -> _SharedSentences:
    found = _SharedSentences([], [], [])
    own = {plugin.id for plugin in DEFAULT_PLUGINS}
    for matcher in [entry.plugin for entry in runtime.pipeline if isinstance(entry.plugin, TemplateMatcher)]:
        await matcher.compare()
        for one in matcher.overlaps():
            is_own = {label.partition(":")[0] for label in (one.winner, one.loser)} <= own
            line = f"{one.sentence!r} ({one.lang}): {one.winner} gets it, {one.loser} claims it too"
            (found.own if is_own else found.overlaps).append(line)
        for theft in matcher.thefts():
            is_own = {label.partition(":")[0] for label in (theft.thief, theft.owner)} <= own
            line = (
                f"{theft.thief} gets {theft.stolen} of {counted(theft.asked, 'sentence')} of {theft.owner} "
                f"({theft.lang}), such as {theft.sentence!r}"
            )
            (found.own if is_own else found.thefts).append(line)
    return found


def _ovos_plugins(runtime: Runtime, installed: Sequence[opm.FoundPlugin]) -> Iterator[OvosPluginReport]:
    """Installed plugins of OVOS: loaded, refused, or how to turn them on."""
    refused = {refusal.name for refusal in runtime.refusals}
    loaded: set[tuple[str, str]] = {
        (kind, entry.id) for kind, registry in runtime.transformers.items() for entry in registry
    }
    loaded |= {("pipeline", entry.id) for entry in runtime.pipeline}
    loaded |= {(kind, entry.id) for entry in runtime.plugin_set.toolboxes for kind in _TOOLS}
    for one in installed:
        engine_kind = one.kind.removesuffix("_engine")
        if (one.kind, one.id) in loaded:
            state = "loaded"
        elif one.id in refused:
            state = "not loaded, see below"
        elif one.missing:
            state = f"off; it needs {one.missing}"
        elif one.is_transformer:
            state = f'off; [transformers] enable = ["{one.id}"] turns it on'
        elif one.kind == "pipeline":
            state = f'off; an entry [pipeline.NAME] plugin = "{one.id}" of the pipeline uses it'
        elif one.kind in _TOOLS:
            state = f'off; [assistant] toolboxes = ["{one.id}"] offers it to personas'
        elif one.id in getattr(runtime.settings.voice, engine_kind):
            state = "named in [voice]"
        else:
            state = f'off; [voice] {engine_kind} = ["{one.id}"] uses it'
        yield OvosPluginReport(kind=engine_kind, id=one.id, package=f"{one.package} {one.version}", state=state)


def engines_in(engines: Engines[Any], runner: Runner) -> list[EngineReport]:
    """The loaded engines of one kind."""
    reports = []
    for entry in engines.registry:
        result = runner.attempt(Loaded(entry.plugin, entry.plugin.about))
        about = result.failure or sendable_text(str(result.value))
        reports.append(EngineReport(kind=engines.kind, member=_member(entry), about=about))
    return reports


def missing_in(refusals: Iterable[Refusal]) -> list[MissingPlugin]:
    """The refusals as they are reported."""
    return [
        MissingPlugin(kind=one.kind, name=one.name, reason=one.reason, remedy=one.remedy, where=one.where)
        for one in refusals
    ]


def _chain(runtime: Runtime, kind: TransformerType) -> ChainReport:
    chain = runtime.chains[kind]
    explicit = runtime.settings.transformers.order(kind)
    deployed = chain.deployed()
    running = {entry.id for entry in deployed}
    return ChainReport(
        kind=kind,
        order="by priority" if explicit is None else f"in the order of [transformers] {kind}",
        members=[
            _member(entry, entry.priority, chain.suspended().get(entry.id, ""), _problem(entry, runtime.runner))
            for entry in deployed
        ],
        left_out=[entry.id for entry in chain.registry if entry.id not in running],
    )


def _pipeline_entry(runtime: Runtime, name: str) -> PipelineReport:
    entries = runtime.settings.understanding()
    entry = runtime.pipeline.get(entries.entry(name, lambda plugin: runtime.pipeline.get(plugin) is not None).plugin)
    if entry is None:
        return PipelineReport(entry=name, plugin=None)
    return PipelineReport(entry=name, plugin=_member(entry, problem=_problem(entry, runtime.runner)))


def _problem(entry: Loaded[Any], runner: Runner) -> str:
    """What a plugin says is wrong with it."""
    result = runner.attempt(Loaded(entry.plugin, entry.plugin.problem))
    return result.failure or sendable_text(str(result.value))


def _member(entry: Loaded[Any], priority: int | None = None, suspended: str = "", problem: str = "") -> PluginReport:
    notes = [problem] if problem else []
    if entry.unloaded:
        notes.append(f"unloaded: {entry.unloaded}")
    elif suspended:
        notes.append(f"not called for a while: {suspended}")
    elif entry.failures:
        notes.append(f"failed {counted(entry.failures, 'time')} in a row")
    if entry.demoted:
        notes.append(f"moved to a worker thread: {entry.demoted}")
    return PluginReport(
        id=entry.id,
        runs=entry.mode,
        origin=entry.origin,
        note="; ".join(notes),
        priority=priority,
        essential=entry.essential,
    )


T = TypeVar("T")


def join(
    reports: Iterable[DoctorReport], settings: Settings, settings_file: str, services: list[ServiceReport]
) -> DoctorReport:
    """The reports of all processes as one."""
    found = list(reports)
    chains = sorted(_once(one.chains for one in found), key=lambda c: _place(c.kind))
    options = settings.understanding()
    joined = DoctorReport(
        version=__version__,
        settings_file=settings_file,
        lang=options.lang,
        langs=sorted(options.langs),
        chains=chains,
        taps=_once(one.taps for one in found),
        pipeline=_once(one.pipeline for one in found),
        never_asked=_once(one.never_asked for one in found),
        skills=_once(one.skills for one in found),
        toolboxes=_once(one.toolboxes for one in found),
        overlaps=_once(one.overlaps for one in found),
        thefts=_once(one.thefts for one in found),
        own_overlaps=_once(one.own_overlaps for one in found),
        sentence_model=next((one.sentence_model for one in found if one.sentence_model), ""),
        missing=_once(one.missing for one in found),
        ovos=_joined_ovos(one.ovos for one in found),
        engines=_once(one.engines for one in found),
        services=services,
        advice=[],
    )
    # Whether the plugins of a missing service are loaded is not known.
    found_advice = list(advise(settings, _inventory(joined))) if all(one.process for one in services) else []
    return DoctorReport(
        **{name: getattr(joined, name) for name in joined.__struct_fields__ if name != "advice"},
        advice=[*map(str, found_advice), *map(str, unused_entries(settings))],
    )


def _once(lists: Iterable[Sequence[T]]) -> list[T]:
    """The items of these lists, each once: workers report the same plugins."""
    items: list[T] = []
    for one_list in lists:
        items += [item for item in one_list if item not in items]
    return items


def _joined_ovos(lists: Iterable[Sequence[OvosPluginReport]]) -> list[OvosPluginReport]:
    """Each plugin once: a process that loaded one knows more about it than the others."""
    known: dict[tuple[str, str], OvosPluginReport] = {}
    for one in concatenated.from_iterable(lists):
        if one.state == "loaded" or (one.kind, one.id) not in known:
            known[one.kind, one.id] = one
    return list(known.values())


def _inventory(report: DoctorReport) -> Inventory:
    pipeline = [entry.plugin.id for entry in report.pipeline if entry.plugin is not None] + report.never_asked
    transformers: dict[str, Sequence[str]] = {
        chain.kind: [*(member.id for member in chain.members), *chain.left_out] for chain in report.chains
    }
    skills = [skill.member.id for skill in report.skills]
    taps = [tap.id for tap in (*report.taps, *report.toolboxes)]
    all_ids = [*concatenated.from_iterable(transformers.values()), *taps, *pipeline, *skills]
    return Inventory(pipeline, transformers, all_ids, {missing.name for missing in report.missing})


def _place(kind: str) -> int:
    return [*TRANSFORMER_TYPES].index(kind)  # type: ignore[arg-type]
