"""What the matchers that poll look at, each alone: who is denied, when a round is decided, what is a question."""

from __future__ import annotations

from typing import Any

import pytest
from builtin_host import begin, turn

from hark.builtin.candidates import is_decided, is_denied, is_denied_skill, willing
from hark.builtin.common_query import CommonQuery
from hark.builtin.common_query.plugin import first_decision, is_question
from hark.builtin.fallback import Fallback
from hark.builtin.stop import Stop
from hark.model import Frozen, Match, Message, Session
from hark.plugins import Declined, Later, Round
from hark.spec import topics


async def nobody(*_arguments: Any, **_how: Any) -> list[Message]:
    return []


def around(config: dict[str, Any] | None = None, denied: dict[str, tuple[str, ...]] | None = None) -> Round:
    return Round("entry", Frozen(config or {}), Message("x"), nobody, denied or {})


def pong(skill_id: str, **data: Any) -> Message:
    return Message("some.pong", {"skill_id": skill_id, **data})


def answers(**told: Any) -> dict[str, Message]:
    return {name: pong(name, can_handle=can_handle) for name, can_handle in told.items()}


# Candidates.


@pytest.mark.parametrize(
    ("session", "round", "denied"),
    [
        (Session("x"), None, False),
        (Session("x"), around(), False),
        (Session("x", blacklisted_skills=["a"]), None, True),
        (Session("x", blacklisted_skills=["b"]), around(), False),
        (Session("x", blacklisted_intents=["a:stop"]), None, True),
        (Session("x", blacklisted_intents=["a:other", "stop", "a"]), around(), False),
        (Session("x"), around(denied={"blacklisted_skills": ("a",)}), True),
        (Session("x", blacklisted_skills=["b"]), around(denied={"blacklisted_intents": ("a:stop",)}), True),
    ],
)
def test_the_session_and_the_deployment_deny(session: Session, round: Round | None, denied: bool) -> None:
    assert is_denied(session, "a", "stop", round) is denied


def test_a_denied_intent_is_not_a_denied_skill() -> None:
    session = Session("x", blacklisted_intents=["a:stop"])
    assert not is_denied_skill(session, "a", around())
    assert is_denied_skill(session, "a", around(denied={"blacklisted_skills": ("a",)}))


@pytest.mark.parametrize(
    ("told", "decided"),
    [
        ({}, False),
        ({"b": True}, False),
        ({"a": False}, False),
        ({"a": False, "b": True}, True),
        ({"a": True}, True),
        ({"a": 1, "b": False}, False),
        ({"a": False, "b": False, "c": False}, True),
    ],
    ids=str,
)
def test_a_round_is_decided_when_all_skills_before_the_first_that_accepts_have_answered(
    told: dict[str, Any], decided: bool
) -> None:
    assert is_decided(["a", "b", "c"], answers(**told)) is decided


def test_only_true_is_a_yes() -> None:
    told = [pong("a", can_handle=1), pong("b", can_handle=True), pong("c"), pong("d", can_handle="true")]
    assert willing(told) == ["b"]


# Stop.


def called(*skill_ids: str) -> Session:
    return Session("x", active_handlers=[{"skill_id": one, "activated_at": 9.0} for one in skill_ids])


def test_alone_it_stops_the_most_recent_skill_that_is_not_denied() -> None:
    claim = Stop().match(["stop"], "en-US", called("a", "b").replace(blacklisted_skills=["a"]))
    assert isinstance(claim, Match)
    assert claim.topic == "b:stop"
    assert isinstance(Stop().match(["stop"], "en-US", called("a").replace(blacklisted_skills=["a"])), Declined)


async def test_any_candidate_may_say_it() -> None:
    stop = Stop()
    await begin(stop)
    claim = stop.match(["stomp", "stop"], "en-US", Session("x"), around())
    assert isinstance(claim, Match)
    assert (claim.topic, claim.utterance) == ("stop:global_stop", "stop")


async def test_who_polls_does_it_later() -> None:
    stop = Stop()
    await begin(stop)
    later = stop.match(["stop"], "en-US", called("a", "b"), around())
    assert isinstance(later, Later)
    claim = await later.look()
    assert isinstance(claim, Match)
    assert claim.topic == "a:stop"


async def test_loosely_it_hears_more() -> None:
    said = ["oh do stop it"]
    stop = Stop()
    await begin(stop)
    assert stop.match(said, "en-US", Session("x"), around()) is None
    assert stop.match(said, "en-US", Session("x"), around({"mode": "exact"})) is None
    assert isinstance(stop.match(said, "en-US", Session("x"), around({"mode": "loose"})), Match)


def test_a_mode_that_is_none_is_named() -> None:
    with pytest.raises(ValueError, match=r'\[pipeline.entry\] mode is "exact" or "loose", not \'lose\''):
        Stop().match(["stop"], "en-US", Session("x"), around({"mode": "lose"}))


def test_what_it_may_claim_can_be_asked() -> None:
    names = [(one["skill_id"], one["intent_name"]) for one in Stop().known_intents("x")]
    assert names == [("stop", "stop"), ("stop", "global_stop")]


# Fallback.


async def test_a_priority_in_no_words_is_refused() -> None:
    fallback = Fallback()
    host = await begin(fallback)
    for priority in ("low", 1.0, True, None):
        host.hears(topics.FALLBACK_REGISTER, {"skill_id": "a", "priority": priority})
    assert fallback.known_intents("x") == []
    host.hears(topics.FALLBACK_REGISTER, {"skill_id": "a", "priority": -1})
    assert [one["skill_id"] for one in fallback.known_intents("x")] == ["a"]


async def test_without_a_round_or_a_registered_skill_it_declines_at_once() -> None:
    fallback = Fallback()
    host = await begin(fallback)
    assert fallback.match(["mumble"], "en-US", Session("x"), around()) is None
    host.hears(topics.FALLBACK_REGISTER, {"skill_id": "a", "priority": 5})
    assert fallback.match(["mumble"], "en-US", Session("x")) is None
    assert isinstance(fallback.match(["mumble"], "en-US", Session("x"), around()), Later)
    assert fallback.match(["mumble"], "en-US", Session("x"), around({"min": 6})) is None
    assert fallback.match(["mumble"], "en-US", Session("x"), around({"max": 4})) is None


async def test_a_session_that_is_gone_leaves_nothing_behind() -> None:
    fallback = Fallback()
    host = await begin(fallback)
    host.hears(topics.FALLBACK_REGISTER, {"skill_id": "a", "priority": 5}, session_id="x")
    host.hears(topics.SKILL_DEREGISTER, {"skill_id": "a"}, session_id="x")
    assert fallback.known_intents("x") == []


# Common query.


@pytest.mark.parametrize(
    ("text", "lang", "question"),
    [
        ("what is love", "en-US", True),
        ("What's love", "en-US", True),
        ("love?", "en-US", True),
        ("love ?  ", "en-US", True),
        ("play love", "en-US", False),
        ("whatever", "en-US", False),
        ("", "en-US", False),
        ("?", "en-US", False),
        ("was ist liebe", "de-DE", True),
        ("was ist liebe", "de-AT", True),
        ("spiele musik", "de-DE", False),
        ("qu'est-ce que l'amour", "fr-FR", True),
        ("mets la radio", "fr-FR", False),
        ("dime qué es", "es-ES", True),
        ("pon música", "es-ES", False),
        ("cos'è l'amore", "it-IT", True),
        ("metti la radio", "it-IT", False),
        ("o que é o amor", "pt-PT", True),
        ("toca música", "pt-PT", False),
        ("何ですか", "ja-JP", True),
    ],
)
def test_what_begins_like_a_question_is_one(text: str, lang: str, question: bool) -> None:
    assert is_question(text, lang) is question


async def test_the_answer_that_won_is_said() -> None:
    said = CommonQuery().answer(turn("common_query:common_query", "what is it", {"answer": "a thing"}))
    assert said == "a thing"


async def test_it_asks_only_when_a_skill_may_have_an_answer() -> None:
    plugin = CommonQuery()
    host = await begin(plugin)

    def asked(text: str = "what is it") -> Any:
        return plugin.match([text], "en-US", Session("x"), around())

    assert asked() is None
    for data in ({"skill_id": 7}, {}, {"skill_id": "a", "capabilities": ["stop"]}):
        host.hears(topics.SKILL_LOADED, data)
    assert asked() is None
    host.hears(topics.SKILL_LOADED, {"skill_id": "a", "capabilities": ["common_query"]})
    assert isinstance(asked(), Later)
    assert isinstance(asked("play it"), Declined)
    host.hears(topics.SKILL_LOADED, {"skill_id": "a", "capabilities": ["stop"]})
    assert asked() is None
    host.hears(topics.SKILL_LOADED, {"skill_id": "b"})
    assert isinstance(asked(), Later)
    host.hears(topics.SKILL_DEREGISTER, {"skill_id": "b"})
    assert asked() is None


@pytest.mark.parametrize(
    ("hints", "look"),
    [
        ((200, 800), 0.8),
        ((200, None), 3.0),
        ((4_500, None), 4.5),
        ((None, None), 3.0),
        ((9_000, 100), 3.0),
        ((0, 0), 0.0),
    ],
)
def test_the_first_decision_is_when_the_slowest_should_be_done(hints: tuple[Any, ...], look: float) -> None:
    claims = [pong("a", latency_ms=hint) for hint in hints]
    assert first_decision(claims, CommonQuery.Settings()) == look
