"""Plugins written for OVOS's plugin manager, of every generation, as plugins of Hark (extra "opm").

They are found by their entry points and are off until the settings name them. See docs/ovos-plugins.md.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from hark.bridges.opm.catalogue import FoundKind, FoundPlugin, found
from hark.plugins import Plugin
from hark.spec import TRANSFORMER_TYPES

__all__ = ["FoundKind", "FoundPlugin", "found", "plugins"]

_KINDS: tuple[FoundKind, ...] = (*TRANSFORMER_TYPES, "pipeline", "solver", "toolbox")


def plugins(wanted: Collection[str]) -> Iterator[Plugin]:
    """The transformers, matchers and toolboxes that are wanted, by id or as "chain.id", in that order.

    Where `mycroft.conf` has an order for a chain, that one: priorities are no help, because one line of OVOS runs the
    highest first and the other the lowest.
    """
    from hark.bridges.opm.mycroft_conf import MalformedConfig, MycroftConf, read

    named = {name: place for place, name in enumerate(wanted)}
    offers = [one for one in found(_KINDS) if one.id in named or one.chain in named]
    if not offers:
        return
    try:
        conf = read()
    except MalformedConfig:  # each plugin reports it when it is started
        conf = MycroftConf({})

    def place(one: FoundPlugin) -> tuple[int, int]:
        order = conf.order(one.kind)
        own = order.index(one.name) if one.name in order else len(order)
        return own, min(named.get(one.id, len(named)), named.get(one.chain, len(named)))

    for one in sorted(offers, key=place):
        yield wrapped(one)


def wrapped(one: FoundPlugin) -> Plugin:
    """A plugin of OVOS as one of Hark. Its own code is imported when it starts."""
    from hark.bridges.opm.pipeline import OvosPipelinePlugin
    from hark.bridges.opm.tools import OvosSolver, OvosToolbox
    from hark.bridges.opm.transformers import CLASSES

    others: dict[str, type[Plugin]] = {"pipeline": OvosPipelinePlugin, "solver": OvosSolver, "toolbox": OvosToolbox}
    base = others.get(one.kind) or CLASSES[one.kind]
    made: Plugin = type(base.__name__, (base,), {"id": one.id, "found": one, "__doc__": one.origin})()
    return made
