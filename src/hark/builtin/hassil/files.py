"""Where hassil's sentences come from: the package of Home Assistant, and files of the user's own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Final

_KINDS: Final = (".yaml", ".yml", ".json")


def need(module: str) -> Any:
    """A module of the extra; raises `RuntimeError` that names it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise RuntimeError(f"{error.name} is not installed: pip install 'hark[hassil]'") from error


def read(package: Iterable[str], paths: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Everything there is to match, by language, merged as hassil merges it; files come on top of the package.

    Raises `ValueError` with the file that cannot be used, or `OSError`.
    """
    merge = need("hassil.util").merge_dict
    found: dict[str, dict[str, Any]] = {}
    for tag in package:
        data = need("home_assistant_intents").get_intents(tag)
        if data is None:
            raise ValueError(f"home-assistant-intents has no language {tag!r}")
        merge(found.setdefault(tag.lower(), {}), data)
    for path in (file for name in paths for file in _files(Path(name).expanduser())):
        data = _load(path)
        lang = data.get("language") if isinstance(data, dict) else None
        if not isinstance(lang, str):
            raise ValueError(f"{path} states no language; hassil's files begin with 'language: en'")
        try:
            merge(found.setdefault(lang.lower(), {}), data)
        except AssertionError as error:
            raise ValueError(f"{path} does not fit the other files: {error}") from error
    return found


def _files(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from sorted(file for file in path.rglob("*") if file.suffix in _KINDS)
    else:
        yield path


def _load(path: Path) -> Any:
    text = path.read_text(encoding="utf-8")
    yaml = need("yaml")
    try:
        return json.loads(text) if path.suffix == ".json" else yaml.safe_load(text)
    except (json.JSONDecodeError, yaml.YAMLError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from error
