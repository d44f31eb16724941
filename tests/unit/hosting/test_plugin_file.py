"""Plugins in files that the settings name."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hark.hosting import PluginFile, Refusal

TWO = """
from hark.plugins import DialogTransformer, Plugin, UtteranceTransformer

class Shared(DialogTransformer):
    def transform(self, text, ctx):
        return text

class One(Shared):
    id = "one"

class Two(Shared):
    id = "two"

class _Hidden(Shared):
    id = "hidden"
"""


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    """Forget what the tests have imported."""
    yield
    for name in [name for name in sys.modules if name.startswith("hark_file_")]:
        del sys.modules[name]


def made(path: Path) -> list[str]:
    found = PluginFile(path).make()
    return [str(one) if isinstance(one, Refusal) else one.id for one in found]


def test_every_class_that_is_written_in_it_is_offered_but_not_bases_and_hidden_ones(tmp_path: Path) -> None:
    path = tmp_path / "two.py"
    path.write_text(TWO)
    assert made(path) == ["one", "two"]


def test_a_folder_is_a_package(tmp_path: Path) -> None:
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").write_text("from .two import One\n")
    (tmp_path / "pack" / "two.py").write_text(TWO)
    assert made(tmp_path / "pack") == ["one"]


def test_its_name_hides_no_other_module(tmp_path: Path) -> None:
    import calendar

    path = tmp_path / "calendar.py"
    path.write_text(TWO)
    assert made(path) == ["one", "two"]
    assert sys.modules["calendar"] is calendar


def test_two_files_of_one_name_are_two(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "it.py").write_text(TWO.replace("one", folder))
    assert made(tmp_path / "a" / "it.py") == ["a", "two"]
    assert made(tmp_path / "b" / "it.py") == ["b", "two"]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("def (:", "importing it failed: SyntaxError"),
        ("raise SystemExit", "importing it failed: SystemExit"),
        ("import nothing_of_the_kind", "install the package that provides 'nothing_of_the_kind'"),
        ("number = 3", "it has no plugin class"),
        (f"{TWO}\n    def __init__(self): raise OSError", "creating it failed: OSError"),
    ],
)
def test_what_cannot_be_made_is_a_refusal_that_names_the_file(tmp_path: Path, source: str, text: str) -> None:
    path = tmp_path / "broken.py"
    path.write_text(source.replace("class _Hidden", "class Last"))
    [*_, last] = PluginFile(path).make()
    assert isinstance(last, Refusal)
    assert text in str(last)
    assert str(path) in last.where
    if "importing" in text:
        assert PluginFile(path).module not in sys.modules


def test_a_file_that_is_not_there_and_one_that_is_no_python_are_refusals(tmp_path: Path) -> None:
    [missing] = made(tmp_path / "missing.py")
    assert "there is no such file" in missing
    assert "[assistant] files" in missing
    (tmp_path / "notes.txt").write_text("hello")
    [odd] = made(tmp_path / "notes.txt")
    assert "neither a .py file nor a folder with an __init__.py" in odd


def test_a_file_that_misses_another_file_is_not_called_missing(tmp_path: Path) -> None:
    path = tmp_path / "reads.py"
    path.write_text("open('/nowhere/at/all')")
    [text] = made(path)
    assert "importing it failed: FileNotFoundError" in text
    assert f"{path}:1" in text
