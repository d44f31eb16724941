"""Few-shot teaching from annotated sentences: k of each intent, their slots turned into `{slot}` templates."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from intents.corpus import Corpus

T = TypeVar("T")
_SYNTAX = re.compile(r"[()\[\]{}<>|]")


class Row(NamedTuple):
    """One annotated sentence."""

    text: str
    intent: str | None
    """None where nothing should match."""
    slots: tuple[tuple[str, str], ...] = ()
    """Name and value, in order of appearance; names in lower case, as templates want them."""


def read(path: Path) -> list[Row]:
    """The rows of a file of one JSON object a line."""
    with path.open(encoding="utf-8") as file:
        return [_row(json.loads(line)) for line in file]


def _row(item: dict[str, object]) -> Row:
    slots = item.get("slots") or []
    assert isinstance(slots, list)
    intent = item["intent"]
    return Row(str(item["text"]), None if intent is None else str(intent), tuple((n.lower(), v) for n, v in slots))


def draw(rows: Iterable[Row], k: int, seed: int) -> dict[str, list[Row]]:
    """`k` rows of every intent; the same for the same seed. An intent that has fewer gives what it has."""
    by_intent: dict[str, dict[str, Row]] = {}
    for row in rows:
        if row.intent is not None:
            by_intent.setdefault(row.intent, {}).setdefault(row.text, row)
    rng = random.Random(f"draw {seed}")
    drawn = {}
    for intent in sorted(by_intent):
        pool = list(by_intent[intent].values())
        drawn[intent] = rng.sample(pool, min(k, len(pool)))
    return drawn


def plain(text: str) -> str:
    """`text` without the signs that mean something in a template."""
    return " ".join(_SYNTAX.sub(" ", text).split())


def template(row: Row) -> str:
    """The row's sentence with its slots in place of their values, valid by INTENT-1.

    A template may not have a slot twice nor two slots side by side. Where the annotation has, the longest value becomes
    the slot and the others stay as they were said, as an author would do. A sentence that would be slots alone stays
    as it was said altogether.
    """
    words = plain(row.text).split()
    chosen: dict[int, _Place] = {}
    for place in sorted(_places(row, words), key=lambda place: (place.start - place.end, place.start)):
        if not any(place.name == other.name or _beside(place, other, words) for other in chosen.values()):
            chosen[place.start] = place
    made: list[str] = []
    at = 0
    while at < len(words):
        slot = chosen.get(at)
        made.append(words[at] if slot is None else f"{{{slot.name}}}")
        at = at + 1 if slot is None else slot.end
    return " ".join(words if all(word.startswith("{") for word in made) else made)


class _Place(NamedTuple):
    """Where a slot's value stands, in words."""

    name: str
    start: int
    end: int


def _beside(one: _Place, other: _Place, words: list[str]) -> bool:
    """Whether there is no word between two places; a sign that stands alone is none."""
    between = words[min(one.end, other.end) : max(one.start, other.start)]
    return not any(sign.isalnum() for word in between for sign in word)


def _places(row: Row, words: list[str]) -> Iterator[_Place]:
    """The annotated values, one after the other; one that is not found is left out."""
    at = 0
    for name, said in row.slots:
        value = plain(said).split()
        for start in range(at, len(words) - len(value) + 1):
            if value and words[start : start + len(value)] == value:
                at = start + len(value)
                yield _Place(name, start, at)
                break


def teach(drawn: dict[str, list[Row]]) -> Corpus:
    """Templates, entities and plain sentences of the drawn rows."""
    corpus = Corpus()
    values: dict[str, dict[str, None]] = {}
    for intent, rows in drawn.items():
        corpus.intents[intent] = list(dict.fromkeys(template(row) for row in rows))
        corpus.spoken[intent] = [plain(row.text) for row in rows]
        for row in rows:
            for name, value in row.slots:
                if plain(value):
                    values.setdefault(name, {})[plain(value)] = None
    corpus.entities = {name: list(found) for name, found in values.items()}
    return corpus


class Rehearsal(NamedTuple):
    """A smaller task made of training rows alone, for choosing a threshold without a look at the test."""

    corpus: Corpus
    known: list[Row]
    """Held-out rows of intents that were taught."""
    foreign: list[Row]
    """Rows of intents that were kept back altogether: nothing should match."""


def rehearse(drawn: dict[str, list[Row]], seed: int) -> Rehearsal:
    """Keep back a fifth of the intents, and a fifth of the rows of the others."""
    rng = random.Random(f"rehearse {seed}")
    names = sorted(drawn)
    hidden = set(rng.sample(names, max(1, len(names) // 5)))
    taught: dict[str, list[Row]] = {}
    known: list[Row] = []
    for name in names:
        if name not in hidden:
            cut = max(1, len(drawn[name]) // 5)
            known += drawn[name][:cut]
            taught[name] = drawn[name][cut:]
    foreign = [row for name in sorted(hidden) for row in drawn[name]]
    return Rehearsal(teach(taught), known, foreign)


def third(rows: Sequence[T]) -> list[T]:
    """A fixed random third, in the order of the rows: the same places for the same number of rows."""
    chosen = sorted(random.Random("third").sample(range(len(rows)), (len(rows) + 2) // 3))
    return [rows[place] for place in chosen]
