"""Finding plugins in installed packages and in files. Never raises, whatever their code does when imported."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Iterator
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final
from zlib import crc32

from hark.hosting.registry import Refusal
from hark.hosting.runner import error_text
from hark.plugins import AudioTap, PipelinePlugin, Plugin, Toolbox, Transformer
from hark.plugins.engines import ENGINE_KINDS, Engine
from hark.spec.names import TRANSFORMER_TYPES

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


# The packages that call plugins, or that plugins call: an error raised there is seldom a fault there.
_OURS: Final = tuple(
    f"{Path(__file__).parent.parent / package}{os.sep}"
    for package in ("hosting", "app", "skills", "intents", "plugins")
)

GROUPS: Final = (
    *(f"hark.transformer.{kind}" for kind in TRANSFORMER_TYPES),
    "hark.audio_tap",
    "hark.pipeline",
    "hark.skill",
    "hark.toolbox",
)

ENGINE_GROUPS: Final = tuple(f"hark.engine.{kind}" for kind in ENGINE_KINDS)


def discover(groups: tuple[str, ...] = GROUPS) -> Iterator[Plugin | Refusal]:
    """An instance of each plugin that installed packages declare under these entry-point groups, or a `Refusal`."""
    for point in installed_entry_points(groups):
        yield point if isinstance(point, Refusal) else load(point)


def installed_entry_points(groups: tuple[str, ...] = GROUPS) -> Iterator[EntryPoint | Refusal]:
    """The entry points of installed packages in these groups, not imported yet."""
    # Imported here: it costs 2 MB and 30 ms, and most machines have no such packages.
    from importlib import metadata

    for group in groups:
        try:
            points = tuple(metadata.entry_points(group=group))
        except Exception as error:
            yield Refusal(
                group, "*", f"installed packages cannot be read: {error_text(error)}", "repair the Python environment"
            )
            continue
        yield from points


def load(point: EntryPoint) -> Plugin | Refusal:
    """An instance of the plugin class an entry point names, or a `Refusal`."""
    try:
        plugin_class = point.load()
    except BaseException as error:  # importing runs a package's code, which may raise anything
        return import_refusal(point, error)
    origin = _origin(point)
    if not (isinstance(plugin_class, type) and issubclass(plugin_class, Plugin)):
        remedy = "name a class that is derived from one in hark.plugins, or from hark.skills.Skill"
        return Refusal(point.group, point.name, f"{point.value} is no plugin class", remedy, origin)
    if not _belongs(plugin_class, point.group):
        return Refusal(
            point.group, point.name, f"{plugin_class.__qualname__} is no {point.group}", "change the group", origin
        )
    return instantiate(plugin_class, point.group, point.name, origin)


def instantiate(plugin_class: type[Plugin], kind: str, name: str, origin: str) -> Plugin | Refusal:
    """An instance of a plugin class, or a `Refusal`."""
    try:
        return plugin_class()
    except BaseException as error:  # a constructor is a package's code as well
        reason = f"creating it failed: {error_text(error)}"
        return Refusal(kind, name, reason, "a plugin is created without arguments", error_location(error) or origin)


def import_refusal(point: EntryPoint, error: BaseException) -> Refusal:
    """The `Refusal` for an entry point whose module raised when it was imported."""
    reason = f"importing it failed: {error_text(error)}"
    where = error_location(error) or _origin(point)
    return Refusal(point.group, point.name, reason, import_remedy(error, _package(point)), where)


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else "an unknown package"


def _origin(point: EntryPoint) -> str:
    return f"{_package(point)}: {point.group} {point.name} = {point.value}"


def _belongs(plugin_class: type[Plugin], group: str) -> bool:
    kind = group.removeprefix("hark.")
    if kind == "pipeline":
        return issubclass(plugin_class, PipelinePlugin)
    if kind == "audio_tap":
        return issubclass(plugin_class, AudioTap)
    if kind == "toolbox":
        return issubclass(plugin_class, Toolbox)
    if kind.startswith("transformer."):
        return issubclass(plugin_class, Transformer) and getattr(plugin_class, "type", None) == kind.removeprefix(
            "transformer."
        )
    if kind.startswith("engine."):
        return issubclass(plugin_class, Engine) and getattr(plugin_class, "kind", None) == kind.removeprefix("engine.")
    return not issubclass(plugin_class, (AudioTap, PipelinePlugin, Toolbox, Transformer, Engine))


def error_location(error: BaseException) -> str:
    """File and line of the innermost frame that is neither Python's import system nor Hark."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [frame for frame in frames if "importlib" not in frame.filename and not frame.filename.startswith(_OURS)]
    return f"{theirs[-1].filename}:{theirs[-1].lineno}" if theirs else ""


def import_remedy(error: BaseException, package: str) -> str:
    """What the user can do about a module that raises when it is imported."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        return f"install the package that provides {error.name!r}, perhaps an extra of {package}"
    return f"fix {package} or remove it"


_FILE: Final = "plugin file"


class PluginFile:
    """A Python file, or a folder with an `__init__.py`, that the settings name, and the plugin classes in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        # A unique name: a plugin in `calendar.py` must not hide the standard library's module.
        self.module = f"hark_file_{path.stem.replace('.', '_')}_{crc32(str(path).encode()):08x}"

    @property
    def name(self) -> str:
        """The file name, for messages."""
        return self.path.name

    def make(self, wanted: Callable[[type[Plugin]], bool] = lambda _: True) -> list[Plugin | Refusal]:
        """An instance of each plugin class that is `wanted`, or a `Refusal`. Never raises, whatever is in the file."""
        try:
            module = sys.modules.get(self.module) or self._imported()
        except BaseException as error:  # importing runs the file's code, which may raise anything
            return [self.import_refusal(error)]
        origin = str(self.path)
        classes = list(self._plugin_classes(module))
        if not classes:
            return [Refusal(_FILE, self.name, "it has no plugin class", "write one, with an id", origin)]
        return [instantiate(one, _FILE, one.__qualname__, origin) for one in classes if wanted(one)]

    def import_refusal(self, error: BaseException) -> Refusal:
        """The `Refusal` for this file when importing it raised."""
        if isinstance(error, FileNotFoundError) and error.filename == str(self.spec().origin):
            remedy = "correct [assistant] files in the settings, or put it there"
            return Refusal(_FILE, self.name, "there is no such file", remedy, str(self.path))
        remedy = import_remedy(error, "the file")
        reason = f"importing it failed: {error_text(error)}"
        return Refusal(_FILE, self.name, reason, remedy, error_location(error) or str(self.path))

    def spec(self) -> ModuleSpec:
        """The module spec by which Python imports it."""
        is_folder = self.path.is_dir()
        file = self.path / "__init__.py" if is_folder else self.path
        folders = [str(self.path)] if is_folder else None
        spec = spec_from_file_location(self.module, file, submodule_search_locations=folders)
        if spec is None:  # not the name of a Python file
            raise ImportError(f"{self.path} is neither a .py file nor a folder with an __init__.py")
        return spec

    def _imported(self) -> ModuleType:
        spec = self.spec()
        module = sys.modules[self.module] = module_from_spec(spec)
        try:
            spec.loader.exec_module(module)  # type: ignore[union-attr]  # `spec_from_file_location` gives it one
        except BaseException:
            del sys.modules[self.module]
            raise
        return module

    def _plugin_classes(self, module: ModuleType) -> Iterator[type[Plugin]]:
        here = (self.module, f"{self.module}.")
        classes = [
            member
            for name, member in vars(module).items()
            if isinstance(member, type) and issubclass(member, Plugin) and not name.startswith("_")
            if member.__module__ == here[0] or member.__module__.startswith(here[1])
        ]
        for plugin_class in dict.fromkeys(classes):
            is_base = any(other is not plugin_class and issubclass(other, plugin_class) for other in classes)
            if hasattr(plugin_class, "id") or not is_base:  # a class without id is refused later, with the reason
                yield plugin_class
