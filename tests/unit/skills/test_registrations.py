"""Registering and taking back while the skill runs, for everybody and for one session."""

from __future__ import annotations

from typing import Any

import pytest
from skill_host import begun

from hark.model import Session
from hark.plugins import handles
from hark.skills import MalformedIntent, Skill, intent
from hark.spec import topics


class Radio(Skill):
    id = "radio.skill"

    @intent("radio an", lang="de-DE")
    @intent("radio on")
    def on(self, turn: Any) -> None: ...

    @handles("play")
    def play(self, turn: Any) -> None: ...


async def test_samples_can_be_registered_for_a_handler_while_the_skill_runs() -> None:
    skill = Radio()
    host = await begun(skill)
    host.emitted.clear()
    skill.register("play", "play {station}", blacklist=["play ball"], session="sat-3")
    [message] = host.emitted
    assert (message.type, message.session_id) == (topics.REGISTER_TEMPLATE, "sat-3")
    assert message.data == {
        "skill_id": "radio.skill",
        "intent_name": "play",
        "lang": "en-US",
        "samples": ("play {station}",),
        "required_slots": ("station",),
        "blacklist": ("play ball",),
    }


async def test_what_was_registered_is_said_again_in_its_session_and_what_was_taken_back_is_not() -> None:
    skill = Radio()
    host = await begun(skill)
    skill.register("play", "play {station}", session=Session("sat-3", lang="de-DE"))
    skill.register("play", "play it")
    skill.register_entity("station", "radio (one|two)", session="sat-3")
    skill.register_keywords("play", required={"play": ["play"]})
    skill.disable("play", session="sat-3")
    skill.deregister("on", lang="de-de")
    host.emitted.clear()
    await host.hears(topics.READY)
    assert [(message.type, message.session_id, message.data.get("lang")) for message in host.emitted] == [
        (topics.SKILL_LOADED, "default", None),
        (topics.REGISTER_TEMPLATE, "default", "en-US"),
        (topics.REGISTER_TEMPLATE, "sat-3", "en-US"),
        (topics.REGISTER_TEMPLATE, "default", "en-US"),
        (topics.ENTITY_REGISTER, "sat-3", "en-US"),
        (topics.REGISTER_KEYWORD, "default", "en-US"),
        (topics.INTENT_DISABLE, "sat-3", None),
    ]
    # Of a session only its name: what else it held then may have changed.
    assert host.emitted[2].session == Session("sat-3")


async def test_taking_back_is_for_one_language_or_all_and_for_one_session() -> None:
    skill = Radio()
    host = await begun(skill)
    skill.register("on", session="sat-3")
    host.emitted.clear()
    skill.deregister("on", lang="de-de")
    skill.deregister("on", session="sat-3")
    skill.deregister_entity("station")
    named = {"skill_id": "radio.skill", "intent_name": "on"}
    assert [(message.type, message.session_id, message.data) for message in host.emitted] == [
        (topics.INTENT_DEREGISTER, "default", {**named, "lang": "de-DE"}),
        (topics.INTENT_DEREGISTER, "sat-3", named),
        (topics.ENTITY_DEREGISTER, "default", {"skill_id": "radio.skill", "entity_name": "station"}),
    ]
    host.emitted.clear()
    await host.hears(topics.READY)
    assert [payload["lang"] for payload in host.of(topics.REGISTER_TEMPLATE)] == ["en-US"]


async def test_what_the_marks_say_can_be_registered_again() -> None:
    skill = Radio()
    host = await begun(skill)
    first = host.of(topics.REGISTER_TEMPLATE)
    skill.deregister("on")
    host.emitted.clear()
    skill.register("on")
    assert host.of(topics.REGISTER_TEMPLATE) == first
    host.emitted.clear()
    skill.register("on", lang="DE-de")
    assert [payload["lang"] for payload in host.of(topics.REGISTER_TEMPLATE)] == ["de-DE"]


async def test_what_start_registers_is_announced_with_the_rest() -> None:
    class Early(Radio):
        async def start(self) -> None:
            self.register("play", "play something")
            self.deregister("on", lang="de-DE")

    host = await begun(Early())
    assert host.topics == [topics.SKILL_LOADED, *[topics.REGISTER_TEMPLATE] * 2]
    assert [payload["intent_name"] for payload in host.of(topics.REGISTER_TEMPLATE)] == ["on", "play"]


async def test_a_skill_that_ends_is_withdrawn_from_every_session_it_registered_in() -> None:
    skill = Radio()
    host = await begun(skill)
    skill.register("on", session="sat-3")
    host.emitted.clear()
    await skill.end()
    assert [(message.type, message.session_id) for message in host.emitted] == [
        (topics.SKILL_DEREGISTER, "default"),
        (topics.SKILL_DEREGISTER, "sat-3"),
    ]


async def test_what_cannot_be_registered_is_refused() -> None:
    skill = Radio()
    host = await begun(skill)
    host.emitted.clear()
    with pytest.raises(ValueError, match="it has: on, play"):
        skill.register("of", "radio off")
    with pytest.raises(ValueError, match="'play' has no samples"):
        skill.register("play")
    with pytest.raises(MalformedIntent, match=r"register\('play'\): .*never closed"):
        skill.register("play", "play (it")
    with pytest.raises(MalformedIntent, match="needs something in required"):
        skill.register_keywords("play")
    with pytest.raises(MalformedIntent, match=r"register_entity\('station'\): .*slot"):
        skill.register_entity("station", "the {x}")
    with pytest.raises(MalformedIntent, match="no value"):
        skill.register_entity("station")
    with pytest.raises(MalformedIntent, match="no name of a slot"):
        skill.register_entity("a slot", "x")
    assert host.emitted == []
