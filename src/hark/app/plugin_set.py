"""The plugins of a process: which there are, and which are loaded and started."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from hark.act import HandlerHost, ToolHost
from hark.app.service_names import ALL_SERVICES, ServiceName, group_of, kind_of, kinds_in
from hark.app.settings import Settings
from hark.builtin import DEFAULT_PLUGINS, OPTIONAL
from hark.builtin.transformers import SHIPPED, named
from hark.bus import Bus
from hark.hosting import CallLimits, Loaded, PluginFile, PluginHost, Refusal, Registry, Runner, discover
from hark.hosting.discovery import GROUPS
from hark.plugins import AudioTap, PipelinePlugin, Plugin, Toolbox, Transformer
from hark.plugins.handlers import handlers_of
from hark.spec import TRANSFORMER_TYPES, TransformerType

LATE_PAUSE: Final = 10.0
"""Seconds for which a transformer that was late several times in a row is not called (ruling R19)."""


class PluginSet:
    """The loaded plugins by kind, and the reasons why others are not loaded."""

    def __init__(
        self,
        settings: Settings,
        bus: Bus,
        runner: Runner,
        handlers: HandlerHost,
        data_root: Path | None,
        services: Collection[ServiceName] = ALL_SERVICES,
    ) -> None:
        self._hosted = kinds_in(services)
        self.transformers: dict[TransformerType, Registry[Any]] = {
            kind: Registry(f"{kind} transformer") for kind in TRANSFORMER_TYPES if kind in self._hosted
        }
        self.taps: Registry[AudioTap] = Registry("audio tap")
        self.pipeline: Registry[PipelinePlugin] = Registry("pipeline plugin")
        self.skills: Registry[Plugin] = Registry("skill")
        self.toolboxes: Registry[Toolbox] = Registry("toolbox")
        self._tools = ToolHost(bus, runner) if "toolbox" in self._hosted else None
        self._bus = bus
        self._runner = runner
        self._handlers = handlers
        self._data_root = data_root
        self._hosts: dict[int, PluginHost] = {}
        self.adopt(settings)

    def registries(self) -> tuple[Registry[Any], ...]:
        """The registries in the order in which their plugins are started."""
        # Matchers before skills: they receive what the skills register.
        return (*self.transformers.values(), self.taps, self.pipeline, self.skills, self.toolboxes)

    def __iter__(self) -> Iterator[Loaded[Any]]:
        return (entry for registry in self.registries() for entry in registry)

    def registry_for(self, plugin: Plugin | Refusal) -> Registry[Any]:
        """The registry a plugin, or the refusal of one, belongs to."""
        kind = kind_of(plugin)
        if kind == "audio_tap":
            return self.taps
        if kind == "pipeline":
            return self.pipeline
        if kind == "toolbox":
            return self.toolboxes
        return self.skills if kind == "skill" else self.transformers[kind]

    def adopt(self, settings: Settings) -> None:
        """Apply other settings: limits at once, those of single plugins when they are checked again."""
        self._settings = settings
        limits = settings.limits
        for registry, allowed in (
            (self.pipeline, limits.match),
            (self.skills, limits.start),
            (self.toolboxes, limits.start),
        ):
            registry.set_limits(CallLimits(allowed, limits.failures, limits.retry_after), limits.plugins)
        transforming = CallLimits(limits.transformer, limits.failures, min(limits.retry_after, LATE_PAUSE), True)
        self.taps.set_limits(transforming, limits.plugins)
        for kind, transformers in self.transformers.items():
            transformers.set_limits(transforming, limits.plugins)
            for entry in transformers:
                self._place(kind, entry)

    def add(self, plugin: Plugin | Refusal) -> None:
        """Register a plugin, to be started later, or keep its refusal. Plugins of other services are passed over."""
        if kind_of(plugin) not in self._hosted:
            return
        entry = plugin if isinstance(plugin, Refusal) else self.check(plugin)
        registry = self.registry_for(plugin)
        if isinstance(entry, Refusal):
            registry.refuse(entry)
        else:
            registry.register(entry)

    def check(self, plugin: Plugin, leaving: Collection[str] = ()) -> Loaded[Any] | Refusal:
        """Check a plugin without registering it. The ids of plugins that are `leaving` count as free."""
        registry = self.registry_for(plugin)
        plugin_id = str(getattr(plugin, "id", ""))
        sharing = (self.pipeline, self.skills, self.toolboxes)
        for other in sharing if registry in sharing else ():
            if other is not registry and plugin_id in other and plugin_id not in leaving:
                reason = (
                    f"a {other.kind} has the id {plugin_id!r} already; "
                    "skills, pipeline plugins and toolboxes share their ids"
                )
                return Refusal(registry.kind, plugin_id, reason, "rename one of the two")
        limit = self._settings.limits.plugins.get(plugin_id)
        table = self._settings.table_for(plugin_id, type(plugin))
        entry = registry.check(plugin, table, limit=limit, leaving=leaving)
        if isinstance(entry, Loaded) and isinstance(plugin, Transformer):
            self._place(plugin.type, entry)
        return entry

    def _place(self, kind: TransformerType, entry: Loaded[Any]) -> None:
        """Give a transformer the priority that the settings name, or its own."""
        stated = self._settings.transformer_table(kind, entry.id).priority
        entry.priority = entry.plugin.priority if stated is None else stated

    def forget_refusals(self, names: Collection[str]) -> None:
        """Drop the refusals of these names: the plugins were tried again."""
        for registry in self.registries():
            registry.refusals = [refusal for refusal in registry.refusals if refusal.name not in names]

    async def load(self, entry: Loaded[Any]) -> Refusal | None:
        """Register and start a checked plugin. Return a refusal, with everything undone, if it fails to start."""
        registry, plugin = self.registry_for(entry.plugin), entry.plugin
        registry.register(entry)
        options, home = self._settings.understanding(), self._settings.home.value()
        host = PluginHost(plugin, self._bus, self._runner, self._data_root, options.langs, options.lang, home)
        plugin.host = self._hosts[id(plugin)] = host
        if _has_handlers(plugin):
            self._handlers.attach(plugin)
        outcome = await self._runner.call(Loaded(plugin, plugin.begin, limit=self._settings.limits.start))
        if outcome.error is None:
            if self._tools is not None and isinstance(plugin, Toolbox):
                self._tools.attach(plugin)
            return None
        if _has_handlers(plugin):
            self._handlers.detach(entry.id)
        del self._hosts[id(plugin)]
        await host.close()
        registry.remove(entry.id)
        if (missing := outcome.unavailable) is not None:
            return Refusal(registry.kind, entry.id, str(missing), missing.remedy, entry.origin)
        return Refusal(registry.kind, entry.id, f"it did not start: {outcome.failure}", "", entry.origin)

    async def stop(self, entry: Loaded[Any]) -> None:
        """Stop a plugin and remove its listeners, tasks and timers."""
        host = self._hosts.pop(id(entry.plugin), None)
        if host is None:  # the runtime was stopped before this plugin was started
            return
        if _has_handlers(entry.plugin):
            self._handlers.detach(entry.id)
        if self._tools is not None and isinstance(entry.plugin, Toolbox):
            self._tools.detach(entry.id)
        await self._runner.call(Loaded(entry.plugin, entry.plugin.end, limit=self._settings.limits.start))
        await host.close()

    def close(self) -> None:
        """Answer for toolboxes no longer."""
        if self._tools is not None:
            self._tools.close()

    async def unload(self, entry: Loaded[Any]) -> None:
        """Stop a plugin and remove it from its registry."""
        await self.stop(entry)
        self.registry_for(entry.plugin).remove(entry.id)


def _has_handlers(plugin: Plugin) -> bool:
    """Whether a plugin is called by dispatches: a transformer, which may have the id of a skill, seldom is."""
    return not isinstance(plugin, (Transformer, AudioTap, Toolbox)) or bool(handlers_of(plugin))


_PACKAGES: Final = (".dist-info", ".egg-info")
_ANY_GROUP: Final = b"[hark."


def plugins(
    *,
    installed: bool,
    files: Iterable[Path] = (),
    wanted: Collection[str] = (),
    services: Collection[ServiceName] = ALL_SERVICES,
) -> Iterator[Plugin | Refusal]:
    """The plugins that come with Hark, those in `files` and, if `installed`, those of installed packages.

    Optional plugins of Hark are only made if their id is in `wanted`; of all plugins, only those of these `services`.
    """
    kinds = kinds_in(services)

    def is_hosted(offered: type[Plugin]) -> bool:
        return kind_of(offered) in kinds

    unknown = dict.fromkeys(wanted)

    def known(plugin: Plugin | Refusal) -> Plugin | Refusal:
        plugin_id = plugin.name if isinstance(plugin, Refusal) else str(getattr(plugin, "id", ""))
        for name in (plugin_id, f"{kind_of(plugin)}.{plugin_id}"):
            unknown.pop(name, None)
        return plugin

    for made in filter(is_hosted, builtin_plugins(wanted)):
        yield known(made())
    for path in files:
        yield from map(known, PluginFile(path).make(is_hosted))
    if not installed:
        return
    if any(map(_may_offer, sys.path)):
        yield from map(known, discover(tuple(group for group in GROUPS if group in set(map(group_of, kinds)))))
    if unknown:
        # Only here: it is for names that nothing of Hark has.
        from hark.bridges import opm

        yield from (plugin for plugin in opm.plugins(tuple(unknown)) if kind_of(plugin) in kinds)


def builtin_plugins(wanted: Collection[str]) -> Iterator[type[Plugin]]:
    """The plugin classes that come with Hark, the optional ones only if `wanted` has their name."""
    yield from DEFAULT_PLUGINS
    for plugin_id, place in OPTIONAL.items():
        if plugin_id in wanted:
            module, _, name = place.partition(":")
            yield getattr(import_module(module), name)
    if any("." in name for name in wanted):
        yield from (one.load() for one in SHIPPED if one.name in wanted)


def wanted_by(settings: Settings) -> tuple[str, ...]:
    """The optional plugins that the settings name: pipeline plugins by id, transformers by chain and id.

    What [transformers] enable names and Hark does not have is there as it is written: a plugin of OVOS, perhaps.
    """
    options, chains = settings.understanding(), settings.transformers
    pipeline = (options.entry(name).plugin for name in options.pipeline)
    enabled = (found for name in chains.enable for found in [one.name for one in named(name)] or [name])
    ordered = (f"{kind}.{name}" for kind in TRANSFORMER_TYPES for name in chains.order(kind) or ())
    toolboxes = (*settings.assistant.toolboxes, *(("mcp",) if settings.plugins.get("mcp", {}).get("servers") else ()))
    return tuple(dict.fromkeys((*pipeline, *enabled, *ordered, *toolboxes)))


def plugin_files(settings: Settings, settings_file: Path) -> list[Path]:
    """The plugin files that the settings name; relative paths start at the folder of the settings file."""
    folder = settings_file.absolute().parent
    return [Path(os.path.normpath(folder / Path(name).expanduser())) for name in settings.assistant.files]


def _may_offer(place: str) -> bool:
    """Whether a package in this folder may have an entry point of Hark.

    Read by hand first: most machines have none, and importing `importlib.metadata` costs 2 MB and 30 ms.
    """
    try:
        with os.scandir(place or ".") as entries:
            return any(_ANY_GROUP in _entry_points(entry) for entry in entries if entry.name.endswith(_PACKAGES))
    except NotADirectoryError:
        return True  # an archive, which is not searched here
    except OSError:
        return False


def _entry_points(package: os.DirEntry[str]) -> bytes:
    try:
        return Path(package.path, "entry_points.txt").read_bytes()
    except OSError:
        return b""
