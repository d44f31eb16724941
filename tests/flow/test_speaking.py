"""What is said back, in a whole assistant."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from msgspec import structs

from flow.polling import with_all_stages
from flow.stage import MakeAssistant, claims, skill, transformer, turn_of
from hark.model import Session
from hark.plugins import Ctx, Turn
from hark.plugins.engines import Engine
from hark.speak import Speaker
from hark.speak.options import SpeakOptions
from hark.spec import topics
from hark.testing import Assistant, settle
from hark.testing.layouts import SplitRuntime
from hark.testing.voice.output import FakePlayer, FakeTTS, SlowTTS, audio_output, read


async def test_a_handler_may_wait_until_it_was_heard(assistant: MakeAssistant) -> None:
    go_on = asyncio.Event()
    order: list[str] = []

    async def slow(text: str, ctx: Ctx) -> str:
        await go_on.wait()
        order.append(f"rendered {text}")
        return text

    async def handler(turn: Turn) -> str:
        await turn.speak("one", wait=True)
        order.append("handler goes on")
        return "two"

    async with assistant(transformer("dialog", "slow", slow), claims(handler=handler)) as hark:
        hearing = hark.say("go")
        await settle()
        assert (order, hearing.markers) == ([], 0)
        go_on.set()
        await asyncio.wait_for(hearing.over.wait(), 5)
        assert hearing.spoken == ["one", "two"]
    assert order == ["rendered one", "handler goes on", "rendered two"]


async def test_a_handler_that_waits_for_a_response_that_is_cancelled_goes_on(assistant: MakeAssistant) -> None:
    def hush(text: str, ctx: Ctx) -> str:
        ctx.cancel("policy_block")
        return text

    async def handler(turn: Turn) -> None:
        await turn.speak("one", wait=True)

    async with assistant(transformer("dialog", "hush", hush), claims(handler=handler)) as hark:
        assert await hark.hears("go") == []
        assert len(hark.of(topics.HANDLER_COMPLETE)) == 1


async def test_sessions_are_answered_independently_and_each_in_order(assistant: MakeAssistant) -> None:
    held = asyncio.Event()

    async def slow_kitchen(text: str, ctx: Ctx) -> str:
        if ctx.session.session_id == "kitchen":
            await held.wait()
        return f"{text} in the {ctx.session.session_id}"

    async def handler(turn: Turn) -> None:
        for n in range(3):
            await turn.speak(f"{turn.utterance} {n}")

    async with assistant(transformer("dialog", "slow", slow_kitchen), claims(handler=handler)) as hark:
        kitchen = hark.say("tea", session="kitchen")
        assert await hark.hears("book", session="study") == [f"book {n} in the study" for n in range(3)]
        assert kitchen.spoken == []
        assert kitchen.markers == 1, "the marker does not wait for the loudspeaker"
        held.set()
        await asyncio.wait_for(kitchen.over.wait(), 5)
        assert kitchen.spoken == [f"tea {n} in the kitchen" for n in range(3)]


async def test_a_translation_is_told_with_its_language(assistant: MakeAssistant) -> None:
    def translate(text: str, ctx: Ctx) -> str:
        ctx.lang = "pt-PT"
        return {"hello": "olá"}.get(text, text)

    async with assistant(transformer("dialog", "translate", translate), claims()) as hark:
        hark.say("hello")
        await settle()
        [spoken] = hark.rendered
    assert (spoken.text, spoken.lang) == ("olá", "pt-PT")
    assert spoken.message.data == {"utterance": "olá", "lang": "pt-PT"}
    assert spoken.message.context["dialog_transformer_ids"] == ("translate",)


async def test_a_skill_may_speak_outside_any_turn(assistant: MakeAssistant) -> None:
    kettle = skill("kettle.skill", quick=True)
    async with assistant(kettle) as hark:
        kettle.host.speak("tea is ready")
        kettle.host.after(60.0, lambda: kettle.host.speak("tea is cold", session=Session("kitchen"), lang="en-GB"))
        await hark.clock.advance(61.0)
        assert hark.of(topics.UTTERANCE_HANDLED) == []
    told = [(spoken.text, spoken.lang, spoken.message.session_id) for spoken in hark.rendered]
    assert told == [("tea is ready", None, "default"), ("tea is cold", "en-GB", "kitchen")]
    assert all(spoken.message.context["skill_id"] == "kettle.skill" for spoken in hark.rendered)


async def test_garbage_in_place_of_text_is_not_spoken_and_holds_nothing_up(assistant: MakeAssistant) -> None:
    async def handler(turn: Turn) -> str:
        for garbage in (None, 7, ["x"], {"a": 1}):
            turn.emit(topics.UTTERANCE_SPEAK, {"utterance": garbage})
        turn.emit(topics.UTTERANCE_SPEAK, {})
        return "and now something sensible"

    async with assistant(claims(handler=handler)) as hark:
        assert await hark.hears("go") == ["and now something sensible"]


async def test_what_is_said_goes_back_the_way_the_utterance_came(assistant: MakeAssistant) -> None:
    async with assistant(claims()) as hark:
        await hark.hears("hello", context={"source": "satellite-3", "destination": "hark"})
        [speak] = hark.of(topics.UTTERANCE_SPEAK)
    assert (speak.context["source"], speak.context["destination"]) == ("hark", "satellite-3")
    assert speak.utterance_id == turn_of(hark)[-1].utterance_id


# With a loudspeaker.


@asynccontextmanager
async def loud(hark: Assistant, *engines: Engine, **options: Any) -> AsyncIterator[FakePlayer]:
    """Give an assistant a voice, and a loudspeaker on which every sound lasts a second."""
    house: Any = hark.runtime
    if isinstance(house, SplitRuntime):
        house = house.runtimes["speak"]
    player = FakePlayer(1.0)
    output = await audio_output(
        house.bus, house.clock, *(engines or (FakeTTS(),)), player, options=SpeakOptions(**options), runner=house.runner
    )
    output = structs.replace(output, tts=house.chains["tts"], hears=lambda _id: True)
    await house.speaker.close()
    house.services["speak"].speaker = Speaker(
        house.bus, house.clock, house.chains["dialog"], house.traces, hark.show, lambda _id: True, output=output
    )
    yield player
    await house.speaker.close()
    await output.engines.close()
    await output.players.close()


@pytest.mark.spec("AUDIO-1/2.c")
async def test_the_end_of_a_turn_does_not_wait_for_its_sound(assistant: MakeAssistant) -> None:
    voice = SlowTTS()
    async with assistant(claims()) as hark, loud(hark, voice) as player:
        hearing = hark.say("hello")
        await settle()
        assert (hearing.markers, player.playing, hearing.over.is_set()) == (1, [], False)
        voice.release()
        await hark.clock.advance(1.0)
        assert (player.heard, hearing.spoken, hearing.over.is_set()) == (["hello"], ["hello"], True)


async def test_a_handler_that_waits_goes_on_when_it_was_heard(assistant: MakeAssistant) -> None:
    order: list[str] = []

    async def handler(turn: Turn) -> None:
        await turn.speak("One. Two.", wait=True)
        order.append("handler goes on")

    async with assistant(claims(handler=handler)) as hark, loud(hark) as player:
        hark.say("go")
        await hark.clock.advance(1.9)
        assert (player.heard, order) == (["One."], [])
        await hark.clock.advance(0.1)
        assert (player.heard, order) == (["One.", "Two."], ["handler goes on"])


async def test_a_question_is_heard_before_the_microphone_opens(assistant: MakeAssistant) -> None:
    async def handler(turn: Turn) -> str:
        answer = await turn.ask("Which city?")
        return f"{answer}, then."

    async with with_all_stages(assistant)(claims(handler=handler)) as hark, loud(hark) as player:
        hark.say("weather")
        await hark.clock.advance(1.0)
        assert [topic for topic in hark.topics() if topic.startswith(("ovos.audio", "ovos.mic"))] == [
            topics.AUDIO_OUTPUT_STARTED,
            topics.AUDIO_OUTPUT_ENDED,
            topics.MIC_LISTEN,
        ]
        hark.say("Rome")
        await hark.clock.advance(1.0)
        assert player.heard == ["Which city?", "Rome, then."]


async def test_somebody_who_says_stop_is_heard_at_once(assistant: MakeAssistant) -> None:
    async def handler(turn: Turn) -> str:
        return "Once upon a time. There was a king. He had a daughter."

    async with with_all_stages(assistant)(claims(handler=handler)) as hark, loud(hark) as player:
        hark.say("tell me a story")
        await hark.clock.advance(1.5)
        stopping = hark.say("stop")
        await hark.clock.advance(0.0)
        assert stopping.markers == 1
        assert [read(audio) for audio in player.cut] == ["There was a king."]
        await hark.clock.advance(60.0)
        assert player.heard == ["Once upon a time."]


async def test_what_was_said_and_heard_is_in_the_trace(assistant: MakeAssistant) -> None:
    shout = transformer("tts", "shout", lambda audio, ctx: audio)
    async with assistant(claims(), shout) as hark, loud(hark):
        hark.say("Hello. Hello.")
        await hark.clock.advance(5.0)
        spoken = [step for step in hark.trace().steps if step.stage in ("tts", "play", "speak")]
        assert [(step.stage, step.who, step.outcome) for step in spoken] == [
            ("tts", "fake-tts", "made"),
            ("tts", "shout", "unchanged"),
            ("tts", "fake-tts", "cached"),
            ("tts", "shout", "unchanged"),
            ("play", "fake-player", "played"),
            ("play", "fake-player", "played"),
            ("speak", "default", "rendered"),
        ]
        assert [(step.seconds, step.detail) for step in spoken[-2:]] == [(1.0, ""), (2.0, "heard after 0.000 s")]
