"""What people say in six languages, and what it means. The tables were written before the readers."""

from __future__ import annotations

import tomllib
from datetime import datetime
from pathlib import Path
from typing import get_args
from zoneinfo import ZoneInfo

import pytest

from hark.builtin.values import read
from hark.builtin.values.language import LANGUAGES
from hark.plugins.values import KINDS, Kind, canonical, parse

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 18, 10, tzinfo=BERLIN)
TABLES = {path.stem: tomllib.loads(path.read_text()) for path in sorted(Path(__file__).parent.glob("*.toml"))}
ROWS = [
    pytest.param(lang, kind, text, meant, id=f"{lang}-{kind}-{text}")
    for lang, table in TABLES.items()
    for kind, rows in table.items()
    for text, meant in rows.items()
]
FEWEST = {"when": 25, "duration": 15, "number": 20, "ordinal": 10, "colour": 8, "yes_no": 10}


@pytest.mark.parametrize(("lang", "kind", "text", "meant"), ROWS)
def test_a_phrase_means_what_the_table_says_or_nothing(lang: str, kind: Kind, text: str, meant: str) -> None:
    value = read(kind, text, lang, NOW, BERLIN)
    assert ("" if value is None else canonical(value)) == meant
    assert value is None or parse(canonical(value), kind) == value


@pytest.mark.parametrize(("lang", "kind", "text", "meant"), [row for row in ROWS if row.values[1] != "when"])
def test_case_and_a_full_stop_do_not_matter(lang: str, kind: Kind, text: str, meant: str) -> None:
    if text[-1].isalpha():
        value = read(kind, f"  {text.upper()}. ", lang, NOW, BERLIN)
        assert ("" if value is None else canonical(value)) == meant


def test_every_language_has_a_table_of_every_kind() -> None:
    assert set(TABLES) == set(LANGUAGES)
    assert set(get_args(Kind)) == set(KINDS)
    for table in TABLES.values():
        assert {kind: len(rows) >= FEWEST[kind] for kind, rows in table.items()} == dict.fromkeys(FEWEST, True)


def test_some_rows_of_every_table_are_in_doubt() -> None:
    for table in TABLES.values():
        assert all("" in rows.values() for rows in table.values())
