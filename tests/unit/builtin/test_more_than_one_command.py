"""Several commands, corrections, commands during questions, and what is said about turns without an answer."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from hark.builtin import PIPELINE, Cancel, Normalize, Remarks
from hark.plugins import Message, Turn, fallback
from hark.skills import Skill, intent
from hark.spec import topics
from hark.testing import Assistant


class House(Skill):
    """Commands of a house."""

    id = "house.skill"

    def __init__(self) -> None:
        super().__init__()
        self.done: list[str] = []
        self.answer: str | None = "not asked"

    @intent("turn off the lights")
    def lights(self, turn: Turn) -> str:
        self.done.append("lights")
        return "lights off"

    @intent("lock the door")
    def lock(self, turn: Turn) -> str:
        self.done.append("lock")
        return "locked"

    @intent("open the window in the {room}", "open the {room} window")
    def window(self, turn: Turn) -> str:
        self.done.append(turn.slots["room"])
        return f"open in the {turn.slots['room']}"

    @intent("remind me to {task}")
    def remind(self, turn: Turn) -> str:
        return turn.slots["task"]

    @intent("ask me something")
    async def ask(self, turn: Turn) -> str:
        self.answer = await turn.ask("what colour?")
        return f"you said {self.answer}"

    @intent("break down")
    def break_down(self, turn: Turn) -> None:
        raise ValueError("broken")


def assistant(*more: Any, plugins: dict[str, Any] | None = None, **options: Any) -> tuple[House, Assistant]:
    house = House()
    settings = {"plugins": plugins or {}, **options}
    made = Assistant(
        Normalize(), Cancel(), *(matcher() for matcher in PIPELINE), Remarks(), house, *more, settings=settings
    )
    return house, made


def said(hark: Assistant) -> list[str]:
    return [topic for topic in hark.topics() if topic.startswith(("ovos.utterance.", "ovos.intent.un"))]


async def test_each_of_several_commands_has_its_own_marker_and_they_run_in_order() -> None:
    house, hark = assistant()
    async with hark:
        assert await hark.hears("turn off the lights and then lock the door, please") == ["lights off", "locked"]
        assert house.done == ["lights", "lock"]
        entries, markers = hark.of(topics.UTTERANCE_HANDLE), hark.of(topics.UTTERANCE_HANDLED)
        assert [entry.data["utterances"] for entry in entries[1:]] == [("turn off the lights",), ("lock the door",)]
        assert len({marker.utterance_id for marker in markers}) == len(markers) == 3
        # The second begins when the first has ended, and the whole ends last.
        order = [message for message in hark.messages if message in entries or message in markers]
        assert [message.type.rpartition(".")[2] for message in order] == [
            *("handle", "handle", "handled", "handle", "handled", "handled")
        ]


async def test_a_comma_divides_commands_too() -> None:
    house, hark = assistant()
    async with hark:
        assert await hark.hears("turn off the lights, lock the door and open the kitchen window") == [
            "lights off",
            "locked",
            "open in the kitchen",
        ]
    assert house.done == ["lights", "lock", "kitchen"]


async def test_the_second_command_is_said_in_the_session_of_the_first() -> None:
    _, hark = assistant()
    async with hark:
        assert await hark.hears("lock the door and turn off the lights", session="kitchen") == ["locked", "lights off"]
        assert {message.session_id for message in hark.of(topics.UTTERANCE_HANDLED)} == {"kitchen"}


@pytest.mark.parametrize(
    "text", ["remind me to lock the door and turn off the lights", "turn off the lights and dance", "lock the door and"]
)
async def test_what_is_one_command_or_none_stays_whole(text: str) -> None:
    _, hark = assistant()
    async with hark:
        await hark.hears(text)
        assert len(hark.of(topics.UTTERANCE_HANDLE)) == 1


async def test_several_commands_can_be_switched_off() -> None:
    house, hark = assistant(plugins={"several": {"enabled": False}})
    async with hark:
        await hark.hears("turn off the lights and lock the door")
        assert len(hark.of(topics.UTTERANCE_HANDLE)) == 1
        assert house.done != ["lights", "lock"]


async def test_looking_at_the_parts_sends_nothing() -> None:
    _, hark = assistant(plugins={"remarks": {"not_understood": False}})
    async with hark:
        await hark.hears("turn off the lights and dance wildly tonight my friend")
        assert hark.topics()[-2:] == [topics.INTENT_UNMATCHED, topics.UTTERANCE_HANDLED]
        assert not any(":" in topic for topic in hark.topics())


@pytest.mark.parametrize(
    ("correction", "room"),
    [
        ("no, I meant the bedroom", "bedroom"),
        ("sorry, I meant in the attic", "attic"),
        ("not the kitchen, the bedroom", "bedroom"),
        ("not kitchen but attic", "attic"),
        ("the attic, not the kitchen", "attic"),
    ],
)
async def test_a_correction_runs_the_last_intent_again(correction: str, room: str) -> None:
    house, hark = assistant()
    async with hark:
        await hark.hears("open the window in the kitchen")
        assert await hark.hears(correction) == [f"open in the {room}"]
        assert house.done == ["kitchen", room]


class Calls(Skill):
    """A slot with known values, a number, and one that takes anything."""

    id = "calls.skill"

    async def start(self) -> None:
        self.register_entity("person", "anna", "peter", "old peter")

    @intent("call {person}")
    def call(self, turn: Turn) -> str:
        return f"calling {turn.slots['person']}"

    @intent("set a timer for {duration}")
    def timer(self, turn: Turn) -> str:
        return f"timer for {turn.slots['duration']}"

    @intent("dim the lamp to {level} percent")
    def dim(self, turn: Turn) -> str:
        return f"dimmed to {turn.slots['level']}"

    @intent("spell {word}")
    def spell(self, turn: Turn) -> str:
        return f"spelling {turn.slots['word']}"


@pytest.mark.parametrize(
    ("first", "correction", "answer"),
    [
        ("call anna", "no peter", ["calling peter"]),
        ("call anna", "wait, no, old Peter", ["calling old peter"]),
        ("call anna", "oh no peter I mean", ["calling peter"]),
        ("call anna", "no thanks", []),
        ("set a timer for ten minutes", "no fifteen minutes", ["timer for fifteen minutes"]),
        ("set a timer for ten minutes", "no thank you", []),
        ("set a timer for ten minutes", "no, make that fifteen minutes", ["timer for fifteen minutes"]),
        ("dim the lamp to forty percent", "no thirty percent", ["dimmed to thirty"]),
        ("dim the lamp to forty percent", "make that thirty percent", ["dimmed to thirty"]),
        ("dim the lamp to forty percent", "wait five minutes", []),
        ("spell necessary", "no accessory", []),
        ("spell necessary", "no, I meant accessory", ["spelling accessory"]),
    ],
)
async def test_a_mere_no_is_followed_by_what_is_like_the_words_before(
    first: str, correction: str, answer: list[str]
) -> None:
    _, hark = assistant(Calls(), plugins={"remarks": {"not_understood": False}})
    async with hark:
        await hark.hears(first)
        assert await hark.hears(correction) == answer


async def test_a_correction_is_of_its_own_session_and_of_a_short_time() -> None:
    house, hark = assistant()
    async with hark:
        await hark.hears("open the window in the kitchen")
        await hark.hears("no, I meant the bedroom", session="elsewhere")
        assert house.done == ["kitchen"]
        await hark.clock.advance(61)
        await hark.hears("no, I meant the bedroom")
        assert house.done == ["kitchen"]


async def test_what_was_meant_may_be_another_command() -> None:
    _, hark = assistant()
    async with hark:
        await hark.hears("turn off the lights")
        assert await hark.hears("no, I said lock the door") == ["locked"]


async def test_a_clear_command_closes_the_question_and_an_answer_does_not() -> None:
    house, hark = assistant()
    async with hark:
        assert await hark.hears("ask me something") == ["what colour?"]
        assert await hark.hears("lock the door") == ["locked", "you said None"]
        assert house.answer is None
        assert hark.of(topics.UTTERANCE_HANDLED)[-1].session is not None
        assert await hark.hears("ask me something") == ["what colour?"]
        assert await hark.hears("blue") == ["you said blue"]


async def test_never_mind_closes_the_question_of_its_session_only() -> None:
    _, hark = assistant()
    async with hark:
        for session in ("one", "two"):
            assert await hark.hears("ask me something", session=session) == ["what colour?"]
        assert await hark.hears("never mind", session="one") == ["you said None"]
        assert await hark.hears("red", session="two") == ["you said red"]
        assert await hark.hears("lock the door", session="one") == ["locked"]


async def test_commands_are_answers_where_that_is_set() -> None:
    _, hark = assistant(plugins={"interrupt": {"enabled": False}})
    async with hark:
        await hark.hears("ask me something")
        assert await hark.hears("lock the door") == ["you said lock the door"]


async def test_not_understood_is_said_after_the_marker_in_the_session_that_said_it() -> None:
    _, hark = assistant()
    async with hark:
        (answer,) = await hark.hears("flibber wozzle", session="kitchen")
        assert "sorry" in answer.lower()
        ended = said(hark)[-3:]
        assert ended == [topics.INTENT_UNMATCHED, topics.UTTERANCE_HANDLED, topics.UTTERANCE_SPEAK]
        unmatched, spoken = hark.of(topics.INTENT_UNMATCHED)[-1], hark.of(topics.UTTERANCE_SPEAK)[-1]
        assert (spoken.utterance_id, spoken.session_id) == (unmatched.utterance_id, "kitchen")


async def test_the_nearest_sentence_is_named_where_there_is_one() -> None:
    _, hark = assistant()
    async with hark:
        (answer,) = await hark.hears("are all the lights dimmed")
        assert "turn off the lights" in answer


async def test_no_sentence_is_named_that_would_not_be_matched() -> None:
    _, hark = assistant(deny={"skills": ["house.skill"]})
    async with hark:
        (answer,) = await hark.hears("are all the lights dimmed")
        assert "sorry" in answer.lower()
        assert "lights" not in answer


async def test_it_is_said_in_turns_with_other_words() -> None:
    _, hark = assistant(plugins={"remarks": {"suggest": False}})
    async with hark:
        answers = [(await hark.hears("flibber wozzle"))[0] for _ in range(6)]
        assert len(set(answers)) == 3
        assert all(one != other for one, other in pairwise(answers))


async def test_nothing_is_said_where_that_is_set_and_where_a_fallback_answered() -> None:
    class Shrug(Skill):
        id = "shrug.skill"

        @fallback(90)
        def shrug(self, turn: Turn) -> str:
            return "no idea"

    _, hark = assistant(plugins={"remarks": {"not_understood": False}})
    async with hark:
        assert await hark.hears("flibber wozzle") == []
    _, hark = assistant(Shrug())
    async with hark:
        assert await hark.hears("flibber wozzle") == ["no idea"]


async def test_a_failed_skill_is_named_once_and_a_stopped_one_is_not() -> None:
    _, hark = assistant()
    async with hark:
        (answer,) = await hark.hears("break down")
        assert "house" in answer
        assert said(hark)[-2:] == [topics.UTTERANCE_HANDLED, topics.UTTERANCE_SPEAK]
        await hark.hears("ask me something")
        await hark.hears("stop")
        assert not any("failed" in one.text or "wrong" in one.text for one in hark.rendered[2:])
    _, hark = assistant(plugins={"remarks": {"failures": False}})
    async with hark:
        assert await hark.hears("break down") == []


async def test_a_stop_with_nothing_to_stop_answers() -> None:
    _, hark = assistant()
    async with hark:
        assert await hark.hears("stop") == ["There is nothing to stop."]
        assert await hark.hears("stop everything") == []
        hark.bus.emit(Message(topics.AUDIO_OUTPUT_STARTED, {}))
        assert await hark.hears("stop") == []
    _, hark = assistant(plugins={"stop": {"answers": False}})
    async with hark:
        assert await hark.hears("stop") == []
