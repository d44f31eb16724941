"""The settings and plugins of a conversation."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Final

import msgspec

from hark.app.plugin_set import plugin_files, plugins, wanted_by
from hark.app.settings import Settings, read_settings
from hark.hosting import PluginFile, Refusal
from hark.hosting.discovery import instantiate
from hark.plugins import Plugin
from hark.testing.scripts.errors import ScriptError, ScriptMistake
from hark.testing.scripts.script import NOTHING, Conversation, Script

_CLASS: Final = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*")

PluginsFactory = Callable[[], Iterable[Plugin | Refusal]]


class Setup:
    """The settings and plugins of conversations whose scripts do not name any."""

    def __init__(
        self,
        settings: Settings | None = None,
        settings_file: Path | None = None,
        *,
        installed: bool = True,
        added: Sequence[Plugin | Callable[[], Plugin]] = (),
    ) -> None:
        self._settings = settings or Settings()
        self._settings_file = settings_file
        self._installed = installed
        self._added = [_PluginFactory(plugin) if isinstance(plugin, Plugin) else plugin for plugin in added]

    def of(self, script: Script, conversation: Conversation) -> tuple[Settings, PluginsFactory]:
        """The settings of a conversation and a function that makes its plugins; raises `UserError`."""
        head = conversation.head
        settings, file = self._settings, self._settings_file
        if head.settings is not None:
            file = None if head.settings == NOTHING else _beside(script, head.settings)
            settings = self._with_voice(Settings() if file is None else read_settings(file, named=True))
        files = [] if file is None else plugin_files(settings, file)
        named = [_named(script, name) for name in head.skills or ()]
        installed = self._installed and head.skills is None

        def make_plugins() -> Iterator[Plugin | Refusal]:
            added = [made() for made in self._added]
            taken = {getattr(plugin, "id", None) for plugin in added}
            for plugin in plugins(installed=installed, files=files, wanted=wanted_by(settings)):
                # A plugin of the author replaces a builtin one with its id.
                if isinstance(plugin, Refusal) or plugin.id not in taken:
                    yield plugin
            for made in named:
                yield from made()
            yield from added

        return _speaking(settings, conversation), make_plugins

    def _with_voice(self, settings: Settings) -> Settings:
        """Settings of a script, with the engines of this machine if they name none."""
        if settings.voice != Settings().voice or settings.engine or settings.wake:
            return settings
        own = self._settings
        return msgspec.structs.replace(settings, voice=own.voice, engine=own.engine, wake=own.wake)

    def may_lack(self, conversation: Conversation) -> bool:
        """Whether to play although plugins are not loaded: so it is unless the script or the caller names plugins."""
        return conversation.head.skills is None and not self._added


class _PluginFactory:
    """Makes a plugin: the given instance first, then new ones of its class. No instance is started twice."""

    def __init__(self, plugin: Plugin) -> None:
        self._first: Plugin | None = plugin
        self._type = type(plugin)

    def __call__(self) -> Plugin:
        first, self._first = self._first, None
        return self._type() if first is None else first


def _speaking(settings: Settings, conversation: Conversation) -> Settings:
    if conversation.head.language is not None:
        settings = settings.speaking(conversation.head.language)
    table = settings.assistant
    table = msgspec.structs.replace(table, langs=tuple(dict.fromkeys((*table.langs, *conversation.langs()))))
    return msgspec.structs.replace(settings, assistant=table)


def _named(script: Script, name: str) -> PluginsFactory:
    """A function that makes the plugins of one name in a line `skills:`."""
    if _CLASS.fullmatch(name) is not None:
        module, _, attribute = name.partition(":")
        try:
            offered = getattr(import_module(module), attribute)
        except Exception as error:  # noqa: BLE001 - importing runs code of the plugin, which may raise anything
            raise _wrong(script, f"{name} cannot be imported: {type(error).__name__}: {error}", _REMEDY) from None
        if not (isinstance(offered, type) and issubclass(offered, Plugin)):
            raise _wrong(script, f"{name} is not a plugin class", _REMEDY)
        return lambda: [instantiate(offered, "plugin class", name, script.where)]
    path = _beside(script, name)
    if not path.exists():
        raise _wrong(script, f"there is no {path}", _REMEDY)
    return PluginFile(path).make


_REMEDY: Final = "name files, folders or classes as in skills: timer.py, ../lamp, kitchen.skills:Oven"


def _beside(script: Script, name: str) -> Path:
    return Path(script.where).absolute().parent / Path(name).expanduser()


def _wrong(script: Script, wrong: str, remedy: str) -> ScriptError:
    lines = (number for number, line in enumerate(script.lines, 1) if line.strip().lower().startswith("skills"))
    return ScriptError(script.where, [ScriptMistake(next(lines, 0), wrong, remedy)])
