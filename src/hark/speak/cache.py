"""Speech that was rendered before, in memory and on disk."""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections import OrderedDict
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any

from hark.hosting import Loaded, Runner
from hark.model import Audio
from hark.model.wav import MalformedWav, read_wav, write_wav
from hark.speak.options import SpeakOptions

log = logging.getLogger("hark.speak")


class CacheFolder:
    """WAV files named by a hash of their key, up to a number of bytes; those not used for longest are deleted first.

    Called on worker threads. A disk that fails costs the time to render again, nothing else.
    """

    def __init__(self, folder: Path, most: int) -> None:
        self._folder = folder
        self._most = most
        self._lock = Lock()
        self._sizes: OrderedDict[str, int] | None = None
        self._bytes = 0
        self._warned = False

    def get(self, key: tuple[str, ...]) -> Audio | None:
        name = _name(key)
        with self._lock:
            try:
                sizes = self._opened()
                if name not in sizes:
                    return None
                path = self._folder / name
                audio = read_wav(path.read_bytes())
                os.utime(path)
                sizes.move_to_end(name)
                return audio
            except MalformedWav:
                self._drop(name)
            except OSError as error:
                self._warn_once(error)
            return None

    def put(self, key: tuple[str, ...], audio: Audio) -> None:
        """Store it. Samples of other than 16 bits are not: a WAV file would not give them back as they were."""
        if audio.sample_width != 2:
            return
        name, data = _name(key), write_wav(audio)
        if len(data) > self._most // 4:
            return
        with self._lock:
            try:
                sizes = self._opened()
                if name in sizes:
                    return
                made = self._folder / f"{name}.{os.getpid()}.tmp"
                made.touch(0o600)
                made.write_bytes(data)
                made.replace(self._folder / name)
                sizes[name] = len(data)
                self._bytes += len(data)
                while self._bytes > self._most:
                    self._drop(next(iter(sizes)))
            except OSError as error:
                self._warn_once(error)

    def _opened(self) -> OrderedDict[str, int]:
        """The files and their sizes, the one not used for longest first."""
        if self._sizes is None:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            for unfinished in self._folder.glob("*.tmp"):
                unfinished.unlink(missing_ok=True)
            found = sorted((path.stat().st_mtime, path) for path in self._folder.glob("*.wav"))
            self._sizes = OrderedDict((path.name, path.stat().st_size) for _, path in found)
            self._bytes = sum(self._sizes.values())
        return self._sizes

    def _drop(self, name: str) -> None:
        if self._sizes is not None:
            self._bytes -= self._sizes.pop(name, 0)
        (self._folder / name).unlink(missing_ok=True)

    def _warn_once(self, error: OSError) -> None:
        if not self._warned:
            self._warned = True
            log.warning("rendered speech cannot be stored in %s: %s", self._folder, error)


def _name(key: tuple[str, ...]) -> str:
    return hashlib.sha256(json.dumps(key).encode()).hexdigest()[:40] + ".wav"


Key = tuple[str, ...]
"""Engine, its settings, language, voice and text."""


class SpeechCache:
    """The sentences that were spoken last, up to a number of bytes: in memory, and in a folder if one is set."""

    def __init__(self, options: SpeakOptions, runner: Runner) -> None:
        self._most = options.cache_bytes
        self._runner = runner
        self._kept: OrderedDict[Key, Audio] = OrderedDict()
        self._bytes = 0
        folder = options.cache_folder
        self._folder = None if folder is None else CacheFolder(folder, options.cache_folder_bytes)

    @staticmethod
    def key(entry: Loaded[Any], lang: str, voice: str | None, text: str) -> Key:
        """What a rendering depends on: an engine with other settings may sound different."""
        return entry.id, repr(entry.plugin.settings), lang, voice or "", text

    async def get(self, key: Key) -> Audio | None:
        audio = self._kept.get(key)
        if audio is not None:
            self._kept.move_to_end(key)
        elif self._folder is not None:
            folder = self._folder
            with suppress(TimeoutError):
                audio = await self._runner.off_loop(lambda: folder.get(key))
            if audio is not None:
                self._keep(key, audio)
        return audio

    async def put(self, key: Key, audio: Audio) -> None:
        """Store it; what was not used for longest makes room."""
        self._keep(key, audio)
        if self._folder is not None:
            folder = self._folder
            with suppress(TimeoutError):
                await self._runner.off_loop(lambda: folder.put(key, audio))

    def _keep(self, key: Key, audio: Audio) -> None:
        size = len(audio.samples)
        if size > self._most // 4 or key in self._kept:
            return  # a long one is seldom spoken again, and would displace many short ones
        self._kept[key] = audio
        self._bytes += size
        while self._bytes > self._most:
            _, oldest = self._kept.popitem(last=False)
            self._bytes -= len(oldest.samples)
