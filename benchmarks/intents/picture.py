"""The trade-off as a picture: accuracy against false claims, one line for each engine. SVG, written by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Final
from xml.sax.saxutils import escape

from intents.scores import Point

WIDTH, HEIGHT = 760, 440
LEFT, TOP, RIGHT, BOTTOM = 64, 48, 210, 56
COLOURS: Final = ("#d9480f", "#1c7ed6", "#2f9e44", "#9c36b5", "#c2902f", "#0c8599", "#e64980")
"""Strong enough for a white and for a black page."""
STYLE: Final = (
    "text{font:13px system-ui,sans-serif;fill:#7d8590}.title{font-size:15px;font-weight:600}"
    ".grid{stroke:#8884;stroke-width:1}.axis{stroke:#888;stroke-width:1}"
    "polyline{fill:none;stroke-width:2;stroke-linejoin:round}.ours{stroke-width:3.5}"
    "@media (prefers-color-scheme:dark){text{fill:#c9d1d9}}"
)


class Line:
    """One engine's curve, and the points at which it is run."""

    def __init__(self, label: str, points: Sequence[Point], marks: Sequence[Point], ours: bool = False) -> None:
        self.label, self.points, self.marks, self.ours = label, points, marks, ours


def draw(title: str, lines: Sequence[Line]) -> str:
    """The whole picture. False claims are drawn by their square root: what is usable is on the left."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(title)}">',
        f"<style>{STYLE}</style>",
        f'<text class="title" x="{LEFT}" y="24">{escape(title)}</text>',
        *_frame(),
    ]
    labels = _apart([_y(line.points[-1].right if line.points else 0.0) for line in lines])
    for number, line in enumerate(lines):
        parts += _line(line, COLOURS[number % len(COLOURS)], labels[number])
    return "\n".join([*parts, "</svg>", ""])


def _x(false: float) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * math.sqrt(false)


def _y(right: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * right


def _frame() -> list[str]:
    parts = []
    for right in (0, 0.2, 0.4, 0.6, 0.8, 1):
        parts.append(f'<line class="grid" x1="{LEFT}" y1="{_y(right):.1f}" x2="{_x(1):.1f}" y2="{_y(right):.1f}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{_y(right) + 4:.1f}" text-anchor="end">{right:.0%}</text>')
    for false in (0, 0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1):
        parts.append(f'<line class="grid" x1="{_x(false):.1f}" y1="{TOP}" x2="{_x(false):.1f}" y2="{_y(0):.1f}"/>')
        parts.append(f'<text x="{_x(false):.1f}" y="{_y(0) + 20:.1f}" text-anchor="middle">{false * 100:.0f}</text>')
    across, up = (_x(0) + _x(1)) / 2, (_y(0) + _y(1)) / 2
    return [
        *parts,
        f'<text x="{across:.1f}" y="{HEIGHT - 14}" text-anchor="middle">out-of-scope sentences claimed, %</text>',
        f'<text x="18" y="{up:.1f}" text-anchor="middle" transform="rotate(-90 18 {up:.1f})">right intent</text>',
    ]


def _line(line: Line, colour: str, label_y: float) -> list[str]:
    path = " ".join(f"{_x(point.false):.1f},{_y(point.right):.1f}" for point in line.points)
    name = ' class="ours"' if line.ours else ""
    weight = ' font-weight="700"' if line.ours else ""
    radius = 6 if line.ours else 4
    return [
        f'<polyline{name} stroke="{colour}" points="{path}"/>',
        *(
            f'<circle cx="{_x(mark.false):.1f}" cy="{_y(mark.right):.1f}" r="{radius}" fill="{colour}"/>'
            for mark in line.marks
        ),
        f'<circle cx="{_x(1) + 14:.1f}" cy="{label_y:.1f}" r="{radius}" fill="{colour}"/>',
        f'<text x="{_x(1) + 24:.1f}" y="{label_y + 4:.1f}"{weight}>{escape(line.label)}</text>',
    ]


def _apart(places: Sequence[float], gap: float = 18.0) -> list[float]:
    """The same heights, moved so that no two labels touch and none is below the picture."""
    order = sorted(range(len(places)), key=lambda number: places[number])
    moved = dict(enumerate(places))
    lowest = float(HEIGHT - BOTTOM)
    for above, number in pairwise(order):
        moved[number] = max(moved[number], moved[above] + gap)
    for number in reversed(order):
        moved[number] = min(moved[number], lowest)
        lowest = moved[number] - gap
    return [moved[number] for number in range(len(places))]
