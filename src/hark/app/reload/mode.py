"""`hark run --dev`: files that are edited while the assistant runs take effect at the next turn."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Final

from hark.app.diagnostics.advice import advice
from hark.app.plugin_set import plugin_files
from hark.app.reload.changes import Change, UnreadableFile, apply_settings
from hark.app.reload.reload_group import groups_of
from hark.app.reload.reloader import Reloader
from hark.app.reload.watch import SETTINGS, FileWatcher, Stamps
from hark.app.runtime import Runtime
from hark.app.settings import Settings, SettingsError
from hark.hosting import PluginFile

log = logging.getLogger("hark.app")

PAUSE: Final = 0.3
"""Seconds between two scans of the files."""
SHORT_PAUSE: Final = 0.1
"""Seconds between two scans while a change has been seen that may not be complete."""


class DevMode:
    """Reloads what was edited and reports each result as a line.

    `async with DevMode(...):` does so while the block runs; `scan` does it once.
    """

    def __init__(
        self, runtime: Runtime, watcher: FileWatcher, read: Callable[[], Settings], report: Callable[[str], None]
    ) -> None:
        self._runtime = runtime
        self._watcher = watcher
        self._read = read
        self._report = report
        self._reloader = Reloader(runtime, self._report_wait)
        self._task: asyncio.Task[None] | None = None
        self._reloads: dict[str, asyncio.Task[None]] = {}
        """Reloads by the root of their group: most end at once, some wait for an open turn."""
        self._waiting = asyncio.Event()
        self._changes: list[Change] = []

    async def __aenter__(self) -> DevMode:
        self._task = asyncio.get_running_loop().create_task(self._run(), name="development reload")
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        await self._end(self._task)
        for task in list(self._reloads.values()):
            await self._end(task)

    @property
    def busy(self) -> bool:
        """Whether a reload is under way."""
        return bool(self._reloads)

    async def scan(self) -> list[Change]:
        """Scan the files once, reload what has changed and settled, and return the results since the last scan.

        A reload that has to wait for an open turn goes on in the background.
        """
        job = self._runtime.runner.threads.submit(lambda _job: self._watcher.scan())
        seen: dict[str, Stamps] = await job.done
        for name in sorted(self._watcher.changed(seen)):  # SETTINGS sorts first
            await self._begin(name)
        changes, self._changes = self._changes, []
        return changes

    async def _begin(self, name: str) -> None:
        before = self._reloads.get(name)
        if name != SETTINGS:  # a reload that still waits for a turn is out of date
            await self._end(before)
        self._waiting.clear()
        work = self._apply(name, before)
        task = self._reloads[name] = asyncio.get_running_loop().create_task(work, name="reload")
        waiting = asyncio.get_running_loop().create_task(self._waiting.wait())
        try:
            await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await self._end(waiting)

    async def _apply(self, name: str, before: asyncio.Task[None] | None) -> None:
        try:
            if name in self._watcher.groups:
                self._record(await self._reloader.reload(self._watcher.groups[name]))
            elif name == SETTINGS:
                if before is not None:
                    self._waiting.set()
                    await asyncio.wait({before})
                await self._reread()
        except Exception:
            log.exception("an edited file could not be reloaded")
        finally:
            if self._reloads.get(name) is asyncio.current_task():
                del self._reloads[name]

    async def _end(self, task: asyncio.Task[Any] | None) -> None:
        if task is not None:
            task.cancel()
            await asyncio.wait({task})

    async def _run(self) -> None:
        while True:
            await self._runtime.clock.sleep(SHORT_PAUSE if self._watcher.is_unsettled else PAUSE)
            try:
                await self.scan()
            except Exception:
                log.exception("the files could not be scanned")

    async def _reread(self) -> None:
        try:
            settings = self._read()
        except SettingsError as error:
            self._record([UnreadableFile(tuple(map(str, error.mistakes)))])
            return
        hints = set(advice(self._runtime))
        self._record(await apply_settings(self._runtime, settings, self._reloader, list(self._watcher.groups.values())))
        await self._follow_files(settings)
        for hint in advice(self._runtime):
            if hint not in hints:
                self._report(f"{self._watcher.settings_file}: {hint}")

    async def _follow_files(self, settings: Settings) -> None:
        """Load the files that the settings name now, unload those they no longer name."""
        named = groups_of(PluginFile(path) for path in plugin_files(settings, self._watcher.settings_file))
        known = self._watcher.file_roots()
        for root in known - named.keys():
            await self._end(self._reloads.get(root))
            self._record(await self._reloader.unload(self._watcher.drop(root)))
        for root, group in named.items():
            if root not in known:
                self._watcher.add(group)
                self._record(await self._reloader.reload(group))

    def _record(self, changes: list[Change]) -> None:
        self._changes += changes
        for change in changes:
            self._report(str(change))

    def _report_wait(self, ids: Sequence[str]) -> None:
        self._waiting.set()
        self._report(f"{', '.join(ids)} will be reloaded when the open turn has ended")
