"""Check a tree of tables against the known tables and keys. Every mistake is reported, not only the first."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from hark.app.settings.document import Path, shown
from hark.app.settings.kinds import item_of, meta_of, value_of
from hark.app.settings.tables import (
    NAMED_TABLES,
    OLD_NAMES,
    TABLES,
    TRANSFORMER_KEYS,
    TransformerTable,
)
from hark.errors import UserError
from hark.model import MalformedMessage, freeze
from hark.spec import TRANSFORMER_TYPES


class SettingsMistake(msgspec.Struct, frozen=True):
    """One mistake: where it is, what is wrong, and what to do."""

    where: str
    """File and line, if known."""
    key: str
    """Table and key: `[limits] match`."""
    wrong: str
    remedy: str

    def __str__(self) -> str:
        place = ": ".join(part for part in (self.where, self.key) if part)
        text = "; ".join(part for part in (self.wrong, self.remedy) if part)
        return f"{place}: {text}" if place else text


class SettingsError(UserError, ValueError):
    """Settings that cannot be used, with all mistakes in them."""

    def __init__(self, mistakes: Iterable[SettingsMistake]) -> None:
        self.mistakes = tuple(mistakes)
        super().__init__("\n".join(map(str, self.mistakes)))


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that was probably meant."""
    # Imported here: it is large, and only needed when there is a mistake.
    from difflib import get_close_matches

    close = get_close_matches(name.lower(), list(known), 1)
    return close[0] if close else None


OPEN_TABLES = ("transformer", "pipeline", "plugins", "engine", *NAMED_TABLES)
"""The tables whose keys are names chosen by the user, each of them a table."""

Found = Callable[[Path], str]
"""File and line of a key, as text."""


def mistakes_in(tree: Mapping[str, Any], found: Found) -> Iterator[SettingsMistake]:
    """All mistakes in `tree`."""
    known = (*TABLES, *OPEN_TABLES, *OLD_NAMES)
    for name, table in tree.items():
        if name not in known:
            yield _unknown_table(name, table, found((name,)))
        elif not isinstance(table, Mapping):
            yield SettingsMistake(
                found((name,)), name, f"{shown(table)} is not a table", f"write [{name}] and its keys below it"
            )
        elif name in TABLES or name in OLD_NAMES:
            yield from _table((name,), TABLES[OLD_NAMES.get(name, name)], table, found)
        else:
            yield from _open_table(name, table, found)


def _unknown_table(name: str, value: Any, where: str) -> SettingsMistake:
    tables = ", ".join(sorted((*TABLES, *OPEN_TABLES)))
    tables_with_key = [table for table, shape in TABLES.items() if name in shape.__struct_fields__]
    if not isinstance(value, Mapping):
        remedy = f"put it below [{tables_with_key[0]}]" if tables_with_key else f"the tables are: {tables}"
        return SettingsMistake(where, name, "a key has to be below a table", remedy)
    meant = nearest(name, (*TABLES, *OPEN_TABLES))
    return SettingsMistake(
        where, f"[{name}]", "there is no such table", _choose(meant and f"[{meant}]", "tables", tables)
    )


def _table(
    path: tuple[str, ...], shape: type[msgspec.Struct], table: Mapping[str, Any], found: Found
) -> Iterator[SettingsMistake]:
    fields = {field.name: field for field in msgspec.structs.fields(shape)}
    name = ".".join(path)
    for key, field in fields.items():
        if field.required and key not in table:
            yield SettingsMistake(found(path), f"[{name}]", f"it has no {key}", f"add: {key} = ...")
    for key, value in table.items():
        where, label = found((*path, key)), f"[{name}] {key}"
        if key not in fields:
            remedy = _choose(nearest(key, fields), "keys", ", ".join(fields))
            yield SettingsMistake(where, label, "there is no such key", remedy)
            continue
        field = fields[key]
        if isinstance(value, Mapping) and (kind := value_of(field.type)) is not None:
            for inner, item in value.items():
                if wrong := _wrong(item, kind):
                    place, remedy = found((*path, key, inner)), wrong[1] or "remove it to use the general limit"
                    yield SettingsMistake(place, f"[{name}.{key}] {inner}", wrong[0], remedy)
        elif wrong := _wrong(value, field.type):
            yield SettingsMistake(where, label, wrong[0], wrong[1] or _default(field))


def _open_table(name: str, table: Mapping[str, Any], found: Found) -> Iterator[SettingsMistake]:
    for key, value in table.items():
        where, label = found((name, key)), f"[{name}.{key}]"
        if not isinstance(value, Mapping):
            remedy = f"write [{name}.{key}] and its keys below it"
            yield SettingsMistake(where, f"[{name}] {key}", f"{shown(value)} is not a table", remedy)
        elif name == "transformer":
            yield from _transformers(key, value, found)
        elif name == "pipeline":
            yield from _entry(key, value, label, found)
        elif name in NAMED_TABLES:
            yield from _table((name, key), NAMED_TABLES[name], value, found)
        elif name == "engine" and not isinstance(value.get("engine", key), str):
            wrong = f"{shown(value['engine'])} is not an id in quotes"
            yield SettingsMistake(found((name, key, "engine")), f"{label} engine", wrong, "name an engine")


def _transformers(kind: str, tables: Mapping[str, Any], found: Found) -> Iterator[SettingsMistake]:
    if kind not in TRANSFORMER_TYPES:
        remedy = _choose(nearest(kind, TRANSFORMER_TYPES), "chains", ", ".join(TRANSFORMER_TYPES))
        yield SettingsMistake(found(("transformer", kind)), f"[transformer.{kind}]", "there is no such chain", remedy)
        return
    fields = {field.name: field for field in msgspec.structs.fields(TransformerTable)}
    for name, table in tables.items():
        path, label = ("transformer", kind, name), f"[transformer.{kind}.{name}]"
        if not isinstance(table, Mapping):
            remedy = f"write {label} with the id of a transformer, and its keys below it"
            yield SettingsMistake(found(path), f"[transformer.{kind}] {name}", f"{shown(table)} is not a table", remedy)
            continue
        for key in TRANSFORMER_KEYS & table.keys():
            if wrong := _wrong(table[key], fields[key].type):
                remedy = wrong[1] or _default(fields[key])
                yield SettingsMistake(found((*path, key)), f"{label} {key}", wrong[0], remedy)


def _entry(name: str, table: Mapping[str, Any], label: str, found: Found) -> Iterator[SettingsMistake]:
    plugin = table.get("plugin", name)
    if not isinstance(plugin, str) or not plugin:
        where = found(("pipeline", name, "plugin"))
        yield SettingsMistake(
            where, f"{label} plugin", f"{shown(plugin)} is not an id in quotes", "name a pipeline plugin"
        )
    for key, value in table.items():
        try:
            freeze(value)
        except MalformedMessage:
            wrong = f"{shown(value)} cannot be passed to a plugin"
            remedy = "an entry may hold text, numbers, true, false, and lists and tables of these"
            yield SettingsMistake(found(("pipeline", name, key)), f"{label} {key}", wrong, remedy)


def _wrong(value: Any, kind: Any) -> tuple[str, str] | None:
    """Why `value` is not of this kind, and a remedy if there is a better one than naming the default."""
    own = meta_of(kind)
    description = own.description if own is not None else "a valid value"
    try:
        typed = msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return f"{shown(_wrong_item(value, kind))} is not {_item_description(value, kind) or description}", ""
    if isinstance(typed, float) and not math.isfinite(typed):
        return f"{shown(value)} is not {description}", ""
    for item in typed if isinstance(typed, tuple) else (typed,):
        meta = meta_of(item_of(kind)) or own
        fits = (meta.extra or {}).get("fits") if meta is not None else None
        if fits is not None and meta is not None and not fits(item):
            other = str(item).strip().replace("_", "-").partition(".")[0]
            meant = f"did you mean {shown(other)}?" if other != item and fits(other) else ""
            return f"{shown(item)} is not {meta.description}", meant
    return None


def _wrong_item(value: Any, kind: Any) -> Any:
    """The item of a list that is wrong, if it is a single one; else the value itself."""
    if isinstance(value, list) and item_of(kind) is not None:
        return next((item for item in value if not _converts(item, item_of(kind))), value)
    return value


def _item_description(value: Any, kind: Any) -> str:
    meta = meta_of(item_of(kind)) if isinstance(value, list) else None
    return (meta.description or "") if meta is not None else ""


def _converts(value: Any, kind: Any) -> bool:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return False
    return True


def _default(field: msgspec.structs.FieldInfo) -> str:
    if field.default is None:
        return "remove the key to leave it unset"
    default = field.default if field.default is not msgspec.NODEFAULT else field.default_factory()
    return f"the default is {shown(default)}"


def _choose(meant: str | None, what: str, known: str) -> str:
    return f"did you mean {meant}? The {what} are: {known}" if meant else f"the {what} are: {known}"
