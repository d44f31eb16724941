"""Puts figures where people find them: JSON, the page in docs/, the pictures."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from intents import picture
from intents.accuracy import Operating, Seed, mean_curve
from intents.engines import KINDS
from intents.scores import Point
from intents.tables import TITLES


def machine() -> dict[str, Any]:
    """What the figures were taken on."""
    return {"cores": os.cpu_count(), "python": platform.python_version()}


def plain(row: Operating) -> dict[str, Any]:
    """A row as plain objects."""
    made = row._asdict()
    return {name: list(value) if isinstance(value, tuple) else value for name, value in made.items()}


def curves(
    answers: Mapping[str, Mapping[str, Sequence[Seed]]], rows: Mapping[str, Sequence[Operating]], folder: Path
) -> dict[str, dict[str, list[Point]]]:
    """The curves of every data set; draws each as `intents-<data set>.svg` into `folder`."""
    made: dict[str, dict[str, list[Point]]] = {}
    for name, engines in answers.items():
        made[name] = {engine: mean_curve(seeds) for engine, seeds in engines.items()}
        lines = []
        for engine, points in made[name].items():
            marks = [Point(row.false.mean, row.right.mean) for row in rows[name] if row.engine == engine]
            lines.append(picture.Line(KINDS[engine].label, points, marks, KINDS[engine].ours))
        title = f"{TITLES.get(name, name)}, mean of {max(len(seeds) for seeds in engines.values())} seeds"
        (folder / f"intents-{name}.svg").write_text(picture.draw(title, lines))
    return made


def write(page: Path, sections: Mapping[str, str]) -> None:
    """Replace what stands between `<!-- name -->` and `<!-- end of name -->`; the page has both."""
    text = page.read_text()
    for name, made in sections.items():
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
        if not pattern.search(text):
            raise ValueError(f"{page} has no place for {name}: write {begin} and {end}")
        text = pattern.sub(lambda _, made=made, begin=begin, end=end: f"{begin}\n\n{made}\n\n{end}", text)  # type: ignore[misc]
    page.write_text(text)
