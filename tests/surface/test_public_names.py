"""Names that authors of plugins and skills import, with their signatures."""

from __future__ import annotations

from pathlib import Path

import pytest

from hark.spec import topics
from surface.names import plain, surface
from surface.pinned import check

HERE = Path(__file__).parent
PACKAGES = (
    "hark.spec",
    "hark.plugins",
    "hark.plugins.engines",
    "hark.skills",
    "hark.skills.spoken",
    "hark.intents",
    "hark.testing",
    "hark.testing.contracts",
    "hark.testing.voice",
    "hark.testing.faults",
)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_public_package_keeps_its_names_and_signatures(package: str) -> None:
    check(HERE / f"{package}.json", surface(package))


def test_the_topics_that_others_may_rely_on_keep_their_names_and_values() -> None:
    check(
        HERE / "topics.json",
        {
            name: value
            for name, value in sorted(vars(topics).items())
            if name.isupper() and isinstance(value, str) and value.startswith("ovos.")
        },
    )


def test_a_described_value_does_not_name_the_module_it_comes_from() -> None:
    assert plain(Path) == "Path"
    assert plain(object()) == "a object"
    assert plain(("a", frozenset({2, 1}))) == "('a', {1, 2})"
