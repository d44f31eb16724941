"""OVOS-PIPELINE-1: the utterance lifecycle as an orchestrator owes it to everybody else."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from flow.stage import (
    CANCELLED,
    MATCHED,
    UNMATCHED,
    MakeAssistant,
    claim_of,
    claims,
    declines,
    echo,
    matcher,
    outcomes,
    public,
    reached,
    silent,
    skill,
    transformer,
    turn_of,
)
from hark.app.settings import settings_from
from hark.builtin import DEFAULT_PLUGINS, KeywordMatcher, TemplateMatcher
from hark.bus import ask
from hark.model import Frozen, Handler, Match, Message, Session, converse, decode
from hark.plugins import Ctx, Declined, Round, Turn
from hark.skills import Skill, intent
from hark.spec import RESERVED_INTENT_NAMES, topics
from hark.spec.names import REIMPOSED
from hark.testing import Assistant, FakeClock, settle
from hark.trace import TraceStore
from hark.understand import DefaultSession, TurnOptions
from hark.understand import orchestrator as orchestrator_module
from hark.understand.turn_state import open_turn

NOON = 1_767_268_800.0


def pipeline(*entries: str, **tables: dict[str, Any]) -> dict[str, Any]:
    """Settings with this pipeline, and what its entries stand for."""
    named = {name.replace("_", "-"): table for name, table in tables.items()}
    return {"assistant": {"pipeline": list(entries)}, "pipeline": named}


# §2, §3: orchestrator and plugin identity.


@pytest.mark.spec("PIPELINE-1/2.b")
async def test_a_named_session_is_forgotten_between_utterances(assistant: MakeAssistant) -> None:
    seen: list[Any] = []
    async with assistant(declines(seen=seen)) as hark:
        await hark.hears("one", session=Session("x", site_id="kitchen", persona_id="butler"))
        await hark.hears("two", session=Session("x", persona_id="butler"))
    assert seen[0][2].site_id == "kitchen"
    assert seen[1][2].site_id is None


@pytest.mark.spec("PIPELINE-1/3.a")
@pytest.mark.spec("PIPELINE-1/3.b")
@pytest.mark.spec("PIPELINE-1/3.c")
@pytest.mark.parametrize("plugin_id", ["a.b", "a:b", "", "a b", "ä", "a\n"])
async def test_a_plugin_with_a_malformed_id_is_not_loaded(
    assistant: MakeAssistant, caplog: pytest.LogCaptureFixture, plugin_id: str
) -> None:
    with caplog.at_level(logging.WARNING, "hark.hosting"):
        async with assistant(claims(plugin_id)) as hark:
            assert [entry.id for entry in hark.runtime.pipeline] == ["template"]
            assert [refusal.kind for refusal in hark.runtime.refusals] == ["pipeline plugin"]
            await hark.hears("hello")
            assert public(turn_of(hark)) == UNMATCHED
    assert "is not loaded" in caplog.text


@pytest.mark.spec("PIPELINE-1/3.d")
@pytest.mark.spec("PIPELINE-1/3.e")
@pytest.mark.one_process
async def test_the_second_of_two_plugins_with_one_id_is_refused(assistant: MakeAssistant) -> None:
    first = claims("twin", lambda turn: "first")
    async with assistant(first, claims("twin", lambda turn: "second"), skill("twin", go=silent)) as hark:
        assert hark.runtime.pipeline.get("twin").plugin is first
        assert [refusal.name for refusal in hark.runtime.refusals] == ["twin", "twin"]
        assert await hark.hears("hello") == ["first"]


@pytest.mark.spec("PIPELINE-1/3.e")
@pytest.mark.spec("PIPELINE-1/3.f")
@pytest.mark.spec("PIPELINE-1/3.g")
async def test_several_entries_lead_to_one_plugin_which_is_always_named_by_its_id(assistant: MakeAssistant) -> None:
    asked: list[tuple[str, Any]] = []

    def match(utterances: Any, lang: str, session: Session, round: Round) -> Match | None:
        asked.append((round.entry, round.config))
        if round.config.get("loose"):
            return Match("x", "go", lang, utterances[0])
        return None

    settings = pipeline("x-high", "x-low", x_high={"plugin": "x"}, x_low={"plugin": "x", "loose": True})
    async with assistant(matcher("x", match, go=echo), settings=settings) as hark:
        assert await hark.hears("hello") == ["hello"]
        [dispatch] = hark.of("x:go")
        assert (dispatch.context["skill_id"], dispatch.context["pipeline_id"]) == ("x", "x")
        assert hark.of(topics.INTENT_MATCHED)[0].data["pipeline_id"] == "x"
        assert [handler.skill_id for handler in dispatch.session.active_handlers] == ["x"]
    assert asked == [("x-high", {}), ("x-low", {"loose": True})]


@pytest.mark.spec("PIPELINE-1/3.1.a")
@pytest.mark.spec("PIPELINE-1/9.6.a")
async def test_the_plugin_is_named_in_the_context_from_the_dispatch_on(assistant: MakeAssistant) -> None:
    async with assistant(claims()) as hark:
        await hark.hears("hello", session="x")
        named = {m.type: m.context.get("pipeline_id") for m in turn_of(hark)}
    assert named == {topic: None if topic == topics.INTENT_MATCHED else "claims" for topic in MATCHED}
    [spoken] = hark.of(topics.UTTERANCE_SPEAK)
    assert spoken.context["skill_id"] == "claims"
    assert spoken.session_id == "x"
    assert spoken.utterance_id == turn_of(hark)[-1].utterance_id


# §4: what a matcher is given.


@pytest.mark.spec("PIPELINE-1/4.c")
async def test_a_stated_language_is_passed_through(assistant: MakeAssistant) -> None:
    seen: list[Any] = []
    settings = {"assistant": {"lang": "en-US", "langs": ["de-DE"], "pipeline": ["declines"]}}
    async with assistant(declines(seen=seen), settings=settings) as hark:
        await hark.hears("hallo", lang="de-DE", session=Session("x", stt_lang="en-US"))
    assert seen[0][1] == "de-DE"


@pytest.mark.spec("SESSION-1/3.2.7.d")
@pytest.mark.spec("SESSION-1/3.2.7.e")
@pytest.mark.spec("PIPELINE-1/4.d")
async def test_the_language_is_resolved_once_and_everybody_gets_the_same(
    assistant: MakeAssistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Any] = []
    real = orchestrator_module.resolve

    def counted(*arguments: Any) -> str:
        calls.append(arguments)
        return real(*arguments)

    monkeypatch.setattr(orchestrator_module, "resolve", counted)
    first: list[Any] = []
    second: list[Any] = []
    settings = {"assistant": {"langs": ["pt-PT", "fr-FR"], "pipeline": ["one", "two"]}}
    async with assistant(declines("one", first), declines("two", second), settings=settings) as hark:
        await hark.hears("olá", session=Session("x", detected_lang="pt-pt", lang="fr-FR"))
    assert first[0][1] == second[0][1] == "pt-PT"
    assert len(calls) == 1


@pytest.mark.spec("PIPELINE-1/4.d")
@pytest.mark.parametrize(
    ("stated", "fields", "expected"),
    [
        ("de-DE", {"stt_lang": "fr-FR"}, "de-DE"),
        (None, {"stt_lang": "fr-FR", "detected_lang": "de-DE"}, "fr-FR"),
        (None, {"detected_lang": "fr-FR", "request_lang": "de-DE"}, "fr-FR"),
        (None, {"request_lang": "fr-FR", "lang": "de-DE"}, "fr-FR"),
        (None, {"lang": "fr-FR"}, "fr-FR"),
        ("xx-XX", {"stt_lang": "yy-YY", "lang": "de-de"}, "de-DE"),
    ],
)
async def test_the_language_ladder(
    assistant: MakeAssistant, stated: str | None, fields: dict[str, str], expected: str
) -> None:
    seen: list[Any] = []
    settings = {"assistant": {"langs": ["de-DE", "fr-FR"], "pipeline": ["declines"]}}
    async with assistant(declines(seen=seen), settings=settings) as hark:
        await hark.hears("hello", lang=stated, session=Session("x", **fields))
        assert hark.of(topics.INTENT_UNMATCHED)[0].data["lang"] == expected
        assert hark.trace().lang == expected
    assert seen[0][1] == expected


@pytest.mark.spec("PIPELINE-1/4.e")
@pytest.mark.spec("PIPELINE-1/4.f")
@pytest.mark.parametrize(
    "fields", [{}, {"lang": ""}, {"lang": "not a tag"}, {"stt_lang": "zz"}, {"detected_lang": "-"}, {"lang": "x" * 200}]
)
async def test_without_evidence_the_deployments_language_is_used(
    assistant: MakeAssistant, fields: dict[str, str]
) -> None:
    seen: list[Any] = []
    settings = {"assistant": {"lang": "it-it", "pipeline": ["declines"]}}
    async with assistant(declines(seen=seen), settings=settings) as hark:
        await hark.hears("ciao", session=Session("x", **fields))
    assert seen[0][1] == "it-IT"


# §4.1: the Match.


@pytest.mark.spec("PIPELINE-1/4.1.c")
async def test_the_matched_utterance_is_dispatched_verbatim(assistant: MakeAssistant) -> None:
    odd = "  SaY   HELLO\t…ünï "
    async with assistant(claims(utterance=odd)) as hark:
        await hark.hears("say hello")
        assert hark.of("claims:go")[0].data["utterance"] == odd
        assert hark.of(topics.INTENT_MATCHED)[0].data["utterance"] == odd


@pytest.mark.spec("PIPELINE-1/4.1.d")
@pytest.mark.spec("SESSION-2/2.6.b")
async def test_an_updated_session_is_used_from_the_dispatch_on(assistant: MakeAssistant) -> None:
    held: list[Session] = []

    def match(utterances: Any, lang: str, session: Session) -> Match:
        return Match("m", "go", lang, utterances[0], updated_session=session.replace(persona_id="butler"))

    def handler(turn: Turn) -> str:
        held.append(turn.session)
        return "yes"

    async with assistant(matcher("m", match, go=handler)) as hark:
        await hark.hears("hello", session="x")
        carried = {m.type: m.session.persona_id for m in turn_of(hark)}
    assert held[0].persona_id == "butler"
    assert set(carried.values()) == {"butler"}


class Sneaky(str):
    """Text that is not quite."""


GOOD: dict[str, Any] = {"skill_id": "bad", "intent_name": "go", "lang": "en-US", "utterance": "hello", "slots": {}}

MALFORMED = [
    *[{field: None} for field in GOOD],
    *[{field: 7} for field in GOOD],
    *[{field: ["a"]} for field in GOOD],
    {"skill_id": ""},
    {"skill_id": "a:b"},
    {"intent_name": ""},
    {"intent_name": "a:b"},
    {"intent_name": "a b"},
    {"lang": ""},
    {"lang": "not a tag"},
    {"lang": "e"},
    {"utterance": ""},
    {"utterance": "half a pair \ud83d"},
    {"slots": {"a": 1}},
    {"slots": {1: "a"}},
    {"slots": {"a": None}},
    {"slots": {"a": "\ud83d"}},
    {"updated_session": {"session_id": "x"}},
]


@pytest.mark.spec("PIPELINE-1/4.1.e")
@pytest.mark.spec("PIPELINE-1/4.1.f")
@pytest.mark.spec("PIPELINE-1/4.1.g")
@pytest.mark.parametrize("defect", MALFORMED, ids=repr)
async def test_a_malformed_match_is_a_decline(
    assistant: MakeAssistant, caplog: pytest.LogCaptureFixture, defect: dict[str, Any]
) -> None:
    changed = Session("x", persona_id="butler")

    def match(utterances: Any, lang: str, session: Session) -> Match:
        return Match(**{**GOOD, "updated_session": changed, **defect})

    async with assistant(matcher("bad", match, go=lambda turn: "repaired"), claims()) as hark:
        with caplog.at_level(logging.WARNING, "hark.understand"):
            assert await hark.hears("hello", session="x") == ["hello"]
        assert public(turn_of(hark)) == MATCHED, "nothing of it on the bus"
        assert outcomes(hark, "match") == [("bad", "malformed"), ("claims", "claimed")]
        assert turn_of(hark)[-1].session.persona_id is None
    assert "malformed" in caplog.text


@pytest.mark.spec("PIPELINE-1/4.1.e")
@pytest.mark.parametrize("returned", [True, "bad:go", 7, {}, GOOD, ("bad", "go"), Match, object(), b"x", ValueError()])
async def test_what_is_no_match_at_all_is_a_decline(assistant: MakeAssistant, returned: Any) -> None:
    async with assistant(declines("bad", answer=returned), claims()) as hark:
        assert await hark.hears("hello") == ["hello"]
        assert outcomes(hark, "match") == [("bad", "malformed"), ("claims", "claimed")]


class Hostile:
    """Raises whenever somebody looks at it."""

    @property
    def __class__(self) -> type:  # type: ignore[override]
        raise RuntimeError("do not look")

    def __str__(self) -> str:
        raise RuntimeError("do not ask")


@pytest.mark.spec("PIPELINE-1/6.2.h")
@pytest.mark.parametrize(
    "make", [Hostile, lambda: Declined(Hostile()), lambda: Declined(7), lambda: Declined("half \ud83d")]
)
async def test_an_answer_that_resists_being_looked_at_is_a_decline(
    assistant: MakeAssistant, make: Callable[[], Any]
) -> None:
    async with assistant(declines("bad", answer=make()), claims()) as hark:
        assert await hark.hears("hello") == ["hello"]
        assert outcomes(hark, "match")[1] == ("claims", "claimed")


@pytest.mark.spec("PIPELINE-1/4.1.h")
@pytest.mark.spec("PIPELINE-1/6.3.a")
async def test_the_first_claim_wins_and_later_plugins_are_not_asked(assistant: MakeAssistant) -> None:
    seen: list[Any] = []
    async with assistant(claims("first", lambda turn: "first"), declines("second", seen)) as hark:
        assert await hark.hears("hello") == ["first"]
    assert seen == []


# §4.2: sessions and claims.


@pytest.mark.spec("PIPELINE-1/4.2.a")
async def test_a_matcher_may_use_the_bus(assistant: MakeAssistant) -> None:
    class Chatty(type(claims())):  # type: ignore[misc]
        id = "claims"

        def match(self, utterances: Any, lang: str, session: Session) -> Match:
            self.host.emit("test.asked", {"text": utterances[0]})
            return Match("claims", "go", lang, utterances[0])

    async with assistant(Chatty()) as hark:
        assert await hark.hears("hello") == ["hello"]
        assert hark.of("test.asked")[0].data == {"text": "hello"}


@pytest.mark.spec("PIPELINE-1/4.2.b")
@pytest.mark.spec("SESSION-2/2.6.c")
@pytest.mark.parametrize("updated", [Session("y", persona_id="butler"), Session(), Session(persona_id="butler")])
async def test_an_updated_session_of_another_conversation_is_ignored(
    assistant: MakeAssistant, caplog: pytest.LogCaptureFixture, updated: Session
) -> None:
    async with assistant(claims(updated_session=updated)) as hark:
        with caplog.at_level(logging.WARNING, "hark.understand"):
            assert await hark.hears("hello", session=Session("x", site_id="here")) == ["hello"]
        sessions = {(m.session_id, m.session.site_id, m.session.persona_id) for m in turn_of(hark)}
    assert sessions == {("x", "here", None)}
    assert "updated_session" in caplog.text


@pytest.mark.spec("PIPELINE-1/4.2.b")
@pytest.mark.spec("SESSION-2/5.1.f")
async def test_an_empty_updated_session_on_the_default_session_deletes_everything_but_policy(
    assistant: MakeAssistant,
) -> None:
    async with assistant(claims(updated_session=Session())) as hark:
        await hark.hears("hello", session=Session(persona_id="butler", blacklisted_skills=["x"]))
        session = hark.of("claims:go")[0].session
        assert session.persona_id is None
        assert session.blacklisted_skills == ("x",)
        assert hark.runtime.store.current.persona_id is None


@pytest.mark.spec("PIPELINE-1/4.2.c")
@pytest.mark.spec("PIPELINE-1/4.2.d")
@pytest.mark.spec("PIPELINE-1/6.3.a")
async def test_what_a_plugin_was_given_it_cannot_change_for_the_next_one(assistant: MakeAssistant) -> None:
    refused: list[str] = []

    def match(utterances: Any, lang: str, session: Session) -> None:
        for vandalism in (
            lambda: utterances.append("more"),
            lambda: utterances.__setitem__(0, "other"),
            lambda: setattr(session, "persona_id", "butler"),
            lambda: session.intent_context.update(person=None),
        ):
            try:
                vandalism()
            except (AttributeError, TypeError) as error:
                refused.append(str(error))

    seen: list[Any] = []
    before = Session("x", intent_context={"person": {"value": "Bob"}})
    async with assistant(matcher("vandal", match), declines("next", seen)) as hark:
        await hark.hears("hello", session=before)
    assert len(refused) == 4
    assert seen == [(("hello",), "en-US", before)]


@pytest.mark.spec("SESSION-1/3.3.a")
@pytest.mark.spec("SESSION-1/4.c")
@pytest.mark.spec("PIPELINE-1/4.2.e")
@pytest.mark.spec("SESSION-2/6.2.c")
async def test_without_an_updated_session_the_session_goes_on_as_it_was(assistant: MakeAssistant) -> None:
    sent = Session("x", site_id="here", lang="en-US", unheard_of={"a": [1, 2]})
    async with assistant(claims()) as hark:
        await hark.hears("hello", session=sent)
        for message in turn_of(hark):
            assert message.session.without("active_handlers", "converse_handlers") == sent


@pytest.mark.spec("PIPELINE-1/4.3.a")
async def test_slots_are_passed_on_whatever_they_are_called(assistant: MakeAssistant) -> None:
    slots = {"": "empty name", "when.value": "2026-01-01", "ünï code": "✓", "a:b": "c"}
    async with assistant(claims(slots=slots)) as hark:
        await hark.hears("hello")
        assert hark.of("claims:go")[0].data["slots"] == slots


# §4.4: time.


@pytest.mark.spec("PIPELINE-1/4.4.a")
@pytest.mark.spec("PIPELINE-1/4.4.c")
@pytest.mark.spec("PIPELINE-1/4.4.h")
async def test_a_matcher_that_takes_too_long_is_passed_over(
    assistant: MakeAssistant, caplog: pytest.LogCaptureFixture
) -> None:
    async def match(utterances: Any, lang: str, session: Session) -> None:
        await asyncio.Event().wait()

    settings = {"limits": {"match": 10.0, "plugins": {"patient": 3.0}}}
    async with assistant(matcher("slow", match), matcher("patient", match), claims(), settings=settings) as hark:
        hearing = hark.say("hello")
        await hark.clock.advance(9.9)
        assert outcomes(hark, "match") == []
        await hark.clock.advance(0.2)
        assert outcomes(hark, "match") == [("slow", "late")]
        with caplog.at_level(logging.WARNING, "hark.hosting"):
            await hark.clock.advance(3.0)
        assert hearing.spoken == ["hello"]
        assert outcomes(hark, "match") == [("slow", "late"), ("patient", "late"), ("claims", "claimed")]
        assert public(turn_of(hark)) == MATCHED, "an overrun is no matter for the bus"
    assert "patient failed: took longer than 3 s" in caplog.text


@pytest.mark.spec("PIPELINE-1/4.4.a")
def test_the_recommended_bound_of_ten_seconds_is_the_default() -> None:
    from hark.app.settings import LimitsTable

    assert LimitsTable().match == 10.0


@pytest.mark.spec("PIPELINE-1/4.4.d")
@pytest.mark.spec("PIPELINE-1/4.4.e")
async def test_a_late_claim_is_never_dispatched(assistant: MakeAssistant) -> None:
    started, go_on, gone = threading.Event(), threading.Event(), threading.Event()

    def match(utterances: Any, lang: str, session: Session) -> Match:
        started.set()
        go_on.wait(20)
        gone.set()
        return Match("late", "go", lang, utterances[0], updated_session=session.replace(persona_id="late"))

    async with assistant(matcher("late", match, quick=False, go=silent), claims()) as hark:
        hearing = hark.say("hello")
        await reached(started)
        await hark.clock.advance(11.0)
        assert hearing.spoken == ["hello"]
        go_on.set()
        await reached(gone)
        await settle()
        assert hark.of("late:go") == []
        assert hark.runtime.store.current.persona_id is None
        assert public(turn_of(hark)) == MATCHED


@pytest.mark.spec("PIPELINE-1/4.4.d")
@pytest.mark.spec("PIPELINE-1/4.4.e")
async def test_a_late_claim_of_an_async_matcher_that_ignores_its_cancellation_is_never_dispatched(
    assistant: MakeAssistant,
) -> None:
    go_on = asyncio.Event()
    returned: list[Any] = []

    async def match(utterances: Any, lang: str, session: Session) -> Match:
        while not go_on.is_set():
            try:
                await go_on.wait()
            except asyncio.CancelledError:
                continue
        returned.append(utterances)
        return Match("late", "go", lang, utterances[0])

    async with assistant(matcher("late", match, go=silent), claims()) as hark:
        hearing = hark.say("hello")
        await hark.clock.advance(11.0)
        assert hearing.spoken == ["hello"]
        go_on.set()
        await settle()
        assert returned == [("hello",)]
        assert hark.of("late:go") == []


@pytest.mark.spec("PIPELINE-1/4.4.j")
async def test_how_long_each_plugin_took_to_match_is_on_record(assistant: MakeAssistant) -> None:
    async def match(utterances: Any, lang: str, session: Session) -> None:
        await hark.clock.sleep(0.25)

    async with assistant(matcher("slow", match), claims()) as hark:
        hark.say("hello")
        await hark.clock.advance(1.0)
        took = {step.who: step.seconds for step in hark.trace().steps if step.stage == "match"}
    assert took == {"slow": 0.25, "claims": 0.0}


# §5: which plugins are asked.


def asked(hark: Assistant) -> list[str]:
    """Who was really asked in the last turn."""
    return [who for who, outcome in outcomes(hark, "match") if outcome not in ("skipped", "denied")]


@pytest.mark.spec("PIPELINE-1/5.1.a")
@pytest.mark.spec("PIPELINE-1/6.2.e")
async def test_a_session_orders_its_pipeline(assistant: MakeAssistant) -> None:
    async with assistant(declines("a"), declines("b"), declines("c")) as hark:
        await hark.hears("hello", session=Session("x", pipeline=["c", "a"]))
        assert asked(hark) == ["c", "a"]


@pytest.mark.spec("PIPELINE-1/5.1.b")
@pytest.mark.spec("PIPELINE-1/5.1.c")
@pytest.mark.spec("PIPELINE-1/5.1.d")
async def test_an_unknown_entry_is_skipped_and_nothing_takes_its_place(
    assistant: MakeAssistant, caplog: pytest.LogCaptureFixture
) -> None:
    async with assistant(declines("a"), declines("b")) as hark:
        with caplog.at_level(logging.WARNING, "hark.understand"):
            await hark.hears("hello", session=Session("x", pipeline=["ghost", "b"]))
            assert asked(hark) == ["b"]
            await hark.hears("hello", session=Session("x", pipeline=["ghost"]))
            assert asked(hark) == []
        assert public(turn_of(hark)) == UNMATCHED
        assert turn_of(hark)[0].data["lang"] == "en-US", "also when nobody was there to be asked"
    assert "ghost" in caplog.text


@pytest.mark.spec("PIPELINE-1/5.1.e")
@pytest.mark.spec("PIPELINE-1/5.a")
async def test_a_session_without_pipeline_has_the_configured_one(assistant: MakeAssistant) -> None:
    async with assistant(declines("a"), declines("b"), settings=pipeline("a")) as hark:
        await hark.hears("hello", session="x")
        assert asked(hark) == ["a"]
        await hark.hears("hello", session=Session(pipeline=["b"]))
        assert asked(hark) == ["b"]
        await hark.hears("hello", session="x")
        assert asked(hark) == ["a"], "never that of the stored session (ruling R16)"
        await hark.hears("hello")
        assert asked(hark) == ["a"]


@pytest.mark.spec("PIPELINE-1/5.1.e")
async def test_without_any_pipeline_nothing_is_matched(assistant: MakeAssistant) -> None:
    async with assistant(claims(), settings=pipeline()) as hark:
        await hark.hears("hello", session="x")
        assert public(turn_of(hark)) == UNMATCHED


@pytest.mark.spec("PIPELINE-1/5.2.a")
@pytest.mark.spec("PIPELINE-1/5.2.b")
@pytest.mark.spec("PIPELINE-1/5.2.c")
async def test_a_denied_plugin_is_not_asked_under_any_of_its_entries(assistant: MakeAssistant) -> None:
    seen: list[Any] = []
    settings = pipeline("x-high", "x", "claims", x_high={"plugin": "x"})
    async with assistant(declines("x", seen), claims(), settings=settings) as hark:
        session = Session("s", pipeline=["x", "x-high", "claims"], blacklisted_pipelines=["x"])
        assert await hark.hears("hello", session=session) == ["hello"]
        assert public(turn_of(hark)) == MATCHED
    assert seen == []


@pytest.mark.spec("PIPELINE-1/5.2.b")
@pytest.mark.spec("PIPELINE-1/5.a")
async def test_what_the_deployment_denies_is_denied_whatever_the_session_denies(assistant: MakeAssistant) -> None:
    settings = {"deny": {"pipelines": ["a"]}, "assistant": {"pipeline": ["a", "b"]}}
    async with assistant(declines("a"), declines("b"), settings=settings) as hark:
        await hark.hears("hello", session="x")
        assert asked(hark) == ["b"]
        await hark.hears("hello", session=Session("x", blacklisted_pipelines=["b"]))
        assert asked(hark) == [], "the union of both (ruling R21)"


@pytest.mark.spec("PIPELINE-1/5.2.d")
async def test_unknown_names_on_denylists_harm_nobody(assistant: MakeAssistant) -> None:
    ghosts = {
        "blacklisted_pipelines": ["ghost"],
        "blacklisted_skills": ["ghost"],
        "blacklisted_intents": ["ghost:walk", "walk"],
    }
    async with assistant(claims()) as hark:
        assert await hark.hears("hello", session=Session("x", **ghosts)) == ["hello"]


@pytest.mark.spec("PIPELINE-1/5.3.b")
@pytest.mark.spec("PIPELINE-1/5.3.c")
@pytest.mark.spec("PIPELINE-1/5.5.b")
async def test_a_claim_for_a_denied_skill_is_a_decline(assistant: MakeAssistant) -> None:
    rogue = matcher("rogue", claim_of("forbidden:go"))
    async with assistant(rogue, claims(), skill("forbidden", go=echo)) as hark:
        assert await hark.hears("hello", session=Session("x", blacklisted_skills=["forbidden"])) == ["hello"]
        assert outcomes(hark, "match") == [("rogue", "denied"), ("claims", "claimed")]
        assert public(turn_of(hark)) == MATCHED
        await hark.hears("hello", session=Session("x"))
        assert outcomes(hark, "match") == [("rogue", "claimed")]


@pytest.mark.spec("PIPELINE-1/5.4.a")
@pytest.mark.spec("PIPELINE-1/5.4.d")
@pytest.mark.spec("PIPELINE-1/5.4.e")
@pytest.mark.spec("PIPELINE-1/5.4.f")
@pytest.mark.parametrize("lang", ["en-US", "de-DE"])
async def test_a_claim_for_a_denied_intent_is_a_decline_in_every_language(assistant: MakeAssistant, lang: str) -> None:
    rogue = matcher("rogue", claim_of("player:play"))
    settings = {"assistant": {"langs": ["de-DE"], "pipeline": ["rogue", "claims"]}}
    async with assistant(rogue, claims(), skill("player", play=silent), settings=settings) as hark:
        await hark.hears("hello", lang=lang, session=Session("x", blacklisted_intents=["player:play"]))
        assert outcomes(hark, "match") == [("rogue", "denied"), ("claims", "claimed")]
        await hark.hears("hello", lang=lang, session=Session("x", blacklisted_intents=["play", "player", ":play"]))
        assert outcomes(hark, "match") == [("rogue", "claimed")]


@pytest.mark.spec("PIPELINE-1/5.5.a")
async def test_preference_then_availability_then_policy(assistant: MakeAssistant) -> None:
    async with assistant(declines("a"), declines("b"), declines("c"), settings=pipeline("a", "b")) as hark:
        session = Session("x", pipeline=["c", "ghost", "b", "a"], blacklisted_pipelines=["b", "phantom"])
        await hark.hears("hello", session=session)
        assert outcomes(hark, "match") == [("c", "declined"), ("ghost", "skipped"), ("b", "denied"), ("a", "declined")]


@pytest.mark.spec("PIPELINE-1/5.5.c")
@pytest.mark.spec("SESSION-2/5.1.h")
async def test_the_fifteen_fields_are_put_back_on_an_updated_session(assistant: MakeAssistant) -> None:
    imposed = {name: [f"some-{name}"] for name in REIMPOSED}
    updated = Session("x", pipeline=["later"], **{name: ["mine"] for name in REIMPOSED[:6]})
    async with assistant(claims(updated_session=updated)) as hark:
        await hark.hears("hello", session=Session("x", **imposed))
        session = hark.of("claims:go")[0].session
        assert {name: list(session.get(name)) for name in REIMPOSED} == imposed
        assert session.pipeline == ("later",), "the pipeline is the plugin's to change"


@pytest.mark.spec("PIPELINE-1/5.5.d")
async def test_when_everything_requested_was_denied_nobody_else_is_asked(assistant: MakeAssistant) -> None:
    async with assistant(declines("a"), claims(), settings=pipeline("claims")) as hark:
        await hark.hears("hello", session=Session("x", pipeline=["a"], blacklisted_pipelines=["a"]))
        assert asked(hark) == []
        assert public(turn_of(hark)) == UNMATCHED


# §6: the lifecycle.


@pytest.mark.spec("PIPELINE-1/6.1.a")
@pytest.mark.spec("TRANSFORM-1/3.3.b")
async def test_the_pipeline_is_composed_after_the_metadata_chain(assistant: MakeAssistant) -> None:
    def reroute(ctx: Ctx) -> None:
        ctx.session = ctx.session.replace(pipeline=["b"])

    plugins = (transformer("metadata", "reroute", reroute), declines("a"), declines("b"))
    async with assistant(*plugins, settings=pipeline("a")) as hark:
        await hark.hears("hello", session=Session("x", pipeline=["a"]))
        assert asked(hark) == ["b"]


@pytest.mark.spec("PIPELINE-1/6.1.b")
@pytest.mark.spec("CONTEXT-1/4.a")
@pytest.mark.spec("CONTEXT-1/4.b")
@pytest.mark.spec("CONTEXT-1/8.c")
@pytest.mark.spec("CONTEXT-1/2.i")
async def test_every_matcher_sees_the_same_pruned_context(assistant: MakeAssistant) -> None:
    first: list[Any] = []
    second: list[Any] = []
    context = {
        "live": {"value": "a", "expires_at": NOON + 5, "turns_remaining": 1},
        "now": {"value": "b", "expires_at": NOON},
        "spent": {"value": "c", "turns_remaining": 0},
        "negative": {"value": "d", "turns_remaining": -1},
        "a:b:c": {"value": "badly keyed"},
        "marked": None,
    }
    async with assistant(declines("a", first), declines("b", second)) as hark:
        await hark.hears("hello", session=Session("x", intent_context=context))
    assert list(first[0][2].intent_context) == ["live"]
    assert first[0][2] == second[0][2]


@pytest.mark.spec("PIPELINE-1/6.1.d")
@pytest.mark.spec("TRANSFORM-1/3.4.a")
@pytest.mark.spec("TRANSFORM-1/3.4.b")
async def test_the_intent_chain_sees_what_the_engine_promoted(assistant: MakeAssistant) -> None:
    seen: list[Any] = []

    def match(utterances: Any, lang: str, session: Session) -> Match:
        promoted = session.replace(intent_context={"m:city": {"value": "Lisbon"}})
        return Match("m", "go", lang, utterances[0], {"a": "b"}, promoted)

    def spy(match: Match, ctx: Ctx) -> Match:
        seen.append((match, ctx.session.intent_context["m:city"].value))
        return match

    async with assistant(matcher("m", match, go=silent), transformer("intent", "spy", spy)) as hark:
        await hark.hears("hello", session="x")
    [(found, city)] = seen
    assert (found.skill_id, found.intent_name, found.lang, found.utterance) == ("m", "go", "en-US", "hello")
    assert found.slots == {"a": "b"}
    assert city == "Lisbon"


@pytest.mark.spec("PIPELINE-1/6.1.e")
async def test_the_marker_does_not_wait_for_the_dialog_chain(assistant: MakeAssistant) -> None:
    go_on = asyncio.Event()

    async def slow(text: str, ctx: Ctx) -> str:
        await go_on.wait()
        return text

    async with assistant(transformer("dialog", "slow", slow), claims()) as hark:
        hearing = hark.say("hello")
        await settle()
        assert public(turn_of(hark)) == MATCHED
        assert hearing.spoken == []
        go_on.set()
        await settle()
        assert hearing.spoken == ["hello"]


@pytest.mark.spec("PIPELINE-1/6.2.a")
@pytest.mark.spec("TRANSFORM-1/2.c")
@pytest.mark.spec("TRANSFORM-1/2.d")
async def test_chains_and_match_round_come_one_after_the_other(assistant: MakeAssistant) -> None:
    order: list[str] = []

    async def slow(utterances: list[str], ctx: Ctx) -> list[str]:
        await hark.clock.sleep(1.0)
        order.append("utterance")
        return utterances

    async def slow_metadata(ctx: Ctx) -> None:
        await hark.clock.sleep(1.0)
        order.append("metadata")

    def match(utterances: Any, lang: str, session: Session) -> Match:
        order.append("match")
        return Match("m", "go", lang, utterances[0])

    async def slow_intent(match: Match, ctx: Ctx) -> Match:
        await hark.clock.sleep(1.0)
        order.append("intent")
        return match

    def handler(turn: Turn) -> str:
        order.append("handler")
        return "done"

    async def slow_dialog(text: str, ctx: Ctx) -> str:
        await hark.clock.sleep(1.0)
        order.append("dialog")
        return text

    plugins = (
        transformer("utterance", "u", slow),
        transformer("metadata", "m", slow_metadata),
        transformer("intent", "i", slow_intent),
        transformer("dialog", "d", slow_dialog),
        matcher("m", match, go=handler),
    )
    async with assistant(*plugins) as hark:
        hark.say("hello")
        await hark.clock.advance(10.0)
    assert order == ["utterance", "metadata", "match", "intent", "handler", "dialog"]


@pytest.mark.spec("PIPELINE-1/6.2.b")
@pytest.mark.spec("PIPELINE-1/6.2.c")
@pytest.mark.spec("PIPELINE-1/9.3.b")
@pytest.mark.spec("TRANSFORM-1/3.2.c")
@pytest.mark.spec("TRANSFORM-1/3.2.d")
async def test_an_empty_list_is_unmatched_without_asking_anybody(assistant: MakeAssistant) -> None:
    seen: list[Any] = []
    nothing = transformer("utterance", "nothing", lambda utterances, ctx: [])
    async with assistant(nothing, declines(seen=seen)) as hark:
        await hark.hears("hello", lang="en-US")
        assert public(turn_of(hark)) == UNMATCHED
        assert turn_of(hark)[0].data == {"utterances": ()}
    assert seen == []


@pytest.mark.spec("PIPELINE-1/6.2.d")
@pytest.mark.spec("TRANSFORM-1/3.2.e")
async def test_cancelling_outranks_an_empty_list(assistant: MakeAssistant) -> None:
    def cancel_and_empty(utterances: list[str], ctx: Ctx) -> list[str]:
        ctx.cancel("stop_word")
        return []

    async with assistant(transformer("utterance", "stopper", cancel_and_empty)) as hark:
        await hark.hears("hello")
        assert public(turn_of(hark)) == CANCELLED


@pytest.mark.spec("PIPELINE-1/6.2.f")
async def test_the_first_claim_that_survives_every_check_wins(assistant: MakeAssistant) -> None:
    plugins = (
        matcher("malformed", claim_of("a:go", lang="")),
        matcher("denied-skill", claim_of("denied:go")),
        matcher("denied-intent", claim_of("b:go")),
        matcher("lacking", claim_of("needy:go")),
        claims(),
    )
    async with assistant(*plugins) as hark:
        await register(hark, "needy", "go", required_slots=["city"])
        session = Session("x", blacklisted_skills=["denied"], blacklisted_intents=["b:go"])
        assert await hark.hears("hello", session=session) == ["hello"]
        assert [how for _, how in outcomes(hark, "match")] == ["malformed", "denied", "denied", "refused", "claimed"]
        assert public(turn_of(hark)) == MATCHED


async def register(hark: Assistant, skill_id: str, intent_name: str, **riders: Any) -> None:
    """Let a skill somewhere register an intent."""
    identity = {"skill_id": skill_id, "intent_name": intent_name, "lang": "en-US", "samples": ["irrelevant"]}
    hark.bus.emit(Message(topics.REGISTER_TEMPLATE, {**identity, **riders}, {"skill_id": skill_id}))
    await settle()


@pytest.mark.spec("PIPELINE-1/6.2.g")
@pytest.mark.spec("PIPELINE-1/9.3.a")
async def test_when_nobody_claims_it_is_unmatched_and_at_once_handled(assistant: MakeAssistant) -> None:
    async with assistant(declines("a"), declines("b", answer=Declined("no idea"))) as hark:
        await hark.hears(["hello", "hallo"], session="x")
        assert public(turn_of(hark)) == UNMATCHED
        assert turn_of(hark)[0].data == {"utterances": ("hello", "hallo"), "lang": "en-US"}
        assert [m.type for m in hark.messages][-2:] == UNMATCHED


@pytest.mark.spec("PIPELINE-1/6.2.h")
@pytest.mark.spec("PIPELINE-1/6.2.i")
async def test_a_plugin_that_raises_is_logged_and_counts_as_declining(
    assistant: MakeAssistant, caplog: pytest.LogCaptureFixture
) -> None:
    def match(utterances: Any, lang: str, session: Session) -> None:
        raise ZeroDivisionError("on purpose")

    async with assistant(matcher("broken", match), claims()) as hark:
        with caplog.at_level(logging.WARNING, "hark.hosting"):
            assert await hark.hears("hello") == ["hello"]
    assert "broken failed: ZeroDivisionError: on purpose" in caplog.text


@pytest.mark.spec("PIPELINE-1/6.2.j")
async def test_after_too_many_failures_in_a_row_a_plugin_is_left_out_for_a_while(assistant: MakeAssistant) -> None:
    calls: list[Any] = []

    def match(utterances: Any, lang: str, session: Session) -> None:
        calls.append(utterances)
        raise ValueError("again")

    settings = {"limits": {"failures": 3, "retry_after": 30.0}}
    async with assistant(matcher("broken", match), claims(), settings=settings) as hark:
        for _ in range(5):
            assert await hark.hears("hello") == ["hello"]
        assert len(calls) == 3
        assert outcomes(hark, "match")[0] == ("broken", "skipped")
        await hark.clock.advance(31.0)
        await hark.hears("hello")
        assert len(calls) == 4
        await hark.hears("hello")
        assert len(calls) == 4, "one more failure and it is left out again"


@pytest.mark.spec("PIPELINE-1/6.2.k")
@pytest.mark.parametrize(
    ("slots", "survives"), [({}, False), ({"town": "x"}, False), ({"city": "0"}, True), ({"city": ""}, True)]
)
async def test_required_slots_are_checked_whoever_matched(
    assistant: MakeAssistant, slots: dict[str, str], survives: bool
) -> None:
    plugins = (matcher("m", claim_of("weather:show", slots=slots)), skill("weather", show=lambda turn: "sunny"))
    async with assistant(*plugins) as hark:
        await register(hark, "weather", "show", required_slots=["city"])
        assert await hark.hears("hello") == (["sunny"] if survives else [])
        assert len(hark.of(topics.INTENT_UNMATCHED)) == (not survives)


# §6.5: turns within turns, and side by side.


@pytest.mark.spec("PIPELINE-1/6.5.d")
@pytest.mark.spec("PIPELINE-1/6.5.b")
async def test_utterances_are_taken_in_while_a_handler_runs(assistant: MakeAssistant) -> None:
    go_on = asyncio.Event()

    async def handler(turn: Turn) -> str:
        if turn.utterance == "slow":
            await go_on.wait()
        return turn.utterance

    async with assistant(claims(handler=handler)) as hark:
        slow = hark.say("slow", session="x")
        await hark.clock.advance(300.0)
        assert await hark.hears("quick", session="x") == ["quick"]
        assert not slow.over.is_set()
        go_on.set()
        await settle()
        assert slow.spoken == ["slow"]


@pytest.mark.spec("PIPELINE-1/6.5.e")
@pytest.mark.spec("PIPELINE-1/9.1.1.e")
async def test_the_bus_is_served_while_a_matcher_waits_for_answers(assistant: MakeAssistant) -> None:
    async def match(utterances: Any, lang: str, session: Session, round: Round) -> Match | None:
        pongs = await round.poll(
            "test.ping", {"text": utterances[0]}, ["near", "far"], 1.0,
            answer_topic="test.pong", rank=lambda pong: pong.data["score"],
        )  # fmt: skip
        if not pongs:
            return None
        return Match("m", "go", lang, utterances[0], {"best": pongs[0].data["skill_id"]})

    def handler(turn: Turn) -> str:
        return turn.slots["best"]

    async with assistant(matcher("m", match, go=handler)) as hark:

        async def answer(ping: Message) -> None:
            stale = ping.forward("test.pong", {"skill_id": "far", "score": 9.0})
            hark.bus.emit(stale.carrying(utterance_id="of another round"))
            hark.bus.emit(ping.forward("test.pong", {"skill_id": "stranger", "score": 8.0}))
            hark.bus.emit(ping.forward("test.pong", {"skill_id": "near", "score": 1.0}))
            hark.bus.emit(ping.forward("test.pong", {"skill_id": "far", "score": 2.0}))

        hark.bus.on("test.ping", answer)
        assert await hark.hears("hello", session="x") == ["far"]


@pytest.mark.spec("PIPELINE-1/6.5.c")
@pytest.mark.spec("PIPELINE-1/9.1.1.d")
@pytest.mark.spec("PIPELINE-1/6.5.a")
async def test_a_turn_within_a_turn_has_its_own_id_and_its_own_marker(assistant: MakeAssistant) -> None:
    answered = asyncio.Event()

    async def outer(turn: Turn) -> str:
        await turn.speak("which room?", listen=True)
        turn.emit(topics.UTTERANCE_HANDLE, {"utterances": ["the kitchen"]})
        await answered.wait()
        return "done"

    def inner(turn: Turn) -> str:
        answered.set()
        return f"so {turn.utterance}"

    def match(utterances: Any, lang: str, session: Session) -> Match:
        return Match("m", "inner" if "kitchen" in utterances[0] else "outer", lang, utterances[0])

    async with assistant(matcher("m", match, outer=outer, inner=inner)) as hark:
        # Where two workers run the two handlers, what they say at the same time has no order.
        asked, *answers = await hark.hears("lights on", session="x")
        assert (asked, sorted(answers)) == ("which room?", ["done", "so the kitchen"])
        [outer_call], [inner_call] = hark.of("m:outer"), hark.of("m:inner")
        ended = [marker.utterance_id for marker in hark.of(topics.UTTERANCE_HANDLED)]
        spoke = [speak.utterance_id for speak in hark.of(topics.UTTERANCE_SPEAK)]
    assert outer_call.utterance_id != inner_call.utterance_id
    assert sorted(ended) == sorted([outer_call.utterance_id, inner_call.utterance_id])
    assert spoke[0] == outer_call.utterance_id
    assert sorted(spoke[1:]) == sorted([outer_call.utterance_id, inner_call.utterance_id])


# §7: the dispatch.


@pytest.mark.spec("MSG-1/2.2.b")
@pytest.mark.spec("PIPELINE-1/7.a")
@pytest.mark.spec("PIPELINE-1/7.1.g")
@pytest.mark.parametrize(
    ("handlers", "order"),
    [
        ([("a", 1.0), ("b", 3.0), ("c", 2.0)], ["b", "c", "a"]),
        ([("a", 2.0), ("b", 2.0), ("c", 2.0)], ["a", "b", "c"]),
        ([("a", 1.0), ("b", 2.0), ("c", 2.0)], ["b", "c", "a"]),
    ],
)
def test_the_most_recent_handler_has_the_highest_time_and_of_equals_is_nearest_to_the_head(
    handlers: list[tuple[str, float]], order: list[str]
) -> None:
    listed = tuple(Handler(skill_id, at) for skill_id, at in handlers)
    assert [one.skill_id for one in converse.by_recency(listed)] == order


@pytest.mark.spec("PIPELINE-1/7.1.i")
@pytest.mark.spec("PIPELINE-1/9.2.a")
@pytest.mark.spec("PIPELINE-1/8.2.a")
@pytest.mark.spec("PIPELINE-1/6.4.a")
async def test_the_payloads_of_a_matched_turn(assistant: MakeAssistant) -> None:
    async with assistant(matcher("m", claim_of("clock.skill:time.here", slots={"city": "Rome"})),
                         skill("clock.skill", **{"time.here": echo})) as hark:  # fmt: skip
        await hark.hears("what time is it")
        matched, start, dispatch, speak, complete, handled = turn_of(hark)
    said = {"lang": "en-US", "utterance": "what time is it", "slots": {"city": "Rome"}}
    intent = {"skill_id": "clock.skill", "intent_name": "time.here"}
    assert (matched.type, matched.data) == (topics.INTENT_MATCHED, {**intent, **said, "pipeline_id": "m"})
    assert (start.type, start.data) == (topics.HANDLER_START, intent)
    assert (dispatch.type, dispatch.data) == ("clock.skill:time.here", said)
    assert speak.type == topics.UTTERANCE_SPEAK
    assert (complete.type, complete.data) == (topics.HANDLER_COMPLETE, intent)
    assert handled.type == topics.UTTERANCE_HANDLED


@pytest.mark.spec("PIPELINE-1/7.0.a")
@pytest.mark.spec("PIPELINE-1/7.1.b")
@pytest.mark.spec("PIPELINE-1/7.1.c")
async def test_skills_and_plugins_are_dispatched_alike(assistant: MakeAssistant) -> None:
    plugins = (matcher("m", claim_of("far.skill:go")), skill("far.skill", go=echo))
    async with assistant(*plugins) as hark, assistant(claims()) as other:
        assert await hark.hears("hello") == await other.hears("hello") == ["hello"]
        skills, own = hark.of("far.skill:go")[0], other.of("claims:go")[0]
    assert (skills.context["skill_id"], skills.context["pipeline_id"]) == ("far.skill", "m")
    assert (own.context["skill_id"], own.context["pipeline_id"]) == ("claims", "claims")
    assert skills.data == own.data


@pytest.mark.spec("PIPELINE-1/7.1.a")
@pytest.mark.spec("PIPELINE-1/8.a")
@pytest.mark.spec("INTENT-4/11.5.a")
async def test_routing_is_turned_round_once_at_the_dispatch(assistant: MakeAssistant) -> None:
    way = {"source": "satellite-3", "destination": "hark", "extra": {"kept": True}}
    async with assistant(claims()) as hark:
        await hark.hears("hello", context=way, session="x")
        routes = [(m.type, m.context["source"], m.context["destination"]) for m in turn_of(hark)]
    there, back = ("satellite-3", "hark"), ("hark", "satellite-3")
    assert routes == [(topic, *(there if topic == topics.INTENT_MATCHED else back)) for topic in MATCHED]
    assert all(m.context["extra"] == {"kept": True} and m.session_id == "x" for m in turn_of(hark))


@pytest.mark.spec("PIPELINE-1/7.1.a")
@pytest.mark.parametrize("outcome", ["unmatched", "cancelled"])
async def test_terminal_events_without_a_dispatch_are_on_their_way_back(assistant: MakeAssistant, outcome: str) -> None:
    def stop(ctx: Ctx) -> None:
        if outcome == "cancelled":
            ctx.cancel()

    async with assistant(transformer("metadata", "stop", stop), declines()) as hark:
        await hark.hears("hello", context={"source": "a", "destination": "b"})
        assert [(m.context["source"], m.context["destination"]) for m in turn_of(hark)] == [("b", "a"), ("b", "a")]


@pytest.mark.spec("PIPELINE-1/7.1.d")
async def test_the_dispatched_skill_is_the_newest_active_handler(assistant: MakeAssistant) -> None:
    others = [{"skill_id": "b", "activated_at": 2}, {"skill_id": "claims", "activated_at": 1}]
    async with assistant(claims()) as hark:
        await hark.clock.advance(7.0)
        await hark.hears("hello", session=Session("x", active_handlers=others))
        for message in turn_of(hark):
            assert message.session.active_handlers == (Handler("claims", NOON + 7.0), Handler("b", 2))


@pytest.mark.spec("PIPELINE-1/7.1.d")
async def test_a_plugin_cannot_wipe_the_push_away(assistant: MakeAssistant) -> None:
    wiped = Session("x", active_handlers=[])
    async with assistant(claims(updated_session=wiped)) as hark:
        await hark.hears("hello", session=Session("x", active_handlers=[{"skill_id": "b", "activated_at": 2}]))
        assert [h.skill_id for h in hark.of("claims:go")[0].session.active_handlers] == ["claims"]


@pytest.mark.spec("PIPELINE-1/7.1.e")
@pytest.mark.spec("PIPELINE-1/7.1.f")
@pytest.mark.spec("PIPELINE-1/7.3.b")
@pytest.mark.spec("PIPELINE-1/7.3.c")
@pytest.mark.parametrize("name", sorted(RESERVED_INTENT_NAMES))
async def test_a_reserved_name_is_dispatched_as_any_other_and_decides_on_the_push(
    assistant: MakeAssistant, name: str
) -> None:
    plugins = (matcher("whoever", claim_of(f"x.skill:{name}")), skill("x.skill", **{name: echo}))
    async with assistant(*plugins) as hark:
        assert await hark.hears("hello", session="s") == ["hello"]
        [dispatch] = hark.of(f"x.skill:{name}")
        assert (dispatch.context["skill_id"], dispatch.context["pipeline_id"]) == ("x.skill", "whoever")
        assert len(hark.of(topics.HANDLER_START)) == len(hark.of(topics.HANDLER_COMPLETE)) == 1
        assert [h.skill_id for h in dispatch.session.active_handlers] == (["x.skill"] if name == "fallback" else [])


@pytest.mark.spec("PIPELINE-1/7.1.f")
async def test_a_plugin_named_like_a_reserved_name_is_pushed_as_any_other(assistant: MakeAssistant) -> None:
    async with assistant(claims("stop")) as hark:
        await hark.hears("hello", session="s")
        assert [h.skill_id for h in hark.of("stop:go")[0].session.active_handlers] == ["stop"]


# §8: the handler trio.


@pytest.mark.spec("PIPELINE-1/8.1.a")
@pytest.mark.spec("PIPELINE-1/8.1.b")
@pytest.mark.spec("PIPELINE-1/8.c")
async def test_a_silent_handler_still_gets_a_full_trio(assistant: MakeAssistant) -> None:
    called: list[list[str]] = []

    def handler(turn: Turn) -> None:
        called.append(public(turn_in_flight(hark)))

    async with assistant(claims(handler=handler)) as hark:
        await hark.hears("hello")
        assert called == [MATCHED[:3]], "start and dispatch are out before the handler runs"
        assert public(turn_of(hark)) == [topic for topic in MATCHED if topic != topics.UTTERANCE_SPEAK]


def turn_in_flight(hark: Assistant) -> list[Message]:
    return [m for m in hark.messages if m.utterance_id is not None]


@pytest.mark.spec("PIPELINE-1/8.1.b")
@pytest.mark.spec("PIPELINE-1/8.2.a")
@pytest.mark.spec("PIPELINE-1/9.5.a")
async def test_a_handler_that_raises_gets_error_in_place_of_complete(assistant: MakeAssistant) -> None:
    def handler(turn: Turn) -> None:
        raise LookupError("no such city")

    async with assistant(claims(handler=handler)) as hark:
        await hark.hears("hello")
        assert public(turn_of(hark)) == [*MATCHED[:3], topics.HANDLER_ERROR, topics.UTTERANCE_HANDLED]
        [error] = hark.of(topics.HANDLER_ERROR)
    assert (error.data["skill_id"], error.data["intent_name"]) == ("claims", "go")
    assert "LookupError: no such city" in error.data["exception"]


@pytest.mark.spec("PIPELINE-1/8.b")
@pytest.mark.spec("SESSION-2/2.6.e")
@pytest.mark.spec("SESSION-2/2.6.f")
@pytest.mark.spec("CONTEXT-1/5.3.b")
@pytest.mark.parametrize("fails", [False, True])
async def test_start_has_the_dispatched_session_and_the_end_what_the_handler_made_of_it(
    assistant: MakeAssistant, fails: bool
) -> None:
    def handler(turn: Turn) -> None:
        turn.remember("city", "Rome", turns=2)
        if fails:
            raise ValueError("after the write")

    async with assistant(claims(handler=handler)) as hark:
        await hark.hears("hello", session="x")
        written = {m.type: "claims:city" in m.session.intent_context for m in turn_of(hark)}
    end = topics.HANDLER_ERROR if fails else topics.HANDLER_COMPLETE
    assert written == {**dict.fromkeys(MATCHED[:3], False), end: True, topics.UTTERANCE_HANDLED: True}


@pytest.mark.spec("PIPELINE-1/8.3.a")
@pytest.mark.spec("PIPELINE-1/8.3.b")
@pytest.mark.spec("PIPELINE-1/8.3.c")
async def test_a_handler_over_its_bound_is_ended_and_never_called_again(assistant: MakeAssistant) -> None:
    async def handler(turn: Turn) -> None:
        await asyncio.Event().wait()

    async with assistant(claims(handler=handler), settings={"limits": {"handler": 5.0}}) as hark:
        hark.say("hello")
        await hark.clock.advance(60.0)
        assert public(turn_of(hark)) == [*MATCHED[:3], topics.HANDLER_ERROR, topics.UTTERANCE_HANDLED]
        assert "timeout" in hark.of(topics.HANDLER_ERROR)[0].data["exception"]


# §9: entry, ids, markers, speech.


@pytest.mark.spec("PIPELINE-1/9.1.a")
@pytest.mark.spec("PIPELINE-1/9.5.a")
@pytest.mark.spec("PIPELINE-1/6.a")
async def test_each_entry_message_goes_through_once(assistant: MakeAssistant) -> None:
    async with assistant(claims()) as hark:
        hearings = [hark.say(f"text {n}", session=f"s{n % 4}") for n in range(12)]
        for hearing in hearings:
            await asyncio.wait_for(hearing.over.wait(), 10)
        assert sorted(m.data["utterance"] for m in hark.of("claims:go")) == sorted(f"text {n}" for n in range(12))
        assert [hearing.markers for hearing in hearings] == [1] * 12


@pytest.mark.spec("PIPELINE-1/9.1.1.a")
async def test_an_id_that_came_with_the_entry_is_replaced(assistant: MakeAssistant) -> None:
    async with assistant(claims()) as hark:
        await hark.hears("hello", context={"utterance_id": "mine"})
        ids = {m.utterance_id for m in turn_of(hark)}
    assert len(ids) == 1
    assert "mine" not in ids


@pytest.mark.spec("PIPELINE-1/9.1.1.b")
async def test_no_transformer_can_touch_the_id(assistant: MakeAssistant) -> None:
    def meddle(ctx: Ctx) -> None:
        for write in (lambda: ctx.set("utterance_id", "mine"), lambda: ctx.unset("utterance_id")):
            with pytest.raises(PermissionError):
                write()
        for key in list(ctx):
            if key not in ("utterance_id", "session") and not key.endswith("_transformer_ids"):
                ctx.unset(key)

    async with assistant(transformer("metadata", "meddler", meddle), declines()) as hark:
        hark.say("hello", context={"a": 1})
        await settle()
        assert public(turn_of(hark)) == UNMATCHED
        assert len({m.utterance_id for m in turn_of(hark)} - {None}) == 1


@pytest.mark.spec("PIPELINE-1/9.1.1.c")
def test_ids_are_unique() -> None:
    clock = FakeClock()
    store, traces = DefaultSession(), TraceStore(clock)
    entry = Message(topics.UTTERANCE_HANDLE, {"utterances": ["x"]})
    ids = {open_turn(entry, TurnOptions(), store, traces).utterance_id for _ in range(10_000)}
    assert len(ids) == 10_000


@pytest.mark.spec("PIPELINE-1/9.3.b")
async def test_unmatched_names_the_language_whenever_anybody_was_asked(assistant: MakeAssistant) -> None:
    async with assistant(declines(), settings=pipeline("declines")) as hark:
        await hark.hears("hello")
        hark.bus.emit(Message(topics.UTTERANCE_HANDLE, {"utterances": []}))
        await settle()
        asked_for, never_asked = hark.of(topics.INTENT_UNMATCHED)
    assert asked_for.data["lang"] == "en-US"
    assert "lang" not in never_asked.data


@pytest.mark.spec("PIPELINE-1/9.5.b")
async def test_a_malformed_carrier_gets_the_marker_straight_from_the_entry(assistant: MakeAssistant) -> None:
    context = {"session": "x", "source": "a", "destination": "b"}
    entry = {"type": topics.UTTERANCE_HANDLE, "data": {"utterances": ["hello"]}, "context": context}
    async with assistant(claims()) as hark:
        hark.bus.emit(decode(json.dumps(entry)))
        await settle()
        [marker] = hark.of(topics.UTTERANCE_HANDLED)
        assert (marker.context["source"], marker.context["destination"]) == ("a", "b")
        assert "session" not in marker.wire()["context"]
        assert hark.of(topics.HANDLER_START) == hark.of(topics.INTENT_UNMATCHED) == []


@pytest.mark.spec("PIPELINE-1/9.6.a")
@pytest.mark.spec("PIPELINE-1/9.6.b")
@pytest.mark.spec("PIPELINE-1/9.6.c")
async def test_what_a_handler_says_belongs_to_its_turn_and_keeps_its_order(assistant: MakeAssistant) -> None:
    async def handler(turn: Turn) -> AsyncIterator[str]:
        for n in range(5):
            yield f"sentence {n}"

    async with assistant(claims(handler=handler)) as hark:
        assert await hark.hears("go", session="x") == [f"sentence {n}" for n in range(5)]
        for message in hark.of(topics.UTTERANCE_SPEAK):
            assert message.session_id == "x"
            assert message.context["skill_id"] == "claims"
            assert message.utterance_id == turn_of(hark)[-1].utterance_id
            assert message.data["lang"] == "en-US"


@pytest.mark.spec("PIPELINE-1/9.6.b")
async def test_listen_is_on_the_wire_only_when_it_is_wanted(assistant: MakeAssistant) -> None:
    async def handler(turn: Turn) -> None:
        await turn.speak("plain")
        await turn.speak("and now you", lang="de-DE", listen=True)

    async with assistant(claims(handler=handler)) as hark:
        await hark.hears("go")
        plain, listening = hark.of(topics.UTTERANCE_SPEAK)
    assert plain.data == {"utterance": "plain", "lang": "en-US"}
    assert listening.data == {"utterance": "and now you", "lang": "de-DE", "listen": True}


# Table 3.3, row by row.


@pytest.mark.spec("PIPELINE-1/6.4.a")
@pytest.mark.spec("PIPELINE-1/9.5.a")
async def test_each_outcome_and_its_messages_in_order(assistant: MakeAssistant) -> None:
    def stop(utterances: list[str], ctx: Ctx) -> list[str]:
        if "stop" in utterances:
            ctx.cancel("stop_word")
        return [] if "nothing" in utterances else utterances

    def match(utterances: Any, lang: str, session: Session) -> Match | None:
        return None if "other" in utterances else Match("claims", "go", lang, utterances[0])

    def handler(turn: Turn) -> str:
        if turn.utterance == "raise":
            raise ValueError
        return "done"

    failed = [*MATCHED[:3], topics.HANDLER_ERROR, topics.UTTERANCE_HANDLED]
    plugins = (transformer("utterance", "t", stop), matcher("claims", match, go=handler))
    async with assistant(*plugins) as hark:
        for said, expected in {
            "fine": MATCHED,
            "raise": failed,
            "other": UNMATCHED,
            "nothing": UNMATCHED,
            "stop": CANCELLED,
        }.items():
            await hark.hears(said, session="x")
            assert public(turn_of(hark)) == expected, said
            assert all(m.session_id == "x" for m in turn_of(hark))


@pytest.mark.spec("PIPELINE-1/4.4.c")
async def test_a_frozen_value_is_what_matchers_get(assistant: MakeAssistant) -> None:
    seen: list[Any] = []
    async with assistant(declines(seen=seen)) as hark:
        await hark.hears(["one", "two"], session=Session("x", extra={"a": [1]}))
    utterances, _, session = seen[0]
    assert utterances == ("one", "two")
    assert isinstance(session.get("extra"), Frozen)


# Plugins, handlers and producers that come with Hark.


class Colours(Skill):
    """Paints."""

    id = "paint.skill"

    @intent("paint it {colour}", "make it {colour}", required_slots=["colour"])
    def paint(self, turn: Turn) -> str:
        return turn.slots["colour"]

    @intent("male es {colour}", lang="de-DE")
    def malen(self, turn: Turn) -> str:
        return turn.slots["colour"]


BOTH = {"assistant": {"lang": "en-US", "langs": ["de-DE"], "pipeline": ["template"]}}


@pytest.mark.spec("PIPELINE-1/4.a")
@pytest.mark.spec("PIPELINE-1/4.b")
@pytest.mark.spec("PIPELINE-1/4.i")
@pytest.mark.spec("PIPELINE-1/4.3.b")
@pytest.mark.parametrize("others", [0, 4])
async def test_an_engine_takes_any_number_of_candidates(assistant: MakeAssistant, others: int) -> None:
    candidates = [f"pain tit number {n}" for n in range(others)] + ["paint it red"]
    async with assistant(Colours(), settings=BOTH) as hark:
        assert await hark.hears(candidates) == ["red"]
        [dispatch] = hark.of("paint.skill:paint")
    assert dispatch.data == {"lang": "en-US", "utterance": "paint it red", "slots": {"colour": "red"}}


@pytest.mark.spec("PIPELINE-1/4.h")
@pytest.mark.spec("PIPELINE-1/4.i")
@pytest.mark.spec("SESSION-1/3.2.7.f")
@pytest.mark.spec("SESSION-1/3.2.8.a")
async def test_an_engine_goes_by_the_language_it_is_given(assistant: MakeAssistant) -> None:
    english = Session("x", lang="en-US", detected_lang="en-US", stt_lang="en-US")
    async with assistant(Colours(), settings=BOTH) as hark:
        assert await hark.hears("male es rot", lang="de-DE", session=english) == ["rot"]
        assert hark.of("paint.skill:malen")[0].data["lang"] == "de-DE"
        assert await hark.hears("paint it red", lang="de-DE", session=english) == []


@pytest.mark.spec("PIPELINE-1/4.g")
async def test_a_plugin_may_refine_the_language_it_is_given(assistant: MakeAssistant) -> None:
    async with assistant(claims(lang="en-GB")) as hark:
        await hark.hears("colour", lang="en-US")
        assert hark.of("claims:go")[0].data["lang"] == "en-GB"
        assert hark.of(topics.UTTERANCE_SPEAK)[0].data["lang"] == "en-GB"


@pytest.mark.spec("PIPELINE-1/4.4.f")
@pytest.mark.spec("PIPELINE-1/4.4.g")
async def test_a_claim_that_came_to_nothing_does_no_harm(assistant: MakeAssistant) -> None:
    rogue = matcher("rogue", claim_of("paint.skill:paint", slots={"colour": "red"}))
    async with assistant(rogue, Colours()) as hark:
        assert await hark.hears("paint it red", session=Session("x", blacklisted_skills=["paint.skill"])) == []
        assert await hark.hears("paint it red", session=Session("x")) == ["red"]


@pytest.mark.spec("PIPELINE-1/5.3.a")
@pytest.mark.spec("PIPELINE-1/5.4.b")
@pytest.mark.parametrize(
    "policy", [{"blacklisted_skills": ["paint.skill"]}, {"blacklisted_intents": ["paint.skill:paint"]}]
)
async def test_an_engine_does_not_claim_for_those_who_are_denied(
    assistant: MakeAssistant, policy: dict[str, Any]
) -> None:
    async with assistant(Colours(), settings=BOTH) as hark:
        await hark.hears("paint it red", session=Session("x", **policy))
        assert outcomes(hark, "match") == [("template", "declined")]


@pytest.mark.spec("PIPELINE-1/6.2.l")
async def test_an_engine_looks_after_required_slots_itself(assistant: MakeAssistant) -> None:
    class Picky(Skill):
        id = "picky.skill"

        @intent("paint", "paint it {colour}", required_slots=["colour"])
        def paint(self, turn: Turn) -> str:
            return turn.slots["colour"]

    async with assistant(Picky(), settings=BOTH) as hark:
        assert await hark.hears("paint") == []
        assert outcomes(hark, "match") == [("template", "declined")]
        assert await hark.hears("paint it red") == ["red"]


@pytest.mark.spec("PIPELINE-1/7.2.a")
@pytest.mark.spec("PIPELINE-1/7.2.b")
@pytest.mark.spec("PIPELINE-1/9.2.b")
async def test_nothing_but_its_own_dispatch_calls_a_handler(assistant: MakeAssistant) -> None:
    called: list[str] = []
    async with assistant(claims(handler=lambda turn: called.append(turn.utterance))) as hark:
        said = {"lang": "en-US", "utterance": "x", "slots": {}}
        intent_named = {"skill_id": "claims", "intent_name": "go", "pipeline_id": "claims"}
        for topic in ("claims:other", "other:go", "claims.go", topics.INTENT_MATCHED, topics.HANDLER_START):
            hark.bus.emit(Message(topic, {**said, **intent_named}, {"skill_id": "claims"}))
        await settle()
        assert called == []
        await hark.hears("this one")
    assert called == ["this one"]


@pytest.mark.spec("PIPELINE-1/9.1.b")
async def test_an_utterance_states_no_language_unless_somebody_said_so(assistant: MakeAssistant) -> None:
    async with assistant(declines()) as hark:
        await hark.hears("hello", session=Session("x", lang="en-US"))
        await hark.hears("hallo", lang="de-DE")
        silent_one, stated = hark.of(topics.UTTERANCE_HANDLE)
    assert silent_one.data == {"utterances": ("hello",)}
    assert stated.data == {"utterances": ("hallo",), "lang": "de-DE"}


@pytest.mark.spec("PIPELINE-1/9.3.c")
async def test_nobody_says_again_what_was_not_understood(assistant: MakeAssistant) -> None:
    async with assistant(Colours(), declines()) as hark:
        await hark.hears("gibberish")
        await hark.clock.advance(60.0)
        assert len(hark.of(topics.UTTERANCE_HANDLE)) == len(hark.of(topics.INTENT_UNMATCHED)) == 1


@pytest.mark.spec("PIPELINE-1/10.a")
@pytest.mark.spec("PIPELINE-1/10.b")
@pytest.mark.spec("PIPELINE-1/10.2.a")
@pytest.mark.spec("PIPELINE-1/10.4.c")
async def test_an_engine_says_what_it_can_match_to_everybody_who_asks(assistant: MakeAssistant) -> None:
    query = Message(topics.pipeline_intents_list("template"), {}, {"source": "me", "destination": "hark"})
    settings = {"assistant": {"langs": ["de-DE"], "pipeline": ["high", "low"]},
                "pipeline": {"high": {"plugin": "template"}, "low": {"plugin": "template"}}}  # fmt: skip
    async with assistant(settings=settings) as empty:
        answer = await ask(empty.bus, empty.clock, query)
        assert answer.data == {"pipeline_id": "template", "intents": ()}
    async with assistant(Colours(), settings=settings) as hark:
        for _ in range(3):
            hark.bus.emit(query)
        await settle()
        answers = hark.of("ovos.pipeline.template.intents.list.response")
    assert len(answers) == 3
    for answer in answers:
        assert (answer.context["source"], answer.context["destination"]) == ("hark", "me")
        assert answer.data["pipeline_id"] == "template"
        told = [(i["skill_id"], i["intent_name"], i["lang"]) for i in answer.data["intents"]]
        assert sorted(told) == [("paint.skill", "malen", "de-DE"), ("paint.skill", "paint", "en-US")]


@pytest.mark.spec("PIPELINE-1/10.3.a")
@pytest.mark.parametrize(
    ("filters", "names"),
    [
        ({"lang": "de-DE"}, ["malen"]),
        ({"lang": "DE-de", "skill_id": "paint.skill", "foo": 1}, ["malen"]),
        ({"skill_id": "other"}, []),
        ({"foo": "bar"}, ["malen", "paint"]),
    ],
)
async def test_an_engine_says_less_to_who_wants_to_know_less(
    assistant: MakeAssistant, filters: dict[str, Any], names: list[str]
) -> None:
    async with assistant(Colours(), settings=BOTH) as hark:
        answer = await ask(hark.bus, hark.clock, Message(topics.pipeline_intents_list("template"), filters))
    assert sorted(intent["intent_name"] for intent in answer.data["intents"]) == names


@pytest.mark.spec("PIPELINE-1/11.a")
def test_who_installs_nothing_has_an_engine_for_what_skills_register() -> None:
    assert TemplateMatcher in DEFAULT_PLUGINS
    assert KeywordMatcher in DEFAULT_PLUGINS
    assert {"template", "keyword"} <= set(settings_from({}).assistant.pipeline)
