"""What skills registered, as a recogniser follows it."""

from __future__ import annotations

from typing import Any

from hark.builtin.engines.speech_grammar.registrations import RegisteredTemplates
from hark.model import Message, Session
from hark.spec import topics


def message(topic: str, session: str = "default", source: str | None = None, **data: Any) -> Message:
    context = {} if source is None else {"skill_id": source}
    return Message(topic, {"skill_id": "light.skill", **data}, context, Session(session))


def register(name: str = "on", *samples: str, session: str = "default", lang: str = "en-US") -> Message:
    return message(topics.REGISTER_TEMPLATE, session, intent_name=name, lang=lang, samples=list(samples or ("on",)))


def said(registered: RegisteredTemplates, lang: str = "en-GB") -> list[str]:
    return [one.template for one in registered.templates(lang)]


def test_a_registration_may_be_said_in_every_region_of_its_language() -> None:
    registered = RegisteredTemplates()
    assert registered.apply(register("on", "light on"))
    assert said(registered) == ["light on"]
    assert said(registered, "de-DE") == []


def test_the_same_again_changes_nothing() -> None:
    registered = RegisteredTemplates()
    assert registered.apply(register())
    assert not registered.apply(register())
    assert registered.apply(register("on", "another"))
    assert said(registered) == ["another"]


def test_what_is_taken_back_is_gone() -> None:
    registered = RegisteredTemplates()
    registered.apply(register())
    assert not registered.apply(message(topics.INTENT_DEREGISTER, intent_name="off"))
    assert not registered.apply(message(topics.INTENT_DEREGISTER, intent_name="on", lang="de-DE"))
    assert registered.apply(message(topics.INTENT_DEREGISTER, intent_name="on"))
    assert said(registered) == []


def test_a_skill_that_is_removed_takes_only_its_own_registrations_along() -> None:
    registered = RegisteredTemplates()
    registered.apply(register())
    registered.apply(message(topics.REGISTER_KEYWORD, intent_name="k", lang="en-US", required=[["x"]]))
    assert registered.keyword_intents == 1
    assert not registered.apply(message(topics.SKILL_DEREGISTER, source="thief.skill"))
    assert registered.apply(message(topics.SKILL_DEREGISTER, source="light.skill"))
    assert said(registered) == []
    assert registered.keyword_intents == 0


def test_switching_off_holds_for_everybody_only_from_the_device_itself() -> None:
    registered = RegisteredTemplates()
    registered.apply(register())
    assert not registered.apply(message(topics.INTENT_DISABLE, "satellite", intent_name="on"))
    assert registered.apply(message(topics.INTENT_DISABLE, intent_name="on"))
    assert said(registered) == []
    assert not registered.apply(message(topics.INTENT_DISABLE, intent_name="on"))
    assert registered.apply(message(topics.INTENT_ENABLE, intent_name="on"))
    assert said(registered) == ["on"]


def test_slots_know_the_values_of_their_own_skill() -> None:
    registered = RegisteredTemplates()
    registered.apply(register("on", "the {room} light"))
    registered.apply(message(topics.ENTITY_REGISTER, entity_name="room", lang="en-US", samples=["kitchen"]))
    registered.apply(message(topics.ENTITY_REGISTER, "satellite", entity_name="room", lang="en-US", samples=["attic"]))
    [one] = registered.templates("en-US")
    assert set(one.values("room")) == {"kitchen", "attic"}
    assert one.values("city") == ()
    assert registered.apply(message(topics.ENTITY_DEREGISTER, entity_name="room"))
    [one] = registered.templates("en-US")
    assert set(one.values("room")) == {"attic"}


def test_what_is_malformed_changes_nothing() -> None:
    registered = RegisteredTemplates()
    for wrong in (
        message(topics.REGISTER_TEMPLATE, intent_name="on", lang="en-US", samples="light on"),
        message(topics.REGISTER_TEMPLATE, intent_name="on", samples=["light on"]),
        message(topics.REGISTER_TEMPLATE, lang="en-US", samples=["light on"]),
        message(topics.ENTITY_REGISTER, entity_name="", lang="en-US", samples=["x"]),
    ):
        assert not registered.apply(wrong)
    registered.apply(message(topics.REGISTER_TEMPLATE, intent_name="on", lang="en-US", samples=["light on", 7]))
    assert said(registered) == ["light on"]


def test_it_follows_every_topic_of_registration() -> None:
    assert set(RegisteredTemplates().topics) == set(topics.REGISTRATION) - {topics.SKILL_LOADED}
