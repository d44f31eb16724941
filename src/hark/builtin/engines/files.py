"""Microphones and players without a sound card: files, and a player that plays nothing."""

from __future__ import annotations

from array import array
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from msgspec import Meta

from hark.model import Audio
from hark.model.audio import as_mono, int16_bytes, int16_samples
from hark.model.resample import resample, resample_mono
from hark.model.wav import MalformedWav, read_wav, write_wav
from hark.plugins.engines import SAMPLE_RATE, Microphone, Player, Unavailable

_HEADER: Final = len(write_wav(Audio(b"", 16_000)))


class WavRecorder:
    """One WAV file, mono, 16 bits, which is complete after each `add`."""

    def __init__(self, path: Path, rate: int) -> None:
        self._rate = rate
        self._frames = 0
        self._file = path.open("w+b")
        self._write_header()

    def add(self, audio: Audio, seconds: float, at: float | None) -> None:
        """Mix in the first `seconds` of a sound `at` seconds from the beginning, or append them."""
        if self._file.closed:
            return
        wanted = round(seconds * self._rate)
        numbers = int16_samples(resample(as_mono(audio), self._rate).samples)[:wanted]
        place = self._frames if at is None else round(at * self._rate)
        present = self._read(place, len(numbers))
        mixed = array("h", (max(-32_768, min(32_767, a + b)) for a, b in zip(numbers, present, strict=True)))
        self._write(place, mixed if any(present) else numbers)
        self._write_header()

    def close(self) -> None:
        self._file.close()

    def _read(self, place: int, count: int) -> array[int]:
        self._file.seek(_HEADER + 2 * place)
        found = self._file.read(2 * max(0, min(count, self._frames - place)))
        return int16_samples(found.ljust(2 * count, b"\0"))

    def _write(self, place: int, numbers: array[int]) -> None:
        # A gap in a file reads as zeros, which is silence.
        self._file.seek(_HEADER + 2 * place)
        self._file.write(int16_bytes(numbers))
        self._frames = max(self._frames, place + len(numbers))

    def _write_header(self) -> None:
        header = bytearray(write_wav(Audio(b"", self._rate)))
        size = 2 * self._frames
        header[4:8] = (len(header) - 8 + size).to_bytes(4, "little")
        header[-4:] = size.to_bytes(4, "little")
        self._file.seek(0)
        self._file.write(header)
        self._file.flush()


_BLOCK: Final = 2_048
"""Bytes in a block: 64 ms."""
_PER_SECOND: Final = 2 * SAMPLE_RATE


class FileMicrophone(Microphone):
    """Gives a WAV file of any format, once."""

    id = "file"

    @dataclass(frozen=True)
    class Settings:
        """What a deployer may set."""

        path: str = ""
        """The WAV file."""
        paced: bool = True
        """Whether it is given in real time; else as fast as it is consumed."""
        silence: Annotated[float, Meta(ge=0, le=3_600)] = 1.5
        """Seconds of silence after the end, so that the end of the speech is detected."""

    settings: Settings

    def load(self) -> None:
        path = Path(self.settings.path).expanduser()
        try:
            sound = resample_mono(read_wav(path.read_bytes()))
        except (OSError, MalformedWav) as error:
            raise Unavailable(f"{path} cannot be read: {error}", "give `path` a WAV file") from error
        self._samples = sound.samples + bytes(2 * round(self.settings.silence * SAMPLE_RATE))

    def unload(self) -> None:
        self._samples = b""

    async def blocks(self) -> AsyncIterator[bytes]:
        clock, samples = self.host.clock, self._samples
        began = clock.monotonic()
        for start in range(0, len(samples), _BLOCK):
            block = samples[start : start + _BLOCK]
            if self.settings.paced:
                due = began + (start + len(block)) / _PER_SECOND
                await clock.sleep(max(0.0, due - clock.monotonic()))
            yield block

    def about(self) -> str:
        return f"{self.settings.path}, {len(self._samples) / _PER_SECOND:.1f} s"


class FilePlayer(Player):
    """Writes what is played into one WAV file: mono, 16 bits. Sounds that play at a time are mixed."""

    id = "recorder"

    @dataclass(frozen=True)
    class Settings:
        """What a deployer may set."""

        path: str = ""
        """The WAV file; an existing one is replaced."""
        rate: Annotated[int, Meta(ge=8_000, le=192_000)] = 24_000
        """Samples a second."""
        gaps: bool = True
        """Whether the time between two sounds is kept; else one follows on the other."""
        paced: bool = True
        """Whether playing takes as long as the sound; else it is done at once."""

    settings: Settings

    def load(self) -> None:
        path = Path(self.settings.path).expanduser()
        if not self.settings.path:
            raise Unavailable("no file is set to write", 'name it: path = "..."')
        try:
            self._recording = WavRecorder(path, self.settings.rate)
        except OSError as error:
            raise Unavailable(f"{path} cannot be written: {error}", "correct the setting `path`") from error
        self._began: float | None = None

    def unload(self) -> None:
        self._recording.close()

    async def play(self, audio: Audio) -> None:
        """When cancelled, only what would have been heard is written."""
        clock, settings = self.host.clock, self.settings
        start = clock.monotonic()
        self._began = start if self._began is None else self._began
        heard = 0.0 if settings.paced else audio.seconds
        try:
            if settings.paced:
                await clock.sleep(audio.seconds)
                heard = audio.seconds
        finally:
            heard = heard or min(audio.seconds, clock.monotonic() - start)
            self._recording.add(audio, heard, start - self._began if settings.gaps else None)

    def about(self) -> str:
        return f"writes {self.settings.path}"


class NullPlayer(Player):
    """Plays nothing, for machines without a loudspeaker and for tests."""

    id = "null"

    @dataclass(frozen=True)
    class Settings:
        """What a deployer may set."""

        paced: bool = True
        """Whether it takes as long as the sound; else it is done at once."""

    settings: Settings

    async def play(self, audio: Audio) -> None:
        if self.settings.paced:
            await self.host.clock.sleep(audio.seconds)

    def about(self) -> str:
        return "plays nothing" if self.settings.paced else "plays nothing, takes no time"
