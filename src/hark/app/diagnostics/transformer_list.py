"""The transformers of each chain: those that run, in order, and those that could."""

from __future__ import annotations

from pathlib import Path

import msgspec

from hark.app.plugin_set import plugin_files, plugins, wanted_by
from hark.app.runtime import Runtime
from hark.app.settings import Settings
from hark.bridges import opm
from hark.builtin.transformers import SHIPPED
from hark.bus import LocalBus
from hark.model import SystemClock
from hark.plugins import Plugin
from hark.spec import TRANSFORMER_TYPES


class ListedTransformer(msgspec.Struct, frozen=True, kw_only=True):
    """A transformer, as it is listed."""

    id: str
    about: str
    priority: int | None = None
    missing: str = ""
    """What has to be done before it can be used."""


class ListedChain(msgspec.Struct, frozen=True, kw_only=True):
    """One chain, as it is listed."""

    kind: str
    order: str
    members: list[ListedTransformer]
    """Those that run, in order."""
    off: list[ListedTransformer]
    """Those that are there and do not run."""
    refused: list[ListedTransformer]
    """Those that cannot be loaded."""


async def listed(settings: Settings, settings_file: Path, *, installed: bool) -> list[ListedChain]:
    """The chains as an assistant with these settings would have them. No plugin is started."""
    made = plugins(installed=installed, files=plugin_files(settings, settings_file), wanted=wanted_by(settings))
    bus = LocalBus()
    await bus.open()
    try:
        return _chains(Runtime(settings, bus, SystemClock(), made), settings, installed)
    finally:
        await bus.close()


def _chains(runtime: Runtime, settings: Settings, installed: bool) -> list[ListedChain]:
    chains = [_taps(runtime)]
    of_ovos = list(opm.found(TRANSFORMER_TYPES)) if installed else []
    for kind in TRANSFORMER_TYPES:
        chain, shipped = runtime.chains[kind], {one.id: one for one in SHIPPED if one.kind == kind}
        running = [entry for entry in chain.deployed() if entry.id in chain.registry]
        refused = {one.name for one in chain.registry.refusals}
        ids = {entry.id for entry in running}
        others = [entry for entry in chain.registry if entry.id not in ids]
        off = [
            ListedTransformer(id=entry.id, about=about(entry.plugin), priority=entry.priority) for entry in others
        ] + [
            ListedTransformer(
                id=one.id, about=one.about, priority=getattr(one.load(), "priority", None), missing=one.missing
            )
            for one in shipped.values()
            if one.id not in chain.registry and one.id not in refused
        ]
        off += [
            ListedTransformer(id=one.id, about=f"of OVOS: {one.package} {one.version}", missing=one.missing)
            for one in of_ovos
            if one.kind == kind and one.id not in chain.registry
        ]
        order = settings.transformers.order(kind)
        chains.append(
            ListedChain(
                kind=kind,
                order="by priority" if order is None else f"in the order of [transformers] {kind}",
                members=[
                    ListedTransformer(id=entry.id, about=about(entry.plugin), priority=entry.priority)
                    for entry in running
                ],
                off=off,
                refused=[
                    ListedTransformer(id=one.name, about=one.reason, missing=one.remedy)
                    for one in chain.registry.refusals
                ],
            )
        )
    return chains


def _taps(runtime: Runtime) -> ListedChain:
    """What hears sound before it is recorded. All of them hear everything: there is no order."""
    taps = runtime.plugin_set.taps
    refused = {one.name for one in taps.refusals}
    return ListedChain(
        kind="audio_tap",
        order="all of them",
        members=[ListedTransformer(id=entry.id, about=about(entry.plugin)) for entry in taps],
        off=[
            ListedTransformer(id=one.id, about=one.about, missing=one.missing)
            for one in SHIPPED
            if one.kind == "audio_tap" and one.id not in taps and one.id not in refused
        ],
        refused=[ListedTransformer(id=one.name, about=one.reason, missing=one.remedy) for one in taps.refusals],
    )


def about(plugin: Plugin) -> str:
    """The first sentence of a plugin's docstring."""
    text = " ".join((type(plugin).__doc__ or "").split())
    return text.split(". ")[0].rstrip(".")
