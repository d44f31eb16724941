"""Describes what a public package offers, without saying where in the tree it is defined."""

from __future__ import annotations

import ast
import enum
import importlib
import inspect
import pkgutil
import re
import textwrap
import typing
from collections.abc import Iterator
from types import ModuleType
from typing import Any

PLAIN = (str, int, float, bool, bytes, type(None))
MAGIC = ("__call__", "__aenter__", "__aexit__", "__iter__", "__aiter__", "__len__", "__getitem__")


def surface(package: str) -> dict[str, Any]:
    """Each public name of `package` with its kind, signature and members.

    Without `__all__` the package's modules are its public import paths.
    """
    module = importlib.import_module(package)
    if hasattr(module, "__all__"):
        return {name: described(getattr(module, name)) for name in sorted(module.__all__)}
    names = sorted(info.name for info in pkgutil.iter_modules(module.__path__) if not info.name.startswith("_"))
    inner = {name: importlib.import_module(f"{package}.{name}") for name in names}
    return {
        f"{name}.{own}": described(getattr(inner[name], own)) for name in names for own in sorted(_own(inner[name]))
    }


def described(thing: Any) -> Any:
    """What a user of this name can rely on, as JSON."""
    if isinstance(thing, ModuleType):
        return "module"
    if inspect.isclass(thing):
        return {"class": signature(thing), **dict(_members(thing))}
    if choices := typing.get_args(thing):
        return f"one of {plain(choices)}"
    if callable(thing) and hasattr(thing, "__name__"):
        return f"function {signature(thing)}"
    return f"value {plain(thing)}"


def signature(thing: Any) -> str:
    """Parameter names, kinds and defaults; no annotations, so that a type may move."""
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return "(...)"
    parameters = [
        one.replace(annotation=one.empty, default=one.default if one.default is one.empty else _Shown(one.default))
        for one in found.parameters.values()
    ]
    return str(found.replace(parameters=parameters, return_annotation=found.empty))


def plain(value: Any) -> str:
    """A value in words that do not name the module it comes from, nor where in memory it is."""
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    if isinstance(value, PLAIN):
        return repr(value)
    if isinstance(value, (frozenset, set)):
        return "{" + ", ".join(sorted(map(plain, value))) + "}"
    if isinstance(value, (tuple, list)) and type(value) in (tuple, list):
        return "(" + ", ".join(map(plain, value)) + ")"
    if inspect.isclass(value) or inspect.isroutine(value):
        return str(value.__name__)
    if value == {} or not re.fullmatch(r"\w+\(.*\)", repr(value)):
        return f"a {type(value).__name__}" if value != {} else "{}"
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))


class _Shown:
    """A default that `inspect.Signature` prints as `plain` words."""

    def __init__(self, value: Any) -> None:
        self._words = plain(value)

    def __repr__(self) -> str:
        return self._words


def _own(module: ModuleType) -> Iterator[str]:
    """The public names that `module` itself defines or assigns, and those it offers of its sibling modules."""
    siblings = module.__name__.rpartition(".")[0]
    for statement in ast.parse(inspect.getsource(module)).body:
        if isinstance(statement, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            names = [statement.name]
        elif isinstance(statement, ast.ImportFrom):
            names = [one.name for one in statement.names if (statement.module or "").startswith(siblings)]
        else:
            names = [target.id for target in _targets(statement) if isinstance(target, ast.Name)]
        yield from (name for name in names if not name.startswith("_"))


def _targets(statement: ast.AST) -> list[ast.expr]:
    if isinstance(statement, ast.Assign):
        return [one for target in statement.targets for one in getattr(target, "elts", [target])]
    return [statement.target] if isinstance(statement, ast.AnnAssign) else []


def _assigned(thing: type) -> Iterator[str]:
    """The public attributes that the methods of this class give to `self`."""
    source = textwrap.dedent(inspect.getsource(thing))
    for target in (target for node in ast.walk(ast.parse(source)) for target in _targets(node)):
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
            yield target.attr


def _members(thing: type) -> Iterator[tuple[str, str]]:
    """The public members that Hark gives this class, be it in itself or in a base."""
    names = {
        name: vars(base).get(name)
        for base in reversed(thing.__mro__)
        if base.__module__.partition(".")[0] == "hark"
        for name in (*vars(base), *vars(base).get("__annotations__", ()), *_assigned(base))
        if not name.startswith("_") or name in MAGIC
    }
    for name, member in sorted(names.items()):
        yield name, _member(member)


def _member(member: Any) -> str:
    if isinstance(member, property) or inspect.isdatadescriptor(member):
        return "attribute"
    if isinstance(member, classmethod | staticmethod):
        return f"{type(member).__name__} {signature(member.__func__)}"
    if inspect.isfunction(member):
        return f"{'async ' if inspect.iscoroutinefunction(member) else ''}method {signature(member)}"
    if inspect.isclass(member):
        return f"class {signature(member)}"
    return "attribute" if member is None or not isinstance(member, (*PLAIN, tuple)) else f"attribute = {plain(member)}"
