"""OVOS-COMMON-QUERY-1: a question, those who may know, and the best answer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest

from flow.polling import Outsider, dispatched, heard, ids, last_dispatch, with_all_stages
from flow.stage import MakeAssistant, outcomes, transformer, turn_of
from hark.app.settings import settings_from
from hark.builtin.common_query import CommonQuery
from hark.builtin.common_query.plugin import is_question
from hark.model import Message, Session
from hark.plugins import Answer, Plugin, Turn, answers, fallback
from hark.skills import MalformedIntent, Skill, intent
from hark.spec import topics
from hark.testing import Assistant, settle

QUESTION = "how tall is the eiffel tower"
PING, REQUEST = topics.COMMON_QUERY_PING, topics.COMMON_QUERY_REQUEST
CONTEST = (PING, topics.COMMON_QUERY_PONG, REQUEST, topics.COMMON_QUERY_RESPONSE)


@pytest.fixture
def assistant(assistant: MakeAssistant) -> MakeAssistant:
    return with_all_stages(assistant)


def knows(skill_id: str, answer: Any = "330 metres", confidence: float = 0.8, *, wants: Any = None) -> Plugin:
    """A skill that answers questions; `wants` decides, or is the decision, or is left out."""
    when = (lambda *_asked: wants) if isinstance(wants, bool) else wants

    def know(self: Skill, question: str, lang: str, session: Session) -> Any:
        if callable(answer):
            return answer(question, lang, session)
        return Answer(answer, confidence) if isinstance(answer, str) else answer

    members = {"id": skill_id, "quick": True, "know": answers(wants=when)(know)}
    made: Plugin = type("MadeKnowing", (Skill,), members)()
    return made


class Elsewhere(Outsider):
    """A skill in another process that takes part in contests."""

    def joins(self, *, announced: bool = True, **claim: Any) -> Elsewhere:
        """Claim that it can answer, with what more there is to say."""
        if announced:
            data = {"skill_id": self.id, "capabilities": ["common_query"]}
            self._hark.bus.emit(Message(topics.SKILL_LOADED, data))
        self.answers(PING, {"utterance": QUESTION, "skill_id": self.id, "can_answer": True, **claim})
        return self

    def responds(
        self, *payloads: dict[str, Any], after: float | None = None, asked: bool = True, **context: Any
    ) -> None:
        """Answer requests that name it, or any, with these payloads."""

        def requested(message: Message) -> None:
            if asked and message.data["skill_id"] != self.id:
                return
            for payload in payloads:
                data = {"utterance": QUESTION, "skill_id": self.id, **payload}
                reply = message.reply(topics.COMMON_QUERY_RESPONSE, data)
                reply = reply.carrying(**context) if context else reply
                self._hark.clock.after(after or 0.0, lambda reply=reply: self._hark.bus.emit(reply))

        self._hark.bus.on(REQUEST, requested)


def elsewhere(hark: Assistant, skill_id: str, answer: str, conf: float, *, after: float = 0.0, **claim: Any) -> None:
    """A skill in another process that claims at once and answers after a while."""
    Elsewhere(hark, skill_id).joins(**claim).responds({"answer": answer, "conf": conf}, after=after)


async def elapsed(hark: Assistant, **how: Any) -> tuple[float, list[str]]:
    """How long an answer takes, and what it is."""
    began = hark.clock.monotonic()
    hearing = await heard(hark, QUESTION, **how)
    return round(hark.clock.monotonic() - began, 2), hearing.spoken


# §2, §3: the role.


@pytest.mark.spec("COMMON-QUERY-1/2.a")
@pytest.mark.spec("COMMON-QUERY-1/2.b")
@pytest.mark.spec("COMMON-QUERY-1/2.2.a")
@pytest.mark.spec("COMMON-QUERY-1/9.b")
@pytest.mark.spec("COMMON-QUERY-1/10.a")
@pytest.mark.spec("COMMON-QUERY-1/11.a")
async def test_the_contest_is_in_the_match_and_the_plugin_says_the_answer(assistant: MakeAssistant) -> None:
    async with assistant(knows("wiki")) as hark:
        assert await hark.hears([QUESTION, "something else"], session=Session("x")) == ["330 metres"]
        dispatch = last_dispatch(hark)
        assert dispatch.type == "common_query:common_query"
        assert dispatch.data == {"lang": "en-US", "utterance": QUESTION, "slots": {"answer": "330 metres"}}
        assert dispatch.context["pipeline_id"] == dispatch.context["skill_id"] == "common_query"
        seen = hark.topics()
        assert max(seen.index(topic) for topic in CONTEST) < seen.index(topics.INTENT_MATCHED)
        [speak] = hark.of(topics.UTTERANCE_SPEAK)
        assert speak.data == {"utterance": "330 metres", "lang": "en-US"}
        assert speak.context["skill_id"] == "common_query"


@pytest.mark.spec("COMMON-QUERY-1/2.1.a")
def test_the_limit_of_a_matcher_leaves_time_for_poll_and_answers() -> None:
    windows = CommonQuery.Settings()
    assert settings_from({}).limits.match >= windows.poll_window + windows.ceiling


@pytest.mark.spec("COMMON-QUERY-1/2.1.b")
async def test_a_session_may_do_without_it(assistant: MakeAssistant) -> None:
    async with assistant(knows("wiki")) as hark:
        assert await hark.hears(QUESTION, session=Session("x", blacklisted_pipelines=["common_query"])) == []
        assert ("common_query", "denied") in outcomes(hark, "match")
        denied = Session("x", blacklisted_intents=["common_query:common_query"])
        assert await hark.hears(QUESTION, session=denied) == []


@pytest.mark.spec("COMMON-QUERY-1/2.2.a")
async def test_however_many_entries_lead_to_it_it_is_one_plugin(assistant: MakeAssistant) -> None:
    settings = {
        "assistant": {"pipeline": ["facts", "facts_again"]},
        "pipeline": {"facts": {"plugin": "common_query"}, "facts_again": {"plugin": "common_query"}},
    }
    async with assistant(knows("wiki"), settings=settings) as hark:
        assert await hark.hears(QUESTION) == ["330 metres"]
        assert last_dispatch(hark).type == "common_query:common_query"


@pytest.mark.spec("COMMON-QUERY-1/3.a")
async def test_no_intent_can_be_registered_as_common_query(
    assistant: MakeAssistant, caplog: pytest.LogCaptureFixture
) -> None:
    data = {"skill_id": "some.skill", "intent_name": "common_query", "lang": "en-US", "samples": ["mumble"]}
    async with assistant() as hark:
        with caplog.at_level(logging.WARNING):
            hark.bus.emit(Message(topics.REGISTER_TEMPLATE, data))
            await settle()
        await hark.hears("mumble")
        assert dispatched(hark) == []
    assert any("reserved" in record.getMessage() for record in caplog.records)
    with pytest.raises(MalformedIntent, match="reserved"):
        intent("whatever", name="common_query")(lambda self, turn: None)


@pytest.mark.spec("COMMON-QUERY-1/3.b")
@pytest.mark.spec("COMMON-QUERY-1/7.1.f")
@pytest.mark.spec("COMMON-QUERY-1/7.1.g")
async def test_the_contest_calls_nobody(assistant: MakeAssistant) -> None:
    async with assistant(knows("a"), knows("b", confidence=0.9)) as hark:
        await hark.hears(QUESTION, session=Session("x"))
        assert [topic for topic in hark.topics() if ":" in topic] == ["common_query:common_query"]
        assert [m.data["skill_id"] for m in hark.of(topics.HANDLER_START)] == ["common_query"]
        assert {m.type for m in hark.messages if "common_query" in m.type and ":" not in m.type} == set(CONTEST)
        assert ids(hark.of(topics.UTTERANCE_HANDLED)[0].session) == []


# §4: the gate.


@pytest.mark.spec("COMMON-QUERY-1/4.a")
@pytest.mark.spec("COMMON-QUERY-1/4.1.a")
@pytest.mark.spec("COMMON-QUERY-1/4.2.b")
@pytest.mark.parametrize("text", ["play music", "turn the light on", "set a timer for ten minutes", "good night"])
async def test_a_command_is_not_asked_around(assistant: MakeAssistant, text: str) -> None:
    async with assistant(knows("wiki")) as hark:
        assert await hark.hears(text) == []
        assert hark.of(PING) == []
        assert ("common_query", "declined") in outcomes(hark, "match")


@pytest.mark.spec("COMMON-QUERY-1/4.1.b")
async def test_how_a_question_is_put_does_not_change_who_wins(assistant: MakeAssistant) -> None:
    async with assistant(knows("a", "no", 0.6), knows("b", "yes", 0.7)) as hark:
        for text in (QUESTION, "eiffel tower height?", "tell me how tall it is", "what"):
            assert await hark.hears(text) == ["yes"]


@pytest.mark.spec("COMMON-QUERY-1/4.1.c")
async def test_a_deployment_may_do_without_the_gate(assistant: MakeAssistant) -> None:
    async with assistant(knows("wiki"), settings={"plugins": {"common_query": {"gate": False}}}) as hark:
        assert await hark.hears("play music") == ["330 metres"]


@pytest.mark.spec("COMMON-QUERY-1/4.2.a")
@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("who wrote faust", "en-US"),
        ("what's the capital of peru", "en-US"),
        ("is a tomato a fruit", "en-US"),
        ("tell me about mars", "en-US"),
        ("the capital of peru?", "en-US"),
        ("wie hoch ist der eiffelturm", "de-DE"),
        ("welche farbe hat der mars", "de-DE"),
        ("quién escribió el quijote", "es-ES"),
        ("cuál es la capital de perú", "es-ES"),
        ("qui a écrit faust", "fr-FR"),
        ("quelle est la capitale du pérou", "fr-FR"),
        ("chi ha scritto faust", "it-IT"),
        ("qual è la capitale del perù", "it-IT"),
        ("quem escreveu os lusíadas", "pt-PT"),
        ("qual é a capital do peru", "pt-PT"),
        ("ペルーの首都は", "ja-JP"),
    ],
)
def test_a_question_of_fact_is_one_in_any_language(text: str, lang: str) -> None:
    assert is_question(text, lang)


# §5, §6: the poll.


@pytest.mark.spec("COMMON-QUERY-1/5.2.d")
@pytest.mark.spec("COMMON-QUERY-1/6.1.a")
@pytest.mark.spec("COMMON-QUERY-1/6.2.a")
@pytest.mark.spec("COMMON-QUERY-1/6.4.a")
@pytest.mark.spec("COMMON-QUERY-1/7.1.c")
@pytest.mark.spec("COMMON-QUERY-1/7.1.d")
async def test_what_goes_over_the_bus(assistant: MakeAssistant) -> None:
    async with assistant(knows("wiki")) as hark:
        await hark.hears([QUESTION, "other"], session=Session("x"), context={"source": "mic", "destination": "h"})
        ping, pong, request, response = (hark.of(topic)[0] for topic in CONTEST)
        asked = {"utterance": QUESTION, "lang": "en-US"}
        assert ping.data == asked
        assert pong.data == {"utterance": QUESTION, "skill_id": "wiki", "can_answer": True}
        assert request.data == {**asked, "skill_id": "wiki"}
        assert response.data == {"utterance": QUESTION, "skill_id": "wiki", "answer": "330 metres", "conf": 0.8}
        for message in (ping, request):
            assert (message.context["source"], message.context["destination"]) == ("h", "mic")
        for message in (pong, response):
            assert (message.context["source"], message.context["destination"]) == ("mic", "h")
        marker = hark.of(topics.UTTERANCE_HANDLED)[0]
        for message in (ping, pong, request, response):
            assert (message.session_id, message.utterance_id) == ("x", marker.utterance_id)


@pytest.mark.spec("COMMON-QUERY-1/6.1.b")
@pytest.mark.spec("COMMON-QUERY-1/9.c")
async def test_the_language_is_the_one_the_round_is_in(assistant: MakeAssistant) -> None:
    seen: list[str] = []

    def know(question: str, lang: str, session: Session) -> str:
        seen.append(lang)
        return "330 Meter"

    async with assistant(knows("wiki", know), settings={"assistant": {"langs": ["de-DE", "fr-FR"]}}) as hark:
        session = Session("x", lang="fr-FR", detected_lang="en-US")
        await hark.hears("wie hoch ist der eiffelturm", lang="de-DE", session=session)
        assert hark.of(PING)[0].data["lang"] == last_dispatch(hark).data["lang"] == "de-DE"
        assert hark.of(topics.UTTERANCE_SPEAK)[0].data["lang"] == "de-DE"
    assert seen == ["de-DE"]


@pytest.mark.spec("COMMON-QUERY-1/6.1.c")
async def test_anybody_who_hears_it_may_claim(assistant: MakeAssistant) -> None:
    async with assistant(knows("wiki", confidence=0.6)) as hark:
        elsewhere(hark, "unheard-of", "a thousand feet", 0.9, announced=False)
        _, said = await elapsed(hark)
        assert said == ["a thousand feet"]


async def test_who_never_said_what_it_can_do_is_waited_for(assistant: MakeAssistant) -> None:
    async with assistant() as hark:
        hark.bus.emit(Message(topics.SKILL_LOADED, {"skill_id": "taciturn"}))
        Elsewhere(hark, "taciturn").answers(PING, {"skill_id": "taciturn", "can_handle": True}, after=0.4)
        Elsewhere(hark, "taciturn").responds({"answer": "yes", "conf": 0.7})
        assert (await elapsed(hark))[1] == ["yes"]
        hark.bus.emit(Message(topics.SKILL_DEREGISTER, {"skill_id": "taciturn"}))
        assert await elapsed(hark) == (0.0, [])


async def test_when_nobody_answers_questions_nobody_is_asked(assistant: MakeAssistant) -> None:
    async with assistant() as hark:
        assert await elapsed(hark) == (0.0, [])
        assert hark.of(PING) == []


@pytest.mark.spec("COMMON-QUERY-1/6.2.g")
@pytest.mark.spec("COMMON-QUERY-1/6.3.a")
async def test_who_claims_too_late_is_not_asked(assistant: MakeAssistant) -> None:
    async with assistant() as hark:
        data = {"skill_id": "slow", "capabilities": ["common_query"]}
        hark.bus.emit(Message(topics.SKILL_LOADED, data))
        Elsewhere(hark, "slow").answers(PING, {"skill_id": "slow", "can_answer": True}, after=0.6)
        took, said = await elapsed(hark)
        await hark.clock.advance(5.0)
        assert (took, said) == (0.5, [])
        assert hark.of(REQUEST) == []


@pytest.mark.spec("COMMON-QUERY-1/6.3.b")
async def test_the_poll_is_over_when_all_have_told(assistant: MakeAssistant) -> None:
    async with assistant(knows("a"), knows("b", wants=False)) as hark:
        assert await elapsed(hark) == (0.0, ["330 metres"])
        assert {m.data["skill_id"]: m.data["can_answer"] for m in hark.of(topics.COMMON_QUERY_PONG)} == {
            "a": True, "b": False,
        }  # fmt: skip
        assert [m.data["skill_id"] for m in hark.of(REQUEST)] == ["a"]


@pytest.mark.spec("COMMON-QUERY-1/6.4.b")
@pytest.mark.spec("COMMON-QUERY-1/6.4.c")
@pytest.mark.parametrize(
    "wrong", [{"utterance_id": "another"}, {"session": Session("another")}], ids=["utterance", "session"]
)
@pytest.mark.parametrize("phase", ["pong", "response"])
async def test_what_belongs_to_another_contest_does_not_count(
    assistant: MakeAssistant, wrong: dict[str, Any], phase: str
) -> None:
    async with assistant(knows("wiki", confidence=0.5)) as hark:
        outsider = Elsewhere(hark, "other")
        claim = {"skill_id": "other", "can_answer": True}
        outsider.answers(PING, claim, **(wrong if phase == "pong" else {}))
        outsider.responds({"answer": "wrong", "conf": 1.0}, **(wrong if phase == "response" else {}))
        _, said = await elapsed(hark, session=Session("x"))
        assert said == ["330 metres"]


@pytest.mark.spec("COMMON-QUERY-1/6.4.e")
@pytest.mark.spec("COMMON-QUERY-1/8.b")
@pytest.mark.spec("COMMON-QUERY-1/5.1.b")
@pytest.mark.parametrize("who_denies", ["session", "deployment", "a transformer of this turn"])
async def test_who_is_denied_is_not_asked_and_does_not_win(assistant: MakeAssistant, who_denies: str) -> None:
    def deny(ctx: Any) -> None:
        if who_denies == "a transformer of this turn":
            ctx.session = ctx.session.replace(blacklisted_skills=["denied"])

    own = {"blacklisted_skills": ["denied"]} if who_denies == "session" else {}
    deployed = {"deny": {"skills": ["denied"]}} if who_denies == "deployment" else {}
    plugins = (transformer("metadata", "deny", deny), knows("denied", "secret", 1.0))
    async with assistant(*plugins, settings=deployed) as hark:
        assert await elapsed(hark, session=Session("x", **own)) == (0.0, [])
        assert hark.of(REQUEST) == []
    async with assistant(*plugins, knows("b", "public", 0.5), settings=deployed) as hark:
        elsewhere(hark, "c", "open", 0.6)
        assert (await elapsed(hark, session=Session("x", **own)))[1] == ["open"]
        assert sorted(m.data["skill_id"] for m in hark.of(REQUEST)) == ["b", "c"]


# §7: the answers.


@pytest.mark.spec("COMMON-QUERY-1/7.1.a")
@pytest.mark.spec("COMMON-QUERY-1/7.1.b")
async def test_every_claimant_is_asked_by_a_request_of_its_own_all_at_once(assistant: MakeAssistant) -> None:
    asked: list[str] = []

    def noting(name: str) -> Callable[..., str]:
        def note(*_asked: Any) -> str:
            asked.append(name)
            return name

        return note

    async with assistant(*(knows(name, noting(name), wants=name != "d") for name in "abcd")) as hark:
        await hark.hears(QUESTION)
        requests = hark.of(REQUEST)
        assert [m.data["skill_id"] for m in requests] == ["a", "b", "c"]
        first = hark.messages.index(requests[0])
        public = [m.type for m in hark.messages[first:] if not m.type.startswith("hark.")]
        assert public.index(topics.COMMON_QUERY_RESPONSE) >= 1
    assert sorted(asked) == ["a", "b", "c"]


@pytest.mark.spec("COMMON-QUERY-1/7.1.e")
@pytest.mark.parametrize("nothing", [None, "", ValueError("no idea")], ids=repr)
async def test_who_knows_nothing_says_so(assistant: MakeAssistant, nothing: Any) -> None:
    def know(*_asked: Any) -> Any:
        if isinstance(nothing, Exception):
            raise nothing
        return nothing

    async with assistant(knows("a", know)) as hark:
        assert await elapsed(hark) == (0.0, [])
        [response] = hark.of(topics.COMMON_QUERY_RESPONSE)
        assert response.data == {"utterance": QUESTION, "skill_id": "a"}


@pytest.mark.spec("COMMON-QUERY-1/7.1.1.a")
async def test_an_answer_nobody_asked_for_does_not_count(assistant: MakeAssistant) -> None:
    async with assistant(knows("a", confidence=0.5)) as hark:
        Elsewhere(hark, "busybody").responds({"answer": "me", "conf": 1.0}, asked=False)
        assert (await elapsed(hark))[1] == ["330 metres"]


@pytest.mark.spec("COMMON-QUERY-1/7.1.1.c")
@pytest.mark.parametrize(
    "payload",
    [
        {"answer": "bad"},
        {"answer": "bad", "conf": 7},
        {"answer": "bad", "conf": -0.1},
        {"answer": "bad", "conf": "high"},
        {"answer": "bad", "conf": True},
        {"answer": "bad", "conf": None},
        {"answer": 330, "conf": 0.9},
        {"answer": "", "conf": 0.9},
        {"conf": 0.9},
    ],
    ids=str,
)
async def test_a_malformed_answer_is_a_no(assistant: MakeAssistant, payload: dict[str, Any]) -> None:
    async with assistant(knows("a", confidence=0.5)) as hark:
        # The second one would be in order, but the first has been taken.
        Elsewhere(hark, "b").joins().responds(payload, {"answer": "better", "conf": 1.0})
        assert await elapsed(hark) == (0.0, ["330 metres"])


@pytest.mark.spec("COMMON-QUERY-1/7.2.a")
@pytest.mark.spec("COMMON-QUERY-1/7.2.f")
@pytest.mark.spec("COMMON-QUERY-1/7.2.e")
@pytest.mark.spec("COMMON-QUERY-1/9.a")
async def test_nobody_is_waited_for_beyond_the_ceiling(assistant: MakeAssistant) -> None:
    class Catchall(Skill):
        id = "catchall"
        quick = True

        @fallback(90)
        def shrug(self, turn: Turn) -> str:
            return "no idea"

    async with assistant(Catchall()) as hark:
        elsewhere(hark, "slow", "too late", 1.0, after=5.1)
        assert await elapsed(hark) == (5.0, ["no idea"])
        await hark.clock.advance(5.0)
        assert dispatched(hark) == ["catchall:fallback"]


@pytest.mark.spec("COMMON-QUERY-1/7.2.b")
@pytest.mark.spec("COMMON-QUERY-1/7.2.d")
async def test_the_contest_is_over_when_all_have_answered(assistant: MakeAssistant) -> None:
    async with assistant() as hark:
        elsewhere(hark, "a", "one", 0.6, after=1.0)
        elsewhere(hark, "b", "two", 0.7, after=2.0)
        assert await elapsed(hark) == (2.0, ["two"])


@pytest.mark.spec("COMMON-QUERY-1/7.2.c")
@pytest.mark.spec("COMMON-QUERY-1/7.2.e")
async def test_after_the_window_only_who_has_nothing_yet_waits_on(assistant: MakeAssistant) -> None:
    async with assistant() as hark:
        elsewhere(hark, "a", "one", 0.6, after=1.0)
        elsewhere(hark, "b", "two", 0.9, after=4.0)
        assert await elapsed(hark) == (3.0, ["one"])
    async with assistant() as hark:
        elsewhere(hark, "a", "unlikely", 0.1, after=1.0)
        elsewhere(hark, "b", "two", 0.9, after=4.0)
        assert await elapsed(hark) == (4.0, ["two"])


@pytest.mark.spec("COMMON-QUERY-1/7.2.g")
async def test_the_window_is_as_long_as_the_slowest_says(assistant: MakeAssistant) -> None:
    async with assistant() as hark:
        elsewhere(hark, "a", "one", 0.6, after=0.2, latency_ms=200)
        elsewhere(hark, "b", "two", 0.9, after=2.0, latency_ms=800)
        assert await elapsed(hark) == (0.8, ["one"])


@pytest.mark.spec("COMMON-QUERY-1/8.d")
async def test_who_says_it_takes_longer_is_waited_for(assistant: MakeAssistant) -> None:
    async with assistant() as hark:
        elsewhere(hark, "a", "one", 0.6, after=0.2)
        elsewhere(hark, "b", "two", 0.9, after=4.4, latency_ms=4_500)
        assert await elapsed(hark) == (4.4, ["two"])


@pytest.mark.spec("COMMON-QUERY-1/7.2.h")
@pytest.mark.spec("COMMON-QUERY-1/7.2.i")
@pytest.mark.parametrize("hint", [60_000, -5, "soon", None, True, [800], 10**400], ids=lambda hint: repr(hint)[:10])
async def test_a_hint_that_cannot_be_is_not_heeded(assistant: MakeAssistant, hint: Any) -> None:
    async with assistant() as hark:
        elsewhere(hark, "a", "one", 0.6, after=0.2, latency_ms=hint)
        elsewhere(hark, "b", "two", 0.9, after=6.0, latency_ms=hint)
        assert await elapsed(hark) == (3.0, ["one"])


# §8, §9: the winner.


@pytest.mark.spec("COMMON-QUERY-1/8.a")
@pytest.mark.parametrize(("conf", "said"), [(0.49, []), (0.5, ["330 metres"]), (1.0, ["330 metres"]), (0.0, [])])
async def test_who_is_not_sure_enough_does_not_win(assistant: MakeAssistant, conf: float, said: list[str]) -> None:
    async with assistant(knows("a", confidence=conf)) as hark:
        assert await hark.hears(QUESTION) == said


@pytest.mark.spec("COMMON-QUERY-1/8.c")
@pytest.mark.parametrize(("fast_win", "took", "said"), [(None, 2.0, "better"), (0.9, 0.2, "good")])
async def test_a_good_answer_wins_at_once_only_if_the_deployer_wants_that(
    assistant: MakeAssistant, fast_win: float | None, took: float, said: str
) -> None:
    settings = {} if fast_win is None else {"plugins": {"common_query": {"fast_win": fast_win}}}
    async with assistant(settings=settings) as hark:
        elsewhere(hark, "a", "good", 0.92, after=0.2)
        elsewhere(hark, "b", "better", 0.97, after=2.0)
        assert await elapsed(hark) == (took, [said])


@pytest.mark.spec("COMMON-QUERY-1/8.e")
async def test_the_surest_wins_and_among_equals_the_first_by_name(assistant: MakeAssistant) -> None:
    async with assistant(knows("c", "c", 0.7), knows("b", "b", 0.9), knows("a", "a", 0.9)) as hark:
        assert await hark.hears(QUESTION) == ["a"]


@pytest.mark.spec("COMMON-QUERY-1/9.a")
async def test_without_a_good_answer_the_next_stage_is_asked(assistant: MakeAssistant) -> None:
    async with assistant(knows("a", confidence=0.1)) as hark:
        assert await hark.hears(QUESTION) == []
        assert outcomes(hark, "match")[-2:] == [("common_query", "declined"), ("fallback", "declined")]
        assert hark.of(topics.INTENT_UNMATCHED)


@pytest.mark.spec("COMMON-QUERY-1/9.d")
async def test_the_session_is_left_as_it_was(assistant: MakeAssistant) -> None:
    before = Session("x", persona_id="butler", active_handlers=[{"skill_id": "a", "activated_at": 1.0}])
    async with assistant(knows("wiki")) as hark:
        await hark.hears(QUESTION, session=before)
        for message in turn_of(hark):
            assert message.session.without("converse_handlers") == before


# §10 to §12: those who answer, and the deployment.


@pytest.mark.spec("COMMON-QUERY-1/10.b")
async def test_the_handler_asks_nobody(assistant: MakeAssistant) -> None:
    async with assistant(knows("wiki")) as hark:
        await hark.hears(QUESTION)
        seen = hark.topics()
        after = seen[seen.index("common_query:common_query") :]
        assert not set(after) & set(CONTEST)


@pytest.mark.spec("COMMON-QUERY-1/10.c")
async def test_a_contest_without_a_winner_is_no_error(assistant: MakeAssistant) -> None:
    async with assistant(knows("a", None), knows("b", lambda *_asked: 1 / 0)) as hark:
        await hark.hears(QUESTION)
        await hark.hears(QUESTION, session=Session("x", blacklisted_skills=["a", "b"]))
        assert hark.of(topics.HANDLER_ERROR) == []


@pytest.mark.spec("COMMON-QUERY-1/11.b")
async def test_what_a_ping_says_beyond_that_is_ignored(assistant: MakeAssistant) -> None:
    async with assistant(knows("wiki")) as hark:
        data = {"utterance": QUESTION, "lang": "en-US", "mood": "curious", "nested": {"more": [1, 2]}}
        hark.bus.emit(Message(PING, data, {"utterance_id": "u"}, Session("x")))
        await settle()
        [pong] = hark.of(topics.COMMON_QUERY_PONG)
        assert pong.data == {"utterance": QUESTION, "skill_id": "wiki", "can_answer": True}


@pytest.mark.spec("COMMON-QUERY-1/12.a")
def test_questions_come_after_intents_and_before_the_fallback() -> None:
    pipeline = settings_from({}).assistant.pipeline
    places = [pipeline.index(one) for one in ("template", "keyword", "common_query", "fallback")]
    assert places == sorted(places)


async def test_an_answer_may_take_its_time(assistant: MakeAssistant) -> None:
    class Slow(Skill):
        id = "slow"

        @answers()
        async def know(self, question: str, lang: str, session: Session) -> str:
            await asyncio.sleep(0)
            return f"{question} in {lang}"

    async with assistant(Slow()) as hark:
        assert await hark.hears(QUESTION) == [f"{QUESTION} in en-US"]


async def test_the_plugin_costs_the_next_utterance_nothing(assistant: MakeAssistant) -> None:
    async with assistant(knows("wiki")) as hark:
        await hark.hears(QUESTION)
        assert ids(hark.runtime.store.current, "converse_handlers") == ["common_query"]
        began = hark.clock.monotonic()
        await heard(hark, "mumble")
        assert hark.clock.monotonic() == began
