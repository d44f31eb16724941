"""The template matcher on the bus."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from builtin_host import FakeHost, begin

from hark.builtin import TemplateMatcher
from hark.plugins import Declined, Match, Session
from hark.spec import topics

HERE = Session()


def dim(**changes: Any) -> dict[str, Any]:
    data = {
        "skill_id": "lights.demo",
        "intent_name": "dim",
        "lang": "en-US",
        "samples": ["(dim|lower) {room}", "[x]", "dim {room} for {duration:span}"],
        "blacklist": ["dim sum"],
        "required_slots": ["room"],
        "slot_blacklist": {"room": ["it"]},
        **changes,
    }
    return {key: value for key, value in data.items() if value is not None}


@pytest.fixture
async def matcher() -> TemplateMatcher:
    return TemplateMatcher()


@pytest.fixture
async def host(matcher: TemplateMatcher) -> FakeHost:
    host = await begin(matcher)
    assert not matcher.prepare()  # what is registered from now on is read at once
    return host


async def test_a_registration_can_be_matched_at_once(matcher: TemplateMatcher, host: FakeHost) -> None:
    host.hears(topics.REGISTER_TEMPLATE, dim())
    match = matcher.match(["lower the Hall"], "en-us", HERE)
    assert isinstance(match, Match)
    assert match.replace(note="") == Match("lights.demo", "dim", "en-US", "lower the Hall", {"room": "the hall"})
    assert isinstance(match, Match)
    assert match.defect() is None


async def test_the_first_candidate_that_fits_is_claimed(matcher: TemplateMatcher, host: FakeHost) -> None:
    host.hears(topics.REGISTER_TEMPLATE, dim())
    match = matcher.match(["din hall", "dim hall", "lower hall"], "en-US", HERE)
    assert isinstance(match, Match)
    assert match.utterance == "dim hall"


async def test_a_decline_has_the_reason_of_the_likeliest_candidate(matcher: TemplateMatcher, host: FakeHost) -> None:
    assert matcher.match(["dim hall"], "en-US", HERE) == Declined("no templates in en-US")
    host.hears(topics.REGISTER_TEMPLATE, dim())
    declined = matcher.match(["dim sum", "hello"], "en-US", HERE)
    assert declined == Declined("lights.demo:dim fits but 'dim sum' rules it out")


async def test_the_scope_is_the_session_of_the_message(matcher: TemplateMatcher, host: FakeHost) -> None:
    host.hears(topics.REGISTER_TEMPLATE, dim(), "sat-3")
    assert isinstance(matcher.match(["dim hall"], "en-US", Session("sat-3")), Match)
    assert isinstance(matcher.match(["dim hall"], "en-US", Session("sat-9")), Declined)
    host.hears(topics.SKILL_DEREGISTER, {"skill_id": "lights.demo"})
    assert isinstance(matcher.match(["dim hall"], "en-US", Session("sat-3")), Match)
    host.hears(topics.SKILL_DEREGISTER, {"skill_id": "lights.demo"}, "sat-3")
    assert isinstance(matcher.match(["dim hall"], "en-US", Session("sat-3")), Declined)


async def test_every_retraction_and_switch_is_honoured(matcher: TemplateMatcher, host: FakeHost) -> None:
    name = {"skill_id": "lights.demo", "intent_name": "dim"}
    host.hears(topics.REGISTER_TEMPLATE, dim())
    host.hears(topics.ENTITY_REGISTER, {**name, "entity_name": "room", "lang": "en-US", "samples": ["hall"]})
    for topic, matches in (
        (topics.INTENT_DISABLE, False),
        (topics.INTENT_ENABLE, True),
        (topics.INTENT_DEREGISTER, False),
    ):
        host.hears(topic, name)
        assert isinstance(matcher.match(["dim hall"], "en-US", HERE), Match) is matches
    host.hears(topics.ENTITY_DEREGISTER, {**name, "entity_name": "room"})


async def test_a_skipped_item_is_logged_with_all_its_fields(host: FakeHost, caplog: pytest.LogCaptureFixture) -> None:
    host.hears(topics.REGISTER_TEMPLATE, dim())
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    for part in ("lights.demo", "dim", "en-US", topics.REGISTER_TEMPLATE, "[x]", "empty sentence"):
        assert part in record.getMessage()
    fields = vars(record)
    assert (fields["skill_id"], fields["intent_name"], fields["lang"]) == ("lights.demo", "dim", "en-US")
    assert (fields["topic"], fields["item"]) == (topics.REGISTER_TEMPLATE, "[x]")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"skill_id": None}, "skill_id is missing"),
        ({"intent_name": None}, "intent_name is missing"),
        ({"lang": None}, "lang is missing"),
        ({"intent_name": "stop"}, "reserved"),
        ({"required_slots": ["colour"]}, "'colour'"),
    ],
)
async def test_a_rejection_is_logged(
    matcher: TemplateMatcher, host: FakeHost, caplog: pytest.LogCaptureFixture, changes: dict[str, Any], told: str
) -> None:
    host.hears(topics.REGISTER_TEMPLATE, dim(samples=["dim {room}"], **changes), skill_id="lights.demo")
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert told in record.getMessage()
    assert vars(record)["topic"] == topics.REGISTER_TEMPLATE
    assert isinstance(matcher.match(["dim hall"], "en-US", HERE), Declined)


async def test_a_bad_replacement_keeps_the_old_definition(matcher: TemplateMatcher, host: FakeHost) -> None:
    host.hears(topics.REGISTER_TEMPLATE, dim())
    host.hears(topics.REGISTER_TEMPLATE, dim(samples=[]))
    assert isinstance(matcher.match(["dim hall"], "en-US", HERE), Match)


async def test_the_payload_names_the_target_not_the_sender(
    matcher: TemplateMatcher, host: FakeHost, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    host.hears(topics.REGISTER_TEMPLATE, dim(samples=["dim {room}"]), skill_id="tool.skill")
    assert isinstance(matcher.match(["dim hall"], "en-US", HERE), Match)
    assert [record.levelno for record in caplog.records] == [logging.DEBUG]
    assert "tool.skill" in caplog.text
    assert "lights.demo" in caplog.text


async def test_a_skill_is_removed_by_itself_alone_unless_settings_say_otherwise(
    matcher: TemplateMatcher, host: FakeHost, caplog: pytest.LogCaptureFixture
) -> None:
    host.hears(topics.REGISTER_TEMPLATE, dim(samples=["dim {room}"]))
    host.hears(topics.SKILL_DEREGISTER, {"skill_id": "lights.demo"}, skill_id="rogue.skill")
    assert isinstance(matcher.match(["dim hall"], "en-US", HERE), Match)
    assert "rogue.skill" in caplog.text
    host.hears(topics.SKILL_DEREGISTER, {"skill_id": "lights.demo"}, skill_id="lights.demo")
    assert isinstance(matcher.match(["dim hall"], "en-US", HERE), Declined)

    open_matcher = TemplateMatcher()
    open_host = await begin(open_matcher, protect_skills=False)
    open_host.hears(topics.REGISTER_TEMPLATE, dim(samples=["dim {room}"]))
    open_host.hears(topics.SKILL_DEREGISTER, {"skill_id": "lights.demo"}, skill_id="rogue.skill")
    assert isinstance(open_matcher.match(["dim hall"], "en-US", HERE), Declined)


async def test_it_lists_what_it_can_match(host: FakeHost) -> None:
    query = topics.pipeline_intents_list("template")
    host.hears(query, {})
    host.hears(topics.REGISTER_TEMPLATE, dim())
    host.hears(topics.REGISTER_TEMPLATE, dim(lang="de-DE"))
    host.hears(topics.REGISTER_TEMPLATE, dim(skill_id="sat.skill"), "sat-3")
    host.hears(query, {"lang": "DE-de", "foo": 1})
    host.hears(query, {"skill_id": "sat.skill"}, "sat-3")
    host.hears(query, {"lang": 5})
    assert [answer.type for answer in host.sent] == [query + ".response"] * 4
    assert host.sent[0].data == {"pipeline_id": "template", "intents": ()}
    german = {"skill_id": "lights.demo", "intent_name": "dim", "lang": "de-DE"}
    assert host.sent[1].data["intents"] == (german,)
    assert [item["skill_id"] for item in host.sent[2].data["intents"]] == ["sat.skill"]
    assert host.sent[3].data["intents"] == ()


async def test_what_is_registered_during_the_start_is_read_by_prepare(caplog: pytest.LogCaptureFixture) -> None:
    matcher = TemplateMatcher()
    host = await begin(matcher)
    host.hears(topics.REGISTER_TEMPLATE, dim())
    host.hears(topics.REGISTER_TEMPLATE, dim(intent_name="stop"))
    assert not caplog.records
    while matcher.prepare():
        pass
    assert "reserved" in caplog.text
    assert isinstance(matcher.match(["dim the hall"], "en-US", HERE), Match)


async def test_an_utterance_during_the_start_is_compared_with_all_that_is_registered() -> None:
    matcher = TemplateMatcher()
    host = await begin(matcher)
    host.hears(topics.REGISTER_TEMPLATE, dim())
    assert isinstance(matcher.match(["dim the hall"], "en-US", HERE), Match)
    host.hears(topics.SKILL_DEREGISTER, {"skill_id": "lights.demo"})
    assert isinstance(matcher.match(["dim the hall"], "en-US", HERE), Declined)
