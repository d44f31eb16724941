"""Reading hassil's files: YAML or JSON, in folders, or from the `home-assistant-intents` package."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from hark.app.trouble import Trouble

_KINDS: Final = (".yaml", ".yml", ".json")


class Placed(str):
    """Text that knows where it was written."""

    __slots__ = ("file", "line")

    def __new__(cls, text: str, file: str = "", line: int = 0) -> Placed:
        """`text`, from this line of this file."""
        placed = super().__new__(cls, text)
        placed.file, placed.line = file, line
        return placed

    file: str
    line: int


def need(module: str) -> Any:
    """A module of the `hassil` extra; raises `Trouble` that names it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise Trouble(f"{error.name} is not installed: pip install 'hark[hassil]'") from error


def read_folder(source: Path, lang: str | None) -> dict[str, dict[str, Any]]:
    """What the files say, merged as hassil merges them, by language; raises `Trouble`."""
    files = sorted(path for path in source.rglob("*") if path.suffix in _KINDS) if source.is_dir() else [source]
    if not files:
        raise Trouble(f"{source} holds no YAML and no JSON file")
    found: dict[str, dict[str, Any]] = {}
    for path in files:
        for tag, data in _languages(path, _load(path)):
            if lang is None or tag.lower() == lang.lower():
                merge(found.setdefault(tag, {}), data, str(path))
    if not found:
        asked = f" in {lang}" if lang else ""
        raise Trouble(f"no sentences{asked} under {source}: hassil's files state their language and their intents")
    return found


def read_package(lang: str | None) -> Iterator[tuple[str, dict[str, Any]]]:
    """What `home-assistant-intents` says in a language, or in all; raises `Trouble`."""
    package = need("home_assistant_intents")
    known = package.get_languages()
    wanted = [tag for tag in sorted(known) if lang is None or tag.lower() == lang.lower()]
    if not wanted:
        raise Trouble(f"home-assistant-intents has no {lang}; it has {', '.join(sorted(known))}")
    for tag in wanted:
        data = package.get_intents(tag)
        if data is not None:
            yield tag, data


def merge(base: dict[str, Any], new: Mapping[str, Any], file: str) -> None:
    """Add `new` to `base`: tables and lists are joined, anything else is replaced."""
    for key, value in new.items():
        old = base.get(key)
        if isinstance(old, dict) and isinstance(value, Mapping):
            merge(old, value, file)
        elif isinstance(old, list) and isinstance(value, list):
            old.extend(value)
        elif isinstance(old, (dict, list)):
            raise Trouble(f"{file}: {key!r} is a {type(value).__name__} here and a {type(old).__name__} elsewhere")
        else:
            base[key] = value


def _load(path: Path) -> Any:
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise Trouble(f"{path} is not UTF-8: {error}") from error
    if path.suffix == ".json":
        try:
            return json.loads(text)
        except json.JSONDecodeError as error:
            raise Trouble(f"{path}:{error.lineno}: {error.msg}") from error
    yaml = need("yaml")
    loader = _placing_loader(yaml, str(path))(text)
    try:
        return loader.get_single_data()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{path}:{mark.line + 1}" if mark is not None else str(path)
        raise Trouble(f"{place}: {getattr(error, 'problem', None) or error}") from error
    finally:
        loader.dispose()


def _placing_loader(yaml: Any, file: str) -> Any:
    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        """Reads text as `Placed`."""

    def construct(loader: Any, node: Any) -> Placed:
        return Placed(loader.construct_scalar(node), file, node.start_mark.line + 1)

    Loader.add_constructor("tag:yaml.org,2002:str", construct)
    return Loader


def _languages(path: Path, data: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """The data of a file that is hassil's; others in the folder are not ours to read."""
    if isinstance(data, dict) and isinstance(data.get("language"), str):
        yield str(data["language"]), data
    elif isinstance(data, dict) and ("intents" in data or "lists" in data):
        raise Trouble(f"{path} states no language: hassil's files begin with 'language: en'")
