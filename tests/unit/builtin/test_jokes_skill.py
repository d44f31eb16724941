"""Jokes: enough of them, and none too often."""

from __future__ import annotations

from pathlib import Path

import pytest

from hark.builtin import JokesSkill
from hark.intents.locale import Role
from hark.testing import Assistant

LANGS = JokesSkill.locale.languages


def jokes(lang: str) -> tuple[str, ...]:
    return JokesSkill.locale.language(lang).samples(Role.DIALOG, "joke")


def test_there_are_a_dozen_in_every_language() -> None:
    assert len(LANGS) >= 6
    assert all(len(set(jokes(lang))) >= 12 for lang in LANGS)


@pytest.mark.parametrize("restarts", [False, True])
async def test_none_is_told_again_before_all_were(tmp_path: Path, restarts: bool) -> None:
    count = len(jokes("en-US"))
    told: list[str] = []
    while len(told) < 2 * count:
        async with Assistant(JokesSkill(), data_root=tmp_path) as hark:
            for _ in range(1 if restarts else 2 * count):
                told += await hark.hears("tell me a joke")
    assert sorted(told[:count]) == sorted(told[count:]) == sorted(jokes("en-US"))
    assert told[count - 1] != told[count]


async def test_what_was_told_in_one_language_is_new_in_another() -> None:
    async with Assistant(JokesSkill(), settings={"assistant": {"langs": ["de-DE"]}}) as hark:
        for _ in jokes("en-US"):
            await hark.hears("tell me a joke")
        [joke] = await hark.hears("erzähl mir einen Witz", lang="de-DE")
        assert joke in jokes("de-DE")


async def test_jokes_of_an_older_edition_do_not_count(tmp_path: Path) -> None:
    kept = tmp_path / "jokes.skill" / "told.json"
    kept.parent.mkdir()
    kept.write_text('{"en-US": ["a joke that was taken out"]}')
    async with Assistant(JokesSkill(), data_root=tmp_path) as hark:
        [joke] = await hark.hears("tell me a joke")
    assert joke in jokes("en-US")
