"""Finding keys in a TOML text."""

from __future__ import annotations

import tomllib
from textwrap import dedent

import pytest

from hark.app.settings.document import Lines

TEXT = dedent(
    '''\
    top = 1
    [a]
    key = "[not.a.table]"
    many = [
      "x = 1",   # comment with ]
      ["[a.b]"],
    ]
    after = true
    long = """
    [a.c]
    key = 2
    """
    last = { inline = 1, other = "}" }
    [ "quoted" . 'name' ]
    dotted.key = 1
    [[list]]
    item = 1
    '''
)


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("top",), 1),
        (("a",), 2),
        (("a", "key"), 3),
        (("a", "many"), 4),
        (("a", "after"), 8),
        (("a", "long"), 9),
        (("a", "last"), 13),
        (("a", "last", "inline"), 13),
        (("a", "missing"), 2),
        (("quoted",), 14),
        (("quoted", "name"), 14),
        (("quoted", "name", "dotted", "key"), 15),
        (("list", "item"), 17),
        (("nowhere",), None),
    ],
)
def test_a_key_is_found_where_it_stands_and_else_its_table(path: tuple[str, ...], line: int | None) -> None:
    assert Lines(TEXT).of(path) == line


def test_the_text_of_these_tests_is_toml() -> None:
    assert tomllib.loads(TEXT)["a"]["after"] is True
