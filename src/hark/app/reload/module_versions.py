"""The modules of a plugin, and how there can be a second edition of them beside the first."""

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
"""Modules by name: one module with everything below it."""


def current_modules(root: str) -> Modules:
    """The edition that whoever imports `root` gets."""
    below = f"{root}."
    return {name: sys.modules[name] for name in list(sys.modules) if name == root or name.startswith(below)}


def install_modules(root: str, edition: Modules) -> None:
    """Let whoever imports `root` get this edition."""
    for name in current_modules(root):
        del sys.modules[name]
    sys.modules.update(edition)
    above, _, name = root.rpartition(".")
    if above in sys.modules and root in edition:
        setattr(sys.modules[above], name, edition[root])


@contextmanager
def installed_modules(root: str, edition: Modules) -> Iterator[None]:
    """As `install_modules`, for as long as the block takes."""
    before = current_modules(root)
    install_modules(root, edition)
    try:
        yield
    finally:
        install_modules(root, before)


class ModuleImport:
    """The making of a new edition, from the files as they are now."""

    def __init__(self, root: str, modules: Iterable[str], spec: Callable[[], ModuleSpec | None]) -> None:
        self._root = root
        self._modules = dict.fromkeys(modules)
        self._finder = _Finder(root, spec)
        self._before = current_modules(root)
        self._lock = Lock()
        self._open = False
        """Whether whoever imports now gets what is being made."""
        self._given_up = False
        self.failed: dict[str, BaseException] = {}
        """What the modules raised that could not be imported."""

    def run(self) -> Modules:
        """Import each module. Whoever imports them afterwards still gets the edition from before."""
        importlib.invalidate_caches()
        for module in self._before.values():
            linecache.checkcache(getattr(module, "__file__", None) or "")
        if not self._opened():
            return {}
        for name in self._modules:
            try:
                importlib.import_module(name)
            except BaseException as error:  # noqa: BLE001 - somebody's code: anything may come out
                self.failed[name] = error
        made = current_modules(self._root)
        self._close()
        return made

    def give_up(self) -> None:
        """Put everything back as it was, although `run` has not returned: it may never do."""
        self._given_up = True
        self._close()

    def _opened(self) -> bool:
        with self._lock:
            if self._given_up:  # before it began
                return False
            # A module of C can be loaded once: both editions share it.
            install_modules(self._root, {name: module for name, module in self._before.items() if _is_binary(module)})
            sys.meta_path.insert(0, self._finder)
            self._open = True
            return True

    def _close(self) -> None:
        with self._lock:
            if self._open:
                self._open = False
                sys.meta_path.remove(self._finder)
                install_modules(self._root, self._before)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds modules where they always are, but has them compiled from their source as it is."""

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
    """Never takes compiled code from disk: it is told by second and size, and one can edit faster than that."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        code: CodeType = self.source_to_code(self.get_data(path), path)
        return code


def _is_below(name: str, root: str) -> bool:
    return name == root or name.startswith(f"{root}.")


def _is_binary(module: ModuleType) -> bool:
    spec = getattr(module, "__spec__", None)
    return spec is not None and isinstance(spec.loader, ExtensionFileLoader)
