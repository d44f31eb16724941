"""Recognition during the recording."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from flow.listening import Listening, command
from flow.stage import reached, transformer
from hark.bus import LocalBus
from hark.model import Audio
from hark.plugins.engines import Recognition, Transcript
from hark.spec import topics
from hark.testing import settle
from hark.testing.voice.input import FakeStreamingSTT, Scene, words_in


class Told(Recognition):
    """A recognition that does what it is told to."""

    def __init__(self, feed: Any = "", finish: Any = None) -> None:
        self._feed, self._finish = feed, finish
        self.closed = 0

    def feed(self, samples: bytes) -> str:
        return _done(self._feed)  # type: ignore[no-any-return]

    def finish(self) -> Transcript:
        return _done(self._finish)  # type: ignore[no-any-return]

    def close(self) -> None:
        self.closed += 1


def _done(what: Any) -> Any:
    if isinstance(what, BaseException):
        raise what
    return what


class Telling(FakeStreamingSTT):
    id = "telling-stt"

    def __init__(self, recognition: Any) -> None:
        super().__init__()
        self.made = recognition
        self.begun = 0

    def recognition(self, lang: str) -> Recognition | None:
        self.begun += 1
        return _done(self.made)  # type: ignore[no-any-return]


async def test_a_streaming_recogniser_is_fed_during_the_recording(bus: LocalBus) -> None:
    stt = FakeStreamingSTT()
    async with Listening(bus, stt) as stage:
        await stage.hears(Scene().says("hey jarvis").silence(0.5).says("what time"))
        assert words_in(b"".join(stt.fed)) == ["what", "time"]
        await stage.hears(Scene().says("is it").silence(1))
        assert stage.said() == ["what time is it"]
        assert (stt.recognitions, stt.closed, stt.heard) == (["en-US"], 1, [])


async def test_it_is_fed_exactly_what_is_kept(bus: LocalBus) -> None:
    streaming, whole = FakeStreamingSTT(), FakeStreamingSTT()
    for stt, does in ((streaming, True), (whole, False)):
        async with Listening(bus, stt, streaming=does) as stage:
            await stage.hears(Scene().says("hey jarvis").silence(2).says("what time is it").silence(1))
    [(audio, _)] = whole.heard
    assert b"".join(streaming.fed) == audio.samples


async def test_partial_transcripts_are_emitted_where_wanted(bus: LocalBus) -> None:
    async with Listening(bus, FakeStreamingSTT(), partials=True) as stage:
        await stage.hears(command())
        partials = [message.data["utterance"] for message in stage.of(topics.LISTENER_PARTIAL)]
        assert partials[-1] == "what time is it"
        assert len(set(partials)) == len(partials)


async def test_a_chain_has_to_see_the_whole_sound_first(bus: LocalBus) -> None:
    stt = FakeStreamingSTT()
    async with Listening(bus, stt, chain=[transformer("audio", "same", lambda audio, ctx: audio)]) as stage:
        await stage.hears(command())
        assert stage.said() == ["what time is it"]
        assert (stt.recognitions, len(stt.heard)) == ([], 1)


async def test_a_chain_that_came_meanwhile_counts(bus: LocalBus) -> None:
    stt = FakeStreamingSTT()
    async with Listening(bus, stt) as stage:
        await stage.hears(Scene().says("hey jarvis").silence(0.5).says("what time"))
        same = transformer("audio", "same", lambda audio, ctx: audio)
        stage.registry.add(same)
        await stage.hears(Scene().says("is it").silence(1))
        assert stage.said() == ["what time is it"]
        assert (len(stt.heard), stt.closed) == (1, 1)


async def test_the_language_is_the_one_that_was_asked_for(bus: LocalBus) -> None:
    stt = FakeStreamingSTT()
    async with Listening(bus, stt) as stage:
        stage.listener.listen(lang="de-DE")
        await stage.hears(Scene().says("hallo").silence(1))
        assert stt.recognitions == ["de-DE"]
        assert stage.of(topics.UTTERANCE_HANDLE)[0].data["lang"] == "de-DE"


@pytest.mark.parametrize(
    "made",
    [
        None,
        "no recognition",
        RuntimeError("cannot begin"),
        Told(feed=RuntimeError("cannot be fed")),
        Told(finish=RuntimeError("cannot finish")),
        Told(finish="garbage"),
    ],
    ids=["none", "garbage", "begin", "feed", "finish", "returns garbage"],
)
async def test_where_it_fails_the_recording_is_still_there(bus: LocalBus, made: Any) -> None:
    stt = Telling(made)
    async with Listening(bus, stt) as stage:
        await stage.hears(command())
        assert stage.said() == ["what time is it"]
        assert len(stt.heard) == 1
        if isinstance(made, Told):
            assert made.closed


async def test_a_dropped_recording_drops_its_recognition(bus: LocalBus) -> None:
    stt = FakeStreamingSTT()
    async with Listening(bus, stt) as stage:
        await stage.hears(Scene().says("hey jarvis").silence(0.5).says("what time"))
        await stage.told(topics.LISTENER_SLEEP)
        assert (stt.closed, stage.outcomes()) == (1, [])


async def test_without_speech_there_is_nothing_to_finish(bus: LocalBus) -> None:
    stt = FakeStreamingSTT()
    async with Listening(bus, stt) as stage:
        await stage.hears(Scene().says("hey jarvis").silence(6))
        assert (stt.fed, stt.closed, stage.outcomes()) == ([], 1, [topics.STT_FAILED])


class Hanging(Telling):
    """Its recognition comes back when it is let go."""

    id = "hanging"
    quick = False

    def __init__(self) -> None:
        super().__init__(None)
        self.reached = threading.Event()
        self.let_go = threading.Event()

    def recognition(self, lang: str) -> Recognition | None:
        self.reached.set()
        assert self.let_go.wait(20)
        return None

    async def transcribe(self, audio: Audio, lang: str) -> Transcript:  # type: ignore[override]
        return super().transcribe(audio, lang)


async def test_a_recognition_that_hangs_is_late_and_the_recording_is_still_there(bus: LocalBus) -> None:
    stt = Hanging()
    async with Listening(bus, stt) as stage:
        await stage.microphone.hears(command())
        await reached(stt.reached)
        await stage.clock.advance(29)
        assert stage.outcomes() == []
        await stage.clock.advance(2)
        async with asyncio.timeout(20):
            await stage.listener.idle()
        stt.let_go.set()
        assert stage.said() == ["what time is it"]
        [handle] = stage.of(topics.UTTERANCE_HANDLE)
        capture_id = handle.context["hark_capture"]
        await stage.told(topics.UTTERANCE_HANDLED, None, hark_capture=capture_id, utterance_id="turn")
        trace = stage.traces.of("turn")
        assert trace is not None
        assert [step.outcome for step in trace.steps] == ["spoken", "late", "heard"]


async def test_closing_does_not_wait_for_a_recognition_that_hangs(bus: LocalBus) -> None:
    tasks = asyncio.all_tasks()
    stt = Hanging()
    stage = Listening(bus, stt)
    await stage.__aenter__()
    await stage.microphone.hears(Scene().says("hey jarvis").silence(0.5).says("what time"))
    await reached(stt.reached)
    closing = asyncio.create_task(stage.__aexit__(None, None, None))
    for _ in range(20):
        await stage.clock.advance(1)
    stt.let_go.set()
    async with asyncio.timeout(20):
        await closing
    await settle()
    assert asyncio.all_tasks() == tasks


async def test_an_engine_that_keeps_failing_is_given_whole_recordings_for_a_while(bus: LocalBus) -> None:
    stt = Telling(RuntimeError("cannot begin"))
    async with Listening(bus, stt) as stage:
        for _ in range(6):
            await stage.hears(command())
        assert (stt.begun, len(stt.heard), len(stage.said())) == (5, 6, 6)
        await stage.clock.advance(60)
        await stage.hears(command())
        assert stt.begun == 6
