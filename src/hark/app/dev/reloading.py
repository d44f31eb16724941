"""From changed files to plugins in service, or to the reason why the old ones stay."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from hark.app.dev.changes import Change, Refused, Reloaded, Unloaded
from hark.app.dev.editions import Edition, Printing, current, install, installed
from hark.app.dev.sources import source_of
from hark.app.dev.swapping import OvertakenError, Swap
from hark.app.dev.units import Unit, root_of
from hark.hosting import Loaded, Refusal
from hark.hosting.discovery import instantiate
from hark.plugins import Plugin, Transformer
from hark.plugins.handlers import handlers_of

if TYPE_CHECKING:
    from hark.app.house import House

Judged = list[Loaded[Any] | Refusal]


class Reloader:
    """Puts plugins as they are written now in the place of loaded ones; `waits` is told for whose turns it waits."""

    def __init__(self, house: House, waits: Callable[[Sequence[str]], None] = lambda _ids: None) -> None:
        self._house = house
        self._residents = house.residents
        self._waits = waits

    async def reload_one(self, plugin_id: str) -> Reloaded | Refused:
        """As promised by `House.reload`. Plugins of the same package are reloaded with it: they share its code."""
        made = next((type(entry.plugin) for entry in self._residents if entry.id == plugin_id), None)
        if made is None:
            loaded = f"those that are: {', '.join(self._house.ids())}"
            return Refused(Refusal("plugin", plugin_id, "nothing of this id is loaded", loaded))
        if "<locals>" in made.__qualname__ or made.__module__ == "__main__":
            refusal = Refusal("plugin", plugin_id, "its class cannot be imported", "write it at the top of a module")
            return Refused(refusal, (plugin_id,))
        root = root_of(made.__module__)
        all_made = (type(entry.plugin) for entry in self._residents)
        changes = await self.reload(Unit(root, [source_of(one) for one in all_made if root_of(one.__module__) == root]))
        told = [change for change in changes if isinstance(change, (Reloaded, Refused))]
        return next((one for one in told if isinstance(one, Reloaded) and one.plugin_id == plugin_id), told[0])

    async def reload(self, unit: Unit) -> list[Change]:
        """Import the code of a unit again and put the plugins in it in the place of those that are loaded."""
        return await _until_done(partial(self._reload, unit))

    async def remake(self, plugin_id: str) -> list[Change]:
        """Put another plugin of the same class in the place of a loaded one: it gets the settings as they are now."""
        return await _until_done(partial(self._remake, plugin_id))

    async def unload(self, unit: Unit) -> list[Change]:
        """Take the plugins of a unit out of service, and its code out of memory."""
        return await _until_done(partial(self._unload, unit))

    async def _reload(self, unit: Unit) -> list[Change]:
        async with self._house.importing:
            began = self._house.clock.monotonic()
            leaving = self._loaded(unit)
            printing = Printing(unit.root, [source.module for source in unit.sources], unit.spec)
            edition = await self._printed(printing)
            if edition is None:
                return [Refused(self._never_imported(unit), tuple(entry.id for entry in leaving))]
            with installed(unit.root, edition):
                judged = list(self._judged(unit, printing.failed, {entry.id for entry in leaving}))
            printing.failed.clear()  # their tracebacks hold on to the modules
            seconds = self._house.clock.monotonic() - began
        names = {source.name for source in unit.sources}
        return await self._exchange(leaving, judged, names, seconds, root=unit.root, edition=edition)

    async def _remake(self, plugin_id: str) -> list[Change]:
        began = self._house.clock.monotonic()
        leaving = [entry for entry in self._residents if entry.id == plugin_id]
        judged: Judged = []
        for entry in leaving:
            made = instantiate(
                type(entry.plugin), self._residents.registry_for(entry.plugin).kind, plugin_id, entry.origin
            )
            judged.append(self._judge(made, {plugin_id}))
        return await self._exchange(leaving, judged, set(), self._house.clock.monotonic() - began)

    async def _unload(self, unit: Unit) -> list[Change]:
        names = {source.name for source in unit.sources}
        return await self._exchange(self._loaded(unit), [], names, 0.0, root=unit.root, edition={})

    def _loaded(self, unit: Unit) -> list[Loaded[Any]]:
        return [entry for entry in self._residents if unit.has(type(entry.plugin))]

    async def _printed(self, printing: Printing) -> Edition | None:
        """A new edition, made on a worker so that turns go on; None when it takes too long."""
        workers = self._house.runner.threads
        job = workers.submit(lambda _job: printing.run())
        try:
            async with self._house.clock.timeout(self._house.settings.limits.start):
                edition: Edition = await job.done
                return edition
        except (TimeoutError, asyncio.CancelledError) as error:
            if job.abandon():
                workers.abandoned(job)
                printing.give_up()
            if isinstance(error, asyncio.CancelledError):
                raise
            return None

    def _never_imported(self, unit: Unit) -> Refusal:
        name = ", ".join(source.name for source in unit.sources)
        reason = f"importing it takes longer than {self._house.settings.limits.start:g} s"
        remedy = "mend it, then start the assistant again: Python cannot import it twice at once"
        return Refusal("plugin", name, reason, remedy, str(unit.places[0]) if unit.places else "")

    def _judged(
        self, unit: Unit, failed: dict[str, BaseException], leaving: Collection[str]
    ) -> Iterator[Loaded[Any] | Refusal]:
        taken: set[tuple[str, str]] = set()
        for source in unit.sources:
            error = failed.get(source.module)
            for made in source.make() if error is None else [source.import_refusal(error)]:
                judged = self._judge(made, leaving)
                if isinstance(judged, Loaded):
                    key = (self._residents.registry_for(judged.plugin).kind, judged.id)
                    if key in taken:
                        reason = f"another plugin beside it has the id {judged.id!r} as well"
                        judged = Refusal(*key, reason, "rename one of the two", judged.origin)
                    taken.add(key)
                yield judged

    def _judge(self, made: Plugin | Refusal, leaving: Collection[str]) -> Loaded[Any] | Refusal:
        return made if isinstance(made, Refusal) else self._residents.judge(made, leaving)

    async def _exchange(
        self,
        leaving: list[Loaded[Any]],
        judged: Judged,
        names: set[str],
        seconds: float,
        *,
        root: str = "",
        edition: Edition | None = None,
    ) -> list[Change]:
        """Swap what is loaded for what was made of it, unless a mistake would take one out of service."""
        coming = [entry for entry in judged if isinstance(entry, Loaded)]
        refusals = [refusal for refusal in judged if isinstance(refusal, Refusal)]
        ids = tuple(entry.id for entry in leaving)
        lost = [plugin_id for plugin_id in ids if plugin_id not in {entry.id for entry in coming}]
        if refusals and lost:
            return [Refused(refusal, ids) for refusal in refusals]
        if edition is None:
            swap = Swap(self._house, leaving, coming)
        else:
            swap = Swap(self._house, leaving, coming, partial(install, root, edition),
                        partial(install, root, current(root)))  # fmt: skip
        if self._house.orchestrator.serving(ids):
            self._waits(ids)
        undone = await swap.make() if leaving or coming else None
        if undone is not None and ids:
            for refusal in swap.lost:
                self._residents.registry_for(refusal).refuse(refusal)
            lost = [refusal.name for refusal in swap.lost]
            stay = tuple(plugin_id for plugin_id in ids if plugin_id not in lost)
            return [Refused(undone, stay), *map(Refused, swap.lost)]
        if undone is not None:
            coming, refusals = [], [*refusals, undone]
        self._residents.forget_refusals(names | {one.name for one in refusals} | {entry.id for entry in coming})
        for refusal in refusals:
            self._residents.registry_for(refusal).refuse(refusal)
        took = seconds + swap.seconds
        return [
            *(Reloaded(entry.id, _what(entry.plugin), took, entry.id not in ids) for entry in coming),
            *map(Unloaded, lost),
            *map(Refused, refusals),
        ]


async def _until_done(work: Callable[[], Awaitable[list[Change]]]) -> list[Change]:
    while True:
        with suppress(OvertakenError):
            return await work()


def _what(plugin: Plugin) -> str:
    if isinstance(plugin, Transformer):
        return f"{plugin.type} transformer"
    number = len(handlers_of(plugin))
    return f"{number} intent{'s' * (number != 1)}"
