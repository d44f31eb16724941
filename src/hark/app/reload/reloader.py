"""From changed files to plugins in service, or to the reason why the old ones stay."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from hark.app.reload.changes import Change, Reloaded, ReloadRefused, Unloaded
from hark.app.reload.module_versions import ModuleImport, Modules, current_modules, install_modules, installed_modules
from hark.app.reload.reload_group import ReloadGroup, root_of, source_of
from hark.hosting import Loaded, Refusal
from hark.hosting.discovery import instantiate
from hark.plugins import PipelinePlugin, Plugin, Transformer
from hark.plugins.handlers import handlers_of

if TYPE_CHECKING:
    from hark.app.runtime import Runtime


log = logging.getLogger("hark.app")


class StaleSwapError(Exception):
    """While it was waited for turns, somebody else has exchanged the same plugins."""


class Swap:
    """Some leave, others come. When one of those that come does not start, everything is as it was before.

    In this order, while no turn uses any of them: those that leave are deregistered and stopped; those that come are
    started and register.
    """

    def __init__(
        self,
        house: Runtime,
        leaving: Sequence[Loaded[Any]],
        coming: Sequence[Loaded[Any]],
        new_code: Callable[[], None] = lambda: None,
        old_code: Callable[[], None] = lambda: None,
    ) -> None:
        self._runtime = house
        self._leaving = leaving
        self._coming = coming
        self._new_code = new_code
        """Called when those that leave have left: lets the modules of those that come be the ones that are imported."""
        self._old_code = old_code
        self.lost: list[Refusal] = []
        """Who did not start again when it was undone: then they are out of service as well."""
        self.seconds = 0.0
        """How long it took, the wait for turns apart."""

    async def make(self) -> Refusal | None:
        """Do it; why it was undone, if it was. Raises `StaleSwapError`.

        To cancel it has an effect only while it waits for turns.
        """
        clock = self._runtime.clock
        async with self._runtime.standstill({entry.id for entry in self._leaving}):
            if self._is_overtaken():
                raise StaleSwapError
            began = clock.monotonic()
            work = asyncio.get_running_loop().create_task(self._exchange(), name="exchanging plugins")
            try:
                refusal = await asyncio.shield(work)
            except asyncio.CancelledError:
                await work  # half an exchange is none
                raise
            self.seconds = clock.monotonic() - began
            return refusal

    def _is_overtaken(self) -> bool:
        residents = self._runtime.plugin_set
        present = [residents.registry_for(entry.plugin).get(entry.id) for entry in self._leaving]
        taken = [residents.registry_for(entry.plugin).get(entry.id) for entry in self._coming]
        return present != list(self._leaving) or any(entry not in (None, *self._leaving) for entry in taken)

    async def _exchange(self) -> Refusal | None:
        residents = self._runtime.plugin_set
        orders = [(registry, [entry.id for entry in registry]) for registry in residents.registries()]
        for entry in reversed(self._leaving):
            await residents.move_out(entry)
        self._new_code()
        come: list[Loaded[Any]] = []
        refusal = None
        for entry in self._coming:
            refusal = await residents.move_in(entry)
            if refusal is not None:
                await self._undo(come)
                break
            come.append(entry)
        for registry, order in orders:
            registry.reorder(order)
        moved = [entry.plugin for entry in (*self._leaving, *self._coming)]
        await self._runtime.announce(
            transformers=any(isinstance(plugin, Transformer) for plugin in moved),
            # One that has just started has heard no registration yet.
            to_matchers=any(isinstance(plugin, PipelinePlugin) for plugin in moved),
        )
        return refusal

    async def _undo(self, come: list[Loaded[Any]]) -> None:
        residents = self._runtime.plugin_set
        for entry in reversed(come):
            await residents.move_out(entry)
        self._old_code()
        for entry in self._leaving:
            refusal = await residents.move_in(self._again(entry))
            if refusal is not None:
                self.lost.append(refusal)

    def _again(self, entry: Loaded[Any]) -> Loaded[Any]:
        """A plugin is started once: another of the same class, if one can be made, takes its place."""
        try:
            judged = self._runtime.plugin_set.check(type(entry.plugin)())
        except BaseException as error:  # somebody's code: anything may come out
            log.debug("%s cannot be made again", entry.id, exc_info=error)
            return entry
        return entry if isinstance(judged, Refusal) else judged


Judged = list[Loaded[Any] | Refusal]


class Reloader:
    """Puts plugins as they are written now in the place of loaded ones; `waits` is told for whose turns it waits."""

    def __init__(self, house: Runtime, waits: Callable[[Sequence[str]], None] = lambda _ids: None) -> None:
        self._runtime = house
        self._residents = house.plugin_set
        self._waits = waits

    async def reload_one(self, plugin_id: str) -> Reloaded | ReloadRefused:
        """As promised by `Runtime.reload`. Plugins of the same package are reloaded with it: they share its code."""
        made = next((type(entry.plugin) for entry in self._residents if entry.id == plugin_id), None)
        if made is None:
            loaded = f"those that are: {', '.join(self._runtime.ids())}"
            return ReloadRefused(Refusal("plugin", plugin_id, "nothing of this id is loaded", loaded))
        if "<locals>" in made.__qualname__ or made.__module__ == "__main__":
            refusal = Refusal("plugin", plugin_id, "its class cannot be imported", "write it at the top of a module")
            return ReloadRefused(refusal, (plugin_id,))
        root = root_of(made.__module__)
        all_made = (type(entry.plugin) for entry in self._residents)
        changes = await self.reload(
            ReloadGroup(root, [source_of(one) for one in all_made if root_of(one.__module__) == root])
        )
        told = [change for change in changes if isinstance(change, (Reloaded, ReloadRefused))]
        return next((one for one in told if isinstance(one, Reloaded) and one.plugin_id == plugin_id), told[0])

    async def reload(self, unit: ReloadGroup) -> list[Change]:
        """Import the code of a unit again and put the plugins in it in the place of those that are loaded."""
        return await _until_done(partial(self._reload, unit))

    async def remake(self, plugin_id: str) -> list[Change]:
        """Put another plugin of the same class in the place of a loaded one: it gets the settings as they are now."""
        return await _until_done(partial(self._remake, plugin_id))

    async def unload(self, unit: ReloadGroup) -> list[Change]:
        """Take the plugins of a unit out of service, and its code out of memory."""
        return await _until_done(partial(self._unload, unit))

    async def _reload(self, unit: ReloadGroup) -> list[Change]:
        async with self._runtime.importing:
            began = self._runtime.clock.monotonic()
            leaving = self._loaded(unit)
            printing = ModuleImport(unit.root, [source.module for source in unit.sources], unit.spec)
            edition = await self._printed(printing)
            if edition is None:
                return [ReloadRefused(self._never_imported(unit), tuple(entry.id for entry in leaving))]
            with installed_modules(unit.root, edition):
                judged = list(self._judged(unit, printing.failed, {entry.id for entry in leaving}))
            printing.failed.clear()  # their tracebacks hold on to the modules
            seconds = self._runtime.clock.monotonic() - began
        names = {source.name for source in unit.sources}
        return await self._exchange(leaving, judged, names, seconds, root=unit.root, edition=edition)

    async def _remake(self, plugin_id: str) -> list[Change]:
        began = self._runtime.clock.monotonic()
        leaving = [entry for entry in self._residents if entry.id == plugin_id]
        judged: Judged = []
        for entry in leaving:
            made = instantiate(
                type(entry.plugin), self._residents.registry_for(entry.plugin).kind, plugin_id, entry.origin
            )
            judged.append(self._judge(made, {plugin_id}))
        return await self._exchange(leaving, judged, set(), self._runtime.clock.monotonic() - began)

    async def _unload(self, unit: ReloadGroup) -> list[Change]:
        names = {source.name for source in unit.sources}
        return await self._exchange(self._loaded(unit), [], names, 0.0, root=unit.root, edition={})

    def _loaded(self, unit: ReloadGroup) -> list[Loaded[Any]]:
        return [entry for entry in self._residents if unit.has(type(entry.plugin))]

    async def _printed(self, printing: ModuleImport) -> Modules | None:
        """A new edition, made on a worker so that turns go on; None when it takes too long."""
        workers = self._runtime.runner.threads
        job = workers.submit(lambda _job: printing.run())
        try:
            async with self._runtime.clock.timeout(self._runtime.settings.limits.start):
                edition: Modules = await job.done
                return edition
        except (TimeoutError, asyncio.CancelledError) as error:
            if job.abandon():
                workers.abandoned(job)
                printing.give_up()
            if isinstance(error, asyncio.CancelledError):
                raise
            return None

    def _never_imported(self, unit: ReloadGroup) -> Refusal:
        name = ", ".join(source.name for source in unit.sources)
        reason = f"importing it takes longer than {self._runtime.settings.limits.start:g} s"
        remedy = "mend it, then start the assistant again: Python cannot import it twice at once"
        return Refusal("plugin", name, reason, remedy, str(unit.places[0]) if unit.places else "")

    def _judged(
        self, unit: ReloadGroup, failed: dict[str, BaseException], leaving: Collection[str]
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
        edition: Modules | None = None,
    ) -> list[Change]:
        """Swap what is loaded for what was made of it, unless a mistake would take one out of service."""
        coming = [entry for entry in judged if isinstance(entry, Loaded)]
        refusals = [refusal for refusal in judged if isinstance(refusal, Refusal)]
        ids = tuple(entry.id for entry in leaving)
        lost = [plugin_id for plugin_id in ids if plugin_id not in {entry.id for entry in coming}]
        if refusals and lost:
            return [ReloadRefused(refusal, ids) for refusal in refusals]
        if edition is None:
            swap = Swap(self._runtime, leaving, coming)
        else:
            swap = Swap(self._runtime, leaving, coming, partial(install_modules, root, edition),
                        partial(install_modules, root, current_modules(root)))  # fmt: skip
        if self._runtime.orchestrator.serving(ids):
            self._waits(ids)
        undone = await swap.make() if leaving or coming else None
        if undone is not None and ids:
            for refusal in swap.lost:
                self._residents.registry_for(refusal).refuse(refusal)
            lost = [refusal.name for refusal in swap.lost]
            stay = tuple(plugin_id for plugin_id in ids if plugin_id not in lost)
            return [ReloadRefused(undone, stay), *map(ReloadRefused, swap.lost)]
        if undone is not None:
            coming, refusals = [], [*refusals, undone]
        self._residents.forget_refusals(names | {one.name for one in refusals} | {entry.id for entry in coming})
        for refusal in refusals:
            self._residents.registry_for(refusal).refuse(refusal)
        took = seconds + swap.seconds
        return [
            *(Reloaded(entry.id, _what(entry.plugin), took, entry.id not in ids) for entry in coming),
            *map(Unloaded, lost),
            *map(ReloadRefused, refusals),
        ]


async def _until_done(work: Callable[[], Awaitable[list[Change]]]) -> list[Change]:
    while True:
        with suppress(StaleSwapError):
            return await work()


def _what(plugin: Plugin) -> str:
    if isinstance(plugin, Transformer):
        return f"{plugin.type} transformer"
    number = len(handlers_of(plugin))
    return f"{number} intent{'s' * (number != 1)}"
