"""Audio transformers that work chunk by chunk, while the command is being recorded."""

from __future__ import annotations

from typing import Any

import pytest

from flow.listening import Listening
from flow.stage import BASES
from hark.bus import LocalBus
from hark.model import Audio
from hark.plugins import Ctx, Transformer
from hark.spec import topics
from hark.testing import settle
from hark.testing.voice.input import FakeStreamingSTT, FakeSTT, Scene

COMMAND = Scene().says("hey jarvis").silence(0.3).says("what time is it").silence(1)


def chunked(work: Any, plugin_id: str = "louder", *, is_chunked: bool = True, quick: bool = True) -> Transformer:
    members = {"id": plugin_id, "quick": quick, "chunked": is_chunked, "transform": staticmethod(work)}
    made: Transformer = type("MadeChunked", (BASES["audio"],), members)()
    return made


class Calls:
    """A transformer's work: changes nothing and notes what it got."""

    def __init__(self) -> None:
        self.seen: list[tuple[str | None, int, bool, bool, int]] = []

    def __call__(self, audio: Audio, ctx: Ctx) -> Audio:
        self.seen.append((ctx.recording_id, ctx.position, ctx.is_first, ctx.is_last, len(audio.samples)))
        return audio


@pytest.mark.parametrize("quick", [True, False], ids=["inline", "worker"])
async def test_streaming_stays_on_and_each_chunk_passes_the_chain(bus: LocalBus, quick: bool) -> None:
    stt, calls = FakeStreamingSTT(), Calls()
    async with Listening(bus, stt, chain=[chunked(calls, quick=quick)]) as stage:
        await stage.hears(COMMAND)
        assert stage.said() == ["what time is it"]
        assert stt.heard == [], "it was recognised during the recording"
        assert len(stt.recognitions) == 1
        ids = {seen[0] for seen in calls.seen}
        assert ids == {stage.of(topics.UTTERANCE_HANDLE)[0].context["hark_capture"]}
        assert [seen[1] for seen in calls.seen] == list(range(len(calls.seen)))
        assert len(calls.seen) > 2
        assert [seen[2] for seen in calls.seen] == [True] + [False] * (len(calls.seen) - 1)
        assert [seen[3] for seen in calls.seen] == [False] * (len(calls.seen) - 1) + [True]
        assert sum(seen[4] for seen in calls.seen) == len(b"".join(stt.fed))
        heard = stage.of(topics.UTTERANCE_HANDLE)[0]
        assert heard.context["audio_transformer_ids"] == ("louder",), "stamped once"


async def test_an_engine_that_needs_the_whole_recording_gets_one_call(bus: LocalBus) -> None:
    calls = Calls()
    async with Listening(bus, FakeSTT(), chain=[chunked(calls)]) as stage:
        await stage.hears(COMMAND)
        assert stage.said() == ["what time is it"]
    [(_, position, is_first, is_last, _)] = calls.seen
    assert (position, is_first, is_last) == (0, True, True)


async def test_one_transformer_that_needs_it_whole_turns_streaming_off(bus: LocalBus) -> None:
    stt, calls, whole = FakeStreamingSTT(), Calls(), Calls()
    chain = [chunked(calls), chunked(whole, "whole", is_chunked=False)]
    async with Listening(bus, stt, chain=chain) as stage:
        await stage.hears(COMMAND)
        assert stage.said() == ["what time is it"]
    assert stt.recognitions == []
    assert len(calls.seen) == len(whole.seen) == 1


async def test_what_it_makes_of_the_sound_is_what_is_recognised(bus: LocalBus) -> None:
    stt = FakeStreamingSTT()

    def halve(audio: Audio, ctx: Ctx) -> Audio:
        return Audio(bytes(len(audio.samples)), audio.sample_rate) if ctx.position % 2 else audio

    async with Listening(bus, stt, chain=[chunked(halve)]) as stage:
        await stage.hears(COMMAND)
        assert bytes(200) in b"".join(stt.fed)
        await settle()


async def test_a_cancellation_in_the_middle_ends_the_command(bus: LocalBus) -> None:
    def cancel(audio: Audio, ctx: Ctx) -> Audio:
        if ctx.position == 1:
            ctx.cancel("other")
        return audio

    async with Listening(bus, FakeStreamingSTT(), chain=[chunked(cancel)]) as stage:
        await stage.hears(COMMAND)
        assert stage.outcomes() == [topics.UTTERANCE_CANCELLED]
        assert stage.of(topics.UTTERANCE_CANCELLED)[0].data["cancel_by"] == "louder"


async def test_the_session_as_the_chunks_left_it_goes_with_the_utterance(bus: LocalBus) -> None:
    def hint(audio: Audio, ctx: Ctx) -> Audio:
        if ctx.is_last:
            ctx.set("louder.note", "ok")
            ctx.session = ctx.session.replace(persona_id="butler")
        return audio

    async with Listening(bus, FakeStreamingSTT(), chain=[chunked(hint)]) as stage:
        await stage.hears(COMMAND)
        heard = stage.of(topics.UTTERANCE_HANDLE)[0]
        assert heard.context["louder.note"] == "ok"
        assert heard.session is not None
        assert heard.session.persona_id == "butler"


async def test_a_chunk_that_fails_passes_as_it_was_and_the_trace_has_one_step(bus: LocalBus) -> None:
    def fail_once(audio: Audio, ctx: Ctx) -> Audio:
        if ctx.position == 1:
            raise LookupError("no filter")
        return audio

    stt = FakeStreamingSTT()
    async with Listening(bus, stt, chain=[chunked(fail_once)]) as stage:
        await stage.hears(COMMAND)
        assert stage.said() == ["what time is it"]
        assert stt.heard == []


async def test_another_format_or_language_is_recognised_from_the_whole_recording(bus: LocalBus) -> None:
    def to_stereo(audio: Audio, ctx: Ctx) -> Audio:
        return Audio(audio.samples[: len(audio.samples) // 4 * 4], 16_000, 2, 2)

    stt = FakeStreamingSTT()
    async with Listening(bus, stt, chain=[chunked(to_stereo)]) as stage:
        await stage.hears(COMMAND)
        assert len(stt.heard) == 1

    def detect(audio: Audio, ctx: Ctx) -> Audio:
        ctx.lang = "de-DE"
        return audio

    other = FakeStreamingSTT()
    async with Listening(bus, other, chain=[chunked(detect)]) as stage:
        await stage.hears(COMMAND)
        assert [lang for _, lang in other.heard] == ["de-DE"]
