"""OVOS-PIPELINE-1: the matcher that ships as a pipeline plugin, its introspection, handlers and observers."""

from __future__ import annotations

from typing import Any

import pytest

from flow.stage import MakeAssistant, claims, declines, outcomes, silent, skill, turn_of
from hark.app.settings import settings_from
from hark.builtin import TemplateMatcher
from hark.bus import ask
from hark.model import Match, Message, Session
from hark.plugins import Declined, Turn
from hark.spec import topics
from hark.testing import Assistant, settle

LIGHTS = "lights.demo"
LIST = topics.pipeline_intents_list("template")


def register(hark: Assistant, session_id: str = "default", **changes: Any) -> None:
    data = {"skill_id": LIGHTS, "intent_name": "dim", "lang": "en-US", "samples": ["dim {room}", "darker"], **changes}
    hark.bus.emit(Message(topics.REGISTER_TEMPLATE, data, session=Session(session_id)))


def lights(**handlers: Any) -> Any:
    return skill(LIGHTS, quick=True, **{"dim": silent, "light": silent, **handlers})


def template(hark: Assistant) -> TemplateMatcher:
    loaded = hark.runtime.pipeline.get("template")
    assert loaded is not None
    assert isinstance(loaded.plugin, TemplateMatcher)
    return loaded.plugin


# §4: what a plugin owes.


@pytest.mark.spec("PIPELINE-1/4.a")
@pytest.mark.spec("PIPELINE-1/4.b")
@pytest.mark.spec("PIPELINE-1/4.1.a")
@pytest.mark.parametrize(
    ("said", "won"),
    [
        (["dim hall"], "dim hall"),
        (["din hall", "dim the Hall!", "dim all"], "dim the Hall!"),
        (["one", "two", "three", "four", "darker"], "darker"),
        (["darker", "dim hall"], "darker"),
    ],
)
async def test_the_first_candidate_that_fits_is_claimed_whatever_their_number(
    assistant: MakeAssistant, said: list[str], won: str
) -> None:
    async with assistant(lights()) as hark:
        register(hark)
        await settle()
        match = template(hark).match(said, "en-US", Session())
        assert isinstance(match, Match)
        assert match.defect() is None
        assert match.utterance == won
        await hark.hears(said)
        assert hark.of("lights.demo:dim")[0].data["utterance"] == won


@pytest.mark.spec("PIPELINE-1/4.g")
@pytest.mark.spec("PIPELINE-1/4.i")
@pytest.mark.parametrize("asked_in", ["en-US", "en-us", "en-GB"])
async def test_a_claim_is_in_the_language_of_what_it_matched(assistant: MakeAssistant, asked_in: str) -> None:
    async with assistant(lights(), settings={"assistant": {"lang": "en-US", "langs": ["en-GB"]}}) as hark:
        register(hark)
        await hark.hears("dim hall", lang=asked_in)
        assert hark.of("lights.demo:dim")[0].data["lang"] == "en-US"


@pytest.mark.spec("PIPELINE-1/4.h")
@pytest.mark.parametrize("field", ["lang", "stt_lang", "detected_lang", "request_lang"])
async def test_the_session_is_no_evidence_of_language_to_the_matcher(assistant: MakeAssistant, field: str) -> None:
    async with assistant() as hark:
        register(hark)
        register(hark, lang="de-DE", samples=["licht aus"])
        await settle()
        session = Session("x", **{field: "de-DE"})
        assert isinstance(template(hark).match(["licht aus"], "en-US", session), Declined)
        assert isinstance(template(hark).match(["dim hall"], "en-US", session), Match)


@pytest.mark.spec("PIPELINE-1/4.3.b")
async def test_the_slots_of_a_template_are_named_like_its_slots(assistant: MakeAssistant) -> None:
    async with assistant(lights()) as hark:
        register(hark, samples=["dim {room} to {percent:level}"])
        await hark.hears("dim the hall to ten")
        assert hark.of("lights.demo:dim")[0].data["slots"] == {"room": "the hall", "level": "ten"}


@pytest.mark.spec("PIPELINE-1/4.4.f")
async def test_a_claim_that_comes_to_nothing_leaves_no_trace_in_the_matcher(assistant: MakeAssistant) -> None:
    async with assistant(lights()) as hark:
        register(hark)
        await settle()
        claimed = [template(hark).match(["dim hall"], "en-US", Session()) for _ in range(3)]
        assert isinstance(claimed[0], Match)
        assert claimed[0] == claimed[1] == claimed[2]
        await hark.hears("dim hall", session=Session("x", blacklisted_intents=["lights.demo:dim"]))
        assert topics.INTENT_UNMATCHED in [m.type for m in turn_of(hark)]
        await hark.hears("dim hall", session=Session("x"))
        assert len(hark.of("lights.demo:dim")) == 1


@pytest.mark.spec("PIPELINE-1/5.3.a")
@pytest.mark.spec("PIPELINE-1/5.4.b")
@pytest.mark.parametrize(
    ("denied", "left"),
    [
        ({"blacklisted_skills": [LIGHTS]}, None),
        ({"blacklisted_intents": ["lights.demo:dim"]}, "lights.demo:any"),
        ({"blacklisted_intents": ["dim", "other.demo:dim"]}, "lights.demo:dim"),
    ],
)
async def test_the_matcher_itself_leaves_out_what_the_session_denies(
    assistant: MakeAssistant, denied: dict[str, list[str]], left: str | None
) -> None:
    async with assistant() as hark:
        register(hark, samples=["dim the hall"])
        register(hark, intent_name="any", samples=["dim {room}"])
        await settle()
        found = template(hark).match(["dim the hall"], "en-US", Session("x", **denied))
        assert (found.topic if isinstance(found, Match) else None) == left


@pytest.mark.spec("PIPELINE-1/6.2.l")
async def test_the_matcher_itself_checks_required_slots(assistant: MakeAssistant) -> None:
    async with assistant(lights()) as hark:
        register(hark, required_slots=["room"])
        await hark.hears("darker")
        assert outcomes(hark, "match") == [("template", "declined")]
        assert "room" in hark.trace().steps[-1].detail
        await hark.hears("dim hall")
        assert outcomes(hark, "match") == [("template", "claimed")]


# §7.2: who is called.


@pytest.mark.spec("PIPELINE-1/7.2.a")
@pytest.mark.spec("PIPELINE-1/7.2.b")
async def test_a_handler_is_called_on_its_own_topic_and_no_other(assistant: MakeAssistant) -> None:
    called: list[str] = []

    def noting(name: str) -> Any:
        return lambda turn: called.append(f"{name} for {turn.message.type}")

    plugins = (
        skill("a.skill", quick=True, go=noting("a go"), stay=noting("a stay")),
        skill("b.skill", quick=True, go=noting("b go")),
    )
    said = {"lang": "en-US", "utterance": "hello", "slots": {}}
    async with assistant(*plugins) as hark:
        for topic in ("b.skill:go", "a.skill:stay", "a.skill:run", "c.skill:go", "a:go", "skill:go"):
            hark.bus.emit(Message(topic, said))
        hark.bus.emit(Message("a.skill.go", said))
        await settle()
    assert called == ["b go for b.skill:go", "a stay for a.skill:stay"]


# §9: observers.


@pytest.mark.spec("PIPELINE-1/9.2.b")
async def test_the_announcement_of_a_match_calls_no_handler(assistant: MakeAssistant) -> None:
    called: list[Turn] = []
    async with assistant(lights(dim=called.append)) as hark:
        register(hark)
        await hark.hears("dim hall")
        assert len(called) == 1
        [announced] = hark.of(topics.INTENT_MATCHED)
        hark.messages.clear()
        hark.bus.emit(announced)
        await settle()
        assert [m.type for m in hark.messages] == [topics.INTENT_MATCHED]
    assert len(called) == 1


@pytest.mark.spec("PIPELINE-1/9.3.c")
async def test_what_nobody_matched_is_not_said_again(assistant: MakeAssistant) -> None:
    async with assistant(declines(), lights()) as hark:
        await hark.hears("hello")
        await settle()
        assert len(hark.of(topics.UTTERANCE_HANDLE)) == 1
        [unmatched] = hark.of(topics.INTENT_UNMATCHED)
        hark.messages.clear()
        hark.bus.emit(unmatched)
        await settle()
        assert [m.type for m in hark.messages] == [topics.INTENT_UNMATCHED]


# §10: introspection.


async def listing(hark: Assistant, data: Any = None, session_id: str = "default", **context: Any) -> list[Message]:
    """The answers to one query."""
    before = len(hark.of(f"{LIST}.response"))
    hark.bus.emit(Message(LIST, data or {}, context, Session(session_id)))
    await settle()
    return hark.of(f"{LIST}.response")[before:]


DIM = {"skill_id": LIGHTS, "intent_name": "dim", "lang": "en-US"}
LIGHT = {"skill_id": LIGHTS, "intent_name": "light", "lang": "de-DE"}
OTHER = {"skill_id": "other.demo", "intent_name": "dim", "lang": "en-US"}


@pytest.mark.spec("PIPELINE-1/10.a")
@pytest.mark.spec("PIPELINE-1/10.2.a")
@pytest.mark.spec("PIPELINE-1/10.4.c")
async def test_a_plugin_answers_every_query_for_its_id_with_what_it_has(assistant: MakeAssistant) -> None:
    async with assistant() as hark:
        for _ in range(3):
            [empty] = await listing(hark)
            assert empty.data == {"pipeline_id": "template", "intents": ()}
        register(hark)
        register(hark, "sat-3", **LIGHT)
        [answer] = await listing(hark, source="asker", destination="core")
        assert answer.data["intents"] == (DIM,)
        assert (answer.context["source"], answer.context["destination"]) == ("core", "asker")
        [own] = await listing(hark, session_id="sat-3")
        assert own.data["intents"] == (DIM, LIGHT)
        hark.bus.emit(Message(topics.INTENT_DEREGISTER, {"skill_id": LIGHTS, "intent_name": "dim"}))
        [gone] = await listing(hark)
        assert gone.data["intents"] == ()


@pytest.mark.spec("PIPELINE-1/10.b")
async def test_a_plugin_with_several_entries_answers_once_and_by_its_id(assistant: MakeAssistant) -> None:
    settings = {
        "assistant": {"pipeline": ["first", "template", "last"]},
        "pipeline": {"first": {"plugin": "template"}, "last": {"plugin": "template"}},
    }
    async with assistant(settings=settings) as hark:
        register(hark)
        assert [message.data["pipeline_id"] for message in await listing(hark)] == ["template"]
        hark.messages.clear()
        hark.bus.emit(Message(topics.pipeline_intents_list("first")))
        await settle()
        assert [m.type for m in hark.messages] == [topics.pipeline_intents_list("first")]


@pytest.mark.spec("PIPELINE-1/10.3.a")
@pytest.mark.parametrize(
    ("filters", "left"),
    [
        ({}, (DIM, LIGHT, OTHER)),
        ({"skill_id": LIGHTS}, (DIM, LIGHT)),
        ({"lang": "EN-us"}, (DIM, OTHER)),
        ({"skill_id": LIGHTS, "lang": "de-DE", "foo": 1}, (LIGHT,)),
        ({"skill_id": "nobody"}, ()),
        ({"lang": "no tag"}, ()),
        ({"foo": "bar"}, (DIM, LIGHT, OTHER)),
    ],
)
async def test_an_answer_holds_what_fits_every_filter(
    assistant: MakeAssistant, filters: dict[str, Any], left: tuple[dict[str, str], ...]
) -> None:
    async with assistant() as hark:
        for identity in (DIM, LIGHT, OTHER):
            register(hark, **identity)
        [answer] = await listing(hark, filters)
    assert answer.data["intents"] == left


@pytest.mark.spec("PIPELINE-1/10.a")
@pytest.mark.spec("PIPELINE-1/10.2.a")
@pytest.mark.spec("PIPELINE-1/10.3.a")
@pytest.mark.parametrize(
    ("filters", "names"),
    [({}, ["go"]), ({"skill_id": "claims"}, ["go"]), ({"skill_id": "x"}, []), ({"lang": "de-DE"}, ["go"])],
)
async def test_a_plugin_with_intents_of_its_own_tells_them_without_doing_anything_for_it(
    assistant: MakeAssistant, filters: dict[str, Any], names: list[str]
) -> None:
    async with assistant(claims(), declines("silent")) as hark:
        own = await ask(hark.bus, hark.clock, Message(topics.pipeline_intents_list("claims"), filters))
        none = await ask(hark.bus, hark.clock, Message(topics.pipeline_intents_list("silent"), filters))
    told = tuple({"skill_id": "claims", "intent_name": name, "lang": "und"} for name in names)
    assert own.data == {"pipeline_id": "claims", "intents": told}
    assert none.data == {"pipeline_id": "silent", "intents": ()}


# §11: the deployment.


@pytest.mark.spec("PIPELINE-1/11.a")
async def test_without_settings_registrations_are_matched() -> None:
    settings = settings_from({})
    assert "template" in settings.assistant.pipeline
    async with Assistant(lights(), claims("unused"), settings=settings) as hark:
        register(hark)
        await hark.hears("dim hall")
        assert len(hark.of("lights.demo:dim")) == 1
