"""The skills that ask a service: weather and facts, against stand-ins with the shapes of the real responses."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from hark.builtin import CalculatorSkill, FactsSkill, WeatherSkill
from hark.builtin.skills.facts.skill import topic_of
from hark.builtin.skills.facts.sources import beginning
from hark.builtin.skills.web import NotFound, Unreachable, get_json
from hark.testing import Assistant, FakeClock, play

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "benchmarks" / "everyday"))

from services import LocalServices  # type: ignore[import-not-found,unused-ignore]

HOME = {"place": "Boston", "latitude": 42.36, "longitude": -71.06, "time_zone": "America/New_York"}
NOW = datetime(2026, 11, 17, 20, 5, tzinfo=ZoneInfo("America/New_York")).timestamp()


@pytest.fixture
def services() -> Iterator[LocalServices]:
    with LocalServices() as services:
        yield services


def assistant(services: LocalServices, lang: str = "en-US", **home: Any) -> Assistant:
    settings = {"assistant": {"lang": lang}, "home": {**HOME, **home}, "plugins": services.settings()}
    return Assistant(WeatherSkill(), FactsSkill(), CalculatorSkill(), settings=settings, clock=FakeClock(NOW))


async def test_the_weather_of_the_home_needs_no_look_up_of_its_place(services: LocalServices) -> None:
    async with assistant(services) as hark:
        told = await hark.hears("what is the weather like")
    assert told == ["It is 45 degrees and overcast. Today's high is 49 degrees, the low 38 degrees."]
    assert [path.partition("?")[0] for path in services.requests] == ["/v1/forecast"]
    assert "latitude=42.36&longitude=-71.06" in services.requests[0]


async def test_a_forecast_is_used_again_for_a_while(services: LocalServices) -> None:
    async with assistant(services) as hark:
        await hark.hears("will it rain today")
        await hark.hears("will it rain tomorrow")
        assert len(services.requests) == 1
        await hark.clock.advance(700)
        await hark.hears("will it rain tomorrow")
    assert len(services.requests) == 2


async def test_units_are_those_of_the_home(services: LocalServices) -> None:
    async with assistant(services, units="metric") as hark:
        assert await hark.hears("how cold is it outside") == ["It is 7 degrees, and feels like 5 degrees."]


async def test_another_place_and_another_day_follow(services: LocalServices) -> None:
    async with assistant(services) as hark:
        assert "in Paris" in (await hark.hears("what is the weather in paris"))[0]
        assert (await hark.hears("and tomorrow"))[0].startswith("Tomorrow in Paris: overcast")
        assert await hark.hears("what is the weather in atlantis") == ["I do not know a place called atlantis."]


async def test_without_a_place_it_says_how_to_set_one(services: LocalServices) -> None:
    settings = {"plugins": services.settings()}
    async with Assistant(WeatherSkill(), settings=settings) as hark:
        told = await hark.hears("what is the weather")
    assert "hark setup" in told[0]
    assert services.requests == []


@pytest.mark.parametrize("said", ["what is the weather", "define serendipity", "tell me about jupiter"])
async def test_a_service_out_of_reach_is_reported(services: LocalServices, said: str) -> None:
    services.broken = True
    async with assistant(services) as hark:
        told = await hark.hears(said)
    assert len(told) == 1
    assert "connected to the internet" in told[0]


async def test_a_question_that_could_not_be_looked_up_is_answered_last(services: LocalServices) -> None:
    services.broken = True
    async with assistant(services) as hark:
        assert "out of reach" in (await hark.hears("who was ada lovelace"))[0]


async def test_questions_of_fact_are_answered_from_articles(services: LocalServices) -> None:
    async with assistant(services) as hark:
        told = await hark.hears("who was ada lovelace")
        assert told == [
            "Ada Lovelace was an English mathematician and writer. She is known for her notes on a mechanical computer."
        ]
        assert "flock" in (await hark.hears("what does gregarious mean"))[0]
        assert await hark.hears("tell me about the blivet") == ["I found nothing about the blivet."]


async def test_sums_and_questions_about_oneself_never_leave_the_machine(services: LocalServices) -> None:
    async with assistant(services) as hark:
        assert await hark.hears("what is 12 times 7") == ["That is 84."]
        for said in ("what is my name", "where is my phone", "what is that", "who are you"):
            await hark.hears(said)
    assert services.requests == []


@pytest.mark.parametrize(
    ("question", "lang", "topic"),
    [
        ("who was Ada Lovelace?", "en-US", "ada lovelace"),
        ("what's the Eiffel Tower", "en-US", "eiffel tower"),
        ("what is my name", "en-US", None),
        ("what is two plus two", "en-US", None),
        ("how are you", "en-US", None),
        ("wer war Ada Lovelace", "de-DE", "ada lovelace"),
        ("qué es la fotosíntesis", "es-ES", "fotosintesis"),
        ("qui est Marie Curie", "fr-FR", "marie curie"),
        ("chi era Marie Curie", "it-IT", "marie curie"),
        ("quem foi Marie Curie", "pt-PT", "marie curie"),
    ],
)
def test_what_a_question_is_about(question: str, lang: str, topic: str | None) -> None:
    assert topic_of(question, lang) == topic


def test_the_beginning_of_an_article_is_two_sentences_without_brackets() -> None:
    text = "Lisbon (Portuguese: Lisboa) is a city. It has 5.5 hills &amp; a river. It is old."
    assert beginning(text) == "Lisbon is a city. It has 5.5 hills & a river."


def test_only_addresses_on_the_web_are_asked(services: LocalServices) -> None:
    with pytest.raises(Unreachable):
        get_json("file:///etc/passwd")
    with pytest.raises(NotFound):
        get_json(services.settings()["facts.skill"]["wikipedia_url"] + "/nothing")


SCRIPTS = {
    "de-DE": "user: wie ist das wetter\nhark: es sind 7 Grad, *\nuser: und morgen\nhark: Morgen: bedeckt, *\n"
    "user: regnet es morgen\nhark: * 20 Prozent\nuser: wer war Ada Lovelace\nhark: Ada Lovelace *",
    "es-ES": "user: qué tiempo hace\nhark: hay 7 grados *\nuser: lloverá mañana\nhark: * 20 por ciento\n"
    "user: quién fue Ada Lovelace\nhark: Ada Lovelace *",
    "fr-FR": "user: quel temps fait il\nhark: il fait 7 degrés *\nuser: va t il pleuvoir demain\nhark: * 20 pour cent\n"
    "user: qui était Ada Lovelace\nhark: Ada Lovelace *",
    "it-IT": "user: che tempo fa\nhark: la temperatura è di 7 gradi *\nuser: pioverà domani\nhark: * 20 per cento\n"
    "user: chi era Ada Lovelace\nhark: Ada Lovelace *",
    "pt-PT": "user: como está o tempo\nhark: a temperatura é de 7 graus *\n"
    "user: vai chover amanhã\nhark: * 20 por cento\nuser: quem foi Ada Lovelace\nhark: Ada Lovelace *",
    "en-US": "user: what's the weather\nhark: it is 45 degrees *\nuser: will it rain tomorrow\nhark: * 20 percent\n"
    "user: who was Ada Lovelace\nhark: Ada Lovelace *",
}


@pytest.mark.parametrize("lang", SCRIPTS)
async def test_weather_and_facts_in_every_language(lang: str, services: LocalServices) -> None:
    head = f"language: {lang}\ntimezone: America/New_York\nnow: 2026-11-17 20:05\n\n"
    settings = {"assistant": {"lang": lang}, "home": HOME, "plugins": services.settings()}
    await play(head + SCRIPTS[lang] + "\n", settings=settings)


async def test_a_follow_up_keeps_the_day_and_the_place(services: LocalServices) -> None:
    async with assistant(services) as hark:
        assert "in Paris" in (await hark.hears("what is the weather in paris"))[0]
        assert (await hark.hears("and tomorrow"))[0].startswith("Tomorrow in Paris")
        assert (await hark.hears("and in lisbon"))[0].startswith("Tomorrow in Lisbon")
