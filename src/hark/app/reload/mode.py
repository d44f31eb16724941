"""`hark run --dev`: what is edited while the assistant runs is in service at the next turn."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Final

from hark.app.diagnostics.examine import advice
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
"""Seconds between two looks at the files."""
SHORT_PAUSE: Final = 0.1
"""As many while something has changed that may not be all."""


class DevMode:
    """Has what was edited taken over, and tells what came of it, a line each.

    `async with DevMode(...):` does so meanwhile; `scan` does it once.
    """

    def __init__(
        self, house: Runtime, edits: FileWatcher, read: Callable[[], Settings], tell: Callable[[str], None]
    ) -> None:
        self._runtime = house
        self._edits = edits
        self._read = read
        self._tell = tell
        self._reloader = Reloader(house, self._waits)
        self._task: asyncio.Task[None] | None = None
        self._under_way: dict[str, asyncio.Task[None]] = {}
        """What is being taken over, by the root of its unit: most of it is done at once, some waits for a turn."""
        self._waiting = asyncio.Event()
        self._changes: list[Change] = []

    async def __aenter__(self) -> DevMode:
        self._task = asyncio.get_running_loop().create_task(self._go_on(), name="development reload")
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        await self._end(self._task)
        for task in list(self._under_way.values()):
            await self._end(task)

    @property
    def busy(self) -> bool:
        """Whether an edit is still being taken over."""
        return bool(self._under_way)

    async def scan(self) -> list[Change]:
        """Look once and take over what has changed and is at rest; what came of it since the last look.

        What has to wait for a turn is taken over later.
        """
        job = self._runtime.runner.threads.submit(lambda _job: self._edits.see())
        seen: dict[str, Stamps] = await job.done
        for name in sorted(self._edits.changed(seen)):  # the settings first
            await self._begin(name)
        changes, self._changes = self._changes, []
        return changes

    async def _begin(self, name: str) -> None:
        before = self._under_way.get(name)
        if name != SETTINGS:  # what still waits for a turn is out of date
            await self._end(before)
        self._waiting.clear()
        work = self._take_over(name, before)
        task = self._under_way[name] = asyncio.get_running_loop().create_task(work, name="taking over an edit")
        waiting = asyncio.get_running_loop().create_task(self._waiting.wait())
        try:
            await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await self._end(waiting)

    async def _take_over(self, name: str, before: asyncio.Task[None] | None) -> None:
        try:
            if name in self._edits.units:
                self._told(await self._reloader.reload(self._edits.units[name]))
            elif name == SETTINGS:
                if before is not None:
                    self._waiting.set()
                    await asyncio.wait({before})
                await self._reread()
        except Exception:
            log.exception("an edit could not be taken over")
        finally:
            if self._under_way.get(name) is asyncio.current_task():
                del self._under_way[name]

    async def _end(self, task: asyncio.Task[Any] | None) -> None:
        if task is not None:
            task.cancel()
            await asyncio.wait({task})

    async def _go_on(self) -> None:
        while True:
            await self._runtime.clock.sleep(SHORT_PAUSE if self._edits.restless else PAUSE)
            try:
                await self.scan()
            except Exception:
                log.exception("the files could not be looked at")

    async def _reread(self) -> None:
        try:
            settings = self._read()
        except SettingsError as error:
            self._told([UnreadableFile(tuple(map(str, error.mistakes)))])
            return
        hints = set(advice(self._runtime))
        self._told(await apply_settings(self._runtime, settings, self._reloader, list(self._edits.units.values())))
        await self._follow_files(settings)
        for hint in advice(self._runtime):
            if hint not in hints:
                self._tell(f"{self._edits.settings_file}: {hint}")

    async def _follow_files(self, settings: Settings) -> None:
        """Load the files that the settings name now, unload those that they name no more."""
        named = groups_of(PluginFile(path) for path in plugin_files(settings, self._edits.settings_file))
        known = self._edits.of_files()
        for root in known - named.keys():
            await self._end(self._under_way.get(root))
            self._told(await self._reloader.unload(self._edits.drop(root)))
        for root, unit in named.items():
            if root not in known:
                self._edits.add(unit)
                self._told(await self._reloader.reload(unit))

    def _told(self, changes: list[Change]) -> None:
        self._changes += changes
        for change in changes:
            self._tell(str(change))

    def _waits(self, ids: Sequence[str]) -> None:
        self._waiting.set()
        self._tell(f"{', '.join(ids)} is reloaded when its turn has ended")
