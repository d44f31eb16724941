"""The doctor's report, for people."""

from __future__ import annotations

from collections.abc import Iterator

from hark.app.diagnostics.report import DoctorReport, PluginReport


def render(report: DoctorReport) -> str:
    """The report as lines of text."""
    return "\n".join(_lines(report))


def _lines(report: DoctorReport) -> Iterator[str]:
    yield f"Hark {report.version}, settings in {report.settings_file}"
    yield f"Understands {', '.join(report.langs)}; what shows no language is taken for {report.lang}."
    yield ""
    for one in report.services:
        where = one.process or "in no process"
        yield f"service {one.service}: {where}{'' if one.is_ready or not one.process else ', not ready yet'}"
    if report.services:
        yield ""
    for chain in report.chains:
        yield f"{chain.kind} chain, {chain.order}:" if chain.members else f"{chain.kind} chain: nothing runs"
        for number, member in enumerate(chain.members, 1):
            told = f"{number}. {member.id:<20} {member.runs:<7} priority {member.priority}"
            yield from _member(told, member)
        for name in chain.left_out:
            yield f"  -  {name}: loaded, but not in the list"
    yield ""
    yield "who is asked to claim an utterance, in order:" if report.pipeline else "nobody is asked to claim utterances"
    for number, asked in enumerate(report.pipeline, 1):
        if asked.plugin is None:
            yield f"  {number}. {asked.entry}: not loaded, so skipped"
        else:
            named = asked.entry if asked.entry == asked.plugin.id else f"{asked.entry} ({asked.plugin.id})"
            yield from _member(f"{number}. {named:<20} {asked.plugin.runs:<7}", asked.plugin)
    for name in report.never_asked:
        yield f"  -  {name}: loaded, but in no entry; add it to [assistant] pipeline to have it asked"
    yield ""
    yield f"{len(report.skills)} skills:" if report.skills else "no skills"
    for skill in report.skills:
        yield from _member(f"{skill.member.id:<23} {len(skill.intents)} intents", skill.member)
    if report.engines:
        yield ""
        yield "Engines, in order of preference for each kind:"
    for engine in report.engines:
        yield from _member(f"{engine.kind:<11} {engine.member.id:<16} {engine.about}", engine.member)
    yield from _complaints(report)


def _member(told: str, member: PluginReport) -> Iterator[str]:
    yield f"  {told:<52} {member.origin}"
    if member.note:
        yield f"     ! {member.note}"


def _complaints(report: DoctorReport) -> Iterator[str]:
    for missing in report.missing:
        yield ""
        yield f"not loaded: {missing.kind} {missing.name}"
        yield f"  why    {missing.reason}"
        if missing.where:
            yield f"  where  {missing.where}"
        if missing.remedy:
            yield f"  remedy {missing.remedy}"
    if report.overlaps:
        yield ""
        yield "sentences that two skills both claim:"
        for line in report.overlaps:
            yield f"  {line}"
    if report.advice:
        yield ""
        yield "settings to look at:"
        for line in report.advice:
            yield f"  {line}"
    if report.healthy:
        yield ""
        yield "Everything is in order."
