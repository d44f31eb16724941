"""Plugins in a file that the settings name: no package, no installation."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Final
from zlib import crc32

from hark.hosting.discovery import import_remedy, make, place_of
from hark.hosting.registry import Refusal
from hark.hosting.runner import in_words
from hark.plugins import Plugin

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

    def make(self, wanted: Callable[[type[Plugin]], bool] = lambda _: True) -> list[Plugin | Refusal]:
        """A plugin of each class in it that is wanted, or why there is none. Never raises, whatever is in the file."""
        try:
            module = sys.modules.get(self.module) or self._imported()
        except BaseException as error:  # importing runs somebody's code: anything may come out
            return [self.not_imported(error)]
        origin = str(self.path)
        offered = list(self._offered(module))
        if not offered:
            return [Refusal(_KIND, self.name, "it has no plugin class", "write one, with an id", origin)]
        return [make(one, _KIND, one.__qualname__, origin) for one in offered if wanted(one)]

    def not_imported(self, error: BaseException) -> Refusal:
        """What to say about the file when importing it raised."""
        if isinstance(error, FileNotFoundError) and error.filename == str(self.spec().origin):
            remedy = "correct [assistant] files in the settings, or put it there"
            return Refusal(_KIND, self.name, "there is no such file", remedy, str(self.path))
        remedy = import_remedy(error, "the file")
        reason = f"importing it failed: {in_words(error)}"
        return Refusal(_KIND, self.name, reason, remedy, place_of(error) or str(self.path))

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
