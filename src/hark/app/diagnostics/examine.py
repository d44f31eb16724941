"""Looking a house over: what is loaded, in which order it would run and why, and what is not loaded and why."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain as in_a_row
from typing import Any, NamedTuple, TypeVar

from hark import __version__
from hark.app.diagnostics.report import (
    ChainReport,
    DoctorReport,
    EngineReport,
    MissingPlugin,
    PipelineReport,
    PluginReport,
    ServiceReport,
    SkillReport,
)
from hark.app.runtime import Runtime
from hark.app.services.hear import Hear
from hark.app.services.speak import Speak
from hark.app.settings import Settings
from hark.app.settings.check import nearest
from hark.builtin import TemplateMatcher
from hark.hosting import Engines, Loaded, Refusal, Runner, sendable_text
from hark.plugins.engines import ENGINE_KINDS
from hark.plugins.handlers import handlers_of
from hark.spec import TRANSFORMER_TYPES, TransformerType


class Inventory(NamedTuple):
    """What is loaded, by id."""

    pipeline: Sequence[str]
    transformers: Mapping[str, Sequence[str]]
    everybody: Sequence[str]
    refused: Collection[str]


def advice(house: Runtime) -> Iterator[str]:
    """What a deployer may want to know about the settings of a house that has started; nothing where rooms of it are
    elsewhere, for what is loaded there is not known here.
    """
    if not house.is_whole:
        return iter(())
    transformers: dict[str, Sequence[str]] = {
        kind: [entry.id for entry in registry] for kind, registry in house.transformers.items()
    }
    refused = {refusal.name for refusal in house.refusals}
    found = Inventory([entry.id for entry in house.pipeline], transformers, list(house.ids()), refused)
    return advise(house.settings, found)


def advise(settings: Settings, found: Inventory) -> Iterator[str]:
    """What a deployer may want to know about settings where this is loaded."""
    if not settings.assistant.pipeline:
        yield "[assistant] pipeline is empty: no plugin is asked to match what is said"
    for name in settings.assistant.pipeline:
        plugin = settings.entries[name].plugin if name in settings.entries else name
        if plugin not in found.pipeline:
            table = f" by [pipeline.{name}]" if name in settings.entries else ""
            yield f"[assistant] pipeline names {plugin!r}{table}, which is not loaded{_meant(plugin, found.pipeline)}"
    for kind in TRANSFORMER_TYPES:
        loaded = found.transformers.get(kind, ())
        for name in settings.transformers.order(kind) or ():
            if name not in loaded:
                yield f"[transformers] {kind} names {name!r}, which is not loaded{_meant(name, loaded)}"
    wanted = {name for kind in ENGINE_KINDS for name in getattr(settings.voice, kind)}
    for name in settings.engine:
        if name not in wanted:
            yield f"[engine.{name}] has no effect: [voice] does not name {name!r}{_meant(name, wanted)}"
    for table, names in (("plugins", settings.plugins), ("limits.plugins", settings.limits.plugins)):
        for name in names:
            if name not in found.everybody and name not in found.refused:
                yield f"[{table}] names {name!r}, which is not loaded{_meant(name, found.everybody)}"


def _meant(name: str, known: Iterable[str]) -> str:
    meant = nearest(name, known)
    return f"; did you mean {meant!r}?" if meant else ""


def examine(house: Runtime, settings_file: str) -> DoctorReport:
    """A report on a house that has started; where services are elsewhere, on what is here."""
    settings, options = house.settings, house.settings.understanding()
    asked = [_asked(house, name) for name in options.pipeline] if "understand" in house.services else []
    reached = {entry.plugin.id for entry in asked if entry.plugin is not None}
    return DoctorReport(
        version=__version__,
        settings_file=settings_file,
        lang=options.lang,
        langs=sorted(options.langs),
        chains=[_chain(house, kind) for kind in house.chains],
        pipeline=asked,
        never_asked=[entry.id for entry in house.pipeline if entry.id not in reached],
        skills=[
            SkillReport(member=_member(entry), intents=sorted(handlers_of(entry.plugin))) for entry in house.skills
        ],
        engines=[
            engine
            for service in house.services.values()
            if isinstance(service, Hear | Speak) and service.engines is not None
            for engines in service.engines.by_kind.values()
            for engine in engines_in(engines, house.runner)
        ],
        overlaps=[
            f"{one.sentence!r} ({one.lang}): {one.winner} gets it, {one.loser} claims it too"
            for entry in house.pipeline
            if isinstance(entry.plugin, TemplateMatcher)
            for one in entry.plugin.overlaps()
        ],
        missing=missing_in(house.refusals),
        advice=[*advice(house), *unused_entries(settings)] if house.is_whole else [],
    )


def engines_in(engines: Engines[Any], runner: Runner) -> list[EngineReport]:
    """The engines of one kind that are loaded."""
    reports = []
    for entry in engines.registry:
        told = runner.attempt(Loaded(entry.plugin, entry.plugin.about))
        about = told.failure or sendable_text(str(told.value))
        reports.append(EngineReport(kind=engines.kind, member=_member(entry), about=about))
    return reports


def missing_in(refusals: Iterable[Refusal]) -> list[MissingPlugin]:
    """What is not loaded."""
    return [
        MissingPlugin(kind=one.kind, name=one.name, reason=one.reason, remedy=one.remedy, where=one.where)
        for one in refusals
    ]


def _chain(house: Runtime, kind: TransformerType) -> ChainReport:
    chain = house.chains[kind]
    explicit = house.settings.transformers.order(kind)
    deployed = chain.deployed()
    running = {entry.id for entry in deployed}
    return ChainReport(
        kind=kind,
        order="by priority" if explicit is None else f"as [transformers] {kind} lists them",
        members=[_member(entry, entry.plugin.priority) for entry in deployed],
        left_out=[entry.id for entry in chain.registry if entry.id not in running],
    )


def _asked(house: Runtime, name: str) -> PipelineReport:
    entry = house.pipeline.get(house.settings.understanding().entry(name).plugin)
    return PipelineReport(entry=name, plugin=_member(entry) if entry is not None else None)


def _member(entry: Loaded[Any], priority: int | None = None) -> PluginReport:
    notes = []
    if entry.unloaded:
        notes.append(f"unloaded: {entry.unloaded}")
    elif entry.failures:
        notes.append(f"failed {entry.failures} times in a row")
    if entry.demoted:
        notes.append(f"moved to a worker: {entry.demoted}")
    return PluginReport(id=entry.id, runs=entry.mode, origin=entry.origin, note="; ".join(notes), priority=priority)


def unused_entries(settings: Settings) -> list[str]:
    """What to say of entries that nobody uses."""
    return [
        f"[pipeline.{name}] has no effect: [assistant] pipeline does not name {name!r}"
        for name in settings.entries
        if name not in settings.assistant.pipeline
    ]


T = TypeVar("T")


def join(
    reports: Iterable[DoctorReport], settings: Settings, settings_file: str, services: list[ServiceReport]
) -> DoctorReport:
    """Everything the doctor found, wherever it is."""
    found = list(reports)
    chains = sorted(_once(one.chains for one in found), key=lambda c: _place(c.kind))
    options = settings.understanding()
    joined = DoctorReport(
        version=__version__,
        settings_file=settings_file,
        lang=options.lang,
        langs=sorted(options.langs),
        chains=chains,
        pipeline=_once(one.pipeline for one in found),
        never_asked=_once(one.never_asked for one in found),
        skills=_once(one.skills for one in found),
        overlaps=_once(one.overlaps for one in found),
        missing=_once(one.missing for one in found),
        engines=_once(one.engines for one in found),
        services=services,
        advice=[],
    )
    # Whether the plugins of a missing service are loaded is not known.
    told = list(advise(settings, _inventory(joined))) if all(one.process for one in services) else []
    return DoctorReport(
        **{name: getattr(joined, name) for name in joined.__struct_fields__ if name != "advice"},
        advice=[*told, *unused_entries(settings)],
    )


def _once(lists: Iterable[Sequence[T]]) -> list[T]:
    """What is in these lists; what several processes have alike, as workers do, is told once."""
    told: list[T] = []
    for several in lists:
        told += [one for one in several if one not in told]
    return told


def _inventory(report: DoctorReport) -> Inventory:
    pipeline = [asked.plugin.id for asked in report.pipeline if asked.plugin is not None] + report.never_asked
    transformers: dict[str, Sequence[str]] = {
        chain.kind: [*(member.id for member in chain.members), *chain.left_out] for chain in report.chains
    }
    skills = [skill.member.id for skill in report.skills]
    everybody = [*in_a_row.from_iterable(transformers.values()), *pipeline, *skills]
    return Inventory(pipeline, transformers, everybody, {missing.name for missing in report.missing})


def _place(kind: str) -> int:
    return [*TRANSFORMER_TYPES].index(kind)  # type: ignore[arg-type]
