"""Sound cards. None is on a test machine, so a stand-in for the library says and does what PortAudio would."""

from __future__ import annotations

import asyncio
import sys
import threading
from types import SimpleNamespace
from typing import Any

import pytest

from hark.builtin.engines.sounddevice import SoundDeviceMicrophone, SoundDevicePlayer
from hark.model import Audio
from hark.testing.clock import settle
from unit.builtin.engines.engine_stage import stage


class PortAudioError(Exception):
    pass


class FakeCards:
    """One microphone that can do 48 kHz, one loudspeaker with a single channel that can do 24 and 48 kHz."""

    PortAudioError = PortAudioError

    def __init__(self) -> None:
        self.inputs: list[Any] = []
        self.written: list[bytes] = []
        self.rates: list[int] = []
        self.aborted = 0
        self.hold = threading.Event()
        self.hold.set()
        self.fails = False

    cards = (
        {"index": 0, "name": "Mic", "max_input_channels": 2, "max_output_channels": 0, "default_samplerate": 48_000.0},
        {"index": 1, "name": "Box", "max_input_channels": 0, "max_output_channels": 1, "default_samplerate": 48_000.0},
    )

    def query_devices(self, device: Any = None, kind: str | None = None) -> Any:
        if kind is None:
            return self.cards
        for card in self.cards:
            if card[f"max_{kind}_channels"] and device in (None, card["index"], card["name"]):
                return card
        raise ValueError(f"No {kind} device matching {device!r}")

    def check_input_settings(self, _device: int, *, channels: int, dtype: str, samplerate: int) -> None:
        if samplerate != 48_000:
            raise PortAudioError("Invalid sample rate")

    def check_output_settings(self, _device: int, *, channels: int, dtype: str, samplerate: int) -> None:
        if samplerate not in (24_000, 48_000):
            raise PortAudioError("Invalid sample rate")

    def RawInputStream(self, **how: Any) -> Any:  # noqa: N802
        stream = FakeStream(self, how)
        self.inputs.append(stream)
        return stream

    def RawOutputStream(self, **how: Any) -> Any:  # noqa: N802
        if self.fails:
            raise PortAudioError("Device unavailable")
        self.rates.append(how["samplerate"])
        return FakeStream(self, how)


class FakeStream:
    def __init__(self, cards: FakeCards, how: dict[str, Any]) -> None:
        self.how = SimpleNamespace(**how)
        self.closed = False
        self._cards = cards

    def __enter__(self) -> FakeStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.closed = True

    def write(self, samples: bytes) -> None:
        self._cards.written.append(samples)
        self._cards.hold.wait(10)

    def stop(self) -> None:
        pass

    def abort(self) -> None:
        self._cards.aborted += 1


@pytest.fixture
def cards(monkeypatch: pytest.MonkeyPatch) -> FakeCards:
    made = FakeCards()
    monkeypatch.setitem(sys.modules, "sounddevice", made)  # type: ignore[arg-type]
    return made


async def test_a_microphone_is_read_at_its_own_rate(cards: FakeCards) -> None:
    async with stage() as on:
        microphone = SoundDeviceMicrophone()
        assert await on.add(microphone) is None
        assert microphone.about() == "Mic, 48000 Hz"
        assert microphone.devices() == ("0: Mic",)
        blocks = microphone.blocks()
        first = asyncio.ensure_future(anext(blocks))
        await settle()
        [stream] = cards.inputs
        samples = b"\xe8\x03" * 4_800
        await asyncio.to_thread(stream.how.callback, memoryview(samples), 4_800, None, None)
        assert 1_500 < len(await first) // 2 <= 1_600
        await blocks.aclose()  # type: ignore[attr-defined]
        assert stream.closed


async def test_a_microphone_that_is_pulled_out_ends(cards: FakeCards) -> None:
    async with stage() as on:
        microphone = SoundDeviceMicrophone()
        assert await on.add(microphone) is None
        rest = asyncio.ensure_future(_all(microphone))
        await settle()
        await asyncio.to_thread(cards.inputs[0].how.finished_callback)
        assert await rest == []


async def _all(microphone: SoundDeviceMicrophone) -> list[bytes]:
    return [block async for block in microphone.blocks()]


async def test_sound_that_is_not_taken_is_lost_and_logged(cards: FakeCards, caplog: pytest.LogCaptureFixture) -> None:
    async with stage() as on:
        microphone = SoundDeviceMicrophone()
        assert await on.add(microphone) is None
        blocks = microphone.blocks()
        first = asyncio.ensure_future(anext(blocks))
        await settle()
        for _ in range(300):
            cards.inputs[0].how.callback(bytes(2_880), 1_440, None, None)
        await first
        assert "44 blocks of sound were lost" in caplog.text
        await blocks.aclose()  # type: ignore[attr-defined]


async def test_sound_is_played_as_the_card_can(cards: FakeCards) -> None:
    async with stage() as on:
        player = SoundDevicePlayer()
        assert await on.add(player, device="Box") is None
        assert player.devices() == ("1: Box",)
        await player.play(Audio(b"\1\0" * 2_400, 24_000))
        assert b"".join(cards.written) == b"\1\0" * 2_400
        cards.written.clear()
        await player.play(Audio(b"\1\0\1\0" * 1_600, 16_000, 2, 2))
        assert len(b"".join(cards.written)) == 2 * 4_800
        assert cards.rates == [24_000, 48_000]


async def test_cancelling_ends_it_at_once(cards: FakeCards) -> None:
    cards.hold.clear()
    async with stage() as on:
        player = SoundDevicePlayer()
        assert await on.add(player) is None
        playing = asyncio.ensure_future(player.play(Audio(b"\1\0" * 240_000, 24_000)))
        await settle()
        playing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await playing
        cards.hold.set()
    assert cards.aborted == 1
    assert len(cards.written) == 1
    for thread in [one for one in threading.enumerate() if one.name == "sounddevice player"]:
        thread.join(30.0)  # the card lets go of it now
        assert not thread.is_alive()


async def test_a_card_that_fails_is_a_failure(cards: FakeCards) -> None:
    cards.fails = True
    async with stage() as on:
        player = SoundDevicePlayer()
        assert await on.add(player) is None
        with pytest.raises(PortAudioError, match="unavailable"):
            await player.play(Audio(b"\1\0", 24_000))


async def test_a_missing_card_is_reported_with_the_present_ones(cards: FakeCards) -> None:
    async with stage() as on:
        refusal = await on.add(SoundDeviceMicrophone(), device="Nobody")
        assert refusal is not None
        assert "no input device 'Nobody'" in refusal.reason
        assert refusal.remedy == "name one of these: 0: Mic"


async def test_without_portaudio_the_remedy_says_where_it_comes_from(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_name: str) -> Any:
        raise OSError("PortAudio library not found")

    monkeypatch.setattr("hark.builtin.engines.extras.import_module", missing)
    async with stage() as on:
        refusal = await on.add(SoundDevicePlayer())
        assert refusal is not None
        assert "PortAudio library not found" in refusal.reason
        assert "apt-get install libportaudio2" in refusal.remedy
