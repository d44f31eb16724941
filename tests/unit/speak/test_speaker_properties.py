"""Whatever comes, in whatever order: what always holds."""

from __future__ import annotations

import base64
from itertools import count
from random import Random
from typing import Any

import pytest

from flow.chain_rig import link
from flow.sounding import ENDED, LISTEN, STARTED, Sounding
from hark.bus import LocalBus
from hark.model import Audio
from hark.model.wav import write_wav
from hark.plugins import Ctx
from hark.spec import topics
from hark.testing import settle
from hark.testing.voice.output import FakePlayer, SlowTTS, read, voiced

STEPS = ("say", "say", "say", "sound", "instant", "stop", "release", "release", "release", "pass", "pass", "cancel")


class Unreliable(SlowTTS):
    """Slow, and now and then it cannot."""

    async def synthesize(self, text: str, lang: str, voice: str | None = None) -> Audio:  # type: ignore[override]
        audio = await super().synthesize(text, lang, voice)
        return audio if "bad" not in text else Audio(b"", 8_000)


def hush(audio: Audio, ctx: Ctx) -> Audio:
    if "secret" in read(audio):
        ctx.cancel("policy_block")
    return audio


@pytest.mark.parametrize("seed", range(40))
async def test_signals_come_in_pairs_and_everything_has_one_end(bus: LocalBus, seed: int) -> None:
    dice = Random(seed)
    numbers = count()
    voice, player = Unreliable(), FakePlayer(1.0)
    tts = (link("tts", "hush", hush),) if seed % 2 else ()
    async with Sounding(bus, voice, tts=tts, player=player, ahead=seed % 4) as room:
        said = 0

        async def step(name: str) -> None:
            nonlocal said
            n = next(numbers)
            if name == "say":
                said += 1
                kind = dice.choice(("good", "good", "bad", "secret"))
                text = " ".join(f"Part {n:03}.{part} {kind}." for part in range(dice.randint(0, 3)))
                room.say(text, listen=dice.random() < 0.3)
            elif name in ("sound", "instant"):
                topic = topics.AUDIO_QUEUE if name == "sound" else topics.AUDIO_PLAY_SOUND
                sound = base64.b64encode(write_wav(voiced(f"{name} {n:03}"))).decode()
                room.emit(topic, audio=sound)
            elif name == "stop":
                room.emit(dice.choice((topics.STOP, topics.AUDIO_STOP)))
            elif name == "release":
                voice.release()
            elif name == "cancel" and room.speaker.tasks:
                names = sorted(task.get_name() for task in room.speaker.tasks)
                next(task for task in room.speaker.tasks if task.get_name() == names[0]).cancel()
            elif name == "pass":
                await room.clock.advance(dice.choice((0.3, 1.0)))
            if dice.random() < 0.7:
                await settle()

        for _ in range(60):
            await step(dice.choice(STEPS))
            queued = [audio for audio in player.playing if not read(audio).startswith("instant")]
            assert len(queued) <= 1, "one at a time"
        voice.release(1_000)
        for _ in range(60):
            await room.clock.advance(3.0)
        check(room, player, said)


def check(room: Sounding, player: FakePlayer, said: int) -> None:
    assert room.speaker.pending == 0
    assert player.playing == []
    assert len(room.outcomes) == said, "each response ends once"
    signals: list[Any] = [signal for signal in room.signals() if signal in (STARTED, ENDED)]
    assert signals == [STARTED, ENDED] * (len(signals) // 2)
    shown = [signal for signal in room.signals() if signal in (STARTED, ENDED, LISTEN)]
    for before, signal in zip([None, *shown], shown, strict=False):
        assert signal != LISTEN or before != STARTED, "the microphone is shut while something is heard"
    heard = [text.split()[1].split(".")[0] for text in player.heard if not text.startswith("instant")]
    assert heard == sorted(heard), "in the order of receipt"
    assert not any("bad" in text for text in player.heard)
