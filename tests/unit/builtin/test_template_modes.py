"""How much the template matcher dares, by pipeline entry and by setting."""

from __future__ import annotations

import re
from typing import Any

import pytest
from builtin_host import FakeHost, begin

from hark.builtin import TemplateMatcher
from hark.hosting.registry import InvalidPlugin, settings_for
from hark.model import Frozen, Message
from hark.plugins import Declined, Match, Round, Session, Turn
from hark.skills import Skill, intent
from hark.spec import topics
from hark.testing import Assistant

HERE = Session()
WRITTEN = "tell me a joke"
LIKE = "please tell me a really funny joke"
HARDLY = "something very funny about penguins"


def entry(**config: Any) -> Round:
    async def nobody(*_: Any, **__: Any) -> list[Message]:
        return []

    return Round("some-entry", Frozen(config), Message("x", {}, {}, HERE), nobody)


def teach(host: FakeHost) -> None:
    for name, samples in {
        "joke": [WRITTEN, "make me laugh", "say something funny"],
        "time": ["what time is it", "tell me the time", "how late is it"],
        "rain": ["will it rain", "do i need an umbrella", "what is the weather like"],
    }.items():
        data = {"skill_id": "demo.skill", "intent_name": name, "lang": "en-US", "samples": samples}
        host.hears(topics.REGISTER_TEMPLATE, data)


@pytest.fixture
async def matcher() -> TemplateMatcher:
    made = TemplateMatcher()
    teach(await begin(made))
    return made


@pytest.mark.parametrize(
    ("config", "claimed"),
    [
        ({}, [True, True, False]),
        ({"mode": "strict"}, [True, False, False]),
        ({"mode": "normal"}, [True, True, False]),
        ({"mode": "loose"}, [True, True, False]),
        ({"floor": 1}, [True, False, False]),
        ({"floor": 0.99}, [True, False, False]),
        ({"mode": "strict", "floor": 0.3}, [True, True, True]),
    ],
)
async def test_a_pipeline_entry_says_how_much_it_dares(
    matcher: TemplateMatcher, config: dict[str, Any], claimed: list[bool]
) -> None:
    answers = [matcher.match([said], "en-US", HERE, entry(**config)) for said in (WRITTEN, LIKE, HARDLY)]
    assert [isinstance(answer, Match) for answer in answers] == claimed


async def test_the_settings_say_it_for_entries_that_do_not(caplog: pytest.LogCaptureFixture) -> None:
    matcher = TemplateMatcher()
    teach(await begin(matcher, floor=1.0))
    assert isinstance(matcher.match([LIKE], "en-US", HERE), Declined)
    assert isinstance(matcher.match([LIKE], "en-US", HERE, entry(mode="normal")), Match)
    assert caplog.records == []
    for _ in range(2):
        assert isinstance(matcher.match([LIKE], "en-US", HERE, entry(mode="brave")), Declined)
    assert isinstance(matcher.match([LIKE], "en-US", HERE, entry(floor=True)), Declined)
    (record,) = caplog.records
    assert "some-entry" in record.getMessage()
    assert "'brave'" in record.getMessage()


@pytest.mark.parametrize("floor", [-0.1, 1.5, "high"])
def test_a_floor_that_is_no_share_keeps_the_plugin_out(floor: Any) -> None:
    with pytest.raises(InvalidPlugin):
        settings_for(TemplateMatcher(), {"floor": floor})


async def test_what_fits_as_written_comes_before_a_likelier_text_that_is_only_like_something(
    matcher: TemplateMatcher,
) -> None:
    match = matcher.match([LIKE, "what time is it"], "en-US", HERE)
    assert isinstance(match, Match)
    assert (match.intent_name, match.utterance) == ("time", "what time is it")
    match = matcher.match(["who knows", LIKE], "en-US", HERE)
    assert isinstance(match, Match)
    assert match.utterance == LIKE


async def test_a_match_that_is_not_word_for_word_tells_its_score_in_the_trace() -> None:
    class Radio(Skill):
        id = "radio.skill"

        @intent("turn on the radio in the kitchen")
        def on(self, turn: Turn) -> str:
            return "It plays."

    async with Assistant(Radio()) as assistant:
        assert await assistant.hears("turn on the radio in the kitchen") == ["It plays."]
        assert "score" not in assistant.why()
        assert await assistant.hears("would you turn the kitchen radio on") == ["It plays."]
        assert re.search(r"claimed +radio\.skill:on  score 0\.\d\d, 0\.50 needed", assistant.why())


async def test_sentences_that_two_skills_claim_are_known() -> None:
    class Player(Skill):
        id = "player.skill"

        @intent("play {song}")
        def play(self, turn: Turn) -> None: ...

    class Game(Skill):
        id = "game.skill"

        @intent("play a game", "start a game")
        def start_game(self, turn: Turn) -> None: ...

    matcher = TemplateMatcher()
    async with Assistant(Player(), Game(), matcher):
        await matcher.compare()
        [overlap] = matcher.overlaps()
    assert overlap == ("play a game", "en-US", "game.skill:start_game", "player.skill:play")
