"""How much Hark adds to a spoken turn: `python benchmarks/voice/delay.py [--turns 300] [--model FOLDER]`.

From the block of sound with which a command is over, to the first sample of the answer, with the time subtracted that
engines were at work in between. All of Hark is there: every builtin plugin, and one more in each of the six chains.
Then how long a listener waits for the first sample of an answer of 1, 10 and 100 sentences. On a machine that does
other things as well, the figures are theirs; there, as root: `chrt --fifo 10 python benchmarks/voice/delay.py`.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import sys
import time
from collections.abc import AsyncIterator
from functools import wraps
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

from hark.app.plugin_set import plugins
from hark.app.voice.sound_files import CollectingPlayer
from hark.model import Audio, Match, Message
from hark.plugins import (
    AudioTransformer,
    Ctx,
    DialogTransformer,
    IntentTransformer,
    MetadataTransformer,
    TTSTransformer,
    Turn,
    UtteranceTransformer,
)
from hark.plugins.engines import Engine, STTEngine, Transcript, TTSEngine, VADEngine, VoiceDetector
from hark.skills import Skill, intent
from hark.spec import topics
from hark.testing.voice.assistant import VoiceAssistant
from hark.testing.voice.input import FakeMicrophone, FakeVAD, Scene

BUDGET = 0.015
SIZES = (1, 10, 100)


class Watch:
    """Adds up how long engines were at work."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.first: float | None = None
        """When the first sample of the answer was there."""

    def work(self, call: Any, *args: Any) -> Any:
        began = perf_counter()
        try:
            return call(*args)
        finally:
            if self.first is None:
                self.seconds += perf_counter() - began


class Microphone(FakeMicrophone):
    """Knows when it gave the last block."""

    gave = 0.0

    async def blocks(self) -> AsyncIterator[bytes]:
        async for block in super().blocks():
            self.gave = perf_counter()
            yield block


class Loudspeaker(CollectingPlayer):
    """Knows when the first sample came."""

    watch: Watch

    async def play(self, audio: Audio) -> None:
        if self.watch.first is None:
            self.watch.first = perf_counter()


def timed(engine: Any, watch: Watch, *methods: str) -> Any:
    """The same engine, with its work on the watch."""
    for name in methods:
        setattr(engine, name, _watched(getattr(engine, name), watch))
    return engine


def _watched(method: Any, watch: Watch) -> Any:
    @wraps(method)
    def call(*args: Any) -> Any:
        return watch.work(method, *args)

    return call


class TimedVAD(VADEngine):
    """A voice activity engine with its work on the watch."""

    id = "timed-vad"

    def __init__(self, engine: Any, watch: Watch) -> None:
        self._engine, self._watch = engine, watch
        self.quick = engine.quick  # type: ignore[misc]

    def load(self) -> None:
        self._engine.load()

    def detector(self) -> VoiceDetector:
        return timed(self._engine.detector(), self._watch, "probability")  # type: ignore[no-any-return]


class FixedSTT(STTEngine):
    """Takes so many seconds for every command."""

    id = "fixed-stt"

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def transcribe(self, audio: Audio, lang: str) -> Transcript:
        time.sleep(self._seconds)
        return Transcript(("Read to me.",))


class FixedTTS(TTSEngine):
    """Takes so many seconds for every sentence."""

    id = "fixed-tts"

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._count = 0

    def synthesize(self, text: str, lang: str, voice: str | None = None) -> Audio:
        time.sleep(self._seconds)
        self._count += 1
        return Audio(self._count.to_bytes(4, "little") * 4_000, 16_000)


class Reader(Skill):
    id = "reader.skill"
    sentences = 1

    @intent("read to me")
    async def read(self, turn: Turn) -> None:
        await turn.speak(
            " ".join(
                f"This is sentence number {n} of this answer, {perf_counter():.9f}." for n in range(self.sentences)
            )
        )


class Louder(AudioTransformer):
    id = "louder"

    def transform(self, audio: Audio, ctx: Ctx) -> Audio:
        return Audio(audio.samples[2:] + b"\0\0", audio.sample_rate)


class Lower(UtteranceTransformer):
    id = "lower"

    def transform(self, utterances: list[str], ctx: Ctx) -> list[str]:
        return [text.lower() for text in utterances]


class Tagged(MetadataTransformer):
    id = "tagged"

    def transform(self, ctx: Ctx) -> None:
        ctx.set("room", "kitchen")


class Placed(IntentTransformer):
    id = "placed"

    def transform(self, match: Match, ctx: Ctx) -> Match:
        return match.with_slots(place="kitchen")


class Polite(DialogTransformer):
    id = "polite"

    def transform(self, text: str, ctx: Ctx) -> str:
        return f"{text} Thank you."


class Softer(TTSTransformer):
    id = "softer"

    def transform(self, audio: Audio, ctx: Ctx) -> Audio:
        return Audio(audio.samples[2:] + b"\0\0", audio.sample_rate)


SIX = (Louder, Lower, Tagged, Placed, Polite, Softer)
"""Little work, so that what is measured is the chains; on workers, as transformers that do not say they are quick."""


class Bench:
    """A house, and what is measured in it."""

    def __init__(self, watch: Watch, engines: list[Engine], settings: dict[str, Any], chains: bool = True) -> None:
        self.watch = watch
        self.reader = Reader()
        self.microphone, self.loudspeaker = Microphone(), Loudspeaker()
        self.loudspeaker.watch = watch
        extra = [made() for made in SIX] if chains else []
        self.runtime = VoiceAssistant(
            *plugins(installed=False, files=[]),  # type: ignore[arg-type]
            self.reader,
            *extra,
            engines=[self.microphone, self.loudspeaker, *engines],
            settings=settings,
            matchers=(),
        )
        self.ended: float | None = None
        self.spoke = 0.0
        self.runtime.bus.tap(self._saw)

    def _saw(self, message: Message) -> None:
        if message.type == topics.LISTENER_RECORD_ENDED:
            self.ended = self.microphone.gave
            self.watch.seconds, self.watch.first = 0.0, None
        elif message.type == topics.UTTERANCE_SPEAK:
            self.spoke = perf_counter()

    async def turn(self, sound: bytes) -> Row:
        """One command, in blocks of 32 ms, until it is over."""
        self.ended = None
        for at in range(0, len(sound), 1024):
            self.microphone.give(sound[at : at + 1024])
            await self.microphone.heard()
            if self.ended is not None:
                break  # engines are to be at work one after the other, or who took what time would be a guess
        await self.runtime.settled()
        watch = self.watch
        if watch.first is None or self.ended is None:
            raise SystemExit(f"there was no answer to this:\n{self.runtime.why()}")
        self.runtime.messages.clear()
        return Row(watch.first - self.ended - watch.seconds, watch.seconds, watch.first - self.spoke)


class Row(NamedTuple):
    """What was measured in a turn."""

    added: float
    engines: float
    first: float
    """From the response to its first sample."""


def p95(values: list[float]) -> float:
    return sorted(values)[min(len(values) - 1, int(0.95 * len(values)))]


def told(name: str, rows: list[Row]) -> bool:
    added = [row.added for row in rows]
    verdict = "within" if p95(added) < BUDGET else "OVER"
    figures = f"median {median(added) * 1000:5.2f}  p95 {p95(added) * 1000:5.2f}  most {max(added) * 1000:5.2f} ms"
    print(
        f"{name:<44} {len(rows):>4} turns  engines {median(row.engines for row in rows) * 1000:6.1f} ms  "
        f"Hark adds: {figures}  {verdict} {BUDGET * 1000:.0f} ms",
        flush=True,
    )
    return p95(added) < BUDGET


async def fixed(turns: int, stt: float, tts: float, chains: bool) -> bool:
    watch = Watch()
    engines = [
        TimedVAD(FakeVAD(), watch),
        timed(FixedSTT(stt), watch, "transcribe"),
        timed(FixedTTS(tts), watch, "synthesize"),
    ]
    bench = Bench(watch, engines, {}, chains)
    sound = Scene().says("read to me").silence(1.0).samples
    async with bench.runtime:
        rows = [await bench.turn(sound) for _ in range(turns + 5)][5:]
    with_chains = "six chains at work" if chains else "no plugins in the chains"
    return told(f"fixed {stt * 1000:.0f} + {tts * 1000:.0f} ms, {with_chains}", rows)


async def real(turns: int, model: str) -> bool:
    from hark.builtin.engines.hibari import Hibari
    from hark.builtin.engines.nanotts import NanoTTS
    from hark.builtin.engines.silero import Silero
    from hark.builtin.engines.whisper import FasterWhisper
    from hark.model.resample import resample_mono

    watch = Watch()
    voice = Hibari()
    voice.settings = Hibari.Settings()
    voice.load()
    sound = resample_mono(voice.synthesize("what time is it", "en-US")).samples + bytes(32_000)
    sound += bytes(-len(sound) % 1024)
    engines = [
        TimedVAD(Silero(), watch),
        timed(FasterWhisper(), watch, "transcribe"),
        timed(NanoTTS(), watch, "synthesize"),
    ]
    bench = Bench(watch, engines, {"engine": {"faster-whisper": {"model": model, "threads": 1}}})
    async with bench.runtime:
        rows = [await bench.turn(sound) for _ in range(turns + 2)][2:]
    return told("faster-whisper, silero, nanotts, six chains", rows)


async def long_answers(tts: float) -> None:
    watch = Watch()
    engines = [timed(FixedSTT(0.0), watch, "transcribe"), timed(FixedTTS(tts), watch, "synthesize")]
    bench = Bench(watch, engines, {}, chains=False)
    sound = Scene().says("read to me").silence(1.0).samples
    async with bench.runtime:
        for size in SIZES:
            bench.reader.sentences = size
            rows = [await bench.turn(sound) for _ in range(7)]
            first = median(row.first for row in rows)
            print(
                f"an answer of {size:>3} sentences of {tts * 1000:.0f} ms each is heard after {first * 1000:6.1f} ms",
                flush=True,
            )


async def main(options: argparse.Namespace) -> int:
    gc.collect()
    gc.freeze()
    kept = [
        await fixed(options.turns, 0.0, 0.0, chains=False),
        await fixed(options.turns, 0.0, 0.0, chains=True),
        await fixed(options.turns, 0.03, 0.02, chains=True),
    ]
    if options.model:
        kept.append(await real(options.real, options.model))
    await long_answers(0.02)
    return 0 if all(kept) else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=300)
    parser.add_argument("--real", type=int, default=40, help="turns with real engines")
    parser.add_argument("--model", default="", help="a folder with a Whisper model: measure with real engines as well")
    sys.exit(asyncio.run(main(parser.parse_args())))
