"""Hours of audio and thousands of spoken turns through a whole house: does anything pile up?

`python benchmarks/voice/soak.py [--hours 6] [--minutes 4] [--real]`. Recorded sound, faster than real time. Turns of
every kind: answered, asked back and answered, interrupted, silent, unclear, cancelled by an audio transformer, with
engines that fail now and then. Engines are cheap ones; `--real`: speech by nanotts, heard by Silero and microWakeWord.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import random
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

from hark.app.plugin_set import plugins
from hark.app.settings import settings_from
from hark.model import Audio, Message
from hark.model.resample import resample_mono
from hark.plugins import AudioTransformer, Ctx, Turn
from hark.plugins.engines import SAMPLE_RATE, Engine, Player, STTEngine, Transcript, TTSEngine
from hark.skills import Skill, intent
from hark.spec import topics
from hark.testing.voice.assistant import VoiceAssistant
from hark.testing.voice.input import FakeVAD, FakeWakeWords, Scene

WAKE = "hey jarvis"
QUESTIONS = ("what time is it", "say good morning", "what is six times seven", "florble the wibble", "tell a story")
PAGE = os.sysconf("SC_PAGE_SIZE")


class Told(STTEngine):
    """Understands what it is told was said; fails now and then."""

    id = "told-stt"

    def __init__(self) -> None:
        self.next = ""
        self.fails = False

    def transcribe(self, audio: Audio, lang: str) -> Transcript:
        if self.fails:
            raise RuntimeError("out of memory")
        return Transcript((self.next,) if self.next else ())


class Spare(Told):
    id = "spare-stt"


class Beeps(TTSEngine):
    """A tenth of a second for each word; fails now and then."""

    id = "beeps"

    def __init__(self) -> None:
        self.fails = False

    def synthesize(self, text: str, lang: str, voice: str | None = None) -> Audio:
        if self.fails:
            raise RuntimeError("no voice today")
        return Audio(b"\1\2" * (1_600 * len(text.split())), SAMPLE_RATE)


class Loudspeaker(Player):
    """Plays for as long as it takes others to do something."""

    id = "loudspeaker"

    def __init__(self) -> None:
        self.seconds = 0.0
        self.cut = 0

    async def play(self, audio: Audio) -> None:
        self.seconds += audio.seconds
        try:
            for _ in range(100):
                await asyncio.sleep(0)
        except asyncio.CancelledError:
            self.cut += 1
            raise


class Moody(AudioTransformer):
    """Does not want to hear some of it."""

    id = "moody"
    quick = True
    cancels = False

    def transform(self, audio: Audio, ctx: Ctx) -> Audio:
        if self.cancels:
            ctx.cancel("other")
        return audio


class Talker(Skill):
    id = "talker.skill"

    @intent("tell a story")
    async def story(self, turn: Turn) -> None:
        await turn.speak(" ".join(f"Number {n} was a king, and had a castle and a garden." for n in range(8)))

    @intent("order a pizza")
    async def order(self, turn: Turn) -> None:
        size = await turn.ask_choice(["small", "large"], "Which size?", retries=0)
        await turn.speak("Then not." if size is None else f"A {size} pizza is on its way.")


class Sounds:
    """What is said, as sound."""

    def __init__(self, real: bool) -> None:
        self._voice: TTSEngine | None = None
        self._made: dict[str, bytes] = {}
        if real:
            from hark.builtin.engines.nanotts import NanoTTS

            self._voice = NanoTTS()
            self._voice.settings = NanoTTS.Settings()
            self._voice.load()

    def of(self, text: str) -> bytes:
        if text not in self._made:
            if self._voice is None:
                self._made[text] = Scene().says(text).samples
            else:
                self._made[text] = resample_mono(self._voice.synthesize(text, "en-US"), SAMPLE_RATE).samples  # type: ignore[arg-type]
        return self._made[text]


def silence(seconds: float) -> bytes:
    return bytes(2 * int(seconds * SAMPLE_RATE))


class Soak:
    """A house and everything that happens to it."""

    def __init__(self, real: bool, seed: int) -> None:
        self.dice = random.Random(seed)
        self.sounds = Sounds(real)
        self.stt, self.tts, self.loudspeaker, self.moody = Told(), Beeps(), Loudspeaker(), Moody()
        self.spare = Spare()
        ears: list[Engine] = [FakeVAD(), FakeWakeWords()]
        if real:
            from hark.builtin.engines.microwakeword import MicroWakeWord
            from hark.builtin.engines.silero import Silero

            ears = [Silero(), MicroWakeWord()]
        self.runtime = VoiceAssistant(
            *plugins(installed=False, files=[]),  # type: ignore[arg-type]
            Talker(),
            self.moody,
            engines=[*ears, self.stt, self.spare, self.tts, self.loudspeaker],
            settings=settings_from({"trace": {"size": 200}}),
            wakes=True,
            matchers=(),
        )
        self.runtime.bus.tap(self._saw)
        self.topics: Counter[str] = Counter()
        self.heard = 0.0
        """Seconds of sound."""
        self.deeds = (
            self.answered,
            self.answered,
            self.asked,
            self.interrupted,
            self.silent,
            self.unclear,
            self.cancelled,
        )

    def _saw(self, message: Message) -> None:
        self.topics[message.type] += 1

    async def hear(self, *sounds: bytes) -> None:
        for sound in sounds:
            self.heard += len(sound) / (2 * SAMPLE_RATE)
            self.runtime.microphone.give(sound)
        await self.runtime.microphone.heard()

    async def command(self, text: str) -> None:
        self.stt.next = self.spare.next = text
        await self.hear(self.sounds.of(WAKE), silence(0.5), self.sounds.of(text), silence(1.2))

    async def answered(self) -> None:
        self.stt.fails, self.tts.fails = self.dice.random() < 0.05, self.dice.random() < 0.05
        await self.command(self.dice.choice(QUESTIONS))
        await self.runtime.settled()
        self.stt.fails = self.tts.fails = False

    async def asked(self) -> None:
        opened = self.topics[topics.MIC_LISTEN]
        await self.command("order a pizza")
        for _ in range(2_000):
            if self.topics[topics.MIC_LISTEN] > opened:
                break
            await asyncio.sleep(0.001)
        self.stt.next = self.spare.next = "the large one"
        await self.hear(silence(0.2), self.sounds.of("the large one"), silence(1.2))
        await self.runtime.settled()

    async def interrupted(self) -> None:
        await self.command("tell a story")
        await self.command("what time is it")
        await self.runtime.settled()

    async def silent(self) -> None:
        await self.hear(self.sounds.of(WAKE), silence(6.5))
        await self.runtime.settled()

    async def unclear(self) -> None:
        await self.command("what time is it")
        self.stt.next = self.spare.next = ""
        await self.runtime.settled()

    async def cancelled(self) -> None:
        self.moody.cancels = True
        await self.command("what time is it")
        await self.runtime.settled()
        self.moody.cancels = False

    async def run(self, hours: float, minutes: float) -> Iterator[str]:
        """Until so much was heard, or so much time has gone by."""
        began, lines, share = monotonic(), [], 0.0
        others = set(threading.enumerate())
        async with self.runtime:
            while share < 1.0:
                await self.dice.choice(self.deeds)()
                self.runtime.messages.clear()
                self.runtime.shown.clear()
                self.runtime.following.heard.clear()
                before, share = share, max(self.heard / 3600 / hours, (monotonic() - began) / 60 / minutes)
                for mark in (0.1, 0.5, 1.0):
                    if before < mark <= share:
                        lines.append(self.line(mark))
        for thread in threading.enumerate():
            if thread.name == "hark-worker" and thread not in others:
                thread.join(5.0)  # it was told to end, and is about to
        lines.append(f"closed: {self.left()}")
        return iter(lines)

    def line(self, mark: float) -> str:
        gc.collect()
        memory = int(Path("/proc/self/statm").read_text().split()[1]) * PAGE / 1e6
        commands = self.topics[topics.LISTENER_RECORD_STARTED]
        return (
            f"at {mark:4.0%}: {self.heard / 3600:5.2f} h heard, {commands:>6} commands, {memory:6.1f} MB, "
            f"{sys.getallocatedblocks():>8} objects, {self.left()}"
        )

    def left(self) -> str:
        descriptors = len(list(Path("/proc/self/fd").iterdir()))
        return f"{threading.active_count()} threads, {descriptors} descriptors, {len(asyncio.all_tasks())} tasks"


async def main(options: argparse.Namespace) -> int:
    soak = Soak(options.real, options.seed)
    before = soak.left()
    began = monotonic()
    for line in await soak.run(options.hours, options.minutes):
        print(line)
    counted = soak.topics
    entries, markers = counted[topics.UTTERANCE_HANDLE], counted[topics.UTTERANCE_HANDLED]
    failed, cancelled = counted[topics.STT_FAILED], counted[topics.UTTERANCE_CANCELLED]
    recordings = counted[topics.LISTENER_RECORD_STARTED]
    seconds = monotonic() - began
    print(f"before: {before}")
    print(f"{soak.heard / 3600:.2f} h heard and {soak.loudspeaker.seconds / 3600:.2f} h said in {seconds:.0f} s")
    print(f"{recordings} recordings = {entries} turns + {failed} not understood + {cancelled} cancelled")
    print(f"{markers} markers, {counted[topics.MIC_LISTEN]} questions, {soak.loudspeaker.cut} sounds cut short")
    whole = recordings == entries + failed + cancelled and entries == markers
    print("every recording has one outcome, every turn one marker" if whole else "SOMETHING IS MISSING")
    return 0 if whole else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hours", type=float, default=6.0, help="of audio")
    parser.add_argument("--minutes", type=float, default=4.0, help="at most so many, by the clock on the wall")
    parser.add_argument("--real", action="store_true", help="with speech, Silero and microWakeWord")
    parser.add_argument("--seed", type=int, default=1)
    sys.exit(asyncio.run(main(parser.parse_args())))
