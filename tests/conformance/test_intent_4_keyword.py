"""OVOS-INTENT-4 §5: keyword registrations, as the matcher that ships and the orchestrator read them."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from flow.stage import MakeAssistant, silent, skill, turn_of
from hark.builtin import KeywordMatcher
from hark.bus import ask
from hark.model import ContextEntry, Match, Message, Session
from hark.plugins import Plugin
from hark.skills import MalformedIntent, Skill, keywords
from hark.spec import RESERVED_INTENT_NAMES, topics
from hark.testing import Assistant, settle

ROBOT = "robot.demo"
IDENTITY = {"skill_id": ROBOT, "intent_name": "send", "lang": "en-US"}


def voc(name: str, *samples: Any) -> dict[str, Any]:
    """A vocabulary descriptor."""
    return {"name": name, "samples": list(samples or (name,))}


def payload(**changes: Any) -> dict[str, Any]:
    """The payload of a keyword registration."""
    data = {**IDENTITY, "required": [voc("send"), voc("robot")], **changes}
    return {key: value for key, value in data.items() if value is not None}


def robot() -> Plugin:
    """Somebody who handles what is registered by hand."""
    return skill(ROBOT, quick=True, send=silent, other=silent)


def register(hark: Assistant, session_id: str = "default", **changes: Any) -> None:
    hark.bus.emit(Message(topics.REGISTER_KEYWORD, payload(**changes), session=Session(session_id)))


def tell(hark: Assistant, topic: str, session_id: str = "default", **data: Any) -> None:
    hark.bus.emit(Message(topic, {"skill_id": ROBOT, "intent_name": "send", **data}, session=Session(session_id)))


async def slots(hark: Assistant, text: str, session: Session | None = None) -> dict[str, str] | None:
    """The slots with which an utterance is dispatched, or None."""
    await hark.hears(text, session=session)
    return next((dict(m.data["slots"]) for m in turn_of(hark) if ":" in m.type), None)


def warnings(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    return [record for record in caplog.records if record.name == "hark.plugin.keyword"]


BROKEN: dict[str, dict[str, Any]] = {
    "nothing has to be said": {"required": [], "one_of": []},
    "only optional": {"required": None, "optional": [voc("send")]},
    "only excluded": {"required": None, "excluded": [voc("no")]},
    "required and excluded": {"excluded": [voc("robot")]},
    "required and optional": {"optional": [voc("robot")]},
    "required and one-of": {"one_of": [[voc("robot")]]},
    "an empty group": {"one_of": [[]]},
    "no samples": {"required": [{"name": "send", "samples": []}]},
    "samples missing": {"required": [{"name": "send"}]},
    "nothing but an option": {"required": [voc("send", "[x]")]},
    "a slot": {"required": [voc("send", "send {thing}")]},
    "no usable sample in an optional one": {"optional": [voc("soon", "(now")]},
    "no usable sample in an excluded one": {"excluded": [voc("no", "(now")]},
    "no name": {"required": [{"samples": ["send"]}]},
    "no descriptor": {"required": ["send"]},
    "no list": {"required": "send"},
}


@pytest.mark.spec("INTENT-4/5.1.a")
@pytest.mark.spec("INTENT-4/5.3.a")
@pytest.mark.spec("INTENT-4/5.3.b")
@pytest.mark.spec("INTENT-4/5.3.d")
@pytest.mark.spec("INTENT-4/5.3.f")
@pytest.mark.spec("INTENT-4/5.3.g")
@pytest.mark.spec("INTENT-4/5.3.h")
@pytest.mark.spec("INTENT-4/12.f")
@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
async def test_what_breaks_a_rule_is_listed_but_not_matched_and_the_log_says_why(
    assistant: MakeAssistant, broken: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    async with assistant(KeywordMatcher(), robot()) as hark:
        with caplog.at_level(logging.WARNING, "hark.plugin.keyword"):
            register(hark, **broken)
        assert await slots(hark, "send robot") is None
        query = Message(topics.pipeline_intents_list("keyword"))
        assert (await ask(hark.bus, hark.clock, query)).data["intents"] == ()
        answer = await ask(hark.bus, hark.clock, Message(topics.INTENT_LIST))
        assert [entry["method"] for entry in answer.data["intents"]] == ["keyword"]
    [rejected] = [record for record in warnings(caplog) if not hasattr(record, "item")]
    fields = {**IDENTITY, "topic": topics.REGISTER_KEYWORD}
    assert {name: vars(rejected).get(name) for name in fields} == fields
    for value in (*fields.values(), vars(rejected)["reason"]):
        assert value in rejected.getMessage()
    assert "\n" not in rejected.getMessage()


@pytest.mark.spec("INTENT-4/5.1.a")
@pytest.mark.spec("INTENT-4/5.3.a")
@pytest.mark.spec("INTENT-4/5.3.b")
@pytest.mark.spec("INTENT-4/5.3.d")
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"optional": {"send": ["send"]}},
        {"required": {"send": ["send"]}, "excluded": {"send": ["send"]}},
        {"required": {"send": []}},
        {"required": {"send": ["[x]"]}},
        {"required": {"send": ["send {thing}"]}},
    ],
)
def test_the_kit_refuses_what_could_not_be_registered(options: dict[str, Any]) -> None:
    with pytest.raises(MalformedIntent):
        keywords(**options)(lambda self, turn: None)


@pytest.mark.spec("INTENT-4/5.1.b")
@pytest.mark.spec("INTENT-4/5.4.a")
async def test_the_kit_sends_words_and_no_blacklist(assistant: MakeAssistant) -> None:
    class Robot(Skill):
        id = "kit.skill"

        @keywords(required={"send": ["send", "drive"]}, optional={"soon": ["now"]})
        def send(self, turn: Any) -> None: ...

    async with assistant(Robot()) as hark:
        sent = hark.of(topics.REGISTER_KEYWORD)[0].data
    identity = {"skill_id": "kit.skill", "intent_name": "send", "lang": "en-US"}
    send, soon = {"name": "send", "samples": ("send", "drive")}, {"name": "soon", "samples": ("now",)}
    assert sent == {**identity, "required": (send,), "optional": (soon,)}


@pytest.mark.spec("INTENT-4/5.2.a")
@pytest.mark.parametrize("role", ["required", "one_of"])
async def test_lists_that_are_left_out_are_empty(assistant: MakeAssistant, role: str) -> None:
    fields = {"required": [voc("send")]} if role == "required" else {"required": None, "one_of": [[voc("send")]]}
    async with assistant(KeywordMatcher(), robot()) as hark:
        register(hark, **fields)
        assert await slots(hark, "send") == {"send": "send"}


@pytest.mark.spec("INTENT-4/5.3.c")
async def test_descriptors_of_one_name_are_one_vocabulary(assistant: MakeAssistant) -> None:
    async with assistant(KeywordMatcher(), robot()) as hark:
        register(hark, required=[voc("set", "set"), voc("set", "put")], one_of=[[voc("a", "x")], [voc("a", "y")]])
        assert await slots(hark, "put x") == {"set": "put", "a": "x"}
        assert await slots(hark, "set y") == {"set": "set", "a": "y"}


@pytest.mark.spec("INTENT-4/5.3.e")
@pytest.mark.spec("INTENT-4/5.4.a")
async def test_fields_nobody_knows_have_no_effect_and_are_told_again(
    assistant: MakeAssistant, caplog: pytest.LogCaptureFixture
) -> None:
    async with assistant(KeywordMatcher(), robot()) as hark:
        with caplog.at_level(logging.WARNING, "hark"):
            register(hark, foo=1, blacklist=["send robot"], required_slots=["nothing"], samples=["never mind"])
        assert await slots(hark, "send robot") == {"send": "send", "robot": "robot"}
        assert await slots(hark, "never mind") is None
        answer = await ask(hark.bus, hark.clock, Message(topics.INTENT_DESCRIBE, {"skill_id": ROBOT}))
    [entry] = answer.data["definitions"]
    assert (entry["method"], entry["definition"]["foo"]) == ("keyword", 1)
    assert caplog.records == []


@pytest.mark.spec("INTENT-4/5.3.i")
@pytest.mark.spec("INTENT-4/5.3.j")
async def test_a_bad_sample_is_skipped_alone(assistant: MakeAssistant, caplog: pytest.LogCaptureFixture) -> None:
    async with assistant(KeywordMatcher(), robot()) as hark:
        with caplog.at_level(logging.WARNING, "hark.plugin.keyword"):
            register(hark, required=[voc("send", "send", "[x]", "drive")])
        assert await slots(hark, "send") == {"send": "send"}
        assert await slots(hark, "drive") == {"send": "drive"}
    [skipped] = warnings(caplog)
    assert (vars(skipped)["item"], vars(skipped)["intent_name"]) == ("[x]", "send")


@pytest.mark.spec("INTENT-4/3.2.m")
@pytest.mark.parametrize("name", sorted(RESERVED_INTENT_NAMES))
async def test_a_reserved_name_is_indexed_by_nobody(
    assistant: MakeAssistant, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with assistant(KeywordMatcher(), robot()) as hark:
        with caplog.at_level(logging.WARNING, "hark"):
            register(hark, intent_name=name)
        assert await slots(hark, "send robot") is None
        assert list(hark.runtime.orchestrator.manifest) == []
    assert {record.name for record in caplog.records} == {"hark.manifest", "hark.plugin.keyword"}


@pytest.mark.spec("INTENT-4/3.2.l")
async def test_each_method_keeps_to_its_own_suppression(assistant: MakeAssistant) -> None:
    settings = {"assistant": {"pipeline": ["template", "keyword"]}}
    async with assistant(KeywordMatcher(), robot(), settings=settings) as hark:
        register(hark, excluded=[voc("no", "hall")])
        samples = {**IDENTITY, "samples": ["send robot to {place}"], "blacklist": ["robot to kitchen"]}
        hark.bus.emit(Message(topics.REGISTER_TEMPLATE, samples))
        assert await slots(hark, "send robot to hall") == {"place": "hall"}, (
            "what is excluded there does not count here"
        )
        assert await slots(hark, "send robot to kitchen") == {"send": "send", "robot": "robot"}, "nor the reverse"
        assert await slots(hark, "hall send robot") is None


@pytest.mark.spec("INTENT-4/8.1.a")
@pytest.mark.spec("INTENT-4/8.1.b")
@pytest.mark.spec("INTENT-4/8.5.a")
@pytest.mark.spec("INTENT-4/12.d")
async def test_replacing_switching_and_removing(assistant: MakeAssistant) -> None:
    async with assistant(KeywordMatcher(), robot()) as hark:
        register(hark)
        register(hark, required=[voc("drive"), voc("robot")])
        assert await slots(hark, "send robot") is None
        assert await slots(hark, "drive robot") is not None
        tell(hark, topics.INTENT_DISABLE)
        register(hark)
        assert await slots(hark, "send robot") is None, "a replacement stays switched off"
        tell(hark, topics.INTENT_ENABLE)
        assert await slots(hark, "send robot") is not None
        tell(hark, topics.INTENT_DEREGISTER)
        assert await slots(hark, "send robot") is None
        register(hark)
        tell(hark, topics.SKILL_DEREGISTER)
        assert await slots(hark, "send robot") is None


@pytest.mark.spec("INTENT-4/11.4.a")
@pytest.mark.spec("INTENT-4/11.2.a")
async def test_a_session_has_what_is_everybodys_and_its_own(assistant: MakeAssistant) -> None:
    async with assistant(KeywordMatcher(), robot()) as hark:
        register(hark)
        register(hark, "sat-3", intent_name="other", required=[voc("drone")])
        assert await slots(hark, "drone", Session("sat-3")) is not None
        assert await slots(hark, "drone", Session("sat-9")) is None
        assert await slots(hark, "send robot", Session("sat-9")) is not None
        denied = Session("sat-9", blacklisted_intents=[f"{ROBOT}:send"])
        assert await slots(hark, "send robot", denied) is None


@pytest.mark.spec("CONTEXT-1/6.b")
@pytest.mark.spec("CONTEXT-1/6.1.b")
@pytest.mark.spec("CONTEXT-1/7.a")
@pytest.mark.spec("CONTEXT-1/7.b")
@pytest.mark.spec("CONTEXT-1/7.c")
@pytest.mark.spec("CONTEXT-1/7.d")
@pytest.mark.spec("CONTEXT-1/7.e")
async def test_context_opens_gates_and_stands_in_for_words(assistant: MakeAssistant) -> None:
    def remembering(**entries: str | None) -> Session:
        keys = {key.replace("mine_", f"{ROBOT}:"): ContextEntry(value) for key, value in entries.items()}
        return Session("x", intent_context=keys)

    async with assistant(KeywordMatcher(), robot()) as hark:
        register(hark, required=[voc("tall", "how tall"), voc("person", "alice", "bob")], excludes_context=["over"])
        assert await slots(hark, "how tall is she") is None
        said = {"tall": "how tall", "person": "Carol"}
        assert await slots(hark, "how tall is she", remembering(person="Carol")) == said
        assert await slots(hark, "how tall is she", remembering(person="Dave", mine_person="Carol")) == said
        assert await slots(hark, "how tall is she", remembering(person=None)) is None, "a flag fills nothing"
        alice = await slots(hark, "how tall is alice", remembering(person="Carol"))
        assert alice == {"tall": "how tall", "person": "alice"}
        assert await slots(hark, "how tall is alice", remembering(mine_over=None)) is None
        register(hark, intent_name="other", required=[voc("more")], requires_context=["asked"])
        assert await slots(hark, "more") is None
        assert await slots(hark, "more", remembering(mine_asked=None)) == {"more": "more"}


# The orchestrator's backstop (ruling R14).


@pytest.mark.spec("INTENT-4/2.c")
@pytest.mark.parametrize(
    ("riders", "refused"),
    [
        ({}, False),
        ({"requires_context": ["asked"]}, True),
        ({"excludes_context": [{"key": "asked"}]}, False),
        ({"required_slots": ["room"]}, False),
    ],
)
async def test_gates_of_keyword_intents_hold_for_engines_that_do_not_know_them(
    assistant: MakeAssistant, riders: dict[str, Any], refused: bool
) -> None:
    class Careless(KeywordMatcher):
        id = "careless"

        def match(self, utterances: Any, lang: str, session: Session, round: Any = None) -> Match:
            return Match(ROBOT, "send", lang, utterances[0])

    async with assistant(Careless(), robot(), settings={"assistant": {"pipeline": ["careless"]}}) as hark:
        register(hark, **riders)
        assert (await slots(hark, "anything") is None) is refused


# The removal of a whole skill (ruling R12).


@pytest.mark.spec("INTENT-4/3.2.j")
@pytest.mark.parametrize("protected", [True, False])
async def test_one_setting_says_for_everybody_whether_skills_are_protected(
    assistant: MakeAssistant, protected: bool
) -> None:
    settings = {"assistant": {"protect_skills": protected, "pipeline": ["keyword", "template"]}}
    async with assistant(KeywordMatcher(), robot(), settings=settings) as hark:
        register(hark)
        hark.bus.emit(Message(topics.REGISTER_TEMPLATE, {**IDENTITY, "samples": ["robot away"]}))
        hark.bus.emit(Message(topics.SKILL_DEREGISTER, {"skill_id": ROBOT}, {"skill_id": "vandal.skill"}))
        await settle()
        assert len(hark.runtime.orchestrator.manifest) == (2 if protected else 0)
        assert (await slots(hark, "send robot") is not None) is protected
        assert (await slots(hark, "robot away") is not None) is protected
