"""The settings in effect, and where each of them comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from hark.app.settings.document import Lines, key_text
from hark.app.settings.read import read_settings
from hark.app.settings.tables import OLD_NAMES, TABLES


class EffectiveValue(msgspec.Struct, frozen=True):
    """One setting."""

    table: str
    key: str
    value: Any
    """None: it is not set, and has no default."""
    line: int | None = None
    """The line of the settings file that sets it; None: it has its default."""


def effective_values(path: Path, *, named: bool) -> Iterator[EffectiveValue]:
    """All settings, in the order of the documented file; raises `SettingsError`."""
    settings = read_settings(path, named=named)
    text = path.read_bytes().decode("utf-8-sig") if path.is_file() else ""
    lines = Lines(text)
    old = {new: name for name, new in OLD_NAMES.items()}
    for name in TABLES:
        for key, value in msgspec.to_builtins(getattr(settings, name)).items():
            line = lines.line((name, key)) or lines.line((old.get(name, name), key))
            yield EffectiveValue(name, key_text(key), value, line)
    import tomllib

    # Tables that the user names: of plugins, engines, pipeline entries, transformers and wake words.
    for name, table in tomllib.loads(text).items():
        if name not in TABLES and name not in OLD_NAMES:
            yield from _named((name,), table, lines)


def _named(path: tuple[str, ...], table: Any, lines: Lines) -> Iterator[EffectiveValue]:
    if not isinstance(table, Mapping):
        yield EffectiveValue(".".join(map(key_text, path[:-1])), key_text(path[-1]), table, lines.of(path))
        return
    for key, value in table.items():
        yield from _named((*path, key), value, lines)
