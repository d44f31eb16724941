"""Checking a tree of tables against what can be set. Every mistake is found, not only the first."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from hark.app.settings.kinds import item_of, meta_of, value_of
from hark.app.settings.lines import Path
from hark.app.settings.mistakes import Mistake, nearest
from hark.app.settings.tables import NAMED_TABLES, OLD_NAMES, TABLES
from hark.app.settings.toml import shown
from hark.model import MalformedMessage, freeze

OPEN_TABLES = ("pipeline", "plugins", "engine", *NAMED_TABLES)
"""The tables whose keys are names of the deployer's choice, each a table again."""

Found = Callable[[Path], str]
"""File and line of a key, as text."""


def mistakes_in(tree: Mapping[str, Any], found: Found) -> Iterator[Mistake]:
    """Everything that is wrong with `tree`."""
    known = (*TABLES, *OPEN_TABLES, *OLD_NAMES)
    for name, table in tree.items():
        if name not in known:
            yield _unknown_table(name, table, found((name,)))
        elif not isinstance(table, Mapping):
            yield Mistake(
                found((name,)), name, f"{shown(table)} is not a table", f"write [{name}] and its keys below it"
            )
        elif name in TABLES or name in OLD_NAMES:
            yield from _table((name,), TABLES[OLD_NAMES.get(name, name)], table, found)
        else:
            yield from _open_table(name, table, found)


def _unknown_table(name: str, value: Any, where: str) -> Mistake:
    tables = ", ".join(sorted((*TABLES, *OPEN_TABLES)))
    homes = [table for table, shape in TABLES.items() if name in shape.__struct_fields__]
    if not isinstance(value, Mapping):
        remedy = f"put it below [{homes[0]}]" if homes else f"the tables are: {tables}"
        return Mistake(where, name, "a key cannot stand outside of every table", remedy)
    meant = nearest(name, (*TABLES, *OPEN_TABLES))
    return Mistake(where, f"[{name}]", "there is no such table", _choose(meant and f"[{meant}]", "tables", tables))


def _table(
    path: tuple[str, ...], shape: type[msgspec.Struct], table: Mapping[str, Any], found: Found
) -> Iterator[Mistake]:
    fields = {field.name: field for field in msgspec.structs.fields(shape)}
    name = ".".join(path)
    for key, field in fields.items():
        if field.required and key not in table:
            yield Mistake(found(path), f"[{name}]", f"it has no {key}", f"add: {key} = ...")
    for key, value in table.items():
        where, label = found((*path, key)), f"[{name}] {key}"
        if key not in fields:
            remedy = _choose(nearest(key, fields), "keys", ", ".join(fields))
            yield Mistake(where, label, "there is no such key", remedy)
            continue
        field = fields[key]
        if isinstance(value, Mapping) and (kind := value_of(field.type)) is not None:
            for inner, item in value.items():
                if wrong := _wrong(item, kind):
                    place, remedy = found((*path, key, inner)), wrong[1] or "leave it out for what holds without it"
                    yield Mistake(place, f"[{name}.{key}] {inner}", wrong[0], remedy)
        elif wrong := _wrong(value, field.type):
            yield Mistake(where, label, wrong[0], wrong[1] or _default(field))


def _open_table(name: str, table: Mapping[str, Any], found: Found) -> Iterator[Mistake]:
    for key, value in table.items():
        where, label = found((name, key)), f"[{name}.{key}]"
        if not isinstance(value, Mapping):
            remedy = f"write [{name}.{key}] and its keys below it"
            yield Mistake(where, f"[{name}] {key}", f"{shown(value)} is not a table", remedy)
        elif name == "pipeline":
            yield from _entry(key, value, label, found)
        elif name in NAMED_TABLES:
            yield from _table((name, key), NAMED_TABLES[name], value, found)
        elif name == "engine" and not isinstance(value.get("engine", key), str):
            wrong = f"{shown(value['engine'])} is not an id in quotes"
            yield Mistake(found((name, key, "engine")), f"{label} engine", wrong, "name an engine")


def _entry(name: str, table: Mapping[str, Any], label: str, found: Found) -> Iterator[Mistake]:
    plugin = table.get("plugin", name)
    if not isinstance(plugin, str) or not plugin:
        where = found(("pipeline", name, "plugin"))
        yield Mistake(where, f"{label} plugin", f"{shown(plugin)} is not an id in quotes", "name a pipeline plugin")
    for key, value in table.items():
        try:
            freeze(value)
        except MalformedMessage:
            wrong = f"{shown(value)} cannot be handed to a plugin"
            remedy = "an entry is configured with text, numbers, true, false, and lists and tables of these"
            yield Mistake(found(("pipeline", name, key)), f"{label} {key}", wrong, remedy)


def _wrong(value: Any, kind: Any) -> tuple[str, str] | None:
    """Why `value` is not of this kind, and the remedy if there is a better one than the default."""
    told = meta_of(kind)
    description = told.description if told is not None else "what belongs here"
    try:
        typed = msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return f"{shown(_culprit(value, kind))} is not {_item_words(value, kind) or description}", ""
    if isinstance(typed, float) and not math.isfinite(typed):
        return f"{shown(value)} is not {description}", ""
    for item in typed if isinstance(typed, tuple) else (typed,):
        meta = meta_of(item_of(kind)) or told
        fits = (meta.extra or {}).get("fits") if meta is not None else None
        if fits is not None and meta is not None and not fits(item):
            other = str(item).strip().replace("_", "-").partition(".")[0]
            meant = f"did you mean {shown(other)}?" if other != item and fits(other) else ""
            return f"{shown(item)} is not {meta.description}", meant
    return None


def _culprit(value: Any, kind: Any) -> Any:
    """The item of a list that is to blame, where it is only one."""
    if isinstance(value, list) and item_of(kind) is not None:
        return next((item for item in value if not _converts(item, item_of(kind))), value)
    return value


def _item_words(value: Any, kind: Any) -> str:
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
        return "leave the key out to have none"
    default = field.default if field.default is not msgspec.NODEFAULT else field.default_factory()
    return f"the default is {shown(default)}"


def _choose(meant: str | None, what: str, known: str) -> str:
    return f"did you mean {meant}? The {what} are: {known}" if meant else f"the {what} are: {known}"
