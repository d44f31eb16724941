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
from hark.plugins import PipelinePlugin, Plugin, Transformer
from hark.plugins.engines import ENGINE_KINDS, Engine
from hark.spec.names import TRANSFORMER_TYPES

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


# What calls plugins, and what they call; those that come with Hark are like any other.
_OURS: Final = tuple(
    f"{Path(__file__).parent.parent / room}{os.sep}" for room in ("hosting", "app", "skills", "intents", "plugins")
)

GROUPS: Final = (*(f"hark.transformer.{kind}" for kind in TRANSFORMER_TYPES), "hark.pipeline", "hark.skill")

ENGINE_GROUPS: Final = tuple(f"hark.engine.{kind}" for kind in ENGINE_KINDS)


def discover(groups: tuple[str, ...] = GROUPS) -> Iterator[Plugin | Refusal]:
    """An instance of every plugin that installed packages offer under the entry-point groups, or why there is none."""
    for offer in installed_entry_points(groups):
        yield offer if isinstance(offer, Refusal) else load(offer)


def installed_entry_points(groups: tuple[str, ...] = GROUPS) -> Iterator[EntryPoint | Refusal]:
    """What installed packages offer under the entry-point groups, not imported yet."""
    # Only here: it costs 2 MB and 30 ms, and most machines have no such packages.
    from importlib import metadata

    for group in groups:
        try:
            points = tuple(metadata.entry_points(group=group))
        except Exception as error:
            yield Refusal(group, "*", f"installed packages cannot be read: {error_text(error)}", "mend the environment")
            continue
        yield from points


def load(point: EntryPoint) -> Plugin | Refusal:
    """The plugin behind one entry point, or why it could not be made."""
    try:
        offered = point.load()
    except BaseException as error:  # importing runs somebody's code: anything may come out
        return import_refusal(point, error)
    origin = _origin(point)
    if not (isinstance(offered, type) and issubclass(offered, Plugin)):
        return Refusal(point.group, point.name, f"{point.value} is no plugin class", "name the class itself", origin)
    if not _belongs(offered, point.group):
        return Refusal(
            point.group, point.name, f"{offered.__qualname__} is no {point.group}", "change the group", origin
        )
    return instantiate(offered, point.group, point.name, origin)


def instantiate(offered: type[Plugin], kind: str, name: str, origin: str) -> Plugin | Refusal:
    """A plugin of this class, or why it could not be made."""
    try:
        return offered()
    except BaseException as error:  # as above
        reason = f"making it failed: {error_text(error)}"
        return Refusal(kind, name, reason, "a plugin is made without arguments", error_location(error) or origin)


def import_refusal(point: EntryPoint, error: BaseException) -> Refusal:
    """What to say about an entry point whose module raised when it was imported."""
    reason = f"importing it failed: {error_text(error)}"
    where = error_location(error) or _origin(point)
    return Refusal(point.group, point.name, reason, import_remedy(error, _package(point)), where)


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else "an unknown package"


def _origin(point: EntryPoint) -> str:
    return f"{_package(point)}: {point.group} {point.name} = {point.value}"


def _belongs(offered: type[Plugin], group: str) -> bool:
    kind = group.removeprefix("hark.")
    if kind == "pipeline":
        return issubclass(offered, PipelinePlugin)
    if kind.startswith("transformer."):
        return issubclass(offered, Transformer) and getattr(offered, "type", None) == kind.removeprefix("transformer.")
    if kind.startswith("engine."):
        return issubclass(offered, Engine) and getattr(offered, "kind", None) == kind.removeprefix("engine.")
    return not issubclass(offered, (PipelinePlugin, Transformer, Engine))


def error_location(error: BaseException) -> str:
    """File and line to look at: the innermost that is not Python's or ours, for the mistake is seldom there."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [frame for frame in frames if "importlib" not in frame.filename and not frame.filename.startswith(_OURS)]
    return f"{theirs[-1].filename}:{theirs[-1].lineno}" if theirs else ""


def import_remedy(error: BaseException, package: str) -> str:
    """What to do about a module that raises when it is imported."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        return f"install what provides {error.name!r}, perhaps an extra of {package}"
    return f"mend {package} or remove it"


_KIND: Final = "plugin file"


class PluginFile:
    """A Python file, or a folder with an `__init__.py`, and the plugin classes that are written in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        # Of our making: `calendar.py` is a good name for a plugin, and no reason to hide the standard library's.
        self.module = f"hark_file_{path.stem.replace('.', '_')}_{crc32(str(path).encode()):08x}"

    @property
    def name(self) -> str:
        """What people know it by."""
        return self.path.name

    def instantiate(self, wanted: Callable[[type[Plugin]], bool] = lambda _: True) -> list[Plugin | Refusal]:
        """A plugin of each class in it that is wanted, or why there is none. Never raises, whatever is in the file."""
        try:
            module = sys.modules.get(self.module) or self._imported()
        except BaseException as error:  # importing runs somebody's code: anything may come out
            return [self.import_refusal(error)]
        origin = str(self.path)
        offered = list(self._offered(module))
        if not offered:
            return [Refusal(_KIND, self.name, "it has no plugin class", "write one, with an id", origin)]
        return [instantiate(one, _KIND, one.__qualname__, origin) for one in offered if wanted(one)]

    def import_refusal(self, error: BaseException) -> Refusal:
        """What to say about the file when importing it raised."""
        if isinstance(error, FileNotFoundError) and error.filename == str(self.spec().origin):
            remedy = "correct [assistant] files in the settings, or put it there"
            return Refusal(_KIND, self.name, "there is no such file", remedy, str(self.path))
        remedy = import_remedy(error, "the file")
        reason = f"importing it failed: {error_text(error)}"
        return Refusal(_KIND, self.name, reason, remedy, error_location(error) or str(self.path))

    def spec(self) -> ModuleSpec:
        """How Python finds the module."""
        is_folder = self.path.is_dir()
        file = self.path / "__init__.py" if is_folder else self.path
        folders = [str(self.path)] if is_folder else None
        spec = spec_from_file_location(self.module, file, submodule_search_locations=folders)
        if spec is None:  # it has not the name of a Python file
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

    def _offered(self, module: ModuleType) -> Iterator[type[Plugin]]:
        here = (self.module, f"{self.module}.")
        classes = [
            member
            for name, member in vars(module).items()
            if isinstance(member, type) and issubclass(member, Plugin) and not name.startswith("_")
            if member.__module__ == here[0] or member.__module__.startswith(here[1])
        ]
        for offered in dict.fromkeys(classes):
            is_base = any(other is not offered and issubclass(other, offered) for other in classes)
            if hasattr(offered, "id") or not is_base:  # one that lacks its id is told so
                yield offered
