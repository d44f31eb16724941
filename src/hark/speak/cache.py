"""Speech that was rendered before."""

from __future__ import annotations

from collections import OrderedDict
from contextlib import suppress
from typing import Any

from hark.hosting import Loaded, Runner
from hark.model import Audio
from hark.speak.cache_folder import CacheFolder
from hark.speak.off_loop import off_loop
from hark.speak.options import SpeakOptions

Key = tuple[str, ...]
"""Who spoke it, how, in which language, and what."""


class SpeechCache:
    """The sentences that were said last, up to a number of bytes: in memory, and in a folder if there is one."""

    def __init__(self, options: SpeakOptions, runner: Runner) -> None:
        self._most = options.cache_bytes
        self._runner = runner
        self._kept: OrderedDict[Key, Audio] = OrderedDict()
        self._bytes = 0
        folder = options.cache_folder
        self._folder = None if folder is None else CacheFolder(folder, options.cache_folder_bytes)

    @staticmethod
    def key(entry: Loaded[Any], lang: str, voice: str | None, text: str) -> Key:
        """What tells one rendering from another: an engine with other settings may sound otherwise."""
        return entry.id, repr(entry.plugin.settings), lang, voice or "", text

    async def get(self, key: Key) -> Audio | None:
        """What was kept under this key."""
        audio = self._kept.get(key)
        if audio is not None:
            self._kept.move_to_end(key)
        elif self._folder is not None:
            folder = self._folder
            with suppress(TimeoutError):
                audio = await off_loop(self._runner, lambda: folder.get(key))
            if audio is not None:
                self._keep(key, audio)
        return audio

    async def put(self, key: Key, audio: Audio) -> None:
        """Keep it, at the cost of what was not asked for longest."""
        self._keep(key, audio)
        if self._folder is not None:
            folder = self._folder
            with suppress(TimeoutError):
                await off_loop(self._runner, lambda: folder.put(key, audio))

    def _keep(self, key: Key, audio: Audio) -> None:
        size = len(audio.samples)
        if size > self._most // 4 or key in self._kept:
            return  # one that is long is seldom said again, and would drive out many that are
        self._kept[key] = audio
        self._bytes += size
        while self._bytes > self._most:
            _, oldest = self._kept.popitem(last=False)
            self._bytes -= len(oldest.samples)
