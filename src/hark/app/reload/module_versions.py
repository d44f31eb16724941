"""The modules of a plugin, and a new version of them imported beside the old one."""

from __future__ import annotations

import importlib
import importlib.abc
import linecache
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ExtensionFileLoader, ModuleSpec, SourceFileLoader
from threading import Lock
from types import CodeType, ModuleType

Modules = dict[str, ModuleType]
"""Modules by name: a root module with everything below it."""


def current_modules(root: str) -> Modules:
    """The modules that an import of `root` gives now."""
    below = f"{root}."
    return {name: sys.modules[name] for name in list(sys.modules) if name == root or name.startswith(below)}


def install_modules(root: str, modules: Modules) -> None:
    """Make imports of `root` give these modules."""
    for name in current_modules(root):
        del sys.modules[name]
    sys.modules.update(modules)
    above, _, name = root.rpartition(".")
    if above in sys.modules and root in modules:
        setattr(sys.modules[above], name, modules[root])


@contextmanager
def installed_modules(root: str, modules: Modules) -> Iterator[None]:
    """As `install_modules`, until the block ends."""
    before = current_modules(root)
    install_modules(root, modules)
    try:
        yield
    finally:
        install_modules(root, before)


class ModuleImport:
    """One import of a root module and everything below it from the files as they are now."""

    def __init__(self, root: str, modules: Iterable[str], spec: Callable[[], ModuleSpec | None]) -> None:
        self._root = root
        self._modules = dict.fromkeys(modules)
        self._finder = _Finder(root, spec)
        self._before = current_modules(root)
        self._lock = Lock()
        self._is_open = False
        """Whether imports give the new modules at the moment."""
        self._given_up = False
        self.failed: dict[str, BaseException] = {}
        """The error of each module that could not be imported."""

    def run(self) -> Modules:
        """Import each module and return the new modules; imports elsewhere still give the old ones afterwards."""
        importlib.invalidate_caches()
        for module in self._before.values():
            linecache.checkcache(getattr(module, "__file__", None) or "")
        if not self._begin():
            return {}
        for name in self._modules:
            try:
                importlib.import_module(name)
            except BaseException as error:  # noqa: BLE001 - plugin code may raise anything
                self.failed[name] = error
        made = current_modules(self._root)
        self._close()
        return made

    def give_up(self) -> None:
        """Restore the old modules although `run` has not returned: it may never do so."""
        self._given_up = True
        self._close()

    def _begin(self) -> bool:
        with self._lock:
            if self._given_up:  # before `run` began
                return False
            # An extension module can only be loaded once: both versions share it.
            install_modules(self._root, {name: module for name, module in self._before.items() if _is_binary(module)})
            sys.meta_path.insert(0, self._finder)
            self._is_open = True
            return True

    def _close(self) -> None:
        with self._lock:
            if self._is_open:
                self._is_open = False
                sys.meta_path.remove(self._finder)
                install_modules(self._root, self._before)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds modules in their usual places, but has them compiled from their present source."""

    def __init__(self, root: str, spec: Callable[[], ModuleSpec | None]) -> None:
        self._root = root
        self._spec = spec

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not _is_below(fullname, self._root):
            return None
        found = (self._spec() if fullname == self._root else None) or self._found(fullname, path)
        if found is not None and type(found.loader) is SourceFileLoader:
            found.loader = _FromSource(found.loader.name, found.loader.path)
        return found

    def _found(self, fullname: str, path: Sequence[str] | None) -> ModuleSpec | None:
        for finder in sys.meta_path:
            if not isinstance(finder, _Finder):
                found = finder.find_spec(fullname, path)
                if found is not None:
                    return found
        return None


class _FromSource(SourceFileLoader):
    """Never takes compiled code from disk: Python compares its time in seconds, and an edit can be faster."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        code: CodeType = self.source_to_code(self.get_data(path), path)
        return code


def _is_below(name: str, root: str) -> bool:
    return name == root or name.startswith(f"{root}.")


def _is_binary(module: ModuleType) -> bool:
    spec = getattr(module, "__spec__", None)
    return spec is not None and isinstance(spec.loader, ExtensionFileLoader)
