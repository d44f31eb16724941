"""Files, pipes and nothing, in place of microphone and loudspeaker."""

from __future__ import annotations

import asyncio
import os
import threading
from pathlib import Path

import pytest

from hark.builtin.engines.files import FileMicrophone, FilePlayer, NullPlayer
from hark.builtin.engines.pipe import PipeMicrophone
from hark.model import Audio
from hark.model.audio import int16_samples
from hark.model.wav import read_wav, write_wav
from hark.testing.clock import settle
from unit.builtin.engines.engine_stage import stage

SECOND = Audio(b"\xe8\x03" * 16_000, 16_000)
"""A second of 1000."""


async def test_a_file_comes_at_its_own_pace(tmp_path: Path) -> None:
    (tmp_path / "said.wav").write_bytes(write_wav(Audio(b"\1\0\2\0" * 22_050, 44_100, 2, 2)))
    async with stage() as on:
        microphone = FileMicrophone()
        assert await on.add(microphone, path=str(tmp_path / "said.wav"), silence=0.5) is None
        assert "1.0 s" in microphone.about()
        got = bytearray()

        async def listen() -> None:
            async for block in microphone.blocks():
                got.extend(block)

        listening = asyncio.ensure_future(listen())
        await on.clock.advance(0.5)
        assert 0.4 < len(got) / 32_000 <= 0.5
        await on.clock.advance(1.0)
        await listening
        assert len(got) == 32_000


async def test_a_file_comes_as_fast_as_it_is_consumed(tmp_path: Path) -> None:
    (tmp_path / "said.wav").write_bytes(write_wav(SECOND))
    async with stage() as on:
        microphone = FileMicrophone()
        assert await on.add(microphone, path=str(tmp_path / "said.wav"), paced=False, silence=0.0) is None
        assert b"".join([block async for block in microphone.blocks()]) == SECOND.samples


async def test_a_file_that_is_not_wav_is_reported(tmp_path: Path) -> None:
    (tmp_path / "said.wav").write_bytes(b"MP3")
    async with stage() as on:
        refusal = await on.add(FileMicrophone(), path=str(tmp_path / "said.wav"))
        assert refusal is not None
        assert "does not begin as a WAV file" in refusal.reason


async def played(tmp_path: Path, **settings: bool) -> Audio:
    """A second, half a second of nothing, a second."""
    async with stage() as on:
        player = FilePlayer()
        assert await on.add(player, path=str(tmp_path / "out.wav"), rate=16_000, **settings) is None
        for _ in range(2):
            playing = asyncio.ensure_future(player.play(SECOND))
            await on.clock.advance(1.0)
            await playing
            await on.clock.advance(0.5)
        return read_wav((tmp_path / "out.wav").read_bytes())


async def test_all_that_is_played_is_in_one_file_with_its_gaps(tmp_path: Path) -> None:
    written = await played(tmp_path)
    assert written.seconds == 2.5
    assert int16_samples(written.samples)[20_000] == 0
    assert int16_samples(written.samples)[30_000] == 1_000


async def test_or_without_them(tmp_path: Path) -> None:
    assert (await played(tmp_path, gaps=False)).samples == SECOND.samples * 2


async def test_what_plays_at_a_time_is_mixed_and_what_is_cancelled_was_heard_in_part(tmp_path: Path) -> None:
    async with stage() as on:
        player = FilePlayer()
        assert await on.add(player, path=str(tmp_path / "out.wav"), rate=16_000) is None
        first = asyncio.ensure_future(player.play(SECOND))
        second = asyncio.ensure_future(player.play(SECOND))
        await on.clock.advance(0.25)
        second.cancel()
        await on.clock.advance(0.75)
        await first
        with pytest.raises(asyncio.CancelledError):
            await second
        numbers = int16_samples(read_wav((tmp_path / "out.wav").read_bytes()).samples)
        assert (numbers[100], numbers[10_000], len(numbers)) == (2_000, 1_000, 16_000)


async def test_a_file_that_is_closed_takes_no_more(tmp_path: Path) -> None:
    async with stage() as on:
        player = FilePlayer()
        assert await on.add(player, path=str(tmp_path / "out.wav"), paced=False) is None
        player.unload()
        await player.play(SECOND)
        assert read_wav((tmp_path / "out.wav").read_bytes()).samples == b""


async def test_nothing_takes_as_long_as_something() -> None:
    async with stage() as on:
        player = NullPlayer()
        assert await on.add(player) is None
        playing = asyncio.ensure_future(player.play(SECOND))
        await on.clock.advance(0.9)
        assert not playing.done()
        await on.clock.advance(0.1)
        await playing


async def test_or_no_time_at_all() -> None:
    async with stage() as on:
        player = NullPlayer()
        assert await on.add(player, paced=False) is None
        playing = asyncio.ensure_future(player.play(SECOND))
        await settle()
        assert playing.done()


async def test_a_pipe_gives_what_is_written_into_it() -> None:
    reading, writing = os.pipe()
    async with stage() as on:
        microphone = PipeMicrophone()
        assert await on.add(microphone, descriptor=reading) is None
        assert "file descriptor" in microphone.about()
        blocks = microphone.blocks()
        os.write(writing, b"\1\0\2")
        assert await anext(blocks) == b"\1\0"
        os.write(writing, b"\0")
        os.close(writing)
        assert [block async for block in blocks] == [b"\2\0"]
    os.close(reading)


async def test_a_pipe_is_resampled_and_mixed() -> None:
    reading, writing = os.pipe()
    async with stage() as on:
        microphone = PipeMicrophone()
        assert await on.add(microphone, descriptor=reading, rate=48_000, channels=2) is None
        os.write(writing, b"\xe8\x03\xe8\x03" * 4_800)
        os.close(writing)
        got = int16_samples(b"".join([block async for block in microphone.blocks()]))
        assert len(got) == 1_600
        assert abs(got[800] - 1_000) < 20
    os.close(reading)


async def test_a_named_pipe_waits_for_its_writer_and_can_be_closed_meanwhile(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "mic")
    async with stage() as on:
        microphone = PipeMicrophone()
        assert await on.add(microphone, path=str(tmp_path / "mic")) is None
        blocks = microphone.blocks()
        first = asyncio.ensure_future(anext(blocks))
        await settle()
        assert not first.done()
        writer = await asyncio.to_thread((tmp_path / "mic").open, "wb")
        writer.write(b"\1\0")
        writer.flush()
        assert await first == b"\1\0"
        await blocks.aclose()  # type: ignore[attr-defined]
        writer.close()
    assert not [one for one in threading.enumerate() if one.name == "pipe microphone"]


async def test_a_pipe_that_is_not_there_is_a_failure(tmp_path: Path) -> None:
    async with stage() as on:
        microphone = PipeMicrophone()
        assert await on.add(microphone, path=str(tmp_path / "nothing")) is None
        with pytest.raises(FileNotFoundError):
            await anext(microphone.blocks())
