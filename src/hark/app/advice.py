"""Settings that are correct, but name what is not there: said at the start, because it is seldom meant."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from hark.app.house import House
from hark.app.settings import Settings
from hark.app.settings.mistakes import nearest
from hark.plugins.engines import ENGINE_KINDS
from hark.spec import TRANSFORMER_TYPES


class Inventory(NamedTuple):
    """What is loaded, by id."""

    pipeline: Sequence[str]
    transformers: Mapping[str, Sequence[str]]
    everybody: Sequence[str]
    refused: Collection[str]


def advice(house: House) -> Iterator[str]:
    """What a deployer may want to know about the settings of a house that has started; nothing where rooms of it are
    elsewhere, for what is loaded there is not known here.
    """
    if not house.is_whole:
        return iter(())
    transformers: dict[str, Sequence[str]] = {
        kind: [entry.id for entry in registry] for kind, registry in house.transformers.items()
    }
    refused = {refusal.name for refusal in house.refusals}
    found = Inventory([entry.id for entry in house.pipeline], transformers, list(house.ids()), refused)
    return advise(house.settings, found)


def advise(settings: Settings, found: Inventory) -> Iterator[str]:
    """What a deployer may want to know about settings where this is loaded."""
    if not settings.assistant.pipeline:
        yield "[assistant] pipeline is empty: nobody is asked to claim what is said"
    for name in settings.assistant.pipeline:
        plugin = settings.entries[name].plugin if name in settings.entries else name
        if plugin not in found.pipeline:
            table = f" by [pipeline.{name}]" if name in settings.entries else ""
            yield f"[assistant] pipeline names {plugin!r}{table}, which is not loaded{_meant(plugin, found.pipeline)}"
    for kind in TRANSFORMER_TYPES:
        loaded = found.transformers.get(kind, ())
        for name in settings.transformers.order(kind) or ():
            if name not in loaded:
                yield f"[transformers] {kind} names {name!r}, which is not loaded{_meant(name, loaded)}"
    wanted = {name for kind in ENGINE_KINDS for name in getattr(settings.voice, kind)}
    for name in settings.engine:
        if name not in wanted:
            yield f"[engine.{name}] has no effect: [voice] does not name {name!r}{_meant(name, wanted)}"
    for table, names in (("plugins", settings.plugins), ("limits.plugins", settings.limits.plugins)):
        for name in names:
            if name not in found.everybody and name not in found.refused:
                yield f"[{table}] names {name!r}, which is not loaded{_meant(name, found.everybody)}"


def _meant(name: str, known: Iterable[str]) -> str:
    meant = nearest(name, known)
    return f"; did you mean {meant!r}?" if meant else ""
