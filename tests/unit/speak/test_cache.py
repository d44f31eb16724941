"""Speech that was rendered before."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from flow.chain_rig import link
from flow.sounding import Sounding
from hark.bus import LocalBus
from hark.hosting import Runner
from hark.model import Audio
from hark.plugins import Ctx
from hark.speak.cache import SpeechCache
from hark.speak.options import SpeakOptions
from hark.testing import FakeClock, settle
from hark.testing.voice.output import voiced

TEN = Audio(bytes(10), 8_000)


@pytest.fixture
async def runner() -> AsyncIterator[Runner]:
    made = Runner(FakeClock())
    yield made
    made.threads.close()


def files(folder: Path) -> list[Path]:
    """What is there, the newest last."""
    return sorted(folder.iterdir(), key=lambda path: path.stat().st_ctime_ns)


def key(text: str) -> tuple[str, ...]:
    return ("engine", "", "en-US", "", text)


async def held(cache: SpeechCache, texts: str) -> str:
    return "".join([text for text in texts if await cache.get(key(text)) is not None])


async def test_what_was_not_asked_for_longest_goes_first(runner: Runner) -> None:
    cache = SpeechCache(SpeakOptions(cache_bytes=45), runner)
    for text in "abcd":
        await cache.put(key(text), TEN)
    assert await held(cache, "a") == "a"
    await cache.put(key("e"), TEN)
    assert await held(cache, "abcde") == "acde"
    await cache.put(key("e"), TEN)
    assert await held(cache, "abcde") == "acde", "twice is once"


@pytest.mark.parametrize("size", [0, 39])
async def test_what_is_too_large_is_not_kept(runner: Runner, size: int) -> None:
    cache = SpeechCache(SpeakOptions(cache_bytes=size), runner)
    await cache.put(key("a"), TEN)
    assert await held(cache, "a") == ""


async def test_a_folder_outlives_the_process(runner: Runner, tmp_path: Path) -> None:
    options = SpeakOptions(cache_bytes=0, cache_folder=tmp_path / "speech")
    await SpeechCache(options, runner).put(key("a"), voiced("hello"))
    again = SpeechCache(options, runner)
    assert await again.get(key("a")) == voiced("hello")
    assert await again.get(key("b")) is None
    [path] = files(tmp_path / "speech")
    assert (path.suffix, path.stat().st_mode & 0o077, (tmp_path / "speech").stat().st_mode & 0o077) == (".wav", 0, 0)


async def test_a_folder_has_its_limit_too(runner: Runner, tmp_path: Path) -> None:
    options = SpeakOptions(cache_bytes=0, cache_folder=tmp_path, cache_folder_bytes=4 * 54)
    cache = SpeechCache(options, runner)
    for at, text in enumerate("abcd"):
        await cache.put(key(text), TEN)
        os.utime(files(tmp_path)[-1], (at, at))
    again = SpeechCache(options, runner)
    assert await held(again, "a") == "a"
    await again.put(key("e"), TEN)
    assert await held(again, "abcde") == "acde"
    assert len(files(tmp_path)) == 4


async def test_a_file_that_was_damaged_is_rendered_again(runner: Runner, tmp_path: Path) -> None:
    options = SpeakOptions(cache_bytes=0, cache_folder=tmp_path)
    cache = SpeechCache(options, runner)
    await cache.put(key("a"), TEN)
    [path] = files(tmp_path)
    path.write_bytes(b"nonsense")
    assert await cache.get(key("a")) is None
    await cache.put(key("a"), TEN)
    assert await cache.get(key("a")) == TEN
    path.unlink()
    assert await cache.get(key("a")) is None


async def test_a_folder_that_cannot_be_used_costs_nothing_else(
    runner: Runner, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    cache = SpeechCache(SpeakOptions(cache_bytes=0, cache_folder=tmp_path / "file" / "speech"), runner)
    for text in "ab":
        await cache.put(key(text), TEN)
        assert await cache.get(key(text)) is None
    assert caplog.text.count("cannot be stored") == 1


async def test_sound_of_another_width_is_not_kept_on_disk(runner: Runner, tmp_path: Path) -> None:
    cache = SpeechCache(SpeakOptions(cache_folder=tmp_path), runner)
    wide = Audio(bytes(12), 8_000, 3)
    await cache.put(key("a"), wide)
    assert await cache.get(key("a")) == wide
    assert files(tmp_path) == []


async def test_what_was_said_before_is_not_made_again_but_transformed_again(bus: LocalBus) -> None:
    seen: list[Any] = []

    def look(audio: Audio, ctx: Ctx) -> Audio:
        seen.append(audio)
        return audio

    async with Sounding(bus, tts=(link("tts", "look", look),)) as room:
        for lang in ("en-US", "en-US", "de-DE"):
            room.say("Hello.", lang=lang)
        await settle()
        assert [lang for _, lang, _ in room.tts.asked] == ["en-US", "de-DE"]
        assert len(seen) == len(room.player.sounds) == 3


async def test_speech_is_kept_on_disk(bus: LocalBus, tmp_path: Path) -> None:
    for asked in (["Hello."], []):
        async with Sounding(bus, cache_folder=tmp_path) as room:
            room.say("Hello.")
            await room.heard(1)
            assert (room.player.heard, room.tts.texts) == (["Hello."], asked)
            await room.quiet()
