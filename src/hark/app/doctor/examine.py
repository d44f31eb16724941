"""Looking a house over: what is loaded, in which order it would run and why, and what is not loaded and why."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hark import __version__
from hark.app.advice import advice
from hark.app.doctor.report import Asked, ChainReport, EngineReport, Member, Missing, Report, SkillReport
from hark.app.house import House
from hark.app.services.hear import Hear
from hark.app.services.speak import Speak
from hark.app.settings import Settings
from hark.builtin import TemplateMatcher
from hark.hosting import Engines, Loaded, Refusal, Runner, sendable_text
from hark.plugins.handlers import handlers_of
from hark.spec import TransformerType


def examine(house: House, settings_file: str) -> Report:
    """A report on a house that has started; where services are elsewhere, on what is here."""
    settings, options = house.settings, house.settings.understanding()
    asked = [_asked(house, name) for name in options.pipeline] if "understand" in house.services else []
    reached = {entry.plugin.id for entry in asked if entry.plugin is not None}
    return Report(
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


def missing_in(refusals: Iterable[Refusal]) -> list[Missing]:
    """What is not loaded."""
    return [
        Missing(kind=one.kind, name=one.name, reason=one.reason, remedy=one.remedy, where=one.where) for one in refusals
    ]


def _chain(house: House, kind: TransformerType) -> ChainReport:
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


def _asked(house: House, name: str) -> Asked:
    entry = house.pipeline.get(house.settings.understanding().entry(name).plugin)
    return Asked(entry=name, plugin=_member(entry) if entry is not None else None)


def _member(entry: Loaded[Any], priority: int | None = None) -> Member:
    notes = []
    if entry.unloaded:
        notes.append(f"unloaded: {entry.unloaded}")
    elif entry.failures:
        notes.append(f"failed {entry.failures} times in a row")
    if entry.demoted:
        notes.append(f"moved to a worker: {entry.demoted}")
    return Member(id=entry.id, runs=entry.mode, origin=entry.origin, note="; ".join(notes), priority=priority)


def unused_entries(settings: Settings) -> list[str]:
    """What to say of entries that nobody uses."""
    return [
        f"[pipeline.{name}] has no effect: [assistant] pipeline does not name {name!r}"
        for name in settings.entries
        if name not in settings.assistant.pipeline
    ]
