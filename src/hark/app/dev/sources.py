"""Where plugins come from, so that they can be made again."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Protocol

from hark.app.loading import builtin
from hark.hosting import PluginFile, Refusal
from hark.hosting.discovery import import_refusal, installed_entry_points, load
from hark.plugins import PipelinePlugin, Plugin, Transformer


class Source(Protocol):
    """One place that plugins come from."""

    @property
    def module(self) -> str:
        """The module they are written in."""

    @property
    def name(self) -> str:
        """What people know it by."""

    def make(self) -> list[Plugin | Refusal]:
        """The plugins, or why there are none. Never raises."""

    def import_refusal(self, error: BaseException) -> Refusal:
        """What to say when the module raised on import."""


class Offer:
    """A class that an entry point names, or would."""

    def __init__(self, point: EntryPoint) -> None:
        self._point = point
        self.module = point.module
        self.name = point.name

    def make(self) -> list[Plugin | Refusal]:
        """As promised by `Source`."""
        return [load(self._point)]

    def import_refusal(self, error: BaseException) -> Refusal:
        """As promised by `Source`."""
        return import_refusal(self._point, error)


def source_of(made: type[Plugin]) -> Offer:
    """The source of plugins of a class, as if an entry point named it."""
    group = "hark.skill"
    if issubclass(made, Transformer):
        group = f"hark.transformer.{getattr(made, 'type', '')}"
    elif issubclass(made, PipelinePlugin):
        group = "hark.pipeline"
    return Offer(EntryPoint(made.id, f"{made.__module__}:{made.__qualname__}", group))


def sources(*, installed: bool, files: Iterable[Path] = (), wanted: Collection[str] = ()) -> Iterator[Source | Refusal]:
    """Where `hark.app.loading.plugins` has its plugins from, in the same order."""
    yield from map(source_of, builtin(wanted))
    yield from map(PluginFile, files)
    for offer in installed_entry_points() if installed else ():
        yield offer if isinstance(offer, Refusal) else Offer(offer)


def made_by(found: Iterable[Source | Refusal]) -> Iterator[Plugin | Refusal]:
    """The plugins of these sources."""
    for source in found:
        yield from [source] if isinstance(source, Refusal) else source.make()
