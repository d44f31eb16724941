"""Finding plugins that other packages offer. Never raises, whatever those packages do when imported."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from hark.hosting.registry import Refusal
from hark.hosting.runner import in_words
from hark.plugins import PipelinePlugin, Plugin, Transformer
from hark.spec.names import TRANSFORMER_TYPES

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUPS: Final = (*(f"hark.transformer.{kind}" for kind in TRANSFORMER_TYPES), "hark.pipeline", "hark.skill")


def discover(groups: tuple[str, ...] = GROUPS) -> Iterator[Plugin | Refusal]:
    """An instance of every plugin that installed packages offer under the entry-point groups, or why there is none."""
    # Only here: it costs 2 MB and 30 ms, and most machines have no such packages.
    from importlib import metadata

    for group in groups:
        try:
            points = tuple(metadata.entry_points(group=group))
        except Exception as error:
            yield Refusal(group, "*", f"installed packages cannot be read: {in_words(error)}", "mend the environment")
            continue
        for point in points:
            yield load(point)


def load(point: EntryPoint) -> Plugin | Refusal:
    """The plugin behind one entry point, or why it could not be made."""
    package = point.dist.name if point.dist is not None else "an unknown package"
    origin = f"{package}: {point.group} {point.name} = {point.value}"
    try:
        offered = point.load()
    except BaseException as error:  # importing runs somebody's code: anything may come out
        reason = f"importing it failed: {in_words(error)}"
        return Refusal(point.group, point.name, reason, _import_remedy(error, package), _place(error) or origin)
    if not (isinstance(offered, type) and issubclass(offered, Plugin)):
        return Refusal(point.group, point.name, f"{point.value} is no plugin class", "name the class itself", origin)
    if not _belongs(offered, point.group):
        return Refusal(
            point.group, point.name, f"{offered.__qualname__} is no {point.group}", "change the group", origin
        )
    try:
        return offered()
    except BaseException as error:  # as above
        reason = f"making it failed: {in_words(error)}"
        return Refusal(point.group, point.name, reason, "a plugin is made without arguments", _place(error) or origin)


def _belongs(offered: type[Plugin], group: str) -> bool:
    kind = group.removeprefix("hark.")
    if kind == "pipeline":
        return issubclass(offered, PipelinePlugin)
    if kind.startswith("transformer."):
        return issubclass(offered, Transformer) and getattr(offered, "type", None) == kind.removeprefix("transformer.")
    return not issubclass(offered, (PipelinePlugin, Transformer))


def _place(error: BaseException) -> str:
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "importlib" not in frame.filename and frame.filename != __file__]
    return f"{own[-1].filename}:{own[-1].lineno}" if own else ""


def _import_remedy(error: BaseException, package: str) -> str:
    if isinstance(error, ModuleNotFoundError) and error.name:
        return f"install what provides {error.name!r}, perhaps an extra of {package}"
    return f"mend {package} or remove it"
