"""Clock, parrot and help."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from builtin_host import NOON, FakeHost, begin, turn

from hark.builtin import DEFAULT_PLUGINS, ClockSkill, HelpSkill, ParrotSkill, TemplateMatcher
from hark.model import Location
from hark.plugins import Match, Session
from hark.skills import Skill
from hark.spec import topics

LOCAL = datetime.fromtimestamp(NOON)


async def claimed(skill: Skill, text: str) -> Match | None:
    """What the template matcher makes of `text` when only this skill is there."""
    matcher = TemplateMatcher()
    matching = await begin(matcher)
    for message in (await begin(skill)).sent:
        matching.hears(message.type, message.data)
    match = matcher.match([text], "en-US", Session())
    return match if isinstance(match, Match) else None


def at(zone: str) -> Session:
    return Session(location=Location(tz=zone))


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


async def test_the_clock_tells_the_time_where_the_user_is(monkeypatch: pytest.MonkeyPatch) -> None:
    # The machine that runs this may have no time zone database.
    zones = {"Asia/Tokyo": timezone(timedelta(hours=9)), "Pacific/Auckland": timezone(timedelta(hours=13))}
    monkeypatch.setattr("zoneinfo.ZoneInfo", zones.__getitem__)
    clock = ClockSkill()
    await begin(clock)
    tokyo = turn("clock.skill:x", "x", session=at("Asia/Tokyo"))
    auckland = turn("clock.skill:x", "x", session=at("Pacific/Auckland"))
    assert clock.time_here(tokyo) == "It is 21:00."
    assert clock.date_here(auckland) == "It is Friday, 2 January 2026."
    assert clock.day_here(auckland) == "It is Friday."


async def test_without_a_location_the_clock_tells_the_devices_time() -> None:
    clock = ClockSkill()
    await begin(clock)
    assert clock.time_here(turn("clock.skill:x", "x")) == f"It is {LOCAL:%H:%M}."


@pytest.mark.parametrize("zone", ["Mars/Olympus", "../../etc/passwd", "Europe", "\0", "/"])
async def test_where_the_zone_is_not_known_the_clock_says_whose_time_it_tells(zone: str) -> None:
    clock = ClockSkill()
    await begin(clock)
    told = clock.time_here(turn("clock.skill:x", "x", session=at(zone)))
    assert told == f"I do not know your time zone; on this device it is {LOCAL:%H:%M}."


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


def registered(host: FakeHost, label: str, *samples: Any, lang: str = "en-US", scope: str = "default") -> None:
    skill_id, intent_name = label.split(":")
    data = {"skill_id": skill_id, "intent_name": intent_name, "lang": lang, "samples": list(samples)}
    host.hears(topics.REGISTER_TEMPLATE, data, scope)


@pytest.fixture
async def helper() -> HelpSkill:
    return HelpSkill()


@pytest.fixture
async def host(helper: HelpSkill) -> FakeHost:
    return await begin(helper)


def told(helper: HelpSkill, session: Session | None = None) -> str:
    return helper.what_can_you_do(turn("help.skill:what_can_you_do", "help", session=session))


async def test_help_is_understood() -> None:
    for text in ("help", "What can you do?", "what can I say"):
        assert await claimed(HelpSkill(), text) is not None


async def test_help_gives_one_example_for_an_intent(helper: HelpSkill, host: FakeHost) -> None:
    assert told(helper) == "I know of nothing that you could ask me."
    registered(host, "help.skill:what_can_you_do", "help")
    registered(host, "clock.skill:time", "(broken", "what time is it [now]", "tell me the time")
    registered(host, "broken.skill:x", "(broken", 5)
    registered(host, "uhr.skill:zeit", "wie spät ist es", lang="de-DE")
    assert told(helper) == 'You can say "what time is it".'
    registered(host, "play.skill:play", "play {song_name}", lang="en-GB")
    assert told(helper) == 'You can say "what time is it" or "play some song name".'


async def test_help_gives_five_examples_of_as_many_skills_as_there_are(helper: HelpSkill, host: FakeHost) -> None:
    for number in range(6):
        registered(host, f"many.skill:i{number}", f"many {number}")
    registered(host, "one.skill:i", "one")
    registered(host, "two.skill:i", "two")
    assert told(helper) == 'You can say "many 0", "one", "two", "many 1" or "many 2".'


async def test_help_tells_only_what_the_session_can_reach(helper: HelpSkill, host: FakeHost) -> None:
    registered(host, "a.b:i", "aaa")
    registered(host, "c.d:i", "ccc")
    registered(host, "sat.skill:i", "sss", scope="sat-3")
    assert told(helper) == 'You can say "aaa" or "ccc".'
    assert told(helper, Session("sat-3")) == 'You can say "aaa", "ccc" or "sss".'
    assert told(helper, Session(blacklisted_skills=["a.b"])) == 'You can say "ccc".'
    assert told(helper, Session(blacklisted_intents=["c.d:i"])) == 'You can say "aaa".'
    host.hears(topics.INTENT_DISABLE, {"skill_id": "a.b", "intent_name": "i"})
    assert told(helper, Session("sat-3")) == 'You can say "ccc" or "sss".'
    host.hears(topics.INTENT_ENABLE, {"skill_id": "a.b", "intent_name": "i"})
    host.hears(topics.SKILL_DEREGISTER, {"skill_id": "c.d"})
    assert told(helper) == 'You can say "aaa".'
    host.hears(topics.INTENT_DEREGISTER, {"skill_id": "a.b", "intent_name": "i", "lang": "EN-us"})
    assert told(helper) == "I know of nothing that you could ask me."


async def test_help_survives_any_payload(helper: HelpSkill, host: FakeHost) -> None:
    for topic in topics.REGISTRATION:
        host.hears(topic, {})
        host.hears(topic, {"skill_id": 5, "intent_name": None, "lang": [], "samples": {}})
    assert told(helper) == "I know of nothing that you could ask me."


def test_what_is_loaded_by_default_can_be_made_and_has_its_own_name() -> None:
    assert len({plugin().id for plugin in DEFAULT_PLUGINS}) == len(DEFAULT_PLUGINS)
