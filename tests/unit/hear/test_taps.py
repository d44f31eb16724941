"""Audio taps: everything is heard, before any wake word, and nothing is delayed."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from flow.listening import Listening
from hark.app.runtime import Runtime
from hark.app.settings import Settings
from hark.app.voice.engines import ChosenEngine, EngineFactory, VoiceConfig
from hark.builtin.engines.files import FileMicrophone
from hark.bus import LocalBus
from hark.hear import HearOptions
from hark.hear.taps import MOST_WAITING
from hark.hosting import CallLimits, Registry
from hark.model import Audio, Clock
from hark.model.wav import write_wav
from hark.plugins import AudioTap, SoundContext
from hark.spec import topics
from hark.testing import FakeClock, settle
from hark.testing.voice.input import FakeSTT, FakeVAD, FakeWakeWords, Scene


class Ear(AudioTap):
    """Keeps what it hears."""

    id = "ear"
    quick = True

    def __init__(self) -> None:
        self.sound = b""
        self.calls: list[tuple[float, float, bool]] = []
        self.resets = 0

    def hear(self, audio: Audio, ctx: SoundContext) -> None:
        assert (audio.sample_rate, audio.sample_width, audio.channels) == (16_000, 2, 1)
        self.sound += audio.samples
        self.calls.append((ctx.seconds, ctx.dropped, ctx.is_recording))

    def reset(self) -> None:
        self.resets += 1


def loaded(*taps: AudioTap, **limits: Any) -> Registry[AudioTap]:
    registry: Registry[AudioTap] = Registry("audio tap", CallLimits(timeouts_only=True, **limits))
    for tap in taps:
        assert registry.add(tap) is not None, registry.refusals
    return registry


def sound_of(scene: Scene) -> bytes:
    return b"".join(scene.blocks())


async def test_a_tap_hears_everything_before_any_wake_word_and_during_a_command(bus: LocalBus) -> None:
    ear = Ear()
    scene = Scene().says("just talk").silence(1).says("hey jarvis").silence(0.3).says("what time is it").silence(1)
    async with Listening(bus, taps=loaded(ear)) as stage:
        await stage.hears(scene)
        assert stage.said() == ["what time is it"]
    assert ear.sound.startswith(sound_of(scene)[: len(ear.sound)])
    assert len(ear.sound) >= len(sound_of(scene)) - 2_048, "at most one block is not complete yet"
    assert [seconds for seconds, _, _ in ear.calls] == sorted(seconds for seconds, _, _ in ear.calls)
    assert {recording for _, _, recording in ear.calls} == {True, False}
    assert ear.resets == 0


async def test_a_tap_may_emit_and_its_messages_name_it(bus: LocalBus) -> None:
    class Telling(Ear):
        def hear(self, audio: Audio, ctx: SoundContext) -> None:
            if not self.calls:
                ctx.emit("my.sound", {"seconds": ctx.seconds})
            super().hear(audio, ctx)

    async with Listening(bus, taps=loaded(Telling()), source="kitchen") as stage:
        await stage.hears(Scene().silence(1))
        (told,) = stage.of("my.sound")
        assert told.context["audio_transformer_ids"] == ("ear",)
        assert told.context["source"] == "kitchen"
        assert told.session is not None
        assert told.session.is_default


@pytest.mark.parametrize("topic", [topics.UTTERANCE_HANDLED, topics.SPEECH_RENDERED, "some.skill:intent"])
async def test_a_tap_cannot_emit_what_only_hark_emits(bus: LocalBus, topic: str) -> None:
    refused: list[Exception] = []

    class Forging(Ear):
        def hear(self, audio: Audio, ctx: SoundContext) -> None:
            try:
                ctx.emit(topic)
            except PermissionError as error:
                refused.append(error)

    async with Listening(bus, taps=loaded(Forging())) as stage:
        await stage.hears(Scene().silence(0.5))
        assert refused
        assert not stage.of(topic)


@pytest.mark.parametrize("quick", [True, False], ids=["inline", "worker"])
async def test_a_tap_may_open_listening(bus: LocalBus, quick: bool) -> None:
    class Clapping(Ear):
        def hear(self, audio: Audio, ctx: SoundContext) -> None:
            if not self.calls:
                ctx.listen("de-DE")
            super().hear(audio, ctx)

    Clapping.quick = quick
    async with Listening(bus, taps=loaded(Clapping())) as stage:
        await stage.hears(Scene().silence(0.5))
        await asyncio.sleep(0) if quick else await asyncio.to_thread(lambda: None)
        await settle()
        assert stage.of(topics.LISTENER_RECORD_STARTED)
        await stage.hears(Scene().says("what time is it").silence(1))
        assert stage.said() == ["what time is it"]
        assert stage.of(topics.UTTERANCE_HANDLE)[0].data["lang"] == "de-DE"
        assert not stage.of(topics.LISTENER_WAKEWORD)


async def test_a_tap_that_never_returns_delays_nothing_and_misses_sound_with_a_count(bus: LocalBus) -> None:
    opened = threading.Event()

    class Stuck(Ear):
        quick = False

        def hear(self, audio: Audio, ctx: SoundContext) -> None:
            super().hear(audio, ctx)
            opened.wait(20)

    stuck, ear = Stuck(), Ear()
    stuck.id = "stuck"  # type: ignore[misc]
    try:
        async with Listening(bus, taps=loaded(stuck, ear, seconds=3600.0)) as stage:
            await stage.hears(Scene().silence(0.1))
            while not stuck.calls:  # its thread begins when the machine gets to it
                await asyncio.to_thread(threading.Event().wait, 0.001)
            await stage.hears(Scene().silence(MOST_WAITING + 3).says("hey jarvis").silence(0.3).says("go").silence(1))
            assert stage.said() == ["go"], "although one tap hangs"
            assert len(stuck.calls) == 1
            opened.set()
            while len(stuck.calls) < 2:
                await asyncio.to_thread(threading.Event().wait, 0.001)
            seconds, dropped, _ = stuck.calls[1]
            assert dropped >= 3
            assert seconds > dropped
            assert stuck.resets == 1
            assert ear.resets == 0
    finally:
        opened.set()


async def test_a_slow_tap_does_not_delay_live_sound(bus: LocalBus) -> None:
    """In real time: while a tap is busy with one chunk, every other block is taken from the microphone at once."""
    busy, released = threading.Event(), threading.Event()

    class Slow(Ear):
        quick = False

        def hear(self, audio: Audio, ctx: SoundContext) -> None:
            super().hear(audio, ctx)
            busy.set()
            released.wait(20)

    slow, ear = Slow(), Ear()
    slow.id = "slow"  # type: ignore[misc]
    scene = Scene().says("hey jarvis").silence(0.3).says("go").silence(1)
    try:
        async with Listening(bus, taps=loaded(slow, ear, seconds=3600.0)) as stage:
            await stage.hears(Scene().silence(0.1))
            assert await asyncio.to_thread(busy.wait, 20)
            heard, began = len(ear.sound), monotonic()
            await stage.hears(scene)
            took = monotonic() - began
            assert stage.said() == ["go"]
            assert len(slow.calls) == 1, "it is still busy with its first chunk"
            assert len(ear.sound) - heard >= len(sound_of(scene)) - 2_048, "the other tap has heard all of it"
            assert took < 5, "a listener that waited for the tap would have taken 20 s"
    finally:
        released.set()


async def test_a_tap_that_raises_is_called_again(bus: LocalBus) -> None:
    class Raising(Ear):
        def hear(self, audio: Audio, ctx: SoundContext) -> None:
            super().hear(audio, ctx)
            raise LookupError("no decoder")

    raising = Raising()
    async with Listening(bus, taps=loaded(raising)) as stage:
        await stage.hears(Scene().says("hey jarvis").silence(0.3).says("go").silence(1))
        assert stage.said() == ["go"]
    assert len(raising.calls) > 10


async def test_a_tap_hears_nothing_while_the_listener_sleeps(bus: LocalBus) -> None:
    ear = Ear()
    async with Listening(bus, taps=loaded(ear)) as stage:
        await stage.hears(Scene().silence(0.5))
        heard = len(ear.sound)
        await stage.told(topics.LISTENER_SLEEP)
        await stage.hears(Scene().says("a secret").silence(0.5))
        assert len(ear.sound) == heard
        await stage.told(topics.LISTENER_WAKE)
        await stage.hears(Scene().silence(0.5))
        assert len(ear.sound) > heard
        assert ear.resets == 1, "there is a hole in what it heard"


async def test_a_file_is_heard_as_a_microphone_is_and_waits_for_a_slow_tap(tmp_path: Path) -> None:
    class Slow(Ear):
        async def hear(self, audio: Audio, ctx: SoundContext) -> None:  # type: ignore[override]
            await asyncio.sleep(0)
            super().hear(audio, ctx)

    Slow.quick = False
    scene = Scene().silence(8).says("hey jarvis").silence(0.3).says("go").silence(1)
    file = tmp_path / "sound.wav"
    file.write_bytes(write_wav(Audio(sound_of(scene), 16_000)))
    slow = Slow()
    heard = await _heard_from_file(file, [slow], FakeClock())
    assert heard == ["go"]
    assert slow.sound[: len(sound_of(scene))] == sound_of(scene)
    assert slow.calls[-1][1] == 0, "nothing is dropped"


async def _heard_from_file(file: Path, taps: Iterable[AudioTap], clock: Clock) -> list[str]:
    microphone = FileMicrophone()
    engines = {
        "microphone": [ChosenEngine(microphone, {"path": str(file), "paced": False})],
        "vad": [ChosenEngine(FakeVAD(), {})],
        "wakeword": [ChosenEngine(FakeWakeWords(), {})],
        "stt": [ChosenEngine(FakeSTT(), {})],
    }
    voice = VoiceConfig(
        factory=EngineFactory(Settings(), installed=False),
        speaks=False,
        instead=engines,  # type: ignore[arg-type]
        hearing=HearOptions(wake_words=tuple(EngineFactory(Settings(), installed=False).wake_words()), in_step=True),
    )
    bus = LocalBus()
    said: list[str] = []
    bus.on(topics.UTTERANCE_HANDLE, lambda message: said.append(message.data["utterances"][0]))
    runtime = Runtime(Settings(), bus, clock, taps, voice=voice)
    await runtime.start()
    try:
        async with asyncio.timeout(20):
            await runtime.listener.finished()
    finally:
        await runtime.stop()
        await bus.close()
    return said
