"""Finding plugins that other packages offer. Never raises, whatever those packages do when imported."""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hark.hosting.registry import Refusal
from hark.hosting.runner import in_words
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
    for offer in offers(groups):
        yield offer if isinstance(offer, Refusal) else load(offer)


def offers(groups: tuple[str, ...] = GROUPS) -> Iterator[EntryPoint | Refusal]:
    """What installed packages offer under the entry-point groups, not imported yet."""
    # Only here: it costs 2 MB and 30 ms, and most machines have no such packages.
    from importlib import metadata

    for group in groups:
        try:
            points = tuple(metadata.entry_points(group=group))
        except Exception as error:
            yield Refusal(group, "*", f"installed packages cannot be read: {in_words(error)}", "mend the environment")
            continue
        yield from points


def load(point: EntryPoint) -> Plugin | Refusal:
    """The plugin behind one entry point, or why it could not be made."""
    try:
        offered = point.load()
    except BaseException as error:  # importing runs somebody's code: anything may come out
        return not_imported(point, error)
    origin = _origin(point)
    if not (isinstance(offered, type) and issubclass(offered, Plugin)):
        return Refusal(point.group, point.name, f"{point.value} is no plugin class", "name the class itself", origin)
    if not _belongs(offered, point.group):
        return Refusal(
            point.group, point.name, f"{offered.__qualname__} is no {point.group}", "change the group", origin
        )
    return make(offered, point.group, point.name, origin)


def make(offered: type[Plugin], kind: str, name: str, origin: str) -> Plugin | Refusal:
    """A plugin of this class, or why it could not be made."""
    try:
        return offered()
    except BaseException as error:  # as above
        reason = f"making it failed: {in_words(error)}"
        return Refusal(kind, name, reason, "a plugin is made without arguments", place_of(error) or origin)


def not_imported(point: EntryPoint, error: BaseException) -> Refusal:
    """What to say about an entry point whose module raised when it was imported."""
    reason = f"importing it failed: {in_words(error)}"
    where = place_of(error) or _origin(point)
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


def place_of(error: BaseException) -> str:
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
