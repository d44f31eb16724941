"""Whatever happens, in whatever order: every recording ends once and has one outcome."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flow.listening import OUTCOMES, Listening
from flow.stage import transformer
from hark.bus import LocalBus
from hark.model import Audio, Message, Session
from hark.plugins import Ctx
from hark.plugins.engines import Transcript
from hark.spec import topics
from hark.testing import settle
from hark.testing.voice.input import FakeStreamingSTT, FakeSTT, Scene

SAYS = ["hey jarvis", "hey jarvis what time is it", "what time is it", "stop", "hallo computer"]
ANSWERS: list[Any] = ["", RuntimeError("out of order"), 7, Transcript(("a", "b")), Transcript(("x",), confidence=0.1)]
TOLD = [
    topics.MIC_LISTEN,
    topics.LISTENER_SLEEP,
    topics.LISTENER_WAKE,
    topics.AUDIO_OUTPUT_STARTED,
    topics.AUDIO_OUTPUT_ENDED,
    topics.UTTERANCE_HANDLED,
]

deeds = st.lists(
    st.one_of(
        st.tuples(st.just("says"), st.sampled_from(SAYS)),
        st.tuples(st.just("says"), st.just("hey jarvis")),
        st.tuples(st.just("silence"), st.sampled_from([0.1, 0.4, 0.9, 6.0])),
        st.tuples(st.just("silence"), st.just(0.9)),
        st.tuples(st.just("noise"), st.sampled_from([0.05, 0.3])),
        st.tuples(st.just("told"), st.tuples(st.sampled_from(TOLD), st.sampled_from(["default", "kitchen"]))),
        st.tuples(st.just("answers"), st.sampled_from(ANSWERS)),
        st.tuples(st.just("listen"), st.booleans()),
        st.tuples(st.just("release"), st.none()),
        st.tuples(st.just("fails"), st.none()),
        st.tuples(st.just("advance"), st.sampled_from([0.5, 3.0, 11.0])),
        st.tuples(st.just("cancels"), st.booleans()),
    ),
    min_size=6,
    max_size=30,
)
options = st.fixed_dictionaries(
    {
        "opens_by": st.sampled_from(["wake word", "speech"]),
        "half_duplex": st.booleans(),
        "wake_by_voice": st.booleans(),
        "min_confidence": st.sampled_from([0.0, 0.5]),
        "longest": st.sampled_from([2.0, 30.0]),
        "most_waiting": st.sampled_from([1, 8]),
    }
)


class Moods:
    def __init__(self) -> None:
        self.cancels = False

    def transform(self, audio: Audio, ctx: Ctx) -> Audio:
        if self.cancels:
            ctx.cancel("other")
        return audio


async def live(bus_type: type[LocalBus], chosen: dict[str, Any], streams: bool, todo: list[Any]) -> None:
    bus, moods = bus_type(), Moods()
    chain = [] if streams else [transformer("audio", "moods", moods.transform)]
    tasks = asyncio.all_tasks()
    stage = Listening(bus, FakeStreamingSTT() if streams else FakeSTT(), chain=chain, **chosen)
    async with stage:
        for deed, argument in todo:
            await do(stage, moods, deed, argument)
            assert stage.listener.state in ("asleep", "waiting", "listening", "thinking")
    await settle()
    check(stage)
    assert asyncio.all_tasks() == tasks
    await bus.close()


async def do(stage: Listening, moods: Moods, deed: str, argument: Any) -> None:
    if deed in ("says", "silence", "noise"):
        stage.microphone.give(getattr(Scene(), deed)(argument))
    elif deed == "told":
        topic, session_id = argument
        stage.bus.emit(Message(topic, {}, {}, Session(session_id)))
    elif deed == "answers":
        stage.stt.answers.append(argument)
    elif deed == "listen":
        stage.listener.listen(held=argument)
    elif deed == "release":
        stage.listener.release()
    elif deed == "fails":
        stage.microphone.fail(OSError("unplugged"))
    elif deed == "cancels":
        moods.cancels = argument
    else:
        await stage.clock.advance(argument)
    await stage.clock.advance(0.5)


def check(stage: Listening) -> None:
    signals = [message.type for message in stage.messages if message.type.startswith("ovos.listener.record")]
    assert signals == [topics.LISTENER_RECORD_STARTED, topics.LISTENER_RECORD_ENDED] * (len(signals) // 2)
    dropped = sum(trace.outcome in ("asleep", "closed") for trace in stage.traces)
    assert len(stage.outcomes()) + dropped == len(signals) // 2
    asleep = recording = open_ = 0
    for message in stage.messages:
        kind = message.type
        if kind == topics.LISTENER_SLEEP:
            asleep = 1
        elif kind == topics.LISTENER_AWOKEN:
            assert asleep, "awoken although awake"
            asleep = 0
        elif kind == topics.LISTENER_RECORD_STARTED:
            assert not asleep, "recorded while asleep"
            recording, open_ = 1, open_ + 1
        elif kind == topics.LISTENER_RECORD_ENDED:
            recording = 0
        elif kind == topics.LISTENER_WAKEWORD:
            assert not recording
            assert not asleep
        elif kind in OUTCOMES:
            assert open_, "an outcome of nothing"
        if kind not in TOLD:
            assert message.session is not None
            assert message.session_id == "default" or kind == topics.LISTENER_AWOKEN


@given(chosen=options, streams=st.booleans(), todo=deeds)
@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_recording_ends_once_and_has_one_outcome(
    bus_type: type[LocalBus], chosen: dict[str, Any], streams: bool, todo: list[Any], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    asyncio.run(live(bus_type, chosen, streams, todo))
