"""A desk with plugin files on it, and an assistant that follows what is written there."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from flow.stage import MakeAssistant
from hark.app.plugin_set import plugin_files
from hark.app.reload.changes import Change
from hark.app.reload.mode import DevMode
from hark.app.reload.reload_group import plugins_from
from hark.app.reload.watch import GONE, SETTLED, FileWatcher
from hark.app.settings import read_settings
from hark.hosting import PluginFile, Refusal
from hark.model import Clock
from hark.plugins import Plugin
from hark.testing import Assistant

WEATHER = """\
from hark.skills import Skill, intent


class Weather(Skill):
    id = "weather.skill"

    @intent("how is the weather")
    def now(self, turn) -> str:
        return "Sunny."
"""


class Desk:
    """A folder with a settings file and plugin files. Every save has a time of its own, however fast they follow."""

    def __init__(self, folder: Path, make: MakeAssistant) -> None:
        self.folder = folder
        self._make = make
        self._saves = 0
        self.settings = folder / "hark.toml"
        self.told: list[str] = []
        """The lines shown on the terminal."""
        self.assistant: Assistant
        self.dev: DevMode

    def save(self, name: str, text: str) -> Path:
        """Write a file, as an editor does that writes in place."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        self._saves += 1
        # All within one second: that is how fast one can be.
        os.utime(path, ns=(0, 1_700_000_000_000_000_000 + self._saves))
        return path

    def set(self, files: list[str], more: str = "", pipeline: tuple[str, ...] = ("template",)) -> None:
        """Write the settings file."""
        self.save("hark.toml", f"[assistant]\nfiles = {files}\npipeline = {list(pipeline)}\n{more}")

    @asynccontextmanager
    async def open(self, *plugins: Plugin, clock: Clock | None = None) -> AsyncIterator[Assistant]:
        """The assistant, with the plugins in the files and these."""
        settings = read_settings(self.settings, named=True)
        sources: list[PluginFile] = [PluginFile(path) for path in plugin_files(settings, self.settings)]
        watcher = FileWatcher(sources, self.settings)
        made = list(plugins_from(sources))
        loaded = [plugin for plugin in made if isinstance(plugin, Plugin)]
        async with self._make(*loaded, *plugins, settings=settings, clock=clock) as self.assistant:
            runtime = self.assistant.runtime
            for refusal in made:
                if isinstance(refusal, Refusal):
                    runtime.plugin_set.add(refusal)
            self.dev = DevMode(runtime, watcher, lambda: read_settings(self.settings, named=True), self.told.append)
            try:
                yield self.assistant
            finally:
                for name in [name for name in sys.modules if name.startswith("hark_file_")]:
                    del sys.modules[name]

    async def scan(self, looks: int = SETTLED) -> list[Change]:
        """Look so often that a change counts."""
        return [change for _ in range(looks) for change in await self.dev.scan()]

    async def scan_long(self) -> list[Change]:
        """Look so often that a missing file counts."""
        return await self.scan(GONE)

    async def until(self, happened: Callable[[], bool]) -> None:
        """Let the rest of the assistant go on until something has happened."""
        for _ in range(1_000_000):
            if happened():
                return
            await asyncio.sleep(0)
        raise AssertionError("it never happened")

    async def edit(self, name: str, change: Callable[[str], str]) -> list[Change]:
        """Change the text of a file and have it noticed."""
        self.save(name, change((self.folder / name).read_text()))
        return await self.scan()
