"""How a skill announces itself."""

from __future__ import annotations

from typing import Any

import pytest
from skill_host import FakeHost, begun

from hark.skills import Skill, intent
from hark.spec import topics


class Lights(Skill):
    id = "lights.skill"

    @intent("licht (an|aus)", lang="de-DE")
    @intent("lights on", "turn on {room} light", required_slots=["room"], blacklist=["light bulb"])
    def switch(self, turn: Any) -> None: ...

    @intent("yes", requires=["asked"], excludes=[{"key": "busy", "scope": "shared"}])
    def confirm(self, turn: Any) -> None: ...


async def test_a_skill_says_that_it_is_loaded_then_what_it_understands() -> None:
    host = await begun(Lights())
    assert host.topics == [topics.SKILL_LOADED, *[topics.REGISTER_TEMPLATE] * 3]
    assert host.of(topics.SKILL_LOADED)[0]["skill_id"] == "lights.skill"
    assert host.of(topics.REGISTER_TEMPLATE) == [
        {
            "skill_id": "lights.skill",
            "intent_name": "switch",
            "lang": "en-US",
            "samples": ("lights on", "turn on {room} light"),
            "required_slots": ("room",),
            "blacklist": ("light bulb",),
        },
        {"skill_id": "lights.skill", "intent_name": "switch", "lang": "de-DE", "samples": ("licht (an|aus)",)},
        {
            "skill_id": "lights.skill",
            "intent_name": "confirm",
            "lang": "en-US",
            "samples": ("yes",),
            "requires_context": ("asked",),
            "excludes_context": ({"key": "busy", "scope": "shared"},),
        },
    ]


async def test_marks_in_one_language_are_one_registration() -> None:
    class Greeter(Skill):
        id = "greeter.skill"
        lang = "pt-br"

        @intent("olá", "oi")
        @intent("bom dia", "olá", lang="pt-BR")
        def greet(self, turn: Any) -> None: ...

    (payload,) = (await begun(Greeter())).of(topics.REGISTER_TEMPLATE)
    assert payload["lang"] == "pt-BR"
    assert payload["samples"] == ("bom dia", "olá", "oi")


async def test_start_and_stop_need_no_super() -> None:
    class Own(Lights):
        async def start(self) -> None:
            self.started_before = len(host_of(self).emitted)

        async def stop(self) -> None:
            self.stopped_after = host_of(self).topics[-1]

    def host_of(skill: Skill) -> FakeHost:
        assert isinstance(skill.host, FakeHost)
        return skill.host

    skill = Own()
    host = await begun(skill)
    assert skill.started_before == 0
    assert len(host.of(topics.REGISTER_TEMPLATE)) == 3
    await skill.end()
    assert skill.stopped_after == topics.SKILL_DEREGISTER
    assert host.of(topics.SKILL_DEREGISTER) == [{"skill_id": "lights.skill"}]


async def test_a_skill_whose_start_fails_announces_nothing() -> None:
    class Broken(Lights):
        async def start(self) -> None:
            raise RuntimeError("no bulbs")

    skill = Broken()
    skill.host = host = FakeHost()  # type: ignore[assignment]
    with pytest.raises(RuntimeError, match="no bulbs"):
        await skill.begin()
    assert host.emitted == []


async def test_when_an_assistant_gets_ready_the_same_keys_are_announced_again() -> None:
    host = await begun(Lights())
    first = list(host.emitted)
    host.emitted.clear()
    await host.hears(topics.READY)
    assert host.emitted == first


async def test_an_assistant_that_heard_the_skill_begin_gets_no_second_announcement() -> None:
    host = await begun(Lights())
    host.emitted.clear()
    await host.hears(topics.READY, {"heard": ["other.skill", "lights.skill"]})
    assert host.emitted == []
    await host.hears(topics.READY, {"heard": ["other.skill"]})
    assert host.topics[0] == topics.SKILL_LOADED


async def test_what_is_disabled_is_disabled_again_when_an_assistant_gets_ready() -> None:
    skill = Lights()
    host = await begun(skill)
    skill.disable("switch")
    skill.disable("confirm")
    skill.enable("confirm")
    assert host.of(topics.INTENT_ENABLE) == [{"skill_id": "lights.skill", "intent_name": "confirm"}]
    host.emitted.clear()
    await host.hears(topics.READY)
    assert host.of(topics.INTENT_DISABLE) == [{"skill_id": "lights.skill", "intent_name": "switch"}]
    assert host.topics[-1] == topics.INTENT_DISABLE


async def test_what_start_disables_is_disabled_after_it_was_registered() -> None:
    class Shy(Lights):
        async def start(self) -> None:
            self.disable("switch")

    host = await begun(Shy())
    assert host.topics[-1] == topics.INTENT_DISABLE


async def test_only_intents_of_the_skill_can_be_switched() -> None:
    skill = Lights()
    await begun(skill)
    with pytest.raises(ValueError, match="it has: switch, confirm"):
        skill.disable("swich")


async def test_two_skills_of_one_class_have_their_own_switches() -> None:
    one, other = Lights(), Lights()
    await begun(one)
    host = await begun(other)
    one.disable("switch")
    await host.hears(topics.READY)
    assert host.of(topics.INTENT_DISABLE) == []
