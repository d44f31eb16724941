"""Reading and writing the files of both formats, and `hassil.json`, which keeps what a locale folder cannot express."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from hark.errors import UserError

_KINDS: Final = (".yaml", ".yml", ".json")


class LocatedText(str):
    """Text that knows where it was written."""

    __slots__ = ("file", "line")

    def __new__(cls, text: str, file: str = "", line: int = 0) -> LocatedText:
        """`text`, from this line of this file."""
        placed = super().__new__(cls, text)
        placed.file, placed.line = file, line
        return placed

    file: str
    line: int


def require_module(module: str) -> Any:
    """A module of the `hassil` extra; raises `UserError` that names it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise UserError(f"{error.name} is not installed: pip install 'hark[hassil]'") from error


def read_folder(source: Path, lang: str | None) -> dict[str, dict[str, Any]]:
    """What the files say, merged as hassil merges them, by language; raises `UserError`."""
    files = sorted(path for path in source.rglob("*") if path.suffix in _KINDS) if source.is_dir() else [source]
    if not files:
        raise UserError(f"{source} holds no YAML and no JSON file")
    found: dict[str, dict[str, Any]] = {}
    for path in files:
        for tag, data in _languages(path, _load(path)):
            if lang is None or tag.lower() == lang.lower():
                merge(found.setdefault(tag, {}), data, str(path))
    if not found:
        asked = f" in {lang}" if lang else ""
        raise UserError(f"no sentences{asked} under {source}: hassil's files state their language and their intents")
    return found


def read_package(lang: str | None) -> Iterator[tuple[str, dict[str, Any]]]:
    """What `home-assistant-intents` says in a language, or in all; raises `UserError`."""
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
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8: {error}") from error
    if path.suffix == ".json":
        try:
            return json.loads(text)
        except json.JSONDecodeError as error:
            raise UserError(f"{path}:{error.lineno}: {error.msg}") from error
    yaml = require_module("yaml")
    loader = _placing_loader(yaml, str(path))(text)
    try:
        return loader.get_single_data()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{path}:{mark.line + 1}" if mark is not None else str(path)
        raise UserError(f"{place}: {getattr(error, 'problem', None) or error}") from error
    finally:
        loader.dispose()


def _placing_loader(yaml: Any, file: str) -> Any:
    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        """Reads text as `LocatedText`."""

    def construct(loader: Any, node: Any) -> LocatedText:
        return LocatedText(loader.construct_scalar(node), file, node.start_mark.line + 1)

    Loader.add_constructor("tag:yaml.org,2002:str", construct)
    return Loader


def _languages(path: Path, data: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """The data of a file that is hassil's; others in the folder are not ours to read."""
    if isinstance(data, dict) and isinstance(data.get("language"), str):
        yield str(data["language"]), data
    elif isinstance(data, dict) and ("intents" in data or "lists" in data):
        raise UserError(f"{path} states no language: hassil's files begin with 'language: en'")


NAME: Final = "hassil.json"
FORMAT: Final = 1

Entry = str | dict[str, Any]


def entry(was: Any, lines: list[str], back: str | None) -> Entry:
    """The entry for something that became `lines`; `back` is how a single line reads in the other format."""
    return lines[0] if len(lines) == 1 and back == was else {"was": was, "lines": lines}


def lines_of(item: Entry) -> list[str]:
    """The lines of a locale file that an entry is about."""
    return [item] if isinstance(item, str) else [str(line) for line in item.get("lines", ())]


def restored(present: Iterable[str], entries: Iterable[Entry], back: Mapping[str, Any]) -> list[Any]:
    """What the entries were, as far as their lines are `present`; `back` has the lines that stand for themselves."""
    there = set(present)
    found: list[Any] = []
    for item in entries:
        lines = lines_of(item)
        if not isinstance(item, str) and there.issuperset(lines):
            found.append(item["was"])
        else:
            found += [back[line] for line in lines if line in there]
    return found


def read_sidecar(folder: Path) -> dict[str, Any]:
    """What was kept beside a locale folder; empty when there is nothing. Raises `UserError`."""
    path = folder / NAME
    if not path.exists():
        return {}
    try:
        side = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path} cannot be read: {error}; without it the rest can still be exported") from error
    if not isinstance(side, dict) or side.get("format") != FORMAT:
        raise UserError(f"{path} is not of format {FORMAT}; without it the rest can still be exported")
    return side


def write_sidecar(side: Mapping[str, Any]) -> str:
    """The text of the file."""
    return json.dumps({"format": FORMAT, **side}, ensure_ascii=False, indent=1) + "\n"


_ROLES: Final = ("intent", "dialog", "entity", "voc", "blacklist", "required", "prompt")


class LanguageSource:
    """One language of a locale folder."""

    def __init__(self, path: Path) -> None:
        self.lang = path.name
        self.side: dict[str, Any] = read_sidecar(path)
        """What an import kept beside."""
        self._lines: dict[str, dict[str, list[str]]] = {role: {} for role in _ROLES}
        for file in sorted(path.rglob("*")):
            role = file.suffix.removeprefix(".")
            if file.is_file() and role in _ROLES:
                if file.stem in self._lines[role]:
                    raise UserError(f"{file}: there is another {file.name} in this language")
                self._lines[role][file.stem] = _read(file)

    def files(self, role: str) -> list[str]:
        """The base names of a role."""
        return list(self._lines[role])

    def lines(self, role: str, base: str) -> list[str]:
        """The lines of a file, comments and blank lines apart; none when there is no such file."""
        return self._lines[role].get(base, [])


def _read(path: Path) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8: {error}") from error
    stripped = [line.strip() for line in text.split("\n")]
    return [line for line in stripped if line and not line.startswith("#")]


def languages(path: Path, lang: str | None) -> list[LanguageSource]:
    """The languages of a locale folder, or the one that is asked for; raises `UserError`."""
    if not path.is_dir():
        raise UserError(f"{path} is no folder")
    found = sorted(one for one in path.iterdir() if one.is_dir() and lang in (None, one.name))
    if not found:
        raise UserError(f"{path} holds no folder for {lang or 'any language'}: expected {path}/{lang or 'en'}/…")
    return [LanguageSource(one) for one in found]


def write(folder: Path, files: Mapping[str, str], *, force: bool) -> None:
    """Write the files into `folder`; raises `UserError` before the first one if some exist and `force` is not given."""
    there = sorted(name for name in files if (folder / name).exists())
    if there and not force:
        more = f" and {len(there) - 1} more" if len(there) > 1 else ""
        raise UserError(f"{folder / there[0]}{more} would be overwritten; --force does that, another DEST does not")
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
