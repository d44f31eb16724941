"""The settings file as text: write it with every key and its documentation, and find the line of a key in it."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any, Final

import msgspec

from hark.app.settings.kinds import meta_of
from hark.app.settings.tables import TABLES, TransformerTable, WakeTable
from hark.plugins import Plugin


def field_docs(shape: type) -> dict[str, str]:
    """The docstring under each field of a class, inherited ones included; none where there is no source."""
    docs: dict[str, str] = {}
    for owner in reversed(shape.__mro__):
        docs |= _own_docs(owner)
    return docs


def _own_docs(shape: type) -> dict[str, str]:
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(shape)))
    except (OSError, TypeError, SyntaxError):
        return {}
    body = tree.body[0].body if tree.body and isinstance(tree.body[0], ast.ClassDef) else []
    docs = {}
    for field, below in pairwise(body):
        named = isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if named and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            docs[field.target.id] = inspect.cleandoc(str(below.value.value))  # type: ignore[attr-defined]
    return docs


_LONG = 60


def written(value: Any) -> str:
    """`value` in TOML; raises `TypeError` for a value that TOML does not have."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return msgspec.json.encode(value).decode()
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(written, value))}]"
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{written(str(key))} = {written(item)}" for key, item in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    raise TypeError(f"TOML has no {type(value).__name__}")


def shown(value: Any) -> str:
    """`value` for an error message: in TOML, if possible, and shortened if it is long."""
    try:
        text = written(value)
    except TypeError:
        text = str(value)
    return text if len(text) <= _LONG else text[: _LONG - 3] + "..."


_WIDTH: Final = 110

_HEAD: Final = """\
The settings of Hark. Every key is listed with its default; remove the # in front of a key to set it.
A key that stays commented out follows the default of each version."""

_ENTRY: Final = """\
A pipeline entry with a configuration of its own. Use the name after the dot in [assistant] pipeline; "plugin" is the
id of the plugin, by default that name."""

_ENTRY_EXAMPLE: Final = '[pipeline.strict]\nplugin = "template"'

_ENGINE: Final = """\
The settings of an engine. Use the name after the dot in [voice]; "engine" is the id of the engine, by default that
name, so that one engine can be used under several names."""

_ENGINE_EXAMPLE: Final = '[engine.careful]\nengine = "faster-whisper"\nmodel = "base.en"'

_TRANSFORMER_EXAMPLE: Final = "[transformer.dialog.guard]"

_WAKE_EXAMPLE: Final = '[wake.german]\nphrase = "hey jarvis"\nlang = "de-DE"'

_PLUGINS: Final = "The settings of single plugins, by their id. Each plugin checks its own table when it is loaded."


def document(plugins: Iterable[type[Plugin]] = (), engines: Iterable[tuple[str, type[Plugin]]] = ()) -> str:
    """The documented settings file, with the tables of these plugins, and of these engines with their kinds."""
    parts = [_comment(_HEAD)]
    for name, shape in TABLES.items():
        parts.append("\n".join([*_comment_of(shape), f"[{name}]", *_lines(shape, _keys(shape))]))
    single = [*_comment_of(TransformerTable), _off(_TRANSFORMER_EXAMPLE)]
    parts.append("\n".join([*single, *_lines(TransformerTable, _keys(TransformerTable))]))
    parts.append(f"{_comment(_ENTRY)}\n{_off(_ENTRY_EXAMPLE)}")
    parts.append(f"{_comment(_ENGINE)}\n{_off(_ENGINE_EXAMPLE)}")
    parts.extend(filter(None, (_plugin(engine, "engine", f" ({kind})") for kind, engine in engines)))
    parts.append("\n".join([*_comment_of(WakeTable), _off(_WAKE_EXAMPLE)]))
    parts.append(_comment(_PLUGINS))
    parts.extend(filter(None, map(_plugin, plugins)))
    return "\n\n".join(parts) + "\n"


def _plugin(plugin: type[Plugin], table: str = "plugins", kind: str = "") -> str:
    shape: Any = plugin.Settings
    keys = [_Key(field.name, _default(field)) for field in dataclasses.fields(shape)]
    if not keys:
        return ""
    about = (inspect.getdoc(plugin) or "").partition("\n")[0]
    # The header is commented out as well: by default there is no table.
    header = _off(f"[{table}.{key_text(plugin.id)}]")
    return "\n".join([_comment(f"{plugin.id}{kind}: {about}"), header, *_lines(shape, keys)])


class _Key(msgspec.Struct):
    name: str
    default: Any
    example: Any = None


def _keys(shape: type[msgspec.Struct]) -> Iterator[_Key]:
    for field in msgspec.structs.fields(shape):
        meta = meta_of(field.type)
        default = field.default if field.default is not msgspec.NODEFAULT else field.default_factory()
        yield _Key(field.name, default, meta.examples[0] if meta is not None and meta.examples else None)


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default is not dataclasses.MISSING:
        return field.default
    return field.default_factory() if field.default_factory is not dataclasses.MISSING else None


def _lines(shape: type, keys: Iterable[_Key]) -> Iterator[str]:
    docs = field_docs(shape)
    for key in keys:
        name = key_text(key.name)
        if key.name in docs:
            yield _comment(docs[key.name])
        try:
            yield _off(f"{name} = {written(msgspec.to_builtins(key.default))}")
        except TypeError:
            example = f"; an example: {name} = {written(key.example)}" if key.example is not None else ""
            yield _comment(f"{name} is not set by default{example}")


def _comment_of(shape: type) -> Iterator[str]:
    if shape.__doc__:
        yield _comment(inspect.cleandoc(shape.__doc__))


def _comment(text: str) -> str:
    lines = textwrap.wrap(" ".join(text.split()), _WIDTH, break_long_words=False, break_on_hyphens=False)
    return textwrap.indent("\n".join(lines), "# ")


def _off(toml: str) -> str:
    """TOML that is commented out; comments in prose have a space after the #."""
    return textwrap.indent(toml, "#")


def key_text(key: str) -> str:
    """A key as TOML writes it: in quotes where it needs them."""
    return key if key.replace("-", "").replace("_", "").isalnum() and key.isascii() else written(key)


Path = tuple[str, ...]

_PART: Final = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
_DOTTED: Final = rf"{_PART}(?:\s*\.\s*{_PART})*"
_HEADER: Final = re.compile(rf"\s*\[\[?\s*({_DOTTED})\s*\]\]?\s*(?:#.*)?")
_KEY: Final = re.compile(rf"\s*({_DOTTED})\s*=(.*)")
_PARTS: Final = re.compile(_PART)
_QUOTED: Final = re.compile(r'"""|\'\'\'|"(?:\\.|[^"\\])*"|\'[^\']*\'|#.*')


class Lines:
    """The lines of tables and keys in a TOML text."""

    def __init__(self, text: str) -> None:
        self._found: dict[Path, int] = {}
        for number, path in _walk(text.splitlines()):
            # A table without a header of its own is found at the first line that mentions it.
            for length in range(1, len(path) + 1):
                self._found.setdefault(path[:length], number)

    def line(self, path: Path) -> int | None:
        """The line of a key or table that has one of its own."""
        return self._found.get(path)

    def of(self, path: Path) -> int | None:
        """The line of a key or table, else of the innermost table around it that has one."""
        while path:
            if path in self._found:
                return self._found[path]
            path = path[:-1]
        return None


def _walk(lines: list[str]) -> Iterator[tuple[int, Path]]:
    table: Path = ()
    value = OpenValue()
    for number, line in enumerate(lines, 1):
        if value.is_open:
            value.take(line)
        elif (header := _HEADER.fullmatch(line)) is not None:
            table = _split(header[1])
            yield number, table
        elif (key := _KEY.match(line)) is not None:
            yield number, (*table, *_split(key[1]))
            value.take(key[2])


def _split(dotted: str) -> Path:
    return tuple(part.strip("\"'") if part[0] in "\"'" else part for part in _PARTS.findall(dotted))


class OpenValue:
    """A value that may extend over several lines."""

    def __init__(self) -> None:
        self._depth = 0
        self._quote = ""

    @property
    def is_open(self) -> bool:
        """Whether the next line belongs to it."""
        return bool(self._quote) or self._depth > 0

    def take(self, text: str) -> None:
        """Read another line of it."""
        if self._quote:
            _, closed, text = text.partition(self._quote)
            if not closed:
                return
            self._quote = ""
        bare = ""
        while (quoted := _QUOTED.search(text)) is not None:
            bare += text[: quoted.start()]
            text = text[quoted.end() :]
            if quoted[0] in ('"""', "'''"):
                _, closed, text = text.partition(quoted[0])
                if not closed:
                    self._quote = quoted[0]
                    break
        bare += text
        self._depth += sum(map(bare.count, "[{")) - sum(map(bare.count, "]}"))
