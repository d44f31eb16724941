"""One report out of those of several processes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain as in_a_row
from typing import TypeVar

from hark import __version__
from hark.app.advice import Inventory, advise
from hark.app.doctor.examine import unused_entries
from hark.app.doctor.report import Report, ServiceReport
from hark.app.settings import Settings
from hark.spec import TRANSFORMER_TYPES

T = TypeVar("T")


def join(reports: Iterable[Report], settings: Settings, settings_file: str, services: list[ServiceReport]) -> Report:
    """Everything the doctor found, wherever it is."""
    found = list(reports)
    chains = sorted(_once(one.chains for one in found), key=lambda c: _place(c.kind))
    options = settings.understanding()
    joined = Report(
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
    return Report(
        **{name: getattr(joined, name) for name in joined.__struct_fields__ if name != "advice"},
        advice=[*told, *unused_entries(settings)],
    )


def _once(lists: Iterable[Sequence[T]]) -> list[T]:
    """What is in these lists; what several processes have alike, as workers do, is told once."""
    told: list[T] = []
    for several in lists:
        told += [one for one in several if one not in told]
    return told


def _inventory(report: Report) -> Inventory:
    pipeline = [asked.plugin.id for asked in report.pipeline if asked.plugin is not None] + report.never_asked
    transformers: dict[str, Sequence[str]] = {
        chain.kind: [*(member.id for member in chain.members), *chain.left_out] for chain in report.chains
    }
    skills = [skill.member.id for skill in report.skills]
    everybody = [*in_a_row.from_iterable(transformers.values()), *pipeline, *skills]
    return Inventory(pipeline, transformers, everybody, {missing.name for missing in report.missing})


def _place(kind: str) -> int:
    return [*TRANSFORMER_TYPES].index(kind)  # type: ignore[arg-type]
