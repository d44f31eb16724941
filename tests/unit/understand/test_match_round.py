"""What a turn's trace tells of its match round and its end, and other things that mutants got away with."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from flow.stage import MakeAssistant, claim_of, claims, declines, matcher, transformer
from hark.builtin import KeywordMatcher, TemplateMatcher
from hark.model import Message, Session, decode
from hark.plugins import Ctx, Declined, Later, Match, Round, Turn
from hark.spec import topics
from hark.testing import Assistant, FakeClock, settle


def told(hark: Assistant, stage: str) -> list[tuple[str, str, float, str]]:
    """The steps of one stage of the last turn: who, how, how long, why."""
    return [(s.who, s.outcome, s.seconds, s.detail) for s in hark.trace().steps if s.stage == stage]


# The match round.


async def test_every_answer_of_a_matcher_is_told_in_full(assistant: MakeAssistant) -> None:
    def fail(utterances: Any, lang: str, session: Session) -> Any:
        raise LookupError("no such thing")

    async def garbage(utterances: Any, lang: str, session: Session) -> Any:
        return 7

    plugins = (
        declines("nothing"),
        declines("reason", answer=Declined("not my kind")),
        declines("no_words", answer=Declined(7)),  # type: ignore[arg-type]
        matcher("fails", fail),
        matcher("garbage", garbage),
        matcher("broken", claim_of("some.skill:go", lang="no tag")),
        claims(),
    )
    async with assistant(*plugins) as hark:
        assert await hark.hears("hello") == ["hello"]
        *steps, failed, garbled, broken, won = told(hark, "match")
        assert steps == [
            ("nothing", "declined", 0.0, ""),
            ("reason", "declined", 0.0, "not my kind"),
            ("no_words", "declined", 0.0, "its reason is no text"),
        ]
        assert failed[:3] == ("fails", "failed", 0.0)
        assert failed[3].startswith("LookupError: no such thing (")
        assert garbled == ("garbage", "malformed", 0.0, "match() returned a int, not a Match")
        assert broken == ("broken", "malformed", 0.0, "lang 'no tag' is no BCP-47 tag")
        assert won == ("claims", "claimed", 0.0, "claims:go")


async def test_how_long_a_matcher_took_is_told(assistant: MakeAssistant) -> None:
    clock = FakeClock()

    def think(utterances: Any, lang: str, session: Session) -> None:
        clock.pass_by(0.005)

    async with assistant(matcher("thinker", think), clock=clock) as hark:
        await hark.hears("hello")
        assert told(hark, "match")[0] == ("thinker", "declined", 0.005, "")


async def test_who_is_not_asked_is_told_in_full(assistant: MakeAssistant) -> None:
    def fail(utterances: Any, lang: str, session: Session) -> Any:
        raise LookupError

    pipeline = ["gone", "denied", "tired", "claims"]
    settings = {
        "assistant": {"pipeline": pipeline},
        "limits": {"failures": 1},
        "pipeline": {"gone": {"plugin": "away"}},
    }
    async with assistant(declines("denied"), matcher("tired", fail), claims(), settings=settings) as hark:
        session = Session("x", blacklisted_pipelines=["denied"])
        for _ in range(2):
            await hark.hears("hello", session=session)
        assert told(hark, "match") == [
            ("gone", "skipped", 0.0, "no pipeline plugin 'away' is loaded"),
            ("denied", "denied", 0.0, "the session's blacklisted_pipelines names it"),
            ("tired", "skipped", 0.0, "it failed 1 times in a row"),
            ("claims", "claimed", 0.0, "claims:go"),
        ]


@pytest.mark.parametrize(
    ("denylist", "name", "why"),
    [
        ("blacklisted_skills", "claims", "the session's blacklisted_skills names claims"),
        ("blacklisted_intents", "claims:go", "the session's blacklisted_intents names claims:go"),
    ],
)
async def test_a_denied_claim_is_told_in_full(assistant: MakeAssistant, denylist: str, name: str, why: str) -> None:
    async with assistant(claims()) as hark:
        await hark.hears("hello", session=Session("x", **{denylist: [name]}))
        assert told(hark, "match")[0] == ("claims", "denied", 0.0, why)


@pytest.mark.parametrize(
    ("named", "plugin", "config"),
    [
        ("ovos-stop-pipeline-plugin-high", "stop", {"mode": "exact"}),
        ("stop_medium", "stop", {"mode": "loose"}),
        ("ovos-converse-pipeline-plugin", "converse", {}),
        ("padatious_high", "template", {"mode": "strict"}),
        ("ovos-padatious-pipeline-plugin-medium", "template", {"mode": "normal"}),
        ("adapt_low", "keyword", {"mode": "loose"}),
        ("ovos-adapt-pipeline-plugin-high", "keyword", {"mode": "strict"}),
        ("common_qa", "common_query", {}),
        ("ovos-common-query-pipeline-plugin", "common_query", {}),
        ("fallback_high", "fallback", {"max": 4}),
        ("ovos-fallback-pipeline-plugin-medium", "fallback", {"min": 5, "max": 89}),
        ("fallback_low", "fallback", {"min": 90}),
    ],
)
async def test_a_name_of_ovos_leads_to_the_plugin_of_the_same_kind(
    assistant: MakeAssistant, named: str, plugin: str, config: dict[str, Any]
) -> None:
    seen: list[Any] = []

    def note(utterances: Any, lang: str, session: Session, round: Round) -> None:
        seen.append((round.entry, dict(round.config)))

    settings = {"assistant": {"pipeline": ["claims"]}}
    async with assistant(matcher(plugin, note), claims(), settings=settings) as hark:
        await hark.hears("hello", session=Session("x", pipeline=[named]))
        assert seen == [(named, config)]
        for denied in (named, plugin):
            await hark.hears("hello", session=Session("x", pipeline=[named], blacklisted_pipelines=[denied]))
    assert seen == [(named, config)]


async def test_denying_a_plugin_of_ovos_denies_its_tiers(assistant: MakeAssistant) -> None:
    seen: list[Any] = []
    async with assistant(declines("template", seen)) as hark:
        for named, denied in (
            ("ovos-padatious-pipeline-plugin-high", "ovos-padatious-pipeline-plugin"),
            ("padatious_low", "padatious"),
        ):
            await hark.hears("hello", session=Session("x", pipeline=[named], blacklisted_pipelines=[denied]))
    assert seen == []


async def test_settings_and_loaded_plugins_come_before_names_of_ovos(assistant: MakeAssistant) -> None:
    settings = {
        "assistant": {"pipeline": ["claims"]},
        "pipeline": {"stop_high": {"plugin": "claims"}},
    }
    loaded = matcher("ovos-adapt-pipeline-plugin-high", claim_of("claims:go"))
    async with assistant(claims(), loaded, declines("keyword"), settings=settings) as hark:
        for name in ("stop_high", "ovos-adapt-pipeline-plugin-high"):
            assert await hark.hears("hello", session=Session("x", pipeline=[name])) == ["hello"]
        await hark.hears("hello", session=Session(site_id="attic", pipeline=["stop_high"]))
        assert hark.runtime.store.current.site_id == "attic", "a name of the settings is no mark of a stranger"


@pytest.mark.parametrize("name", ["ocp_high", "ovos-m2v-pipeline-high", "ovos-persona-pipeline-plugin-low"])
async def test_a_pipeline_that_leads_nowhere_is_logged_now_and_then(
    assistant: MakeAssistant, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    def warnings() -> list[str]:
        return [record.getMessage() for record in caplog.records if record.name == "hark.understand"]

    async with assistant(claims()) as hark:
        for _ in range(3):
            assert await hark.hears("hello", session=Session("x", pipeline=[name])) == []
        assert warnings() == [f"session 'x': no entry of its pipeline leads to a loaded plugin: {name}"]
        await hark.clock.advance(60.0)
        await hark.hears("hello", session=Session("x", pipeline=[name]))
        assert len(warnings()) == 2


async def test_what_the_settings_deny_is_denied_whatever_the_session_denies(assistant: MakeAssistant) -> None:
    settings = {"deny": {"skills": ["claims"], "dialog_transformers": ["shout"]}}
    plugins = (claims(), claims("other"), transformer("dialog", "shout", lambda text, ctx: text.upper()))
    async with assistant(*plugins, settings=settings) as hark:
        lists = {"blacklisted_skills": ["third"], "blacklisted_dialog_transformers": ["fourth"]}
        for session in (Session("x"), Session("x", **lists)):
            assert await hark.hears("hello", session=session) == ["hello"]
            assert told(hark, "match")[0][:2] == ("claims", "denied")


@pytest.mark.parametrize("by_settings", [True, False])
@pytest.mark.parametrize("kind", ["template", "keyword"])
async def test_the_next_best_intent_wins_where_the_best_is_denied(
    assistant: MakeAssistant, kind: str, by_settings: bool
) -> None:
    def registration(skill_id: str) -> Message:
        data: dict[str, Any] = {"skill_id": skill_id, "intent_name": "go", "lang": "en-US"}
        if kind == "template":
            return Message(topics.REGISTER_TEMPLATE, {**data, "samples": ["open the gate"]})
        return Message(topics.REGISTER_KEYWORD, {**data, "required": [{"name": "gate", "samples": ["gate"]}]})

    settings: dict[str, Any] = {"assistant": {"pipeline": [kind]}}
    session = Session("x", blacklisted_skills=["another" if by_settings else "first.skill"])
    if by_settings:
        settings["deny"] = {"skills": ["first.skill"]}
    matchers = {"template": TemplateMatcher(), "keyword": KeywordMatcher()}
    async with assistant(matchers[kind], settings=settings) as hark:
        for skill_id in ("first.skill", "second.skill"):
            hark.bus.emit(registration(skill_id))
        await settle()
        hark.say("open the gate", session=session)
        await settle()
        assert told(hark, "match") == [(kind, "claimed", 0.0, "second.skill:go")]


async def test_a_late_matcher_is_told_in_full(assistant: MakeAssistant) -> None:
    async def never(utterances: Any, lang: str, session: Session) -> None:
        await asyncio.Event().wait()

    async with assistant(matcher("never", never), settings={"limits": {"match": 3}}) as hark:
        hearing = hark.say("hello")
        await settle()
        await hark.clock.advance(4.0)
        assert hearing.over.is_set()
        assert told(hark, "match")[0] == ("never", "late", 3.0, "took longer than 3 s")


async def test_a_condition_that_only_this_session_registered_holds_in_it(assistant: MakeAssistant) -> None:
    registered = {"skill_id": "claims", "intent_name": "go", "lang": "en-US", "samples": ["go {where}"]}
    async with assistant(claims()) as hark:
        payload = {**registered, "required_slots": ["where"]}
        hark.bus.emit(Message(topics.REGISTER_TEMPLATE, payload, session=Session("x")))
        await hark.hears("hello", session="x")
        why = "claims:go: required slot 'where' is not filled"
        assert told(hark, "match")[0] == ("claims", "refused", 0.0, why)
        assert await hark.hears("hello", session="y") == ["hello"]


async def test_a_matcher_that_emits_what_only_the_frame_says_is_named(assistant: MakeAssistant) -> None:
    async def forge(utterances: Any, lang: str, session: Session, round: Round) -> None:
        await round.poll(topics.UTTERANCE_HANDLED, {}, ["some.skill"], 1.0)

    async with assistant(matcher("forger", forge)) as hark:
        await hark.hears("hello")
        [(who, outcome, _, why), *_] = told(hark, "match")
        assert (who, outcome) == ("forger", "failed")
        assert why.startswith(f"PermissionError: a matcher may not emit {topics.UTTERANCE_HANDLED}")


# How a turn ended.


def cancelling(utterances: list[str], ctx: Ctx) -> list[str]:
    ctx.cancel("stop_word")
    return utterances


def failing(turn: Turn) -> None:
    raise LookupError("lost")


@pytest.mark.parametrize(
    ("plugin", "outcome"),
    [
        (lambda: claims(), "complete"),
        (lambda: claims(handler=failing), "error"),
        (lambda: declines(), "unmatched"),
        (lambda: transformer("utterance", "cancels", cancelling), "cancelled"),
    ],
    ids=["complete", "error", "unmatched", "cancelled"],
)
async def test_how_the_turn_ended_is_on_record(assistant: MakeAssistant, plugin: Any, outcome: str) -> None:
    async with assistant(plugin()) as hark:
        await hark.hears("hello")
        assert hark.trace().outcome == outcome


async def test_a_refused_turn_is_on_record(assistant: MakeAssistant) -> None:
    async with assistant(claims()) as hark:
        hark.bus.emit(decode(b'{"type":"ovos.utterance.handle","context":{"session":7}}'))
        await settle()
        assert hark.trace().outcome == "refused"


async def test_why_a_handler_ended_in_an_error_is_told_in_full(assistant: MakeAssistant) -> None:
    async with assistant(matcher("claims", claim_of("nobody.skill:go"))) as hark:
        hearing = hark.say("hello")
        await settle()
        await hark.clock.advance(3.0)
        assert hearing.over.is_set()
        why = "no handler accepted the dispatch within 2 s"
        assert told(hark, "handler") == [("nobody.skill:go", "error", 0.0, why)]


# Asking what there is.


async def ask(hark: Assistant, topic: str, **data: Any) -> Message:
    hark.bus.emit(Message(topic, data))
    await settle()
    return hark.of(topics.response_topic(topic))[-1]


async def test_ids_are_compared_as_they_are_written_and_languages_are_not(assistant: MakeAssistant) -> None:
    async with assistant() as hark:
        payload = {"skill_id": "Lights.Demo", "intent_name": "Dim", "lang": "en-US"}
        hark.bus.emit(Message(topics.REGISTER_TEMPLATE, payload))
        for wanted in ({"skill_id": "Lights.Demo"}, {"skill_id": "Lights.Demo", "intent_name": "Dim", "lang": "EN-us"}):
            answer = await ask(hark, topics.INTENT_DESCRIBE, **wanted)
            assert [found["definition"] for found in answer.data["definitions"]] == [payload]
        for unknown in ({"skill_id": "lights.demo"}, {"skill_id": "Lights.Demo", "intent_name": "dim"}):
            assert (await ask(hark, topics.INTENT_DESCRIBE, **unknown)).data["ok"] is False


@pytest.mark.parametrize("skill_id", [None, "", 7, ["a"], {"a": 1}])
async def test_a_question_about_nobody_is_answered_with_what_is_missing(
    assistant: MakeAssistant, skill_id: Any
) -> None:
    async with assistant() as hark:
        answer = await ask(hark, topics.INTENT_DESCRIBE, skill_id=skill_id)
        assert answer.data == {"ok": False, "error": "skill_id is missing: whose intents?"}


async def test_a_matcher_on_a_worker_thread_may_decide_later(assistant: MakeAssistant) -> None:
    async def look() -> Match:
        return claim_of("some.skill:go")(("anything",), "en-US", Session())

    def match(utterances: Any, lang: str, session: Session) -> Any:
        return Later(look)

    # As a quick one that was slow once: it has no say in where it runs.
    async with assistant(matcher("later", match, quick=False)) as hark:
        hark.say("anything")
        await settle()
        assert [(who, how) for who, how, _, _ in told(hark, "match")] == [("later", "claimed")]
