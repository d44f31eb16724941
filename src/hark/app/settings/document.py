"""A settings file with every key, its default and what it is for. It loads, and says nothing but the defaults."""

from __future__ import annotations

import dataclasses
import inspect
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from hark.app.settings.docs import field_docs
from hark.app.settings.kinds import meta_of
from hark.app.settings.tables import TABLES
from hark.app.settings.toml import written
from hark.app.settings.voice_tables import WakeTable
from hark.plugins import Plugin

_WIDTH: Final = 110

_HEAD: Final = """\
The settings of Hark. Every key is here with its default; take away the # in front of a key to set it.
A key that is left as it is follows the default of each version."""

_ENTRY: Final = """\
A pipeline entry that is more than a plugin's id: the plugin behind it, and its configuration at this place. The name
after the dot is the one to use in [assistant] pipeline; without "plugin" it is the plugin's id as well."""

_ENTRY_EXAMPLE: Final = '[pipeline.strict]\nplugin = "template"'

_ENGINE: Final = """\
What an engine is told. The name after the dot is the one to use in [voice]; without "engine" it is the engine's id as
well, and with it the same engine can be there under several names. docs/voice.md lists the keys of each."""

_ENGINE_EXAMPLE: Final = '[engine.careful]\nengine = "faster-whisper"\nmodel = "base.en"'

_WAKE_EXAMPLE: Final = '[wake.german]\nphrase = "hey jarvis"\nlang = "de-DE"'

_PLUGINS: Final = "What single plugins can be told, by their id. Each checks its own table when it is loaded."


def document(plugins: Iterable[type[Plugin]] = ()) -> str:
    """The whole file, with the tables of these plugins."""
    parts = [_comment(_HEAD)]
    for name, shape in TABLES.items():
        parts.append("\n".join([*_comment_of(shape), f"[{name}]", *_lines(shape, _keys(shape))]))
    parts.append(f"{_comment(_ENTRY)}\n{_off(_ENTRY_EXAMPLE)}")
    parts.append(f"{_comment(_ENGINE)}\n{_off(_ENGINE_EXAMPLE)}")
    parts.append("\n".join([*_comment_of(WakeTable), _off(_WAKE_EXAMPLE)]))
    parts.append(_comment(_PLUGINS))
    parts.extend(filter(None, map(_plugin, plugins)))
    return "\n\n".join(parts) + "\n"


def _plugin(plugin: type[Plugin]) -> str:
    shape: Any = plugin.Settings
    keys = [_Key(field.name, _default(field)) for field in dataclasses.fields(shape)]
    if not keys:
        return ""
    about = (inspect.getdoc(plugin) or "").partition("\n")[0]
    # The header does not count either: an empty table would not be the default, which is none.
    header = _off(f"[plugins.{_name(plugin.id)}]")
    return "\n".join([_comment(f"{plugin.id}: {about}"), header, *_lines(shape, keys)])


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
        name = _name(key.name)
        if key.name in docs:
            yield _comment(docs[key.name])
        try:
            yield _off(f"{name} = {written(msgspec.to_builtins(key.default))}")
        except TypeError:
            example = f"; an example: {name} = {written(key.example)}" if key.example is not None else ""
            yield _comment(f"{name} is not set unless you do{example}")


def _comment_of(shape: type) -> Iterator[str]:
    if shape.__doc__:
        yield _comment(inspect.cleandoc(shape.__doc__))


def _comment(text: str) -> str:
    lines = textwrap.wrap(" ".join(text.split()), _WIDTH, break_long_words=False, break_on_hyphens=False)
    return textwrap.indent("\n".join(lines), "# ")


def _off(toml: str) -> str:
    """A piece of TOML that does not count until somebody takes the # away; prose has a space after it."""
    return textwrap.indent(toml, "#")


def _name(key: str) -> str:
    return key if key.replace("-", "").replace("_", "").isalnum() and key.isascii() else written(key)
