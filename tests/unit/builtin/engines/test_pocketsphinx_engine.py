"""The recogniser that is told what may be said: it follows registrations, and talk is no command."""

from __future__ import annotations

import asyncio
from threading import Event
from typing import Any

import pytest

from hark.builtin.engines.pocketsphinx.decoder import DecodedSentence, Decoder, Segment, compare
from hark.builtin.engines.pocketsphinx.pronounce import phones_of
from hark.builtin.engines.pocketsphinx.stt import Pocketsphinx
from hark.builtin.engines.speech_grammar import registrations
from hark.builtin.engines.speech_grammar.graph import GrammarTooLarge, WordGraph
from hark.model import Audio, Message
from hark.spec import topics
from hark.testing.clock import settle
from unit.builtin.engines.engine_stage import Stage, stage
from voice_samples import spoken, whisper_tiny


def registration(*samples: str, skill: str = "light.skill", name: str = "on") -> Message:
    data = {"skill_id": skill, "intent_name": name, "lang": "en-US", "samples": list(samples)}
    return Message(topics.REGISTER_TEMPLATE, data)


ROOMS = Message(
    topics.ENTITY_REGISTER,
    {"skill_id": "light.skill", "entity_name": "room", "lang": "en-US", "samples": ["kitchen", "bedroom", "office"]},
)


async def heard(on: Stage, audio: Audio) -> tuple[str, ...]:
    done = await on.engines["stt"].do(audio, "en-US", lang="en-US", check=lambda value: value)
    assert done is not None
    return tuple(done.value.utterances)


async def emit(on: Stage, *messages: Message) -> None:
    for message in messages:
        on.bus.emit(message)
    await settle()


async def test_it_understands_what_skills_register_while_it_runs() -> None:
    async with stage() as on:
        assert await on.add(Pocketsphinx()) is None
        command = spoken("turn on the kitchen lights")
        assert await heard(on, command) == ()
        await emit(on, registration("(turn|switch) (on|off) the {room} lights"), ROOMS)
        assert await heard(on, command) == ("turn on the kitchen lights",)
        await emit(on, Message(topics.SKILL_DEREGISTER, {"skill_id": "light.skill"}))
        assert await heard(on, command) == ()


async def test_skills_that_registered_before_are_asked_to_do_so_again() -> None:
    async with stage() as on:
        asked: list[Message] = []
        on.bus.on(topics.READY, asked.append)
        assert await on.add(Pocketsphinx()) is None
        await emit(on)
        assert len(asked) == 1


async def test_the_grammar_is_made_in_a_quiet_moment_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async with stage() as on:
        engine = Pocketsphinx()
        assert await on.add(engine) is None
        made: list[WordGraph] = []
        there = Event()

        def listen_for(_decoder: Decoder, graph: WordGraph) -> None:
            made.append(graph)
            there.set()

        monkeypatch.setattr(Decoder, "listen_for", listen_for)
        await emit(on, registration("turn on the light"), registration("turn off the light", name="off"))
        assert made == []
        await on.clock.advance(1.0)
        assert await asyncio.to_thread(there.wait, 10)
        assert [graph.accepts(["turn", "off", "the", "light"]) for graph in made] == [True]


TALK = ("my neighbour bought a new bicycle", "the lights of the city looked wonderful", "nobody knows when he turns up",
        "turn left at the next crossing", "he opened the letter and began to cry")  # fmt: skip


async def test_talk_does_not_become_a_command() -> None:
    async with stage() as on:
        assert await on.add(Pocketsphinx()) is None
        await emit(
            on, registration("(turn|switch) (on|off) the {room} (light|lights)", "open the {room} blinds"), ROOMS
        )
        for voice, lang in (("nanotts", "en-GB"), ("hibari", "en-US")):
            for text in TALK:
                assert await heard(on, spoken(text, voice, lang)) == (), text
        assert await heard(on, spoken("open the office blinds", "hibari", "en-US")) == ("open the office blinds",)


async def test_half_a_command_is_none() -> None:
    async with stage() as on:
        assert await on.add(Pocketsphinx()) is None
        await emit(on, registration("turn on the {room} lights"), ROOMS)
        assert await heard(on, spoken("turn on the")) == ()


async def test_how_strict_it_is_can_be_set() -> None:
    async with stage() as on:
        assert await on.add(Pocketsphinx(), strictness=4.0, phrases=("turn on the lights",)) is None
        assert await heard(on, spoken("turn on the rights of man")) == ()


async def test_words_in_no_dictionary_sound_as_they_are_written_or_as_the_settings_say() -> None:
    async with stage() as on:
        engine = Pocketsphinx()
        assert await on.add(engine, pronunciations={"zyzzyx": "Z IH Z IH K S"}, phrases=("start zyzzyx",)) is None
        await emit(on, registration("start the roombatron"))
        assert await heard(on, spoken("start the roombatron")) == ("start the roombatron",)
        assert "pronunciation guessed: roombatron" in engine.about()


async def test_words_without_a_pronunciation_are_left_out(caplog: pytest.LogCaptureFixture) -> None:
    async with stage() as on:
        assert await on.add(Pocketsphinx(), phrases=("turn on the lights", "öffne die tür")) is None
        assert await heard(on, spoken("turn on the lights")) == ("turn on the lights",)
        assert "öffne" in caplog.text


async def test_the_doctor_lists_what_is_not_recognised() -> None:
    async with stage() as on:
        engine = Pocketsphinx()
        assert await on.add(engine) is None
        keyword = {"skill_id": "a.skill", "intent_name": "k", "lang": "en-US", "required": [["x"]]}
        await emit(on, registration("take a note that {text}"), Message(topics.REGISTER_KEYWORD, keyword))
        await heard(on, spoken("stop"))
        assert "1 open templates not recognised, such as 'take a note that {text}'" in engine.about()
        assert "1 keyword intents not recognised" in engine.about()


async def test_too_much_to_say_leaves_it_as_it_was(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with stage() as on:
        assert await on.add(Pocketsphinx(), phrases=("turn on the lights",)) is None
        assert await heard(on, spoken("turn on the lights")) == ("turn on the lights",)

        def grow(_said: Any) -> Any:
            raise GrammarTooLarge("too many states")

        monkeypatch.setattr(registrations, "grammar_of", grow)
        await emit(on, registration("another thing"))
        assert await heard(on, spoken("turn on the lights")) == ("turn on the lights",)
        assert "sentences are too many" in caplog.text


async def test_where_nothing_fits_another_recogniser_is_asked() -> None:
    async with stage() as on:
        engine = Pocketsphinx()
        other = {"otherwise": "faster-whisper", "otherwise_settings": {"model": whisper_tiny()}}
        assert await on.add(engine, phrases=("turn on the kitchen lights",), **other) is None
        assert await heard(on, spoken("turn on the kitchen lights")) == ("turn on the kitchen lights",)
        [text] = await heard(on, spoken("my neighbour bought a new bicycle", "hibari", "en-US"))
        assert "bicycle" in text
        assert "fallback: ctranslate2" in engine.about()


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"otherwise": "nobody"}, "no recogniser 'nobody'"),
        ({"otherwise": "pocketsphinx"}, "no recogniser 'pocketsphinx'"),
        (
            {"otherwise": "faster-whisper", "otherwise_settings": {"beam": "wide"}},
            "settings of faster-whisper are wrong",
        ),
        ({"otherwise": "sherpa-onnx", "otherwise_settings": {"threads": 0}}, "settings of sherpa-onnx are wrong"),
    ],
)
async def test_a_fallback_recogniser_that_cannot_be_loaded_is_reported(settings: dict[str, Any], reason: str) -> None:
    async with stage() as on:
        refusal = await on.add(Pocketsphinx(), **settings)
        assert refusal is not None
        assert reason in refusal.reason


async def test_a_language_without_a_grammar_is_the_others() -> None:
    async with stage() as on:
        engine = Pocketsphinx()
        assert await on.add(engine, otherwise="openai-stt", otherwise_settings={"langs": ["de"]}) is None
        assert engine.serves("de-DE")
        assert engine.serves("en-US")
        assert not engine.serves("fr-FR")


async def test_a_missing_model_is_reported() -> None:
    async with stage() as on:
        refusal = await on.add(Pocketsphinx(), model="/nowhere")
        assert refusal is not None
        assert "/nowhere is not there" in refusal.reason


def test_a_sentence_is_judged_by_its_worst_word_and_by_what_it_leaves_out() -> None:
    phones = [Segment("_A", 0, 29, -30.0), Segment("_B", 30, 59, -30.0)]
    good = compare(("a", "b"), [Segment("a", 0, 29, -30.0), Segment("b", 30, 59, -30.0)], phones)
    assert good == DecodedSentence(("a", "b"), 0.0, 0.0, 0.0)
    bad = compare(("a", "b"), [Segment("a", 0, 29, -30.0), Segment("b", 30, 59, -150.0)], phones)
    assert bad is not None
    assert (bad.whole, bad.worst, bad.hidden) == (-2.0, -4.0, 0.0)
    left_out = compare(("a",), [Segment("a", 0, 29, -30.0), Segment("<sil>", 30, 59, -90.0)], phones)
    assert left_out is not None
    assert (left_out.worst, left_out.hidden) == (0.0, -2.0)
    assert compare(("a",), [Segment("a", 0, 3, -1.0)], phones) is None


@pytest.mark.parametrize(
    ("word", "phones"),
    [
        ("roomba", "R UW M B AH"),
        ("netflix", "N EH T F L IH K S"),
        ("tv", "T IY V IY"),
        ("station", "S T AE SH AH N"),
        ("knight", "N AY T"),
        ("be", "B IY"),
        ("table", "T AE B AH L"),
        ("école", None),
        ("", None),
    ],
)
def test_letters_have_phones(word: str, phones: str | None) -> None:
    assert phones_of(word) == phones
