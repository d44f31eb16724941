"""Names that are looked up in code, in every language: tables in files, as `<folder>/<language>/<name>.txt`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from hark.intents.locale import Locale, MissingResource, Role, nearest, read_text
from hark.intents.text import without_accents

Table = Mapping[str, tuple[str, ...]]
"""What is in a table, by key, in the order it is written."""


def plain(text: str) -> str:
    """`text` as names are compared: without accents, case, and signs between words."""
    bare = without_accents(text.casefold()).replace("'", "")
    return " ".join("".join(letter if letter.isalnum() else " " for letter in bare).split())


def table(folder: Path, name: str, lang: str) -> Table:
    """`<folder>/<lang>/<name>.txt`, or that of the nearest language; nothing when there is none.

    A line is `key: form | form`; blank lines and lines that begin with `#` are skipped.
    """
    tags = _tags(folder)
    for tag in nearest(lang, tags):
        path = folder / tag / f"{name}.txt"
        if path.is_file():
            return read_table(path)
    return {}


@lru_cache(maxsize=32)
def read_table(path: Path) -> Table:
    """The table in a file."""
    found: dict[str, tuple[str, ...]] = {}
    for line in read_text(path).splitlines():
        key, colon, forms = line.partition(":")
        if colon and not line.startswith("#"):
            found[key.strip()] = tuple(form.strip() for form in forms.split("|"))
    return found


def groups(locale: Locale, name: str, lang: str) -> Table:
    """The phrases of `name.voc` by the headings between them; nothing when the language has no such file.

    A heading is a comment of one word, `# metre`: what matches and what it means stand in one file.
    """
    try:
        language = locale.find(Role.VOCABULARY, name, lang)
    except MissingResource:
        return {}
    return _grouped(language.path(Role.VOCABULARY, name))


@lru_cache(maxsize=32)
def _grouped(path: Path) -> Table:
    found: dict[str, list[str]] = {}
    key = ""
    for line in map(str.strip, read_text(path).splitlines()):
        if line.startswith("#"):
            heading = line[1:].split()
            key = heading[0] if len(heading) == 1 else key
        elif line and key:
            found.setdefault(key, []).append(line)
    return {key: tuple(forms) for key, forms in found.items()}


@lru_cache(maxsize=32)
def _tags(folder: Path) -> tuple[str, ...]:
    return tuple(sorted(entry.name for entry in folder.iterdir() if entry.is_dir()))
