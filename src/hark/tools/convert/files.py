"""Reading and writing the files of both formats, and `hassil.json`, which keeps what a locale folder cannot express."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from hark import hints
from hark.errors import UserError
from hark.intents.locale import LanguageFolder, MalformedResource, Role, Violation, read_lines, scan
from hark.model.files import read_file

_KINDS: Final = (".yaml", ".yml", ".json")


class LocatedText(str):
    """Text with the place it was read from."""

    __slots__ = ("file", "line")

    def __new__(cls, text: str, file: str = "", line: int = 0) -> LocatedText:
        located = super().__new__(cls, text)
        located.file, located.line = file, line
        return located

    file: str
    line: int


def require_module(module: str) -> Any:
    """Import a module of the `hassil` extra; raises `UserError` with the name of the extra."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise UserError(f"{error.name} is not installed: {hints.install_extra('hassil')}") from error


def read_folder(source: Path, lang: str | None) -> dict[str, dict[str, Any]]:
    """The data of all files, merged as hassil merges them, by language; raises `UserError`."""
    files = sorted(path for path in source.rglob("*") if path.suffix in _KINDS) if source.is_dir() else [source]
    if not files:
        raise UserError(f"{source} contains no YAML and no JSON file")
    found: dict[str, dict[str, Any]] = {}
    for path in files:
        for tag, data in _languages(path, _load(path)):
            if lang is None or tag.lower() == lang.lower():
                merge(found.setdefault(tag, {}), data, str(path))
    if not found:
        asked = f" in {lang}" if lang else ""
        raise UserError(f"no sentences{asked} in {source}: files of hassil state their language and their intents")
    return found


def read_package(lang: str | None) -> Iterator[tuple[str, dict[str, Any]]]:
    """The data of `home-assistant-intents` in one language, or in all; raises `UserError`."""
    package = require_module("home_assistant_intents")
    known = package.get_languages()
    wanted = [tag for tag in sorted(known) if lang is None or tag.lower() == lang.lower()]
    if not wanted:
        raise UserError(f"home-assistant-intents has no {lang}; it has {', '.join(sorted(known))}")
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
            raise UserError(f"{file}: {key!r} is a {type(value).__name__} here and a {type(old).__name__} elsewhere")
        else:
            base[key] = value


def _load(path: Path) -> Any:
    try:
        text = read_file(path).decode()
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8: {error}") from error
    if path.suffix == ".json":
        try:
            return json.loads(text)
        except json.JSONDecodeError as error:
            raise UserError(f"{path}:{error.lineno}: {error.msg}") from error
    yaml = require_module("yaml")
    loader = _locating_loader(yaml, str(path))(text)
    try:
        return expanded_once(loader.get_single_data(), str(path))
    except RecursionError:
        raise UserError(f"{path}: it is nested too deep") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{path}:{mark.line + 1}" if mark is not None else str(path)
        raise UserError(f"{place}: {getattr(error, 'problem', None) or error}") from error
    finally:
        loader.dispose()


_LARGEST: Final = 1_000_000
"""Values that a file may hold once its aliases are expanded; the largest file of Home Assistant has some 20,000."""


def expanded_once(data: Any, file: str) -> Any:
    """`data`, if it is of bearable size with every alias expanded; raises `UserError` for a bomb of aliases.

    YAML lets a value be named and used again: nine lines can stand for billions of values.
    """
    sizes: dict[int, int] = {}  # by identity: an alias is the same object again
    open_ids: set[int] = set()

    def size(value: Any) -> int:
        if not isinstance(value, (dict, list)):
            return 1
        known = sizes.get(id(value))
        if known is None:
            if id(value) in open_ids:
                raise UserError(f"{file}: a value contains itself, by an alias")
            open_ids.add(id(value))
            inner = [*value.keys(), *value.values()] if isinstance(value, dict) else value
            known = sizes[id(value)] = 1 + sum(map(size, inner))
            open_ids.discard(id(value))
        return known

    try:
        total = size(data)
    except RecursionError:
        raise UserError(f"{file}: it is nested too deep") from None
    if total > _LARGEST:
        raise UserError(f"{file}: its aliases expand to {total:,} values, more than {_LARGEST:,}")
    return data


def _locating_loader(yaml: Any, file: str) -> Any:
    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        """Reads text as `LocatedText`."""

    def construct(loader: Any, node: Any) -> LocatedText:
        return LocatedText(loader.construct_scalar(node), file, node.start_mark.line + 1)

    Loader.add_constructor("tag:yaml.org,2002:str", construct)
    return Loader


def _languages(path: Path, data: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """The data of a file of hassil; other files in the folder are passed over."""
    if isinstance(data, dict) and isinstance(data.get("language"), str):
        yield str(data["language"]), data
    elif isinstance(data, dict) and ("intents" in data or "lists" in data):
        raise UserError(f"{path} states no language: hassil's files begin with 'language: en'")


SIDECAR: Final = "hassil.json"
"""Beside the locale files: what they cannot express, kept for converting back. Nothing else reads it."""
_FORMAT: Final = 1

Entry = str | dict[str, Any]
"""A line of a locale file that is the same in the other format, or `{"was": …, "lines": […]}`: what it was, and the
lines that express it now. As long as all those lines exist, converting back writes what it was."""


def entry(was: Any, lines: list[str], back: str | None) -> Entry:
    """The entry for something that became `lines`; `back` is a single line converted back."""
    return lines[0] if len(lines) == 1 and back == was else {"was": was, "lines": lines}


def lines_of(item: Entry) -> list[str]:
    """The lines of a locale file that an entry is about."""
    return [item] if isinstance(item, str) else [str(line) for line in item.get("lines", ())]


def restore(present: Iterable[str], entries: Iterable[Entry], back: Mapping[str, Any]) -> list[Any]:
    """What the entries were, where their lines are `present`; `back` has the lines that were converted back."""
    existing = set(present)
    found: list[Any] = []
    for item in entries:
        lines = lines_of(item)
        if not isinstance(item, str) and existing.issuperset(lines):
            found.append(item["was"])
        else:
            found += [back[line] for line in lines if line in existing]
    return found


def read_sidecar(folder: Path) -> dict[str, Any]:
    """The content of `hassil.json` in the folder of a language; empty without that file. Raises `UserError`."""
    path = folder / SIDECAR
    if not path.exists():
        return {}
    try:
        content = json.loads(read_file(path))
    except (OSError, json.JSONDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path} cannot be read: {error}; without it the rest can still be exported") from error
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise UserError(f"{path} is not of format {_FORMAT}; without it the rest can still be exported")
    return content


def sidecar_text(content: Mapping[str, Any]) -> str:
    return json.dumps({"format": _FORMAT, **content}, ensure_ascii=False, indent=1) + "\n"


class LanguageSource:
    """One language of a locale folder, to be exported. Raises `UserError` for files that break a rule."""

    def __init__(self, folder: LanguageFolder) -> None:
        self.lang = folder.path.name
        self.sidecar: dict[str, Any] = read_sidecar(folder.path)
        if folder.violations:
            raise _broken_rule(folder.violations[0])
        self._lines: dict[Role, dict[str, list[str]]] = {role: {} for role in Role}
        for resource, path in folder.files.items():
            try:
                self._lines[resource.role][resource.name] = [line.text for line in read_lines(path)]
            except MalformedResource as error:
                raise UserError(str(error)) from None

    def files(self, role: Role) -> list[str]:
        """The base names of a role."""
        return list(self._lines[role])

    def lines(self, role: Role, base: str) -> list[str]:
        """The lines of a file, without comments and blank lines; none when there is no such file."""
        return self._lines[role].get(base, [])


def languages(path: Path, lang: str | None) -> list[LanguageSource]:
    """The languages of a locale folder, or the one that is asked for; raises `UserError`."""
    if not path.is_dir():
        raise UserError(f"{path} is not a folder")
    inner = next((folder for folder in sorted(path.rglob("locale")) if folder.is_dir()), None)
    if inner is not None:  # a whole package, whose folders pass for languages: "src" has the form of a tag
        raise UserError(f"{path} is not a locale folder, but contains one: {inner}")
    try:
        found = scan(path)
    except MalformedResource as error:
        raise UserError(str(error)) from None
    if lang is None and found.violations:
        raise _broken_rule(found.violations[0])
    folders = [one for tag, one in found.languages.items() if lang is None or lang in (tag, one.path.name)]
    if not folders:
        raise UserError(f"{path} has no folder for {lang or 'any language'}: expected {path}/{lang or 'en'}/…")
    return [LanguageSource(one) for one in folders]


def _broken_rule(violation: Violation) -> UserError:
    return UserError(f"{violation.path}: {violation.reason}")


def write(folder: Path, files: Mapping[str, str], *, force: bool) -> None:
    """Write the files into `folder`; raises `UserError` before the first one if some exist and `force` is not given."""
    existing = sorted(name for name in files if (folder / name).exists())
    if existing and not force:
        more = f" and {len(existing) - 1} more" if len(existing) > 1 else ""
        raise UserError(f"{folder / existing[0]}{more} exists already; choose another DEST, or --force")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


def hassil_files(data: Mapping[str, Any]) -> dict[str, str]:
    """A language in hassil's files: one for each intent, and one for what they share."""
    yaml = require_module("yaml")

    def text(table: Mapping[str, Any]) -> str:
        return str(yaml.safe_dump(dict(table), allow_unicode=True, sort_keys=False, width=110))

    head = {"language": data["language"]}
    shared = {key: value for key, value in data.items() if key not in ("language", "intents")}
    found = {"_common.yaml": text({**head, "intents": {}, **shared})}
    for name, intent in data["intents"].items():
        found[f"{name}.yaml"] = text({**head, "intents": {name: intent}})
    return found
