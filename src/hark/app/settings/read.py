"""Read settings from a file, or from a tree of tables, and check them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Final

import msgspec

from hark import hints
from hark.app.settings.check import SettingsError, SettingsMistake, mistakes_in
from hark.app.settings.document import Lines
from hark.app.settings.tables import OLD_NAMES, Settings
from hark.model import Frozen, freeze
from hark.model.files import read_file
from hark.understand import PipelineEntry

_LARGEST: Final = 16 * 2**20
"""Bytes of a settings file."""
_MOST_MISTAKES: Final = 100
"""Mistakes that are reported at once."""
_PLAIN: Final = {
    "Invalid value": "this is no value; text is in quotes",
    "Cannot overwrite a value": "this key is set already",
}
"""What the parser of the standard library says, in words that lead to the mistake."""
_PLACE: Final = re.compile(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", re.DOTALL)


def read_settings(path: Path, *, named: bool) -> Settings:
    """The settings in a file; raises `SettingsError`. A missing file is only an error if the user `named` it."""
    try:
        text = read_file(path, _LARGEST).decode("utf-8-sig")
    except FileNotFoundError:
        if not named:
            return Settings()
        raise _error(str(path), "there is no such file", f"{hints.hark('settings')} prints one to start with") from None
    except OSError as error:
        remedy = "give this user the right to read it" if isinstance(error, PermissionError) else ""
        raise _error(str(path), f"it cannot be read: {error.strerror}", remedy) from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise _error(f"{path}:{line}", "this is not UTF-8", "save the file in UTF-8") from None
    lines = Lines(text)

    def found(key: tuple[str, ...]) -> str:
        line = lines.of(key)
        return f"{path}:{line}" if line is not None else str(path)

    tree = _parsed(path, text)
    mistakes = list(islice(mistakes_in(tree, found), _MOST_MISTAKES))
    if mistakes:
        raise SettingsError(mistakes)
    return _settings(tree)


def settings_from(tree: Mapping[str, Any]) -> Settings:
    """Settings from a tree of tables, as a TOML file gives them; raises `SettingsError`."""
    mistakes = list(islice(mistakes_in(tree, lambda _key: ""), _MOST_MISTAKES))
    if mistakes:
        raise SettingsError(mistakes)
    return _settings(tree)


def _settings(tree: Mapping[str, Any]) -> Settings:
    tables = dict(tree)
    for old, new in OLD_NAMES.items():
        if old in tables:
            tables[new] = {**tables.pop(old), **tables.get(new, {})}
    entries = {}
    for name, table in tables.pop("pipeline", {}).items():
        config = dict(table)
        entries[name] = PipelineEntry(config.pop("plugin", name), Frozen(freeze(config)))
    return msgspec.structs.replace(msgspec.convert(tables, Settings), entries=entries)


def _parsed(path: Path, text: str) -> dict[str, Any]:
    import tomllib  # imported here: half a megabyte, and most assistants have no file

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.fullmatch(str(error))
        if place is None:
            raise _error(str(path), f"this is not TOML: {error}", "") from None
        what, line, column = place.groups()
        what = _PLAIN.get(what, what)
        lines = text.splitlines()
        at = int(line) if line else max(len(lines), 1)
        where = f"{path}:{at}:{column}" if column else f"{path}:{at}"
        reads = f"the line reads: {lines[at - 1].strip()}" if at <= len(lines) else ""
        raise _error(where, f"this is not TOML: {what[:1].lower()}{what[1:]}", reads) from None
    except RecursionError:
        raise _error(str(path), "this is nested too deep to be read", "") from None


def _error(where: str, wrong: str, remedy: str) -> SettingsError:
    return SettingsError([SettingsMistake(where, "", wrong, remedy)])
