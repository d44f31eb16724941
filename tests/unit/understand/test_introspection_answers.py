"""Answers about what is registered: kept until something is, so that asking often costs little."""

from __future__ import annotations

from hark.bus import LocalBus
from hark.model import Message
from hark.spec import topics
from hark.understand.intent_registry import IntentRegistry
from hark.understand.introspection import Introspection


def register(bus: LocalBus, name: str) -> None:
    data = {"skill_id": "a.skill", "intent_name": name, "lang": "en-US", "samples": ["hello"]}
    bus.emit(Message(topics.REGISTER_TEMPLATE, data))


async def test_the_same_question_has_the_same_answer_until_something_is_registered() -> None:
    bus = LocalBus()
    Introspection(bus, IntentRegistry(bus))
    answers: list[Message] = []
    bus.on(f"{topics.INTENT_LIST}.response", answers.append)
    register(bus, "one")
    for query in ({}, {}, {"skill_id": "b.skill"}, {"session_id": "kitchen"}):
        bus.emit(Message(topics.INTENT_LIST, query))
    await bus.settled()
    first, second, other, kitchen = (answer.data for answer in answers)
    assert first is second, "it was made again"
    assert other["intents"] == ()
    assert len(kitchen["intents"]) == 1
    register(bus, "two")
    bus.emit(Message(topics.INTENT_LIST, {}))
    await bus.settled()
    assert [intent["intent_name"] for intent in answers[-1].data["intents"]] == ["one", "two"]
    await bus.close()


async def test_a_session_that_denies_a_skill_gets_an_answer_of_its_own() -> None:
    bus = LocalBus()
    Introspection(bus, IntentRegistry(bus))
    answers: list[Message] = []
    bus.on(f"{topics.INTENT_LIST}.response", answers.append)
    register(bus, "one")
    for denied in ([], ["a.skill"]):
        session = {"session_id": "kitchen", "blacklisted_skills": denied}
        bus.emit(Message(topics.INTENT_LIST, {"session_id": "kitchen"}, {"session": session}))
    await bus.settled()
    assert [len(answer.data["intents"]) for answer in answers] == [1, 0]
    await bus.close()
