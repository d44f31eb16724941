"""A skill that lives from its locale folder, in a whole assistant."""

from __future__ import annotations

from pathlib import Path

import pytest

from flow.stage import MakeAssistant
from hark.plugins import Session, Turn, handles
from hark.skills import Skill, intent
from hark.spec import topics
from hark.testing import Assistant, settle

FILES = {
    "en-US/tall.intent": "how tall is {person}",
    "en-US/person.blacklist": "(he|she)",
    "en-US/person.entity": "anna\nbob",
    "en-US/tall.dialog": "{person} is one metre {height}.",
    "en-US/unknown.dialog": "I do not know {person}.",
    "de-DE/tall.intent": "wie groß ist {person}",
    "de-DE/tall.dialog": "{person} ist einen Meter {height} groß.",
}


@pytest.fixture
def heights(tmp_path: Path) -> Skill:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")

    class Heights(Skill):
        id = "heights.skill"
        locale_dir = tmp_path

        @intent(file="tall")
        async def tall(self, turn: Turn) -> None:
            person = turn.slots["person"]
            turn.remember("person", person, turns=3)
            if person == "zoe":
                await turn.say("unknown", person=person)
            else:
                await turn.say("tall", person=person, height=80, wait=True)

        @handles("shrink")
        def shrink(self, turn: Turn) -> str:
            return turn.render("tall", person=turn.slots["person"], height=2)

    return Heights()


def said(hark: Assistant) -> list[tuple[str, str]]:
    return [(message.data["utterance"], message.data["lang"]) for message in hark.of(topics.UTTERANCE_SPEAK)]


async def test_a_pronoun_means_who_was_spoken_of(assistant: MakeAssistant, heights: Skill) -> None:
    async with assistant(heights) as hark:
        assert await hark.hears("how tall is she") == []
        assert await hark.hears("how tall is anna") == ["anna is one metre 80."]
        assert await hark.hears("how tall is she") == ["anna is one metre 80."]


async def test_everybody_is_answered_in_his_language_as_far_as_there_is_one(
    assistant: MakeAssistant, heights: Skill
) -> None:
    async with assistant(heights, settings={"assistant": {"langs": ["de-DE"]}}) as hark:
        await hark.hears("wie groß ist anna", lang="de-DE")
        await hark.hears("wie groß ist zoe", lang="de-DE")
        assert said(hark) == [("anna ist einen Meter 80 groß.", "de-DE"), ("I do not know zoe.", "en-US")]


async def test_one_session_can_understand_more_than_the_others(assistant: MakeAssistant, heights: Skill) -> None:
    async with assistant(heights) as hark:
        heights.register("shrink", "shrink {person}", session="kitchen")
        await settle()
        assert await hark.hears("shrink bob", session="kitchen") == ["bob is one metre 2."]
        assert await hark.hears("shrink bob", session="hall") == []
        heights.disable("shrink", session="kitchen")
        await settle()
        assert await hark.hears("shrink bob", session="kitchen") == []
        heights.enable("shrink", session="kitchen")
        heights.deregister("shrink", session="kitchen")
        await settle()
        assert await hark.hears("shrink bob", session="kitchen") == []


async def test_a_skill_speaks_up_by_itself_in_the_language_of_the_session(
    assistant: MakeAssistant, heights: Skill
) -> None:
    async with assistant(heights) as hark:
        heights.say_dialog("tall", person="bob", height=90, session=Session("kitchen", lang="de-DE"))
        heights.say_dialog("tall", person="bob", height=90)
        await settle()
        assert said(hark) == [("bob ist einen Meter 90 groß.", "de-DE"), ("bob is one metre 90.", "en-US")]
