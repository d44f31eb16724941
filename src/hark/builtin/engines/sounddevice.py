"""Sound cards through PortAudio (extra `sounddevice`; MIT. PortAudio itself comes from the system)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass
from threading import Event, Thread
from typing import Any, Final

from hark import hints
from hark.builtin.engines.extras import need
from hark.builtin.engines.thread_queue import ThreadQueue
from hark.model import Audio
from hark.model.audio import as_16_bits, as_mono
from hark.model.resample import Resampler, resample
from hark.plugins.engines import SAMPLE_RATE, Microphone, Player, Unavailable

_BLOCK: Final = 0.03
"""Seconds of sound in a block."""


def _library() -> Any:
    try:
        return need("sounddevice", "sounddevice")
    except Unavailable as missing:
        remedy = f"apt-get install libportaudio2 (on Debian), and {hints.install_extra('sounddevice')}"
        raise Unavailable(str(missing), remedy) from missing


def _device(library: Any, wanted: str, kind: str) -> Any:
    """PortAudio's description of the device; raises `Unavailable` when there is none."""
    device: Any = int(wanted) if wanted.isdecimal() else wanted or None
    try:
        return library.query_devices(device, kind)
    except (ValueError, library.PortAudioError) as error:
        names = "; ".join(_names(library, kind))
        if not names:
            remedy = "connect one; where there is one, this user may have to be in the group audio"
            raise Unavailable(f"this machine has no {kind} device that can be used", remedy) from error
        which = f" {wanted!r}" if wanted else ""
        raise Unavailable(f"there is no {kind} device{which}: {error}", f"name one of these: {names}") from error


def _names(library: Any, kind: str) -> tuple[str, ...]:
    return tuple(
        f"{number}: {device['name']}"
        for number, device in enumerate(library.query_devices())
        if device[f"max_{kind}_channels"] > 0
    )


class SoundDeviceMicrophone(Microphone):
    """Listens to a sound card, at a rate that it supports."""

    id = "sounddevice"
    steady = True

    @dataclass(frozen=True)
    class Settings:
        """What a deployer may set."""

        device: str = ""
        """Name, part of a name, or number of the device (`hark devices` lists them); else the system default."""

    settings: Settings

    def load(self) -> None:
        self._library = _library()
        self._found = _device(self._library, self.settings.device, "input")
        try:
            self._library.check_input_settings(self._found["index"], channels=1, dtype="int16", samplerate=SAMPLE_RATE)
            self._rate = SAMPLE_RATE
        except (ValueError, self._library.PortAudioError):
            self._rate = int(self._found["default_samplerate"])

    async def blocks(self) -> AsyncIterator[bytes]:
        queue = ThreadQueue()
        resampler = Resampler(self._rate, SAMPLE_RATE) if self._rate != SAMPLE_RATE else None
        stream = self._library.RawInputStream(
            samplerate=self._rate,
            device=self._found["index"],
            channels=1,
            dtype="int16",
            blocksize=int(self._rate * _BLOCK),
            callback=lambda samples, _frames, _time, _status: queue.put(bytes(samples)),
            finished_callback=lambda: queue.end(),
        )
        lost = 0
        with stream:
            async for piece in queue:
                if queue.lost > lost:
                    self.host.log.warning(
                        "%d blocks of sound were lost: they came faster than they were processed", queue.lost - lost
                    )
                    lost = queue.lost
                if samples := resampler.feed(piece) if resampler else piece:
                    yield samples

    def devices(self) -> Collection[str]:
        return _names(_library(), "input")

    def about(self) -> str:
        return f"{self._found['name']}, {self._rate} Hz"


class SoundDevicePlayer(Player):
    """Plays on a sound card, at a rate that it supports."""

    id = "sounddevice"

    @dataclass(frozen=True)
    class Settings:
        """What a deployer may set."""

        device: str = ""
        """Name, part of a name, or number of the device (`hark devices` lists them); else the system default."""

    settings: Settings

    def load(self) -> None:
        self._library = _library()
        self._found = _device(self._library, self.settings.device, "output")
        self._playing: list[tuple[Thread, Event]] = []

    def unload(self) -> None:
        for thread, stop in self._playing:
            stop.set()
            thread.join(timeout=2)

    async def play(self, audio: Audio) -> None:
        """PortAudio blocks, so each sound has its own thread."""
        loop, done, stop = asyncio.get_running_loop(), asyncio.Event(), Event()
        failed: list[Exception] = []

        def run() -> None:
            try:
                self._play(audio, stop)
            except Exception as error:  # noqa: BLE001 - it is raised again in the task that waits
                failed.append(error)
            finally:
                if not loop.is_closed():
                    loop.call_soon_threadsafe(done.set)

        thread = Thread(target=run, name="sounddevice player", daemon=True)
        self._playing = [one for one in self._playing if one[0].is_alive()]
        self._playing.append((thread, stop))
        thread.start()
        try:
            await done.wait()
        finally:
            stop.set()
        if failed:
            raise failed[0]

    def _play(self, audio: Audio, stop: Event) -> None:
        audio = self._playable(audio)
        frame = 2 * audio.channels
        step = int(audio.sample_rate * _BLOCK) * frame
        stream = self._library.RawOutputStream(
            samplerate=audio.sample_rate, device=self._found["index"], channels=audio.channels, dtype="int16"
        )
        with stream:
            for start in range(0, len(audio.samples), step):
                if stop.is_set():
                    stream.abort()
                    return
                stream.write(audio.samples[start : start + step])
            stream.stop()  # plays what is still in its buffer

    def _playable(self, audio: Audio) -> Audio:
        """In a format that the device supports."""
        audio = as_16_bits(audio)
        if audio.channels > self._found["max_output_channels"]:
            audio = as_mono(audio)
        try:
            self._library.check_output_settings(
                self._found["index"], channels=audio.channels, dtype="int16", samplerate=audio.sample_rate
            )
        except (ValueError, self._library.PortAudioError):
            audio = resample(audio, int(self._found["default_samplerate"]))
        return audio

    def devices(self) -> Collection[str]:
        return _names(_library(), "output")

    def about(self) -> str:
        return str(self._found["name"])
