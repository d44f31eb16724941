"""Engines and players that crash, hang, or return what is no sound."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from flow.chain_rig import link
from flow.sounding import ENDED, LISTEN, STARTED, Sounding
from hark.bus import LocalBus
from hark.model import Audio
from hark.plugins import Ctx
from hark.spec import topics
from hark.testing import settle
from hark.testing.voice.output import FakePlayer, FakeTTS, SlowTTS, in_pieces, read, voiced


def crash(text: str) -> Any:
    raise RuntimeError("out of order")


GARBAGE = {
    "raises": crash,
    "nothing": lambda text: None,
    "bytes": lambda text: b"\0\0",
    "text": lambda text: text,
    "empty": lambda text: Audio(b"", 8_000),
    "half a sample": lambda text: Audio(b"\0\0\0", 8_000),
    "no rate": lambda text: Audio(b"\0\0", 0),
    "samples that are none": lambda text: Audio(bytearray(4), 8_000),
}


@pytest.mark.parametrize("work", GARBAGE.values(), ids=GARBAGE)
async def test_the_next_engine_takes_over(bus: LocalBus, work: Any) -> None:
    bad, good = FakeTTS(work, id="bad"), FakeTTS(id="good")
    async with Sounding(bus, bad, good) as room:
        trace = room.trace()
        room.say("Hello.")
        await settle()
        assert room.player.heard == ["Hello."]
        told = [(step.who, step.outcome) for step in trace.steps if step.stage == "tts"]
        assert told == [("bad", "failed"), ("good", "made")]


@pytest.mark.parametrize("work", GARBAGE.values(), ids=GARBAGE)
async def test_a_sentence_that_no_engine_can_speak_ends_nothing_else(bus: LocalBus, work: Any) -> None:
    async with Sounding(bus, FakeTTS(lambda text: work(text) if "bad" in text else voiced(text))) as room:
        room.say("bad", listen=True)
        await settle()
        assert (room.signals(), room.outcomes) == ([LISTEN], ["failed"])
        room.say("Good.")
        await settle()
        assert (room.player.heard, room.outcomes) == (["Good."], ["failed", "rendered"])


async def test_an_engine_that_hangs_is_given_up_and_the_next_speaks(bus: LocalBus) -> None:
    hanging, good = SlowTTS(), FakeTTS(id="good")
    async with Sounding(bus, hanging, good) as room:
        room.say("Hello.")
        await room.pass_by(29.0)
        assert good.texts == []
        await room.pass_by(1.0)
        assert room.player.heard == ["Hello."]


async def test_after_a_stop_nothing_waits_for_what_was_being_made(bus: LocalBus) -> None:
    voice = SlowTTS()
    async with Sounding(bus, voice, FakeTTS(id="unused")) as room:
        room.say("Old.")
        await settle()
        room.emit(topics.AUDIO_STOP)
        room.say("New.")
        await settle()
        assert voice.texts == ["Old.", "New."], "the new one is made while the old one still is"
        voice.release(2)
        await settle()
        assert room.player.heard == ["New."]
        assert room.outcomes == ["stopped", "rendered"]
        room.say("Old.")
        await settle()
        assert room.player.heard == ["New.", "Old."]
        assert voice.texts == ["Old.", "New."], "what was made for nothing is kept"


async def test_a_response_in_a_language_without_a_voice_is_shown(bus: LocalBus) -> None:
    async with Sounding(bus, FakeTTS(langs=("en",))) as room:
        room.say("olá", lang="pt-PT")
        room.say("hello", lang="en-GB")
        await settle()
        assert room.player.heard == ["hello"]
        assert [spoken.text for spoken in room.shown] == ["olá", "hello"]
        assert room.outcomes == ["failed", "rendered"]


# Voices.


async def test_a_voice_is_used_by_the_engine_that_has_it(bus: LocalBus) -> None:
    class Choir(FakeTTS):
        def voices(self, lang: str) -> tuple[str, ...]:
            return ("alto", "bass")

    choir, other = Choir(lambda text: crash(text) if "hard" in text else voiced(text), id="choir"), FakeTTS(id="other")
    hint = link("dialog", "hint", lambda text, ctx: ctx.set("voice_id", text.split()[0]) or text)
    async with Sounding(bus, choir, other, dialog=(hint,)) as room:
        for text in ("bass please", "tenor please", "alto hard"):
            room.say(text)
        await settle()
        assert [voice for _, _, voice in choir.asked] == ["bass", None, "alto"]
        assert [voice for _, _, voice in other.asked] == [None]


# In pieces.


class Streaming(FakeTTS):
    """Gives its sentences in pieces."""

    def __init__(self, pieces: Any, **more: Any) -> None:
        super().__init__(**more)
        self.pieces = pieces
        self.closed = 0

    def stream(self, text: str, lang: str, voice: str | None = None) -> Any:
        return self.pieces(text)


async def test_a_sentence_is_heard_before_all_of_it_is_there(bus: LocalBus) -> None:
    go_on = asyncio.Event()

    async def pieces(text: str) -> AsyncIterator[Audio]:
        yield voiced("Once ")
        await go_on.wait()
        for word in ("upon ", "a ", "time."):
            yield voiced(word)

    engine = Streaming(pieces)
    async with Sounding(bus, engine, player=FakePlayer(1.0)) as room:
        room.say("Once upon a time.")
        await settle()
        assert [read(audio) for audio in room.player.playing] == ["Once "]
        go_on.set()
        await room.pass_by(2.0)
        assert room.player.heard == ["Once ", "upon a time."], "what came meanwhile is played as one"
        assert (engine.texts, room.signals()) == ([], [STARTED, ENDED])
        room.say("Once upon a time.")
        await room.pass_by(1.0)
        assert room.player.heard[2:] == ["Once upon a time."], "from memory it comes whole"


@pytest.mark.parametrize("quick", [True, False])
async def test_pieces_may_come_from_a_plain_generator(bus: LocalBus, quick: bool) -> None:
    def pieces(text: str) -> Iterator[Audio]:
        yield from (voiced(letter) for letter in text)

    engine = Streaming(pieces)
    engine.quick = quick
    async with Sounding(bus, engine) as room:
        room.say("abc")
        await room.quiet()
        assert "".join(room.player.heard) == "abc"


async def test_a_transformer_gets_the_sentence_whole(bus: LocalBus) -> None:
    seen: list[str] = []

    def look(audio: Audio, ctx: Ctx) -> Audio:
        seen.append(read(audio))
        return audio

    engine = Streaming(in_pieces)
    async with Sounding(bus, engine, tts=(link("tts", "look", look),)) as room:
        room.say("Once upon a time.")
        await settle()
        assert (seen, room.player.heard) == (["Once upon a time."], ["Once upon a time."])


@pytest.mark.parametrize("options", [{"stream": False}, {"ahead": 0}])
async def test_streaming_can_be_turned_off(bus: LocalBus, options: dict[str, Any]) -> None:
    engine = Streaming(in_pieces)
    async with Sounding(bus, engine, **options) as room:
        room.say("Once upon a time.")
        await settle()
        assert (engine.texts, room.player.heard) == (["Once upon a time."], ["Once upon a time."])


async def broken_at_once(text: str) -> AsyncIterator[Any]:
    raise RuntimeError("out of order")
    yield


async def broken_midway(text: str) -> AsyncIterator[Any]:
    yield voiced(text[:4])
    raise RuntimeError("out of order")


async def garbage_midway(text: str) -> AsyncIterator[Any]:
    yield voiced(text[:4])
    yield "no sound"


@pytest.mark.parametrize(
    ("pieces", "heard"),
    [
        (broken_at_once, ["One.", "Two."]),
        (lambda text: None, ["One.", "Two."]),
        (lambda text: "no pieces at all", ["One.", "Two."]),
        (crash, ["One.", "Two."]),
        (broken_midway, ["One.", "Two."]),
        (garbage_midway, ["One.", "Two."]),
    ],
)
async def test_a_stream_that_breaks(bus: LocalBus, pieces: Any, heard: list[str]) -> None:
    async with Sounding(bus, Streaming(pieces)) as room:
        room.say("One. Two.", listen=True)
        await settle()
        assert room.player.heard == heard
        assert room.signals() == [STARTED, ENDED, LISTEN]


async def test_a_stop_lets_go_of_the_stream(bus: LocalBus) -> None:
    closed: list[str] = []

    async def pieces(text: str) -> AsyncIterator[Audio]:
        try:
            for letter in text * 1000:
                await asyncio.sleep(0)
                yield voiced(letter)
        finally:
            closed.append(text)

    async with Sounding(bus, Streaming(pieces), player=FakePlayer(1.0)) as room:
        room.say("abc")
        await settle()
        room.emit(topics.AUDIO_STOP)
        await settle()
        assert closed == ["abc"]
        assert room.signals() == [STARTED, ENDED]


# Players.


async def test_another_player_takes_over(bus: LocalBus) -> None:
    unplugged = FakePlayer(id="unplugged", fails=lambda _audio: True)
    working = FakePlayer(id="working")
    async with Sounding(bus, FakeTTS(), unplugged, player=working) as room:
        trace = room.trace()
        room.say("hello")
        await settle()
        assert working.heard == ["hello"]
        played = [(step.who, step.outcome) for step in trace.steps if step.stage == "play"]
        assert played == [("unplugged", "failed"), ("working", "played")]


async def test_what_no_player_can_play_is_shown_and_signals_are_in_pairs(bus: LocalBus) -> None:
    async with Sounding(bus, player=FakePlayer(fails=lambda _audio: True)) as room:
        for n in range(7):
            room.say(f"number {n}")
            await settle()
        assert room.outcomes == ["failed"] * 7
        assert room.signals() == [STARTED, ENDED] * 5, "a player that keeps failing is not tried for a while"
        assert len(room.shown) == 7


async def test_a_player_that_never_ends_is_given_up(bus: LocalBus, caplog: pytest.LogCaptureFixture) -> None:
    class Stuck(FakePlayer):
        async def play(self, audio: Audio) -> None:
            await asyncio.Event().wait()

    async with Sounding(bus, player=Stuck()) as room:
        with caplog.at_level(logging.CRITICAL, "hark"):
            room.say("hello")
            await room.pass_by(60.0)
        assert room.outcomes == ["failed"]
        assert room.signals() == [STARTED, ENDED]


async def test_a_response_that_cannot_be_shown_is_heard(bus: LocalBus, caplog: pytest.LogCaptureFixture) -> None:
    def fail(spoken: object) -> None:
        raise OSError("no terminal")

    async with Sounding(bus) as room:
        room.speaker.render = fail
        with caplog.at_level(logging.ERROR, "hark.speak"):
            room.say("hello")
            await settle()
        assert (room.player.heard, room.outcomes) == (["hello"], ["rendered"])
        assert "no terminal" in caplog.text


async def test_repeated_stops_do_not_count_as_failures_of_an_engine(bus: LocalBus) -> None:
    go_on = threading.Event()

    class Blocking(FakeTTS):
        quick = False

        def synthesize(self, text: str, lang: str, voice: str | None = None) -> Audio:
            self.asked.append((text, lang, voice))
            assert go_on.wait(20)
            return voiced(text)

    voice = Blocking()
    async with Sounding(bus, voice) as room:
        for n in range(5):
            room.say(f"Number {n}.")
            await settle()
            room.emit(topics.AUDIO_STOP)
        [entry] = room.output.engines.registry
        assert (entry.abandoned, entry.unloaded) == (0, "")
        room.say("At last.")
        go_on.set()
        await room.heard(1)
        await room.quiet()
        assert room.player.heard == ["At last."]
        assert room.outcomes == ["stopped"] * 5 + ["rendered"]
