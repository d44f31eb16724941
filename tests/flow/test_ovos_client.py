"""A skill of the stable line of OVOS, emulated Message by Message over a real websocket, in whole turns."""

from __future__ import annotations

from typing import Any

import pytest

from flow.program_rig import Program, outside
from flow.stage import MakeAssistant
from flow.test_programs_outside import ends, seen
from hark.builtin import Converse, Fallback, KeywordMatcher
from hark.builtin.remarks import Remarks
from hark.spec import topics
from hark.testing import Assistant, settle

SKILL = "ovos-skill-tea.example"
CONFIGURED = {"session_id": "default", "lang": "pt-BR", "pipeline": ["adapt_high"], "persona_id": None}


async def loaded(hark: Assistant, program: Program) -> None:
    """What a launcher of the stable line sends until its skill is loaded."""
    program.send("ovos.session.sync", context={"session": CONFIGURED})
    await program.next("ovos.session.update_default")
    program.send("mycroft.skills.is_ready")
    assert (await program.next("mycroft.skills.is_ready.response"))["data"] == {"status": True}
    own = {"skill_id": SKILL}
    word = {"entity_value": "tea", "entity_type": "ovos_skill_tea_exampleTea", "lang": "en-US"}
    program.send("register_vocab", word, own)
    names = {"requires": [["ovos_skill_tea_exampleTea"] * 2], "at_least_one": [], "optional": [], "excludes": []}
    program.send("register_intent", {"name": f"{SKILL}:Brew", **names}, own)
    program.send("padatious:register_intent",
                 {"name": f"{SKILL}:pour.intent", "lang": "en-US", "samples": ["pour a {kind} cup"]}, own)  # fmt: skip
    program.send("mycroft.skills.loaded", {"id": SKILL})
    await program.through()
    await hark.bus.settled()
    await settle()


def answered(program: Program, call: dict[str, Any], *texts: str) -> None:
    """What a handler of the stable line sends: with the session of its own configuration, and an end of its own."""
    context = {**call["context"], "session": CONFIGURED}
    program.send("mycroft.skill.handler.start", {"name": "brew"}, context)
    for text in texts:
        program.send("speak", {"utterance": text, "expect_response": False, "lang": "en-US"}, context)
    program.send("mycroft.skill.handler.complete", {"name": "brew"}, context)
    program.send("ovos.utterance.handled", {"name": "brew"}, context)


@pytest.mark.parametrize(
    ("words", "topic"), [("tea please", f"{SKILL}:Brew"), ("pour a big cup", f"{SKILL}:pour.intent")]
)
async def test_a_turn_of_a_stable_skill_ends_once(assistant: MakeAssistant, words: str, topic: str) -> None:
    async with assistant(KeywordMatcher()) as hark, outside(hark.bus, ovos=True) as served:
        program = await served.program()
        await loaded(hark, program)
        hark.say(words)
        call = await program.next(topic)
        answered(program, call, "Here is your tea.")
        await seen(hark, topics.UTTERANCE_HANDLED)
        await program.through()
        assert [one.data["utterance"] for one in hark.of(topics.UTTERANCE_SPEAK)] == ["Here is your tea."]
        assert ends(hark) == [topics.HANDLER_COMPLETE]
        assert len(hark.of(topics.UTTERANCE_HANDLED)) == 1
        heard = [one["type"] for one in program.all if one["type"] in ("speak", topics.UTTERANCE_SPEAK)]
        assert heard == [topics.UTTERANCE_SPEAK, "speak"], "each name once"


@pytest.mark.parametrize("says_so", [True, False])
async def test_a_failure_is_said_once(assistant: MakeAssistant, says_so: bool) -> None:
    async with assistant(KeywordMatcher(), Remarks()) as hark, outside(hark.bus, ovos=True) as served:
        program = await served.program()
        await loaded(hark, program)
        hark.say("tea please")
        call = await program.next(f"{SKILL}:Brew")
        context = {**call["context"], "session": CONFIGURED}
        if says_so:
            program.send("speak", {"utterance": "An error occurred in Tea Skill", "lang": "en-US"}, context)
        program.send("mycroft.skill.handler.error", {"name": "brew", "exception": "no water"}, context)
        await seen(hark, topics.REMARK_NONE if says_so else topics.UTTERANCE_SPEAK)
        [said] = [one.data["utterance"] for one in hark.of(topics.UTTERANCE_SPEAK)]
        assert ("Tea Skill" if says_so else "tea") in said
        assert ends(hark) == [topics.HANDLER_ERROR]


@pytest.mark.parametrize(
    ("words", "found"),
    [("pour a big cup", {"intent_name": f"{SKILL}:pour.intent", "skill_id": SKILL, "kind": "big"}), ("nothing", None)],
)
async def test_a_skill_asks_which_intent_a_text_would_match(
    assistant: MakeAssistant, words: str, found: dict[str, str] | None
) -> None:
    async with assistant(KeywordMatcher()) as hark, outside(hark.bus, ovos=True) as served:
        program = await served.program()
        await loaded(hark, program)
        program.send("intent.service.intent.get", {"utterance": words, "lang": "en-US"}, {"session": CONFIGURED})
        answer = (await program.next("intent.service.intent.reply"))["data"]
        assert answer["utterance"] == words
        assert answer["intent"] == (None if found is None else {**found, "intent_service": "hark"})
        assert hark.of(topics.INTENT_MATCHED) == [], "nothing was said"


async def test_an_utterance_under_its_older_name_is_one_turn(assistant: MakeAssistant) -> None:
    async with assistant(KeywordMatcher()) as hark, outside(hark.bus, ovos=True) as served:
        program = await served.program()
        await loaded(hark, program)
        said = {"utterances": ["tea please"], "lang": "en-US"}
        program.send("recognizer_loop:utterance", said, {"session": CONFIGURED})
        answered(program, await program.next(f"{SKILL}:Brew"), "Here it is.")
        await seen(hark, topics.UTTERANCE_HANDLED)
        await program.through()
        assert len(hark.of(topics.UTTERANCE_HANDLE)) == 1
        assert len(hark.of(topics.UTTERANCE_HANDLED)) == 1


async def test_a_skill_that_is_gone_is_not_called_and_its_turn_ends(assistant: MakeAssistant) -> None:
    async with assistant(KeywordMatcher()) as hark, outside(hark.bus, ovos=True) as served:
        program = await served.program()
        await loaded(hark, program)
        hark.say("tea please")
        await program.next(f"{SKILL}:Brew")
        await program.kill()
        await served.gone()
        await seen(hark, topics.UTTERANCE_HANDLED)
        assert ends(hark) == [topics.HANDLER_ERROR]
        hark.say("tea please")
        await seen(hark, topics.UTTERANCE_HANDLED, 2)
        assert ends(hark) == [topics.HANDLER_ERROR, topics.INTENT_UNMATCHED]


async def called_as_fallback(hark: Assistant, program: Program) -> dict[str, Any]:
    """The request that the skill gets for what nothing else understood; it says of everything that it can answer."""
    await loaded(hark, program)
    program.send("ovos.skills.fallback.register", {"skill_id": SKILL, "priority": 100}, {"skill_id": SKILL})
    await program.through()
    await hark.bus.settled()
    hark.say("blah bleh")
    ping = await program.next("ovos.skills.fallback.ping")
    program.send("ovos.skills.fallback.pong", {"skill_id": SKILL, "can_handle": True}, ping["context"])
    return await program.next(f"ovos.skills.fallback.{SKILL}.request")


async def test_a_stable_fallback_is_asked_called_and_ends(assistant: MakeAssistant) -> None:
    async with assistant(Fallback(), Converse(), Remarks()) as hark, outside(hark.bus, ovos=True) as served:
        program = await served.program()
        request = await called_as_fallback(hark, program)
        assert request["data"]["utterances"] == ["blah bleh"]
        program.send("speak", {"utterance": "I do not know."}, request["context"])
        program.send(f"ovos.skills.fallback.{SKILL}.response", {"result": True}, request["context"])
        await seen(hark, topics.UTTERANCE_HANDLED)
        await settle()
        assert ends(hark) == [topics.HANDLER_COMPLETE]
        assert [one.data["utterance"] for one in hark.of(topics.UTTERANCE_SPEAK)] == ["I do not know."]


async def test_a_fallback_that_finds_no_answer_does_not_end_in_silence(assistant: MakeAssistant) -> None:
    async with assistant(Fallback(), Remarks()) as hark, outside(hark.bus, ovos=True) as served:
        program = await served.program()
        request = await called_as_fallback(hark, program)
        program.send(f"ovos.skills.fallback.{SKILL}.response", {"result": False}, request["context"])
        await seen(hark, topics.UTTERANCE_SPEAK)
        assert ends(hark) == [topics.HANDLER_COMPLETE]
        [said] = hark.of(topics.UTTERANCE_SPEAK)
        assert said.context["skill_id"] == "remarks"
