"""Settings that are correct, but name what is not there: said at the start, because it is seldom meant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hark.app.house import House
from hark.app.settings.mistakes import nearest
from hark.spec import TRANSFORMER_TYPES


def advice(house: House) -> Iterator[str]:
    """What a deployer may want to know about the settings of a house that has started."""
    settings = house.settings
    matchers = [entry.id for entry in house.pipeline]
    if not settings.assistant.pipeline:
        yield "[assistant] pipeline is empty: nobody is asked to claim what is said"
    for name in settings.assistant.pipeline:
        plugin = settings.entries[name].plugin if name in settings.entries else name
        if plugin not in house.pipeline:
            table = f" by [pipeline.{name}]" if name in settings.entries else ""
            yield f"[assistant] pipeline names {plugin!r}{table}, which is not loaded{_meant(plugin, matchers)}"
    for kind in TRANSFORMER_TYPES:
        loaded = [entry.id for entry in house.transformers[kind]]
        for name in settings.transformers.order(kind) or ():
            if name not in loaded:
                yield f"[transformers] {kind} names {name!r}, which is not loaded{_meant(name, loaded)}"
    everybody = list(house.ids())
    refused = {refusal.name for refusal in house.refusals}
    for table, names in (("plugins", settings.plugins), ("limits.plugins", settings.limits.plugins)):
        for name in names:
            if name not in everybody and name not in refused:
                yield f"[{table}] names {name!r}, which is not loaded{_meant(name, everybody)}"


def _meant(name: str, known: Iterable[str]) -> str:
    meant = nearest(name, known)
    return f"; did you mean {meant!r}?" if meant else ""
