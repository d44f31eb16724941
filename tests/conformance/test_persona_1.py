"""OVOS-PERSONA-1: claiming, summoning and dismissing, answering, stopping, and the side channels."""

from __future__ import annotations

import asyncio
import random
import string
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import hark.builtin.persona
from hark.app.settings import settings_from
from hark.builtin.persona import Persona
from hark.builtin.persona.settings import PersonaSettings
from hark.intents import expand
from hark.plugins import Ctx, DialogTransformer, Match, Message, PipelinePlugin, Session, Turn, handles
from hark.spec import is_pipeline_id, topics
from hark.testing import Assistant, settle
from hark.testing.model_server import ModelReply, ModelServer
from persona_talk import PIPELINE, settings, talking

spec = pytest.mark.spec

LOCALE = Path(hark.builtin.persona.__file__).parent / "locale"

MAIN_ONLY = [name for name in PIPELINE if name != "persona_fallback"]


async def _ask(assistant: Assistant, topic: str, data: Mapping[str, Any], answer: str, **more: Any) -> list[Message]:
    """Emit a Message and wait for an answer on another topic."""
    before = len(assistant.of(answer))
    answered = asyncio.Event()
    subscription = assistant.bus.on(answer, lambda _message: answered.set(), name="test")
    assistant.bus.emit(Message(topic, data, {"source": "test"}, **more))
    await asyncio.wait_for(answered.wait(), 10)
    subscription.close()
    return assistant.of(answer)[before:]


def _dispatches(assistant: Assistant) -> list[str]:
    return [message.type for message in assistant.messages if message.type.startswith("persona:")]


# The session field (§3, §4).


@spec("PERSONA-1/2.a", "PERSONA-1/4.a", "PERSONA-1/4.c", "PERSONA-1/7.1.d", "PERSONA-1/3.c")
@pytest.mark.parametrize("persona_id", [None, ""])
async def test_without_a_persona_the_main_entry_declines_all_but_commands(persona_id: str | None) -> None:
    async with ModelServer() as model:
        table = settings(model)
        table["assistant"]["pipeline"] = MAIN_ONLY
        async with Assistant(Persona(), settings=table) as assistant:
            session = Session("x") if persona_id is None else Session("x", persona_id=persona_id)
            assert await assistant.hears("tell me about whales", session=session) == []
            assert _dispatches(assistant) == []
            assert model.requests == []
            assert await assistant.hears("which personas are there", session=session) == [
                "You can talk to hark and alice."
            ]


class Whisper(DialogTransformer):
    id = "whisper"
    priority = 50

    def transform(self, text: str, ctx: Ctx) -> str:
        return text.lower()


@spec("PERSONA-1/2.b")
async def test_a_transformer_gives_answers_another_tone() -> None:
    async with talking(Whisper()) as (assistant, model):
        model.says("WHALES are BIG.")
        assert await assistant.hears("tell me about whales") == ["whales are big."]


@spec("PERSONA-1/11.b")
async def test_events_about_a_persona_change_nothing() -> None:
    async with talking() as (assistant, model):
        await assistant.hears("talk to alice")
        data = {"persona_id": "alice", "session_id": "default"}
        assistant.bus.emit(Message(topics.PERSONA_DISMISSED, data))
        assistant.bus.emit(Message(topics.PERSONA_ACTIVATED, {**data, "persona_id": "hark"}))
        await assistant.hears("tell me about whales")
        assert "You are Alice." in model.requests[-1]["messages"][0]["content"]


@spec("PERSONA-1/7.1.c")
@pytest.mark.parametrize("lang", sorted(folder.name for folder in LOCALE.iterdir()))
async def test_the_commands_are_the_intents_of_the_locale_files(lang: str) -> None:
    files = {path.stem: path for path in (LOCALE / lang).glob("*.intent")}
    assert files.keys() == {"summon", "release", "ask", "list", "check"}
    async with ModelServer() as model:
        table = settings(model)
        table["assistant"] = {"pipeline": MAIN_ONLY, "langs": [lang]}
        async with Assistant(Persona(), settings=table) as assistant:
            for name, path in files.items():
                for line in path.read_text("utf-8").splitlines():
                    said = expand(line)[0].format(persona="alice", query="whales")
                    model.says("Yes.")
                    assistant.messages.clear()
                    await assistant.hears(said, session=Session("x", persona_id="alice"), lang=lang)
                    assert _dispatches(assistant) == [f"persona:{name}"], said


@spec("PERSONA-1/4.b", "PERSONA-1/7.1.f", "PERSONA-1/7.1.g", "PERSONA-1/10.g")
@pytest.mark.parametrize("persona_id", [None, "", "alice"])
async def test_the_fallback_entry_claims_what_is_left_under_the_one_pipeline_id(persona_id: str | None) -> None:
    async with ModelServer() as model:
        table = settings(model)
        table["assistant"]["pipeline"] = [name for name in PIPELINE if name != "persona"]
        async with Assistant(Persona(), settings=table) as assistant:
            session = Session("x") if persona_id is None else Session("x", persona_id=persona_id)
            model.says("They are big.")
            assert await assistant.hears("tell me about whales", session=session) == ["They are big."]
            (dispatch,) = assistant.of("persona:chat")
            assert dispatch.data["slots"]["persona"] == (persona_id or "hark")
            assert (dispatch.session or Session()).persona_id == persona_id
            assert [
                one.skill_id for one in (assistant.of(topics.UTTERANCE_HANDLED)[0].session or session).active_handlers
            ] == ["persona"]


@spec("PERSONA-1/3.a", "PERSONA-1/5.e", "PERSONA-1/7.1.e")
@pytest.mark.parametrize("odd", ["somebody else", "ünïcode ✨", "a:b/c", "x" * 300])
async def test_an_unknown_persona_is_declined_in_every_entry_and_nothing_is_rejected(odd: str) -> None:
    async with talking() as (assistant, model):
        assert await assistant.hears("tell me about whales", session=Session("x", persona_id=odd)) == []
        assert len(assistant.of(topics.INTENT_UNMATCHED)) == 1
        (end,) = assistant.of(topics.UTTERANCE_HANDLED)
        assert end.session is not None
        assert end.session.persona_id == odd
        assert model.requests == []


@spec("PERSONA-1/3.a", "PERSONA-1/9.e")
async def test_a_persona_id_with_odd_characters_is_served_when_it_is_registered() -> None:
    async with talking() as (assistant, _):
        assistant.bus.emit(Message(topics.PERSONA_REGISTER, {"persona_id": "Frau Müller ✨"}, {}))
        said = await assistant.hears("tell me about whales", session=Session("x", persona_id="Frau Müller ✨"))
        assert said == ["You said: tell me about whales"]


@spec("PERSONA-1/3.b")
def test_the_persona_that_comes_with_hark_has_a_plain_id() -> None:
    assert all(is_pipeline_id(name) for name in Persona.Settings().personas)
    assert is_pipeline_id(Persona.id)


@spec("PERSONA-1/3.d", "PERSONA-1/6.b")
async def test_the_persona_stays_from_utterance_to_utterance_also_when_an_utterance_omits_it() -> None:
    async with talking() as (assistant, _):
        await assistant.hears("talk to alice")
        for _ in range(3):
            await assistant.hears("tell me about whales")
        for message in assistant.of("persona:chat"):
            assert message.data["slots"]["persona"] == "alice"
        speaks = assistant.of(topics.UTTERANCE_SPEAK)[1:]
        assert [(message.session or Session()).persona_id for message in speaks] == ["alice"] * 3


# Summoning and dismissing (§5, §6).


@spec("PERSONA-1/5.a", "PERSONA-1/7.5.a", "PERSONA-1/11.a")
async def test_a_summons_sets_the_field_and_is_confirmed() -> None:
    async with talking() as (assistant, model):
        assert await assistant.hears("talk to alice", session="x") == [
            "This is alice. What would you like to talk about?"
        ]
        (dispatch,) = assistant.of("persona:summon")
        assert dispatch.session is not None
        assert dispatch.session.persona_id == "alice"
        (event,) = assistant.of(topics.PERSONA_ACTIVATED)
        assert dict(event.data) == {"persona_id": "alice", "session_id": "x"}
        assert model.requests == []


@spec("PERSONA-1/5.b", "PERSONA-1/7.1.b")
@pytest.mark.parametrize("active", [None, "hark"])
async def test_a_single_question_leaves_the_field_alone(active: str | None) -> None:
    async with talking() as (assistant, model):
        session = Session("x") if active is None else Session("x", persona_id=active)
        await assistant.hears("ask alice what is love", session=session)
        assert model.requests[0]["messages"][-1]["content"] == "what is love"
        assert "You are Alice." in model.requests[0]["messages"][0]["content"]
        assert (assistant.of(topics.UTTERANCE_HANDLED)[0].session or Session()).persona_id == active


@spec("PERSONA-1/7.1.b")
@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("which personas are there", "You can talk to hark and alice."),
        ("who am i talking to", "You are talking to hark."),
    ],
)
async def test_list_and_check_change_nothing(said: str, answer: str) -> None:
    async with talking() as (assistant, _):
        assert await assistant.hears(said, session=Session("x", persona_id="hark")) == [answer]
        assert (assistant.of(topics.UTTERANCE_HANDLED)[0].session or Session()).persona_id == "hark"


@spec("PERSONA-1/5.c")
@pytest.mark.parametrize("said", ["ask bob what is love", "talk to bob"])
async def test_what_names_an_unknown_persona_falls_through(said: str) -> None:
    async with ModelServer() as model:
        table = settings(model)
        table["assistant"]["pipeline"] = MAIN_ONLY
        async with Assistant(Persona(), settings=table) as assistant:
            assert await assistant.hears(said) == []
            assert len(assistant.of(topics.INTENT_UNMATCHED)) == 1


@spec("PERSONA-1/5.d")
async def test_a_persona_that_a_client_set_answers() -> None:
    async with talking() as (assistant, model):
        model.says("Hello.")
        assert await assistant.hears("how are you my friend", session=Session("x", persona_id="alice")) == ["Hello."]
        assert "You are Alice." in model.requests[0]["messages"][0]["content"]


@spec("PERSONA-1/6.a", "PERSONA-1/3.e", "PERSONA-1/7.1.a", "PERSONA-1/11.a", "PERSONA-1/6.c")
@pytest.mark.parametrize("session", [None, "x"])
async def test_a_release_clears_the_field_while_the_persona_is_active(session: str | None) -> None:
    async with talking() as (assistant, model):
        await assistant.hears("talk to alice", session=session)
        assert await assistant.hears("goodbye alice", session=session) == ["alice is gone."]
        (dispatch,) = assistant.of("persona:release")
        assert "persona_id" not in (dispatch.session or {"persona_id": ""})
        assert len(assistant.of(topics.PERSONA_DISMISSED)) == 1
        assert await assistant.hears("who am i talking to", session=session) == ["No persona is active."]
        assert model.requests == []


@spec("PERSONA-1/6.c")
async def test_an_empty_string_dismisses_in_the_default_session() -> None:
    async with talking() as (assistant, _):
        await assistant.hears("talk to alice")
        assert await assistant.hears("who am i talking to", session=Session(persona_id="")) == ["No persona is active."]
        assert await assistant.hears("who am i talking to") == ["No persona is active."]


@spec("PERSONA-1/6.d")
async def test_a_client_dismisses_by_leaving_the_field_out() -> None:
    async with talking() as (assistant, _):
        await assistant.hears("hello there friend", session=Session("x", persona_id="alice"))
        assert await assistant.hears("who am i talking to", session=Session("x")) == ["No persona is active."]


@spec("PERSONA-1/6.f", "PERSONA-1/8.6.b")
async def test_a_dismissal_ends_the_answer_that_is_being_given() -> None:
    async with talking() as (assistant, model):
        gate = asyncio.Event()
        model.replies(ModelReply(["One. ", "Two."], gate=gate))
        session = Session("x", persona_id="alice")
        turn = assistant.say("tell me about whales", session=session)
        await model.asked()
        await assistant.hears("goodbye alice", session=session)
        await asyncio.wait_for(model.closed(), 5)
        await asyncio.wait_for(turn.over.wait(), 5)
        assert "Two." not in [message.data["utterance"] for message in assistant.of(topics.UTTERANCE_SPEAK)]


@spec("PERSONA-1/6.g")
async def test_a_persona_that_is_summoned_again_remembers() -> None:
    async with talking() as (assistant, model):
        for said in ("talk to alice", "my name is Bo", "goodbye alice", "talk to alice", "what is my name then"):
            await assistant.hears(said, session="x")
        told = [said["content"] for said in model.requests[-1]["messages"]]
        assert told[1:] == ["my name is Bo", "You said: my name is Bo", "what is my name then"]


# Claiming (§7).


@spec("PERSONA-1/7.2.a", "PERSONA-1/7.2.c", "PERSONA-1/7.3.a", "PERSONA-1/7.4.a", "PERSONA-1/7.4.b", "PERSONA-1/12.a")
async def test_an_active_persona_claims_everything_at_once() -> None:
    async with talking() as (assistant, model):
        persona: Any = next(one.plugin for one in assistant.runtime.pipeline if one.id == "persona")
        said = random.Random(4)
        session = Session("x", persona_id="alice")
        for _ in range(100):
            letters = said.choices(string.ascii_letters + " ?!.", k=said.randint(1, 60))
            text = "".join(letters).strip() or "a"
            match = persona.match([text, "other"], "en-US", session)
            assert isinstance(match, Match)
            assert (match.skill_id, match.intent_name, match.lang, match.utterance) == (
                "persona",
                "chat",
                "en-US",
                text,
            )
            assert all(isinstance(value, str) for value in match.slots.values())
        assert model.requests == [], "the model is asked in the handler"


class Decliner(PipelinePlugin):
    """Looks at a session and lets the next plugin try."""

    id = "decliner"
    quick = True

    def match(self, utterances: Sequence[str], lang: str, session: Session) -> Match | None:
        session.replace(persona_id="alice")
        return None


@spec("PERSONA-1/7.5.b")
async def test_a_plugin_that_declines_changes_no_session() -> None:
    async with ModelServer() as model:
        table = settings(model)
        table["assistant"]["pipeline"] = ["decliner", *PIPELINE]
        async with Assistant(Persona(), Decliner(), settings=table) as assistant:
            await assistant.hears("talk to bob please", session="x")
            assert (assistant.of(topics.UTTERANCE_HANDLED)[0].session or Session()).persona_id is None


# Answering (§8).


@spec("PERSONA-1/8.1.a", "PERSONA-1/8.1.b", "PERSONA-1/8.1.c", "PERSONA-1/8.1.d")
async def test_an_answer_is_spoken_sentence_by_sentence_in_order() -> None:
    async with talking() as (assistant, model):
        model.says("One", ". Two", ". Thr", "ee. Four.")
        assert await assistant.hears("count for me", session="x") == ["One.", "Two.", "Three.", "Four."]
        (dispatch,) = assistant.of("persona:chat")
        for message in assistant.of(topics.UTTERANCE_SPEAK):
            assert message.utterance_id == dispatch.utterance_id
            assert message.session_id == "x"
            assert message.context["skill_id"] == "persona"
        assert [spoken.text for spoken in assistant.rendered] == ["One.", "Two.", "Three.", "Four."]


@spec("PERSONA-1/8.2.a")
async def test_a_stop_that_dismisses_changes_the_session_in_the_handler() -> None:
    async with talking() as (assistant, _):
        await assistant.hears("talk to alice")
        await assistant.hears("stop")
        assert (assistant.of(topics.UTTERANCE_HANDLED)[-1].session or Session()).persona_id == ""


@spec("PERSONA-1/8.3.a", "PERSONA-1/8.3.c", "PERSONA-1/8.3.d")
async def test_a_question_at_the_end_listens_and_a_yes_comes_back_by_converse() -> None:
    async with talking() as (assistant, model):
        model.says("Really? I like whales. Shall I go on?")
        await assistant.hears("tell me about whales", session="x")
        asked = [message.data.get("listen", False) for message in assistant.of(topics.UTTERANCE_SPEAK)]
        assert asked == [False, False, True]
        (end,) = assistant.of(topics.UTTERANCE_HANDLED)
        assert [one.skill_id for one in (end.session or Session()).converse_handlers] == ["persona"]
        model.says("Gladly.")
        assert await assistant.hears("yes", session="x") == ["Gladly."]
        assert len(assistant.of("persona:converse")) == 1
        assert model.requests[-1]["messages"][-1]["content"] == "yes"


@spec("PERSONA-1/8.3.c")
async def test_a_persona_that_does_not_wait_takes_nothing_from_the_skills() -> None:
    async with talking() as (assistant, model):
        model.says("Shall I go on?")
        await assistant.hears("tell me about whales", session="x")
        await assistant.hears("what about dolphins", session="x")  # no yes, no no
        await assistant.hears("yes", session="x")  # nothing was asked
        assert assistant.of("persona:converse") == []
        model.says("Shall I go on?")
        await assistant.hears("tell me about whales", session="y")
        await assistant.clock.advance(60.0)
        await assistant.hears("yes", session="y")
        assert assistant.of("persona:converse") == []


@spec("PERSONA-1/8.3.b")
async def test_an_answer_may_take_its_time() -> None:
    async with talking() as (assistant, model):
        gate = asyncio.Event()
        model.replies(ModelReply(["One. ", "Two."], gate=gate))
        turn = assistant.say("count slowly please")
        await model.asked()
        await assistant.clock.advance(3_600.0)
        assert not turn.over.is_set()
        gate.set()
        await asyncio.wait_for(turn.over.wait(), 5)
        assert turn.spoken == ["One.", "Two."]


@spec("PERSONA-1/8.4.a")
async def test_sessions_have_a_history_each() -> None:
    async with talking() as (assistant, model):
        await asyncio.gather(*(assistant.hears(f"i am number {n}", session=f"s{n}") for n in range(5)))
        model.requests.clear()
        for number in range(5):
            await assistant.hears("who am i again", session=f"s{number}")
            told = [said["content"] for said in model.requests[-1]["messages"][1:]]
            assert told == [f"i am number {number}", f"You said: i am number {number}", "who am i again"]


# The query (§8.5).


@spec("PERSONA-1/8.5.a", "PERSONA-1/8.5.b", "PERSONA-1/8.5.g", "PERSONA-1/8.5.h", "PERSONA-1/8.5.i", "PERSONA-1/8.5.j")
async def test_a_query_is_answered_beside_the_pipeline() -> None:
    async with talking() as (assistant, model):
        model.says("They", " are **big**.")
        data = {"persona_id": "alice", "utterance": "how are whales"}
        (answer,) = await _ask(assistant, topics.PERSONA_QUERY, data, topics.PERSONA_ANSWER, session=Session("x"))
        assert dict(answer.data) == {**data, "response": "They are big."}
        assert answer.context["destination"] == "test"
        assert (answer.session or Session()).persona_id is None
        assert _dispatches(assistant) == []
        assert topics.UTTERANCE_SPEAK not in assistant.topics()
        assert topics.HANDLER_START not in assistant.topics()
        await assistant.hears("how are whales then", session="x")
        assert len(model.requests[-1]["messages"]) == 2, "it does not enter the history"


@spec("PERSONA-1/8.5.i", "PERSONA-1/8.5.k")
def test_the_documentation_says_what_a_query_takes_and_leaves() -> None:
    page = " ".join((Path(__file__).parents[2] / "docs" / "persona.md").read_text("utf-8").split())
    assert f"within `query_budget` ({PersonaSettings().query_budget:g} s)" in page
    assert "Such a question starts no turn, is not spoken, and does not enter the history." in page


@spec("PERSONA-1/8.5.b", "PERSONA-1/8.5.c", "PERSONA-1/8.5.d", "PERSONA-1/8.5.e")
@pytest.mark.parametrize(
    ("data", "error"),
    [
        ({"persona_id": "bob", "utterance": "hi"}, "unsupported persona_id"),
        ({"persona_id": "alice"}, "malformed request"),
        ({"utterance": "hi"}, "malformed request"),
        ({"persona_id": 3, "utterance": ["hi"]}, "malformed request"),
        ({"persona_id": "alice", "utterance": " "}, "malformed request"),
        ({}, "malformed request"),
    ],
)
async def test_a_query_that_cannot_be_answered_is_answered_with_the_reason(data: dict[str, Any], error: str) -> None:
    async with talking() as (assistant, _):
        (answer,) = await _ask(assistant, topics.PERSONA_QUERY, data, topics.PERSONA_ANSWER)
        assert set(answer.data) == {"persona_id", "utterance", "error"}
        assert error in answer.data["error"]
        for name in ("persona_id", "utterance"):
            given = data.get(name)
            assert answer.data[name] == (given if isinstance(given, str) else "")


@spec("PERSONA-1/8.5.b", "PERSONA-1/8.5.c", "PERSONA-1/8.5.d", "PERSONA-1/8.5.e")
@pytest.mark.parametrize("fault", ["refusal", "failure", "over budget", "denied"])
async def test_a_query_is_answered_whatever_becomes_of_it(fault: str) -> None:
    async with talking(query_budget=10.0) as (assistant, model):
        data = {"persona_id": "alice", "utterance": "hi"}
        session = Session("x", blacklisted_pipelines=("persona",)) if fault == "denied" else Session("x")
        if fault == "refusal":
            model.says("")
        elif fault == "failure":
            model.fails(401)
        else:
            model.breaks("stall")
        asking = asyncio.create_task(
            _ask(assistant, topics.PERSONA_QUERY, data, topics.PERSONA_ANSWER, session=session)
        )
        if fault == "over budget":
            await model.asked()
            await assistant.clock.advance(11.0)
        (answer,) = await asking
        assert set(answer.data) == {"persona_id", "utterance", "error"}
        assert answer.data["error"]
        assert Persona.Settings().query_budget < 30.0, "below the usual wait of a caller"


# Stop (§8.6).


@spec("PERSONA-1/8.6.a", "PERSONA-1/8.6.b", "PERSONA-1/8.6.c")
async def test_a_stop_ends_the_answer_of_its_session_only_and_the_persona_stays() -> None:
    async with talking() as (assistant, model):
        gate = asyncio.Event()
        model.replies(ModelReply(["One. ", "Two."], gate=gate), ModelReply(["Three. ", "Four."], gate=gate))
        first = assistant.say("count for me", session=Session("x", persona_id="alice"))
        await model.asked(1)
        second = assistant.say("count for me", session=Session("y", persona_id="alice"))
        await model.asked(2)
        running = assistant.of("persona:chat")[0].session or Session("x")
        await assistant.hears("stop", session=running)
        await asyncio.wait_for(first.over.wait(), 5)
        assert "persona:stop" in _dispatches(assistant)
        await asyncio.wait_for(model.closed(1), 5)
        assert not second.over.is_set()
        gate.set()
        await asyncio.wait_for(second.over.wait(), 5)
        assert second.spoken == ["Three.", "Four."]
        ended = [one for one in assistant.of(topics.UTTERANCE_HANDLED) if one.session_id == "x"]
        assert [(one.session or Session()).persona_id for one in ended] == ["alice", "alice"]
        assert assistant.of(topics.PERSONA_DISMISSED) == []


@spec("PERSONA-1/8.6.c")
async def test_a_stop_where_nothing_is_being_said_dismisses() -> None:
    async with talking() as (assistant, _):
        await assistant.hears("talk to alice")
        await assistant.hears("hello there friend")
        await assistant.hears("stop")
        assert "persona:stop" in _dispatches(assistant)
        assert len(assistant.of(topics.PERSONA_DISMISSED)) == 1
        assert await assistant.hears("who am i talking to") == ["No persona is active."]


@spec("PERSONA-1/8.6.c")
async def test_a_stop_while_something_is_heard_stops_that_and_the_persona_stays() -> None:
    async with talking() as (assistant, _):
        await assistant.hears("talk to alice")
        assistant.bus.emit(Message(topics.AUDIO_OUTPUT_STARTED, {}, {}, Session()))
        await settle()
        assistant.bus.emit(Message(topics.AUDIO_OUTPUT_ENDED, {}, {}, Session()))
        await assistant.hears("stop")
        assert await assistant.hears("who am i talking to") == ["You are talking to alice."]


# Discovery, several plugins, runtime identities (§8.7, §9).


class OtherPersona(PipelinePlugin):
    """Another plugin with a persona of the same name."""

    id = "other-personas"
    quick = True

    def match(self, utterances: Sequence[str], lang: str, session: Session) -> Match | None:
        if session.persona_id != "alice":
            return None
        return self.claim("chat", lang=lang, utterance=utterances[0])

    @handles("chat")
    def chat(self, turn: Turn) -> str:
        return "I am the other one."


@spec("PERSONA-1/9.b")
@pytest.mark.parametrize("first", ["persona", "other-personas"])
async def test_the_first_plugin_in_the_pipeline_serves_a_name_that_two_have(first: str) -> None:
    async with ModelServer() as model:
        table = settings(model)
        last = "other-personas" if first == "persona" else "persona"
        table["assistant"]["pipeline"] = ["stop", first, last]
        async with Assistant(Persona(), OtherPersona(), settings=table) as assistant:
            model.says("I am the first.")
            said = await assistant.hears("who is there", session=Session("x", persona_id="alice"))
            assert said == ["I am the first." if first == "persona" else "I am the other one."]


@spec("PERSONA-1/8.7.a", "PERSONA-1/8.7.b", "PERSONA-1/8.7.c")
async def test_the_personas_can_be_listed() -> None:
    async with talking(personas={"hark": {}, "cook": {"tags": ["recipes"]}}) as (assistant, _):
        (answer,) = await _ask(assistant, topics.PERSONA_LIST, {}, topics.response_topic(topics.PERSONA_LIST))
        assert answer.data["pipeline_id"] == "persona"
        assert answer.data["fallback_pipeline_id"] == "persona_fallback"
        personas = [(one["persona_id"], one["name"], tuple(one["tags"])) for one in answer.data["personas"]]
        assert personas == [("hark", "hark", ()), ("cook", "cook", ("recipes",))]


@spec("PERSONA-1/9.e", "PERSONA-1/9.f", "PERSONA-1/9.g", "PERSONA-1/9.i", "PERSONA-1/9.j")
async def test_personas_come_and_go_at_runtime() -> None:
    async with talking() as (assistant, _):
        for _ in range(2):
            assistant.bus.emit(Message(topics.PERSONA_REGISTER, {"persona_id": "bob"}, {}))
        assert await assistant.hears("which personas are there") == ["You can talk to hark, alice and bob."]
        assert await assistant.hears("talk to bob", session="x") == ["This is bob. What would you like to talk about?"]
        assistant.bus.emit(Message(topics.PERSONA_DEREGISTER, {"persona_id": "bob"}, {}))
        assert await assistant.hears("which personas are there") == ["You can talk to hark and alice."]
        (listed,) = await _ask(assistant, topics.PERSONA_LIST, {}, topics.response_topic(topics.PERSONA_LIST))
        assert [one["persona_id"] for one in listed.data["personas"]] == ["hark", "alice"]
        assert await assistant.hears("how are you my friend", session=Session("new", persona_id="bob")) == []
        await assistant.hears("talk to bob", session="z")
        assert (assistant.of(topics.UTTERANCE_HANDLED)[-1].session or Session()).persona_id is None
        told = [message.type for message in assistant.messages if message.type.startswith("ovos.persona.")]
        known = {topics.PERSONA_REGISTER, topics.PERSONA_DEREGISTER, topics.PERSONA_LIST, topics.PERSONA_ACTIVATED}
        assert set(told) <= known | {topics.response_topic(topics.PERSONA_LIST), topics.PERSONA_TOOLS_DISCOVER}


@spec("PERSONA-1/9.h", "PERSONA-1/9.i")
async def test_a_session_keeps_a_persona_that_was_deregistered_until_it_is_dismissed() -> None:
    async with talking() as (assistant, model):
        await assistant.hears("talk to alice", session="x")
        assistant.bus.emit(Message(topics.PERSONA_DEREGISTER, {"persona_id": "alice"}, {}))
        model.says("Still here.")
        assert await assistant.hears("are you still there", session="x") == ["Still here."]
        await assistant.hears("dismiss the persona", session="x")
        assert (assistant.of(topics.UTTERANCE_HANDLED)[-1].session or Session()).persona_id is None


# The pipeline (§10, §11).


@spec("PERSONA-1/10.a", "PERSONA-1/10.b", "PERSONA-1/10.c", "PERSONA-1/10.d", "PERSONA-1/9.c")
@spec("COMMON-QUERY-1/12.b", "FALLBACK-1/8.1.b", "FALLBACK-1/8.1.c")
def test_the_default_pipeline_has_personas_after_all_skills_and_before_the_last_fallback() -> None:
    pipeline = settings_from({"plugins": {"persona": {"endpoint": "ollama"}}}).understanding().pipeline
    place = pipeline.index("persona")
    for name in ("stop", "converse", "template", "keyword", "common_query"):
        assert pipeline.index(name) < place
    assert pipeline[place:] == ("persona", "fallback_skills", "persona_fallback", "fallback")
    assert pipeline.count("persona_fallback") == 1


@spec("PERSONA-1/10.f")
def test_without_an_endpoint_there_is_no_persona_stage() -> None:
    assert not {"persona", "persona_fallback"} & set(settings_from({}).understanding().pipeline)


@spec("PERSONA-1/11.c")
async def test_the_intents_of_the_plugin_can_be_listed() -> None:
    async with talking() as (assistant, _):
        topic = topics.pipeline_intents_list("persona")
        (answer,) = await _ask(assistant, topic, {}, topics.response_topic(topic))
        names = {one["intent_name"] for one in answer.data["intents"]}
        assert names == {"chat", "ask", "summon", "release", "list", "check"}
