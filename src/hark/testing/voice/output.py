"""A voice and a loudspeaker for tests: what was said can be read from the sound."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any, Final

from hark.bus import LocalBus
from hark.chains import Chain
from hark.hosting import Engines, PluginHost, Registry, Runner
from hark.model import Audio, Clock
from hark.plugins import TTSTransformer
from hark.plugins.engines import Engine, Player, TTSEngine
from hark.speak.options import SpeakOptions
from hark.speak.synthesis import AudioOutput, is_device

RATE: Final = 8_000


def voiced(text: str, rate: int = RATE) -> Audio:
    """A sound whose samples are the characters of a text."""
    return Audio(text.encode("utf-16-le"), rate)


def read(audio: Audio) -> str:
    """What was said in a sound made by `voiced`."""
    return audio.samples.decode("utf-16-le")


class FakeTTS(TTSEngine):
    """Speaks at once, unless `work` waits, raises or returns something else."""

    id = "fake-tts"
    quick = True

    def __init__(self, work: Callable[[str], Any] = voiced, *, id: str = "fake-tts", langs: Any = None) -> None:
        self.id = id  # type: ignore[misc]  # several may be needed side by side
        self.langs = langs
        self.asked: list[tuple[str, str, str | None]] = []
        """What it was asked to say: text, language, voice."""
        self._work = work

    def synthesize(self, text: str, lang: str, voice: str | None = None) -> Audio:
        """What `work` returns for the text."""
        self.asked.append((text, lang, voice))
        audio: Audio = self._work(text)
        return audio

    @property
    def texts(self) -> list[str]:
        """What it was asked to say."""
        return [text for text, _, _ in self.asked]


class SlowTTS(FakeTTS):
    """Waits before each sentence until `release()` lets it through."""

    quick = False

    def __init__(self, *, id: str = "slow-tts") -> None:
        super().__init__(id=id)
        self._allowed = asyncio.Semaphore(0)

    async def synthesize(self, text: str, lang: str, voice: str | None = None) -> Audio:  # type: ignore[override]
        """A sound by `voiced`, after a `release`."""
        self.asked.append((text, lang, voice))
        await self._allowed.acquire()
        return voiced(text)

    def release(self, times: int = 1) -> None:
        """Let the next `times` sentences through."""
        for _ in range(times):
            self._allowed.release()


class FakePlayer(Player):
    """Keeps what it plays. A sound takes `seconds` on the assistant's clock, by default none."""

    id = "fake-player"

    def __init__(self, seconds: float = 0.0, *, id: str = "fake-player", fails: Callable[[Audio], bool] | None = None):
        self.id = id  # type: ignore[misc]  # several may be needed side by side
        self.seconds = seconds
        self.sounds: list[Audio] = []
        """What was played to its end."""
        self.cut: list[Audio] = []
        """What was ended before that."""
        self.playing: list[Audio] = []
        """What is playing now."""
        self.most_at_once = 0
        self._fails = fails or (lambda _audio: False)

    async def play(self, audio: Audio) -> None:
        """Raises `OSError` where `fails` says so."""
        if self._fails(audio):
            raise OSError("the loudspeaker is unplugged")
        self.playing.append(audio)
        self.most_at_once = max(self.most_at_once, len(self.playing))
        try:
            if self.seconds:
                await self.host.clock.sleep(self.seconds)
        except asyncio.CancelledError:
            self.cut.append(audio)
            raise
        finally:
            self.playing.remove(audio)
        self.sounds.append(audio)

    @property
    def heard(self) -> list[str]:
        """What was said to the end."""
        return [read(audio) for audio in self.sounds]


async def audio_output(
    bus: LocalBus,
    clock: Clock,
    *engines: Engine,
    tts: tuple[TTSTransformer, ...] = (),
    options: SpeakOptions | None = None,
    runner: Runner | None = None,
    hears: Callable[[str], bool] = is_device,
) -> AudioOutput:
    """An audio output with these engines and players, and these tts transformers."""
    runner = runner or Runner(clock)
    made: dict[str, Engines[Any]] = {"tts": Engines("tts", runner), "player": Engines("player", runner)}
    for engine in engines:
        refusal = await made[engine.kind].add(engine, {}, lambda one: PluginHost(one, bus, runner, None))
        assert refusal is None, refusal
    registry: Registry[Any] = Registry("tts transformer")
    for transformer in tts:
        registry.add(transformer)
    chain = Chain("tts", registry, runner, bus.emit)
    return AudioOutput(runner, chain, made["tts"], made["player"], options or SpeakOptions(), hears)


async def close_output(output: AudioOutput) -> None:
    """Unload its engines."""
    await output.engines.close()
    await output.players.close()
    output.runner.threads.close()


async def in_pieces(text: str, size: int = 4) -> AsyncIterator[Audio]:
    """A sentence as a stream."""
    for at in range(0, len(text), size):
        yield voiced(text[at : at + size])
