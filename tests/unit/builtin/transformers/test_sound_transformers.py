"""Transformers of sound, on sound; and what they publish, over the protocols of the brokers."""

from __future__ import annotations

import asyncio
import math
import threading
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fakeredis import TcpFakeServer

from hark.builtin import ParrotSkill
from hark.builtin.transformers.audio.data_over_sound import RECEIVED, DataOverSound
from hark.builtin.transformers.audio.level import SpeechLevel
from hark.builtin.transformers.audio.noise import NoiseSuppression
from hark.builtin.transformers.audio.publish import PublishedSound
from hark.builtin.transformers.loudness import loudness, numbers
from hark.builtin.transformers.tts.earcon import AnswerEarcon, tones
from hark.builtin.transformers.tts.loudness import SpeechLoudness
from hark.builtin.transformers.tts.tempo import TempoAndPitch
from hark.model import Audio
from hark.model.audio import int16_bytes, int16_samples, level
from hark.model.resample import resample_mono
from hark.model.wav import read_wav, write_wav
from hark.plugins import Ctx, Message, Plugin, Session
from hark.plugins.transformers import WHOLE, ArtifactPart
from hark.testing.nats_server import NatsServer
from hark.testing.voice.assistant import VoiceAssistant
from voice_samples import spoken


def tone(hertz: float, seconds: float, volume: float = 0.5, rate: int = 16_000) -> Audio:
    samples = (round(32_767 * volume * math.sin(2 * math.pi * hertz * n / rate)) for n in range(round(seconds * rate)))
    return Audio(int16_bytes(array("h", samples)), rate)


def ctx(part: ArtifactPart = WHOLE) -> Ctx:
    return Ctx(Message("x").context, Session("x"), None, True, "", part)


async def ready(plugin: Any, **settings: Any) -> Any:
    plugin.settings = plugin.Settings(**settings)
    plugin.host = None
    await plugin.start()
    return plugin


def pitch(audio: Audio) -> float:
    """The loudest frequency."""
    import numpy

    sound = numbers(audio)[0]
    spectrum = numpy.abs(numpy.fft.rfft(sound * numpy.hanning(len(sound))))
    return float(spectrum.argmax()) * audio.sample_rate / len(sound)


def test_the_loudness_of_a_sine_is_what_the_standard_says() -> None:
    # BS.1770: a sine of 997 Hz at full scale in one channel has -3.01 LUFS.
    assert loudness(numbers(tone(997, 3, 0.99997, 48_000)), 48_000) == pytest.approx(-3.01, abs=0.05)
    assert loudness(numbers(tone(997, 3, 0.1, 48_000)), 48_000) == pytest.approx(-23.01, abs=0.05)
    assert loudness(numbers(tone(60, 3, 0.1, 48_000)), 48_000) < -23.5, "low tones count for less"


async def test_voices_of_any_volume_come_out_equally_loud() -> None:
    plugin = await ready(SpeechLoudness())
    speech = spoken("the quick brown fox jumps over the lazy dog")
    for factor in (0.05, 0.3, 1.0):
        quiet = Audio(int16_bytes(array("h", (round(n * factor) for n in int16_samples(speech.samples)))), 16_000)
        louder = plugin.transform(quiet, ctx())
        assert loudness(numbers(louder), 16_000) == pytest.approx(-18.0, abs=0.7) or level(louder.samples).peak > 0.85


async def test_quiet_speech_is_amplified_and_silence_trimmed() -> None:
    plugin = await ready(SpeechLevel())
    speech = spoken("turn on the light", before=2.0, after=3.0)
    quiet = Audio(int16_bytes(array("h", (n // 20 for n in int16_samples(speech.samples)))), 16_000)
    changed = plugin.transform(quiet, ctx())
    assert changed.seconds < speech.seconds - 4.0
    assert level(changed.samples).rms > 5 * level(quiet.samples).rms
    assert plugin.transform(Audio(bytes(64_000), 16_000), ctx()).seconds == 2.0, "silence is left alone"


async def test_steady_noise_becomes_quieter_and_speech_stays() -> None:
    import random

    plugin = await ready(NoiseSuppression())
    dice = random.Random(2)
    hiss = Audio(int16_bytes(array("h", (dice.randint(-1_500, 1_500) for _ in range(48_000)))), 16_000)
    cleaned = plugin.transform(hiss, ctx())
    assert len(cleaned.samples) == len(hiss.samples)
    assert level(cleaned.samples[32_000:]).rms < 0.4 * level(hiss.samples[32_000:]).rms
    speech = spoken("turn on the light")
    assert level(plugin.transform(speech, ctx()).samples).rms > 0.5 * level(speech.samples).rms


async def test_noise_is_removed_chunk_by_chunk_as_it_is_from_the_whole() -> None:
    plugin = await ready(NoiseSuppression())
    speech, other = spoken("turn on the light"), spoken("what time is it")
    whole = plugin.transform(speech, ctx()).samples
    sizes = (2, 318, 0, 640, 5_000, 1_022)
    chunks, at = [], 0
    while at < len(speech.samples):
        size = sizes[len(chunks) % len(sizes)]
        chunks.append(speech.samples[at : at + size])
        at += size
    cleaned = []
    for number, chunk in enumerate((*chunks, b"")):
        part = ArtifactPart("one", number, number == len(chunks))
        cleaned.append(plugin.transform(Audio(chunk, 16_000), ctx(part)).samples)
        if number == 5:  # another recording begins meanwhile, and is never ended
            plugin.transform(Audio(other.samples[:5_000], 16_000), ctx(ArtifactPart("two", 0, False)))
    assert b"".join(cleaned) == whole


async def test_a_tempo_makes_loud_speech_quieter_rather_than_clipping_it() -> None:
    faster = await ready(TempoAndPitch(), tempo=1.5)
    square = Audio(int16_bytes(array("h", [32_767 if n // 40 % 2 else -32_768 for n in range(32_000)])), 16_000)
    changed = int16_samples(faster.transform(square, ctx()).samples)
    assert sum(abs(sample) >= 32_766 for sample in changed) <= 2


async def test_tempo_changes_the_length_and_pitch_the_height() -> None:
    faster = await ready(TempoAndPitch(), tempo=1.25)
    note = tone(440, 2.0, rate=22_050)
    changed = faster.transform(note, ctx())
    assert changed.seconds == pytest.approx(1.6, abs=0.02)
    assert pitch(changed) == pytest.approx(440, abs=6)
    higher = await ready(TempoAndPitch(), semitones=12.0)
    changed = higher.transform(note, ctx())
    assert changed.seconds == pytest.approx(2.0, abs=0.02)
    assert pitch(changed) == pytest.approx(880, abs=12)


async def test_an_answer_of_several_sentences_has_one_earcon() -> None:
    async with VoiceAssistant(AnswerEarcon(), ParrotSkill()) as house:
        house.bus.emit(Message("ovos.utterance.speak", {"utterance": "First sentence. Second one. Third one."}))
        await house.settled()
        played = b"".join(sound.samples for sound in house.player.sounds)
        rate = house.player.sounds[0].sample_rate
        assert played.startswith(tones(rate, 0.25))
        assert played.count(tones(rate, 0.25)) == 1


async def test_an_earcon_can_be_a_file(tmp_path: Path) -> None:
    file = tmp_path / "ding.wav"
    file.write_bytes(write_wav(tone(1_000, 0.1, rate=48_000)))
    plugin = await ready(AnswerEarcon(), file=str(file))
    speech = tone(200, 1.0)
    assert plugin.transform(speech, ctx()).seconds == pytest.approx(1.1, abs=0.01)


def over_sound(text: str) -> Audio:
    import ggwave
    import numpy

    waves = numpy.frombuffer(ggwave.encode(text, protocolId=1, volume=30), dtype="float32")
    return resample_mono(Audio((waves * 32_767).astype("<i2").tobytes(), 48_000))


async def test_a_text_over_sound_is_heard_before_any_wake_word_and_obeyed_where_that_is_allowed() -> None:
    settings = {"plugins": {"sound-data": {"allow": ["utterance"]}}}
    async with VoiceAssistant(DataOverSound(), ParrotSkill(), settings=settings, wakes=True) as house:
        await house.hears(over_sound("utterance:say hello"), over_sound("speak:not allowed"))
        async with asyncio.timeout(20):
            while len(house.of(RECEIVED)) < 2 or not house.shown:
                await house.settled()
                await asyncio.sleep(0.01)
        assert [message.data["text"] for message in house.of(RECEIVED)] == ["utterance:say hello", "speak:not allowed"]
        assert house.shown == ["hello"]
        assert house.of(RECEIVED)[0].context["audio_transformer_ids"] == ("sound-data",)


@pytest.fixture
def redis_port() -> Iterator[int]:
    """A server that speaks the protocol of Redis: not every machine has the real one."""
    server = TcpFakeServer(("127.0.0.1", 0))
    serving = threading.Thread(target=server.serve_forever, daemon=True)
    serving.start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()
    serving.join()


def heard_by(*plugins: Plugin, **table: Any) -> VoiceAssistant:
    return VoiceAssistant(*plugins, ParrotSkill(), settings={"plugins": {"publish": table}})


async def test_redis_gets_a_copy_of_what_was_recorded(redis_port: int) -> None:
    import redis.asyncio

    url = f"redis://127.0.0.1:{redis_port}"
    listener = redis.asyncio.from_url(url)
    channel = listener.pubsub()
    await channel.subscribe("hark.sound")
    async with asyncio.timeout(20), heard_by(PublishedSound(), service="redis", url=url) as house:
        await house.hears(spoken("say hello"))
        while (message := await channel.get_message(ignore_subscribe_messages=True, timeout=1)) is None:
            pass
        assert read_wav(message["data"]).seconds > 0.5
    await channel.aclose()
    await listener.aclose()


async def test_nats_gets_a_copy_also_when_it_was_not_there_at_first() -> None:
    import nats

    plugin = PublishedSound()
    with NatsServer() as server:
        server.kill()
        async with asyncio.timeout(30), heard_by(plugin, url=server.url) as house:
            await house.hears(spoken("say hello"))
            while not plugin.problem():  # noqa: ASYNC110 - what the doctor sees, not an event
                await asyncio.sleep(0.01)
            assert "nats cannot be reached" in plugin.problem()
            server.start()
            client = await nats.connect(server.url)
            copies = await client.subscribe("hark.sound")
            await client.flush()
            message = await copies.next_msg(timeout=20)
            assert message.headers["Session"] == "default"
            assert read_wav(message.data).seconds > 0.5
            await client.close()
