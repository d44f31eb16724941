"""A reload group: the plugins of one module or package, which are reloaded together, and their files."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator
from importlib.machinery import ModuleSpec
from importlib.metadata import EntryPoint
from importlib.util import find_spec, spec_from_file_location
from pathlib import Path
from typing import Final, Protocol

from hark.app.plugin_set import builtin_plugins
from hark.hosting import PluginFile, Refusal
from hark.hosting.discovery import import_refusal, installed_entry_points, load
from hark.plugins import PipelinePlugin, Plugin, Transformer


class PluginSource(Protocol):
    """A module with plugins: a plugin file, or a class that an entry point names."""

    @property
    def module(self) -> str:
        """The name of the module."""

    @property
    def name(self) -> str:
        """The name shown to users."""

    def make(self) -> list[Plugin | Refusal]:
        """The plugins, or the reasons why there are none. Never raises."""

    def import_refusal(self, error: BaseException) -> Refusal:
        """The refusal for an error that the module raised on import."""


class EntryPointSource:
    """A plugin class that an entry point names, or could name."""

    def __init__(self, point: EntryPoint) -> None:
        self._point = point
        self.module = point.module
        self.name = point.name

    def make(self) -> list[Plugin | Refusal]:
        return [load(self._point)]

    def import_refusal(self, error: BaseException) -> Refusal:
        return import_refusal(self._point, error)


def source_of(made: type[Plugin]) -> EntryPointSource:
    """The source of a plugin class, as if an entry point named it."""
    group = "hark.skill"
    if issubclass(made, Transformer):
        group = f"hark.transformer.{getattr(made, 'type', '')}"
    elif issubclass(made, PipelinePlugin):
        group = "hark.pipeline"
    return EntryPointSource(EntryPoint(made.id, f"{made.__module__}:{made.__qualname__}", group))


def plugin_sources(
    *, installed: bool, files: Iterable[Path] = (), wanted: Collection[str] = ()
) -> Iterator[PluginSource | Refusal]:
    """The sources of the plugins that `hark.app.plugin_set.plugins` makes, in the same order."""
    yield from map(source_of, builtin_plugins(wanted))
    yield from map(PluginFile, files)
    for offer in installed_entry_points() if installed else ():
        yield offer if isinstance(offer, Refusal) else EntryPointSource(offer)


def plugins_from(found: Iterable[PluginSource | Refusal]) -> Iterator[Plugin | Refusal]:
    """The plugins of these sources."""
    for source in found:
        yield from [source] if isinstance(source, Refusal) else source.make()


_OURS: Final = "hark"
_INSTALLED: Final = frozenset({"site-packages", "dist-packages"})


class ReloadGroup:
    """One module, or one package, with the plugins in it; they share its code, so they are reloaded together."""

    def __init__(self, root: str, plugin_sources: Iterable[PluginSource]) -> None:
        self.root = root
        self.sources = list(plugin_sources)
        self._known = _spec_of(root)
        self.places = tuple(self._places())
        """Files and folders whose change requires a reload."""

    def has(self, made: type) -> bool:
        """Whether a class is defined in this group."""
        return root_of(made.__module__) == self.root

    def spec(self) -> ModuleSpec | None:
        """A new spec from which Python can import the root."""
        for source in self.sources:
            if isinstance(source, PluginFile):
                return source.spec()
        found = self._known
        if found is None or not found.has_location or found.origin is None:
            return None
        # A new one: the known spec belongs to the module that is imported already.
        folders = found.submodule_search_locations
        return spec_from_file_location(
            self.root, found.origin, submodule_search_locations=None if folders is None else list(folders)
        )

    def _places(self) -> Iterator[Path]:
        files = [source.path for source in self.sources if isinstance(source, PluginFile)]
        if not files and self._known is not None and self._known.has_location and self._known.origin is not None:
            files = [Path(folder) for folder in self._known.submodule_search_locations or [self._known.origin]]
        for place in files:
            if self.root.startswith(f"{_OURS}.") and not _INSTALLED.isdisjoint(place.parts):
                continue  # Hark itself, installed: not edited there
            yield place
            if place.suffix == ".py":
                yield place.parent / "locale"


def groups_of(plugin_sources: Iterable[PluginSource]) -> dict[str, ReloadGroup]:
    """The groups of these sources, by the name of their root."""
    gathered: dict[str, list[PluginSource]] = {}
    for source in plugin_sources:
        gathered.setdefault(root_of(source.module), []).append(source)
    return {root: ReloadGroup(root, members) for root, members in gathered.items()}


def root_of(module: str) -> str:
    """The outermost package around a module that is not a namespace package and not Hark."""
    parts = module.split(".")
    for length in range(1, len(parts)):
        name = ".".join(parts[:length])
        if name != _OURS and not _is_shared(name):
            return name
    return module


def _is_shared(name: str) -> bool:
    """Whether a package is a namespace package, which several distributions share."""
    spec = _spec_of(name)
    return spec is not None and spec.origin is None and spec.submodule_search_locations is not None


def _spec_of(name: str) -> ModuleSpec | None:
    if name in sys.modules:
        return getattr(sys.modules[name], "__spec__", None)
    try:
        return find_spec(name)
    except Exception:  # noqa: BLE001 - the search imports the parent packages, and plugin code may raise anything
        return None
