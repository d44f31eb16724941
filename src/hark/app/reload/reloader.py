"""Reload plugins: import their present code and swap them in between two turns, or keep the old ones and say why."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from hark.app.reload.changes import Change, Reloaded, ReloadRefused, Unloaded
from hark.app.reload.module_versions import (
    ModuleImport,
    Modules,
    current_modules,
    install_modules,
    installed_modules,
)
from hark.app.reload.reload_group import ReloadGroup, root_of, source_of
from hark.app.text import counted
from hark.hosting import Loaded, Refusal
from hark.hosting.discovery import instantiate
from hark.plugins import PipelinePlugin, Plugin, Transformer
from hark.plugins.handlers import handlers_of

if TYPE_CHECKING:
    from hark.app.runtime import Runtime


log = logging.getLogger("hark.app")


class StaleSwapError(Exception):
    """Another reload has replaced the same plugins while this one waited for turns."""


class Swap:
    """Replaces `old` plugins by `new` ones. If a new one fails to start, the old ones are put back.

    While no turn uses any of them, the old plugins are deregistered and stopped, then the new ones are started and
    register.
    """

    def __init__(
        self,
        runtime: Runtime,
        old: Sequence[Loaded[Any]],
        new: Sequence[Loaded[Any]],
        install_new: Callable[[], None] = lambda: None,
        install_old: Callable[[], None] = lambda: None,
    ) -> None:
        self._runtime = runtime
        self._old = old
        self._new = new
        self._install_new = install_new
        """Called when the old plugins are stopped: makes imports give the modules of the new ones."""
        self._install_old = install_old
        self.lost: list[Refusal] = []
        """Old plugins that did not start again after a failed swap: they are out of service as well."""
        self.seconds = 0.0
        """How long it took, without the wait for open turns."""

    async def run(self) -> Refusal | None:
        """Swap; return why it was undone, if it was. Raises `StaleSwapError`.

        Can only be cancelled while it waits for turns.
        """
        clock = self._runtime.clock
        async with self._runtime.quiesce({entry.id for entry in self._old}):
            if self._is_stale():
                raise StaleSwapError
            began = clock.monotonic()
            work = asyncio.get_running_loop().create_task(self._swap(), name="swap plugins")
            try:
                refusal = await asyncio.shield(work)
            except asyncio.CancelledError:
                await work  # a swap is completed once it has begun
                raise
            self.seconds = clock.monotonic() - began
            return refusal

    def _is_stale(self) -> bool:
        plugin_set = self._runtime.plugin_set
        present = [plugin_set.registry_for(entry.plugin).get(entry.id) for entry in self._old]
        taken = [plugin_set.registry_for(entry.plugin).get(entry.id) for entry in self._new]
        return present != list(self._old) or any(entry not in (None, *self._old) for entry in taken)

    async def _swap(self) -> Refusal | None:
        plugin_set = self._runtime.plugin_set
        orders = [(registry, [entry.id for entry in registry]) for registry in plugin_set.registries()]
        for entry in reversed(self._old):
            await plugin_set.unload(entry)
        self._install_new()
        started: list[Loaded[Any]] = []
        refusal = None
        for entry in self._new:
            refusal = await plugin_set.load(entry)
            if refusal is not None:
                await self._undo(started)
                break
            started.append(entry)
        for registry, order in orders:
            registry.reorder(order)
        swapped = [entry.plugin for entry in (*self._old, *self._new)]
        await self._runtime.announce(
            transformers=any(isinstance(plugin, Transformer) for plugin in swapped),
            # A matcher that has just started has received no registration yet.
            to_matchers=any(isinstance(plugin, PipelinePlugin) for plugin in swapped),
        )
        return refusal

    async def _undo(self, started: list[Loaded[Any]]) -> None:
        plugin_set = self._runtime.plugin_set
        for entry in reversed(started):
            await plugin_set.unload(entry)
        self._install_old()
        for entry in self._old:
            refusal = await plugin_set.load(self._made_again(entry))
            if refusal is not None:
                self.lost.append(refusal)

    def _made_again(self, entry: Loaded[Any]) -> Loaded[Any]:
        """A plugin can only be started once: a new object of its class, if it can be made, takes its place."""
        try:
            checked = self._runtime.plugin_set.check(type(entry.plugin)())
        except BaseException as error:  # plugin code may raise anything
            log.debug("%s cannot be made again", entry.id, exc_info=error)
            return entry
        return entry if isinstance(checked, Refusal) else checked


Checked = list[Loaded[Any] | Refusal]


class Reloader:
    """Replaces loaded plugins by their present code; `on_wait` is called with the plugins whose turns it waits for."""

    def __init__(self, runtime: Runtime, on_wait: Callable[[Sequence[str]], None] = lambda _ids: None) -> None:
        self._runtime = runtime
        self._plugin_set = runtime.plugin_set
        self._on_wait = on_wait

    async def reload_one(self, plugin_id: str) -> Reloaded | ReloadRefused:
        """Reload a plugin, with the others of its package, and return its own result."""
        kind = next((type(entry.plugin) for entry in self._plugin_set if entry.id == plugin_id), None)
        if kind is None:
            loaded = f"the loaded plugins are: {', '.join(self._runtime.ids())}"
            return ReloadRefused(Refusal("plugin", plugin_id, "no plugin with this id is loaded", loaded))
        if "<locals>" in kind.__qualname__ or kind.__module__ == "__main__":
            refusal = Refusal("plugin", plugin_id, "its class cannot be imported", "write it at the top of a module")
            return ReloadRefused(refusal, (plugin_id,))
        root = root_of(kind.__module__)
        kinds = (type(entry.plugin) for entry in self._plugin_set)
        group = ReloadGroup(root, [source_of(one) for one in kinds if root_of(one.__module__) == root])
        results = [change for change in await self.reload(group) if isinstance(change, (Reloaded, ReloadRefused))]
        return next((one for one in results if isinstance(one, Reloaded) and one.plugin_id == plugin_id), results[0])

    async def reload(self, group: ReloadGroup) -> list[Change]:
        """Import the code of a group again and replace its loaded plugins."""
        return await _until_done(partial(self._reload, group))

    async def remake(self, plugin_id: str) -> list[Change]:
        """Replace a loaded plugin by a new object of the same class, which gets the present settings."""
        return await _until_done(partial(self._remake, plugin_id))

    async def unload(self, group: ReloadGroup) -> list[Change]:
        """Take the plugins of a group out of service, and its code out of memory."""
        return await _until_done(partial(self._unload, group))

    async def _reload(self, group: ReloadGroup) -> list[Change]:
        async with self._runtime.importing:
            began = self._runtime.clock.monotonic()
            old = self._loaded(group)
            job = ModuleImport(group.root, [source.module for source in group.sources], group.spec)
            modules = await self._import(job)
            if modules is None:
                return [ReloadRefused(self._import_timed_out(group), tuple(entry.id for entry in old))]
            with installed_modules(group.root, modules):
                checked = list(self._check_group(group, job.failed, {entry.id for entry in old}))
            job.failed.clear()  # their tracebacks keep the modules in memory
            seconds = self._runtime.clock.monotonic() - began
        names = {source.name for source in group.sources}
        return await self._swap(old, checked, names, seconds, root=group.root, modules=modules)

    async def _remake(self, plugin_id: str) -> list[Change]:
        began = self._runtime.clock.monotonic()
        old = [entry for entry in self._plugin_set if entry.id == plugin_id]
        checked: Checked = []
        for entry in old:
            made = instantiate(
                type(entry.plugin), self._plugin_set.registry_for(entry.plugin).kind, plugin_id, entry.origin
            )
            checked.append(self._check(made, {plugin_id}))
        return await self._swap(old, checked, set(), self._runtime.clock.monotonic() - began)

    async def _unload(self, group: ReloadGroup) -> list[Change]:
        names = {source.name for source in group.sources}
        return await self._swap(self._loaded(group), [], names, 0.0, root=group.root, modules={})

    def _loaded(self, group: ReloadGroup) -> list[Loaded[Any]]:
        return [entry for entry in self._plugin_set if group.has(type(entry.plugin))]

    async def _import(self, new: ModuleImport) -> Modules | None:
        """The new modules, imported on a worker thread so that turns go on; None when it takes too long."""
        workers = self._runtime.runner.threads
        job = workers.submit(lambda _job: new.run())
        try:
            async with self._runtime.clock.timeout(self._runtime.settings.limits.start):
                modules: Modules = await job.done
                return modules
        except (TimeoutError, asyncio.CancelledError) as error:
            if job.abandon():
                workers.abandoned(job)
                new.give_up()
            if isinstance(error, asyncio.CancelledError):
                raise
            return None

    def _import_timed_out(self, group: ReloadGroup) -> Refusal:
        name = ", ".join(source.name for source in group.sources)
        reason = f"importing it takes longer than {self._runtime.settings.limits.start:g} s"
        remedy = "fix it, then restart the assistant: Python cannot import it again while the first import runs"
        return Refusal("plugin", name, reason, remedy, str(group.places[0]) if group.places else "")

    def _check_group(
        self, group: ReloadGroup, failed: dict[str, BaseException], leaving: Collection[str]
    ) -> Iterator[Loaded[Any] | Refusal]:
        taken: set[tuple[str, str]] = set()
        for source in group.sources:
            error = failed.get(source.module)
            for made in source.make() if error is None else [source.import_refusal(error)]:
                checked = self._check(made, leaving)
                if isinstance(checked, Loaded):
                    key = (self._plugin_set.registry_for(checked.plugin).kind, checked.id)
                    if key in taken:
                        reason = f"another plugin in the same package has the id {checked.id!r} as well"
                        checked = Refusal(*key, reason, "rename one of the two", checked.origin)
                    taken.add(key)
                yield checked

    def _check(self, made: Plugin | Refusal, leaving: Collection[str]) -> Loaded[Any] | Refusal:
        return made if isinstance(made, Refusal) else self._plugin_set.check(made, leaving)

    async def _swap(
        self,
        old: list[Loaded[Any]],
        checked: Checked,
        names: set[str],
        seconds: float,
        *,
        root: str = "",
        modules: Modules | None = None,
    ) -> list[Change]:
        """Replace the loaded plugins, unless a refused one would go out of service by that."""
        new = [entry for entry in checked if isinstance(entry, Loaded)]
        refusals = [refusal for refusal in checked if isinstance(refusal, Refusal)]
        ids = tuple(entry.id for entry in old)
        lost = [plugin_id for plugin_id in ids if plugin_id not in {entry.id for entry in new}]
        if refusals and lost:
            return [ReloadRefused(refusal, ids) for refusal in refusals]
        if modules is None:
            swap = Swap(self._runtime, old, new)
        else:
            install_new = partial(install_modules, root, modules)
            swap = Swap(self._runtime, old, new, install_new, partial(install_modules, root, current_modules(root)))
        if self._runtime.orchestrator.serving(ids):
            self._on_wait(ids)
        undone = await swap.run() if old or new else None
        if undone is not None and ids:
            for refusal in swap.lost:
                self._plugin_set.registry_for(refusal).refuse(refusal)
            lost = [refusal.name for refusal in swap.lost]
            stay = tuple(plugin_id for plugin_id in ids if plugin_id not in lost)
            return [ReloadRefused(undone, stay), *map(ReloadRefused, swap.lost)]
        if undone is not None:
            new, refusals = [], [*refusals, undone]
        self._plugin_set.forget_refusals(names | {one.name for one in refusals} | {entry.id for entry in new})
        for refusal in refusals:
            self._plugin_set.registry_for(refusal).refuse(refusal)
        total = seconds + swap.seconds
        return [
            *(Reloaded(entry.id, _what(entry.plugin), total, entry.id not in ids) for entry in new),
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
    return counted(number, "intent")
