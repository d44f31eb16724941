"""The report of `hark doctor` as text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import hark
from hark import hints
from hark.app.diagnostics.report import DoctorReport, PluginReport
from hark.app.text import counted

_PACKAGES: Final = f"{Path(hark.__file__).parent.parent}/"
"""Where Hark itself is: files below it are shown without this."""


def render(report: DoctorReport, *, overlaps: bool = False) -> str:
    """The report; with `overlaps` also the sentences that skills of Hark share with each other."""
    return "\n".join(_lines(report, overlaps))


def _lines(report: DoctorReport, overlaps: bool) -> Iterator[str]:
    yield f"Hark {report.version}, settings in {report.settings_file}"
    yield f"Languages: {', '.join(report.langs)}. Default language: {report.lang}."
    yield ""
    for one in report.services:
        where = one.process or "in no process"
        yield f"service {one.service}: {where}{'' if one.is_ready or not one.process else ', not ready yet'}"
    if report.services:
        yield ""
    yield from _chains(report)
    yield ""
    yield "Pipeline, in order:" if report.pipeline else "Pipeline: empty"
    for number, entry in enumerate(report.pipeline, 1):
        if entry.plugin is None:
            yield f"  {number:>2}. {entry.entry}: not loaded, skipped"
        else:
            name = entry.entry if entry.entry == entry.plugin.id else f"{entry.entry} ({entry.plugin.id})"
            yield from _member(f"{number:>2}. {name:<26} {entry.plugin.runs:<7}", entry.plugin)
    for name in report.never_asked:
        yield f"  -  {name}: loaded, but not in the pipeline; add it to [assistant] pipeline to use it"
    yield ""
    yield f"Skills ({len(report.skills)}):" if report.skills else "No skills"
    for skill in report.skills:
        yield from _member(f"{skill.member.id:<23} {counted(len(skill.intents), 'intent')}", skill.member)
    if report.toolboxes:
        yield ""
        yield f"Toolboxes ({len(report.toolboxes)}):"
    for toolbox in report.toolboxes:
        yield from _member(f"{toolbox.id:<23}", toolbox)
    if report.engines:
        yield ""
        yield "Engines, in order of preference for each kind:"
    for engine in report.engines:
        yield from _member(f"{engine.kind:<11} {engine.member.id:<16} {engine.about}", engine.member)
    yield from _ovos_plugins(report)
    yield from _problems(report, overlaps)


def _ovos_plugins(report: DoctorReport) -> Iterator[str]:
    if report.ovos:
        yield ""
        yield "Plugins of OVOS that are installed:"
    for plugin in report.ovos:
        yield f"  {plugin.kind:<11} {plugin.id:<36} {plugin.package}: {plugin.state}"


def _chains(report: DoctorReport) -> Iterator[str]:
    for chain in report.chains:
        yield f"Chain {chain.kind}, {chain.order}:" if chain.members else f"Chain {chain.kind}: empty"
        for number, member in enumerate(chain.members, 1):
            place = f"priority {member.priority}{', essential' if member.essential else ''}"
            yield from _member(f"{number}. {member.id:<20} {member.runs:<7} {place}", member)
        for name in chain.left_out:
            yield f"  -  {name}: loaded, but not listed in [transformers] {chain.kind}"
    if report.taps:
        yield "Audio taps:"
        for member in report.taps:
            yield from _member(f"{member.id:<20} {member.runs:<7}", member)


def _member(text: str, member: PluginReport) -> Iterator[str]:
    where = member.origin.removeprefix(_PACKAGES) if member.origin.startswith(f"{_PACKAGES}hark/") else member.origin
    yield f"  {text:<52} {where}"
    if member.note:
        yield f"     ! {member.note}"


def _problems(report: DoctorReport, overlaps: bool) -> Iterator[str]:
    for missing in report.missing:
        yield ""
        yield f"Not loaded: {missing.kind} {missing.name}"
        yield f"  reason {missing.reason}"
        if missing.where:
            yield f"  where  {missing.where}"
        if missing.remedy:
            yield f"  remedy {missing.remedy}"
    shared = [*report.overlaps, *(report.own_overlaps if overlaps else ())]
    lists = ("Sentences that two skills claim", shared), ("Intents that get sentences of others", report.thefts)
    for title, lines in lists:
        if lines:
            yield ""
            yield f"{title}:"
        yield from (f"  {line}" for line in lines)
    if report.own_overlaps and not overlaps:
        yield ""
        number = counted(len(report.own_overlaps), "overlap")
        yield f"{number} between skills that come with Hark, see: {hints.hark('doctor --overlaps')}"
    if report.sentence_model:
        yield ""
        yield f"Sentence model: {report.sentence_model}"
    if report.advice:
        yield ""
        yield "Settings to check:"
        for line in report.advice:
            yield f"  {line}"
    if report.healthy:
        yield ""
        yield "Everything is in order."
