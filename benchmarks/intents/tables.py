"""The tables, as Markdown."""

from __future__ import annotations

# ruff: noqa: RUF001 - the signs that look like others are meant
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from intents.accuracy import Operating
from intents.engines import KINDS
from intents.scores import Spread
from intents.speed import SORTS, Timed

TITLES: Final = {
    "snips": "SNIPS, 7 intents of 10 samples",
    "clinc150": "CLINC150, 150 intents of 10 samples",
    "house": "House, 37 intents of 6 samples",
}


def title(name: str) -> str:
    """The name of a data set, without its size."""
    return TITLES.get(name, name).partition(",")[0]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def seconds(value: float) -> str:
    """A time in the unit people would use, two or three figures."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if value >= size:
            return f"{_figures(value / size)} {unit}"
    return f"{_figures(value * 1e6)} µs"


def _figures(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def spread(figure: Spread | None) -> str:
    """Mean and deviation in per cent."""
    return "–" if figure is None else f"{figure.mean * 100:.1f} ± {figure.sd * 100:.1f}"


def accuracy_table(data_set: str, rows: Sequence[Operating]) -> str:
    """One data set, engine by engine."""
    with_slots = any(row.f1 is not None for row in rows)
    head = ["engine", "threshold", "accuracy %", *(["slot F1 %"] if with_slots else []), "false claims %"]
    head += ["Hark there %", *(["its slot F1 %"] if with_slots else []), "µs a match", "seeds × sentences"]
    made = []
    for row in rows:
        cells = [KINDS[row.engine].label, row.point, spread(row.right)]
        cells += [spread(row.f1)] if with_slots else []
        cells += [spread(row.false), spread(row.hark)]
        cells += [spread(row.hark_f1)] if with_slots else []
        cells.append(_figures(row.microseconds))
        made.append([*cells, f"{row.seeds} × {row.sentences:,}"])
    return f"**{TITLES.get(data_set, data_set)}**\n\n{table(head, made)}"


def speed_table(size: int, timed: Sequence[Timed]) -> str:
    """One number of intents; beside each figure its ratio to Hark's."""
    here = [row for row in timed if row.intents == size]
    ours = next((row for row in here if KINDS[row.engine].ours), None)
    head = ["engine", *(f"{sort} p50 (mean)" for sort in SORTS), "training", "one intent more", "and first match"]
    head += ["memory per intent", "right of matched; claimed of unrelated, near misses"]
    rows = []
    for row in here:
        cells = [KINDS[row.engine].label]
        for sort in SORTS:
            cell = f"{seconds(row.p50[sort])} ({seconds(row.mean[sort])})"
            cells.append(cell + _ratio(row.p50[sort], ours and ours.p50[sort]))
        cells += [
            seconds(figure) + _ratio(figure, against)
            for figure, against in (
                (row.train, ours and ours.train),
                (row.add, ours and ours.add),
                (row.add_and_match, ours and ours.add_and_match),
            )
        ]
        memory = row.bytes_per_intent
        kept = "–" if memory is None else f"{memory / 1024:,.1f} KB"
        cells.append(kept + _ratio(memory, ours and ours.bytes_per_intent))
        cells.append(f"{row.right:.0%}; {row.claimed['unrelated']:.0%}, {row.claimed['near miss']:.0%}")
        rows.append(cells)
    return f"**{size:,} intents of 5 templates**\n\n{table(head, rows)}"


def _ratio(figure: float | None, ours: float | None) -> str:
    if not figure or not ours or figure == ours:
        return ""
    return f", ×{_figures(figure / ours)}"


def growth_table(timed: Sequence[Timed]) -> str:
    """How figures grow from the fewest to the most intents measured."""
    by_engine: dict[str, dict[int, Timed]] = {}
    for row in timed:
        by_engine.setdefault(row.engine, {})[row.intents] = row
    rows = []
    for engine, sizes in by_engine.items():
        few, many = sizes[min(sizes)], sizes[max(sizes)]
        growth = [f"×{many.p50[sort] / few.p50[sort]:.1f}" for sort in SORTS]
        rows.append([KINDS[engine].label, f"{few.intents} → {many.intents:,}", *growth, *_more(few, many)])
    head = ["engine", "intents", *(f"{sort} match" for sort in SORTS), "one intent more", "and first match"]
    return table(head, rows)


def _more(few: Timed, many: Timed) -> list[str]:
    pairs = ((few.add, many.add), (few.add_and_match, many.add_and_match))
    return [f"{seconds(a)} → {seconds(b)}, ×{b / a:.1f}" for a, b in pairs]


def speed_tables(timed: Sequence[Timed]) -> str:
    """Every size, then the growth."""
    sizes = sorted({row.intents for row in timed}, reverse=True)
    return "\n\n".join([*(speed_table(size, timed) for size in sizes), "**Growth**\n\n" + growth_table(timed)])


def accuracy_tables(studies: Mapping[str, Sequence[Operating]], floors: Mapping[str, Mapping[str, Spread]]) -> str:
    """Every data set, and the floors its training samples suggest."""
    parts = []
    for name, rows in studies.items():
        suggested = ", ".join(
            f"{KINDS[engine].label} {floor.mean:.2f} ± {floor.sd:.2f}" for engine, floor in floors[name].items()
        )
        parts += [accuracy_table(name, rows), f"Floors the training samples suggest: {suggested}."]
    return "\n\n".join(parts)
