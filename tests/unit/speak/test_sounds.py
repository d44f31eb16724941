"""Sounds that others have played."""

from __future__ import annotations

import base64
import logging
from pathlib import Path

import pytest

from flow.sounding import ENDED, LISTEN, STARTED, Sounding
from hark.bus import LocalBus
from hark.model.wav import write_wav
from hark.spec import topics
from hark.testing.voice.output import voiced


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "sounds"
    (made / "deep").mkdir(parents=True)
    (made / "bell.wav").write_bytes(write_wav(voiced("bell")))
    (made / "deep" / "a gong.wav").write_bytes(write_wav(voiced("gong")))
    (tmp_path / "secret.wav").write_bytes(write_wav(voiced("secret")))
    (made / "link.wav").symlink_to(tmp_path / "secret.wav")
    return made


async def test_files_in_the_folders_for_sounds_are_played(bus: LocalBus, folder: Path) -> None:
    async with Sounding(bus, sound_folders=(folder / "none", folder)) as room:
        for uri in ("bell.wav", "deep/a gong.wav", str(folder / "bell.wav"), (folder / "deep" / "a gong.wav").as_uri()):
            room.emit(topics.AUDIO_QUEUE, uri=uri)
        await room.heard(4)
        assert room.player.heard == ["bell", "gong", "bell", "gong"]
        await room.quiet()
        assert room.signals() == [STARTED, ENDED]


OUTSIDE = ["../secret.wav", "link.wav", "{parent}/secret.wav", "file://{parent}/secret.wav", "file://host/bell.wav"]
NO_FILES = ["none.wav", "deep", "", "a\0b", "/dev/zero", "ftp://x/bell.wav", "//host/bell.wav", "x" * 5000]


@pytest.mark.parametrize("uri", [*OUTSIDE, *NO_FILES])
async def test_other_files_are_not(bus: LocalBus, folder: Path, uri: str, caplog: pytest.LogCaptureFixture) -> None:
    async with Sounding(bus, sound_folders=(folder,)) as room:
        with caplog.at_level(logging.WARNING, "hark.speak"):
            room.emit(topics.AUDIO_QUEUE, uri=uri.format(parent=folder.parent), listen=True)
            await room.quiet()
        assert room.player.sounds == []
        assert len(caplog.records) == 1
        assert len(caplog.text) < 1000
        assert room.signals() == [LISTEN], "who asked a question by a sound that is missing still gets an answer"


async def test_a_file_that_is_too_large_is_not_read(
    bus: LocalBus, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with Sounding(bus, sound_folders=(folder,), largest_sound=10) as room:
        with caplog.at_level(logging.WARNING, "hark.speak"):
            room.emit(topics.AUDIO_PLAY_SOUND, uri="bell.wav")
            room.emit(topics.AUDIO_PLAY_SOUND, audio=base64.b64encode(write_wav(voiced("bell"))).decode())
            await room.quiet()
        assert room.player.sounds == []
        assert caplog.text.count("more than 10 bytes") == 2


@pytest.mark.parametrize(
    "uri",
    [
        "data:audio/wav;base64," + base64.b64encode(write_wav(voiced("bell"))).decode(),
        "data:;base64," + base64.b64encode(write_wav(voiced("bell"))).decode().replace("=", "%3D"),
        "data:audio/wav," + "".join(f"%{byte:02x}" for byte in write_wav(voiced("bell"))),
    ],
)
async def test_data_addresses_are_played(bus: LocalBus, uri: str) -> None:
    async with Sounding(bus) as room:
        room.emit(topics.AUDIO_PLAY_SOUND, uri=uri)
        await room.heard(1)
        assert room.player.heard == ["bell"]


async def test_a_large_sound_is_played_too(bus: LocalBus) -> None:
    large = voiced("x" * 100_000)
    async with Sounding(bus) as room:
        room.emit(topics.AUDIO_QUEUE, audio=base64.b64encode(write_wav(large)).decode())
        await room.heard(1)
        assert room.player.sounds == [large]


async def test_packed_sounds_are_played(bus: LocalBus) -> None:
    async with Sounding(bus, sound_folders=(Path(__file__).parent / "sounds",)) as room:
        for name in ("bell.mp3", "bell.ogg", "bell.flac"):
            room.emit(topics.AUDIO_QUEUE, uri=name)
        await room.heard(3)
        assert [round(audio.seconds, 2) for audio in room.player.sounds] == [0.27] * 3
