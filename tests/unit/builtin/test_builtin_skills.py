"""What clock, parrot and help understand; parrot and help."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from builtin_host import FakeHost, begin, turn

from hark.builtin import DEFAULT_PLUGINS, ClockSkill, HelpSkill, ParrotSkill, TemplateMatcher
from hark.builtin.skills.help.skill import BusQuery
from hark.model import Message
from hark.plugins import Match, Session, Turn
from hark.skills import Skill, intent
from hark.spec import topics
from hark.testing import Assistant, FakeClock


async def claimed(skill: Skill, text: str) -> Match | None:
    """What the template matcher makes of `text` when only this skill is there."""
    matcher = TemplateMatcher()
    matching = await begin(matcher)
    for message in (await begin(skill)).sent:
        matching.hears(message.type, message.data)
    match = matcher.match([text], "en-US", Session())
    return match if isinstance(match, Match) else None


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("what time is it", "time_here"),
        ("What's the time?", "time_here"),
        ("tell me the time", "time_here"),
        ("tell me what time it is", "time_here"),
        ("can you tell me what time it is", "time_here"),
        ("what is the date", "date_here"),
        ("what's today's date", "date_here"),
        ("what date is it today", "date_here"),
        ("what day is it", "day_here"),
        ("what day is today", "day_here"),
        ("which day of the moon is it", None),
    ],
)
async def test_the_clock_understands(text: str, name: str | None) -> None:
    match = await claimed(ClockSkill(), text)
    assert (match.intent_name if match is not None else None) == name


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("say hello world", "hello world"),
        ("Say Hello, World!", "Hello, World!"),
        ("repeat after me I am (not) here", "I am (not) here"),
        ("Repeat what's up?", "what is up"),
        ("say Grüße aus der Straße", "Grüße aus der Straße"),
        ("say a.* b", "a.* b"),
        ("say", None),
    ],
)
async def test_the_parrot_says_it_as_the_user_did(text: str, spoken: str | None) -> None:
    parrot = ParrotSkill()
    match = await claimed(parrot, text)
    if match is None:
        assert spoken is None
    else:
        assert parrot.say(turn(match.topic, match.utterance, match.slots)) == spoken


def registered(hark: Assistant, label: str, *samples: Any, lang: str = "en-US", scope: str = "default") -> None:
    skill_id, intent_name = label.split(":")
    data = {"skill_id": skill_id, "intent_name": intent_name, "lang": lang, "samples": list(samples)}
    hark.bus.emit(Message(topics.REGISTER_TEMPLATE, data, session=Session(scope)))


async def told(hark: Assistant, session: Session | None = None) -> str:
    [answer] = await hark.hears("help", session=session)
    return answer


async def test_help_is_understood() -> None:
    for text in ("help", "What can you do?", "what can I say"):
        assert await claimed(HelpSkill(), text) is not None


async def test_help_gives_one_example_for_an_intent() -> None:
    async with Assistant(HelpSkill()) as hark:
        assert await told(hark) == "I know of nothing that you could ask me."
        registered(hark, "clock.skill:time", "(broken", "what time is it [now]", "tell me the time")
        registered(hark, "broken.skill:x", "(broken", 5)
        registered(hark, "uhr.skill:zeit", "wie spät ist es", lang="de-DE")
        assert await told(hark) == 'You can say "what time is it".'
        registered(hark, "play.skill:play", "play {song_name}", "play something", lang="en-GB")
        assert await told(hark) == 'You can say "what time is it" or "play something".'
        registered(hark, "play.skill:play", "start {song_name}", lang="en-US")
        assert await told(hark) == 'You can say "what time is it".'
        slot = {"skill_id": "play.skill", "entity_name": "song_name", "lang": "en-US", "samples": ["imagine", "help"]}
        hark.bus.emit(Message(topics.ENTITY_REGISTER, slot))
        assert await told(hark) == 'You can say "what time is it" or "start imagine".'
        registered(hark, "weather.skill:rain", "will it rain {day}", lang="en-US")
        assert "will it rain tomorrow" in await told(hark)


async def test_help_says_keywords_where_there_are_no_sentences() -> None:
    intent = {"skill_id": "robot.skill", "intent_name": "send", "lang": "en-US"}
    place = [{"name": "kitchen", "samples": ["kitchen"]}, {"name": "hall", "samples": ["hall"]}]
    required = [{"name": "move", "samples": ["(bad", "send|drive", "(send|drive)"]}]
    async with Assistant(HelpSkill()) as hark:
        hark.bus.emit(Message(topics.REGISTER_KEYWORD, {**intent, "required": required, "one_of": [place]}))
        assert await told(hark) == 'You can say "send kitchen".'
        registered(hark, "robot.skill:send", "send the robot")
        assert await told(hark) == 'You can say "send the robot".'


async def test_help_gives_five_examples_of_as_many_skills_as_there_are() -> None:
    async with Assistant(HelpSkill()) as hark:
        for number in range(6):
            registered(hark, f"many.skill:i{number}", f"many {number}")
        registered(hark, "one.skill:i", "one")
        registered(hark, "two.skill:i", "two")
        assert await told(hark) == 'You can say "many 0", "one", "two", "many 1" or "many 2".'


async def test_help_tells_only_what_the_session_can_reach() -> None:
    async with Assistant(HelpSkill()) as hark:
        registered(hark, "a.b:i", "aaa")
        registered(hark, "c.d:i", "ccc")
        registered(hark, "sat.skill:i", "sss", scope="sat-3")
        assert await told(hark) == 'You can say "aaa" or "ccc".'
        assert await told(hark, Session("sat-3")) == 'You can say "aaa", "ccc" or "sss".'
        assert await told(hark, Session("x", blacklisted_skills=["a.b"])) == 'You can say "ccc".'
        assert await told(hark, Session("x", blacklisted_intents=["c.d:i"])) == 'You can say "aaa".'
        hark.bus.emit(Message(topics.INTENT_DISABLE, {"skill_id": "a.b", "intent_name": "i"}))
        assert await told(hark, Session("sat-3")) == 'You can say "ccc" or "sss".'


async def test_help_knows_what_was_registered_before_it_came() -> None:
    class Early(Skill):
        id = "a.early"

        @intent("good morning")
        def greet(self, turn: Turn) -> None: ...

    async with Assistant(Early(), HelpSkill()) as hark:
        assert await told(hark) == 'You can say "good morning".'


async def test_help_survives_any_payload() -> None:
    broken: list[Any] = [{}, {"samples": {}}, {"required": 5}, {"required": [5]}, {"one_of": [[]]}, {"one_of": [{}]}]
    async with Assistant(HelpSkill()) as hark:
        for number, fields in enumerate(broken):
            for topic in (topics.REGISTER_TEMPLATE, topics.REGISTER_KEYWORD):
                name = {"skill_id": "broken.skill", "intent_name": f"i{number}", "lang": "en-US"}
                hark.bus.emit(Message(topic, {**name, **fields}))
        assert await told(hark) == "I know of nothing that you could ask me."


async def test_help_goes_by_the_answers_to_its_own_questions() -> None:
    async with Assistant(HelpSkill()) as hark:
        registered(hark, "a.b:i", "aaa")

        def forge(message: Message) -> None:
            for context in ({}, {"hark_asked": 5}, {"hark_asked": "somebody else's"}):
                for topic in (topics.INTENT_LIST, topics.INTENT_DESCRIBE):
                    data = {"ok": True, "intents": 5, "definitions": 5}
                    hark.bus.emit(Message(topics.response_topic(topic), data, context))

        hark.bus.on(topics.HANDLER_START, forge)
        assert await told(hark) == 'You can say "aaa".'


async def test_a_query_of_the_help_skill_that_is_not_answered_ends() -> None:
    host = FakeHost("help.skill")
    host.clock = clock = FakeClock()  # type: ignore[assignment]
    query = BusQuery(host, topics.INTENT_LIST)  # type: ignore[arg-type]
    answer = asyncio.ensure_future(query.ask(Message(topics.INTENT_LIST)))
    await clock.advance(3.0)
    assert await answer is None


def test_what_is_loaded_by_default_can_be_made_and_has_its_own_name() -> None:
    assert len({plugin().id for plugin in DEFAULT_PLUGINS}) == len(DEFAULT_PLUGINS)
