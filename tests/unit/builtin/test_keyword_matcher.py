"""The keyword matcher on the bus."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from builtin_host import FakeHost, begin

from hark.builtin import KeywordMatcher
from hark.hosting.registry import InvalidPlugin, settings_for
from hark.model import Frozen, Message
from hark.plugins import Declined, Match, Round, Session
from hark.spec import topics

HERE = Session()


def voc(name: str, *samples: Any) -> dict[str, Any]:
    return {"name": name, "samples": list(samples)}


def send_robot(**changes: Any) -> dict[str, Any]:
    data = {
        "skill_id": "robot.demo",
        "intent_name": "send",
        "lang": "en-US",
        "required": [voc("move", "move", "send", "drive"), voc("robot", "robot", "vacuum cleaner")],
        "one_of": [[voc("kitchen", "kitchen"), voc("hall", "[front] hall")]],
        **changes,
    }
    return {key: value for key, value in data.items() if value is not None}


async def nobody(*_arguments: Any, **_how: Any) -> list[Message]:
    return []


def entry(**config: Any) -> Round:
    return Round("some-entry", Frozen(config), Message("x"), nobody)


@pytest.fixture
async def matcher() -> KeywordMatcher:
    return KeywordMatcher()


@pytest.fixture
async def host(matcher: KeywordMatcher) -> FakeHost:
    host = await begin(matcher)
    assert not matcher.prepare()  # what is registered from now on is read at once
    return host


async def test_a_registration_can_be_matched_at_once(matcher: KeywordMatcher, host: FakeHost) -> None:
    assert matcher.match(["send robot hall"], "en-US", HERE) == Declined("no keywords in en-US")
    host.hears(topics.REGISTER_KEYWORD, send_robot())
    match = matcher.match(["to the Front Hall, drive the Robot!"], "en-us", HERE)
    slots = {"move": "drive", "robot": "robot", "hall": "front hall"}
    assert match == Match("robot.demo", "send", "en-US", "to the Front Hall, drive the Robot!", slots)
    assert isinstance(match, Match)
    assert match.defect() is None


async def test_the_first_candidate_that_fits_is_claimed(matcher: KeywordMatcher, host: FakeHost) -> None:
    host.hears(topics.REGISTER_KEYWORD, send_robot())
    match = matcher.match(["sand robot hall", "send robot hall", "move robot hall"], "en-US", HERE)
    assert isinstance(match, Match)
    assert match.utterance == "send robot hall"
    declined = matcher.match(["move robot", "hello"], "en-US", HERE)
    assert declined == Declined("robot.demo:send needs 'kitchen or hall', which was not said")


async def test_every_retraction_and_switch_is_honoured(matcher: KeywordMatcher, host: FakeHost) -> None:
    name = {"skill_id": "robot.demo", "intent_name": "send"}
    for topic, matches in (
        (topics.REGISTER_KEYWORD, True),
        (topics.INTENT_DISABLE, False),
        (topics.INTENT_ENABLE, True),
        (topics.INTENT_DEREGISTER, False),
        (topics.REGISTER_KEYWORD, True),
        (topics.SKILL_DEREGISTER, False),
    ):
        host.hears(topic, send_robot() if topic == topics.REGISTER_KEYWORD else name)
        assert isinstance(matcher.match(["send robot hall"], "en-US", HERE), Match) is matches, topic


async def test_a_skipped_sample_is_logged_with_all_its_fields(
    matcher: KeywordMatcher, host: FakeHost, caplog: pytest.LogCaptureFixture
) -> None:
    host.hears(topics.REGISTER_KEYWORD, send_robot(required=[voc("robot", "robot", "(vacuum"), voc("move", "send")]))
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    for part in ("robot.demo", "'send'", "en-US", topics.REGISTER_KEYWORD, "(vacuum", "'robot'"):
        assert part in record.getMessage()
    fields = vars(record)
    assert (fields["skill_id"], fields["intent_name"], fields["lang"]) == ("robot.demo", "send", "en-US")
    assert (fields["topic"], fields["item"]) == (topics.REGISTER_KEYWORD, "(vacuum")
    assert isinstance(matcher.match(["send robot hall"], "en-US", HERE), Match)


async def test_a_malformed_replacement_is_logged_and_keeps_the_old_definition(
    matcher: KeywordMatcher, host: FakeHost, caplog: pytest.LogCaptureFixture
) -> None:
    host.hears(topics.REGISTER_KEYWORD, send_robot())
    host.hears(topics.REGISTER_KEYWORD, send_robot(required=[], one_of=[], optional=[voc("soon", "now")]))
    (record,) = caplog.records
    assert "rejected" in record.getMessage()
    assert isinstance(matcher.match(["send robot hall"], "en-US", HERE), Match)


async def test_it_lists_what_it_can_match(host: FakeHost) -> None:
    query = topics.pipeline_intents_list("keyword")
    host.hears(query, {})
    host.hears(topics.REGISTER_KEYWORD, send_robot())
    host.hears(query, {"lang": "EN-us", "skill_id": "robot.demo"})
    send = {"skill_id": "robot.demo", "intent_name": "send", "lang": "en-US"}
    assert [answer.data for answer in host.sent] == [
        {"pipeline_id": "keyword", "intents": ()},
        {"pipeline_id": "keyword", "intents": (send,)},
    ]


LONG = "would somebody please send the little old robot straight to the very big hall"
"""Three of fourteen words."""


@pytest.mark.parametrize(
    ("config", "matches"),
    [
        ({}, True),
        ({"floor": 0.3}, False),
        ({"floor": 0}, True),
        ({"mode": "strict"}, False),
        ({"mode": "normal"}, True),
        ({"mode": "loose"}, True),
        ({"mode": "strict", "floor": 0.1}, True),
    ],
)
async def test_a_pipeline_entry_says_how_much_has_to_be_explained(
    matcher: KeywordMatcher, host: FakeHost, config: dict[str, Any], matches: bool
) -> None:
    host.hears(topics.REGISTER_KEYWORD, send_robot())
    assert isinstance(matcher.match([LONG], "en-US", HERE, entry(**config)), Match) is matches


async def test_the_settings_say_it_for_entries_that_do_not(caplog: pytest.LogCaptureFixture) -> None:
    matcher = KeywordMatcher()
    host = await begin(matcher, floor=0.3)
    host.hears(topics.REGISTER_KEYWORD, send_robot())
    assert isinstance(matcher.match([LONG], "en-US", HERE), Declined)
    assert isinstance(matcher.match([LONG], "en-US", HERE, entry(mode="normal")), Match)
    assert caplog.records == []
    for _ in range(2):
        assert isinstance(matcher.match([LONG], "en-US", HERE, entry(mode="brave")), Declined)
    assert isinstance(matcher.match([LONG], "en-US", HERE, entry(floor=True)), Declined)
    (record,) = caplog.records
    assert "some-entry" in record.getMessage()
    assert "'brave'" in record.getMessage()


@pytest.mark.parametrize("floor", [-0.1, 1.5, "high"])
def test_a_floor_that_is_no_share_keeps_the_plugin_out(floor: Any) -> None:
    with pytest.raises(InvalidPlugin):
        settings_for(KeywordMatcher(), {"floor": floor})
    assert settings_for(KeywordMatcher(), {"floor": 1}).floor == 1
