"""Where an answer is from, when the user asks."""

from __future__ import annotations

import pytest

from hark.builtin.skills.sources import SourcesSkill
from hark.model import Session
from hark.plugins import Answer, Turn, answers
from hark.skills import Skill, intent
from hark.spec import topics
from hark.testing import Assistant

QUESTIONS = {
    "en-US": ("how do you know that", "I have that from Wikipedia."),
    "de-DE": ("woher weißt du das", "Das habe ich von Wikipedia."),
    "es-ES": ("cómo lo sabes", "Lo sé por Wikipedia."),
    "fr-FR": ("comment tu le sais", "Je le tiens de Wikipedia."),
    "it-IT": ("come lo sai", "Lo so da Wikipedia."),
    "pt-PT": ("como é que sabes isso", "Sei isso através de Wikipedia."),
}


class Towers(Skill):
    id = "towers.skill"

    @answers(wants=lambda _self, question, _lang, _session: "tower" in question)
    def know(self, question: str, lang: str, session: Session) -> Answer:
        return Answer("330 metres.", 0.9, "" if "old" in question else "Wikipedia")

    @intent("two sources")
    def both(self, turn: Turn) -> str:
        for source in ("Wikipedia", "the weather", "Wikipedia"):
            turn.emit(topics.ANSWER_SOURCES, {"sources": [source], "more": True})
        return "Done."


def assistant() -> Assistant:
    langs = [lang for lang in QUESTIONS if lang != "en-US"]
    return Assistant(Towers(), SourcesSkill(), settings={"assistant": {"langs": langs}})


@pytest.mark.parametrize("lang", QUESTIONS)
async def test_the_source_of_the_last_answer_is_named(lang: str) -> None:
    question, answer = QUESTIONS[lang]
    async with assistant() as hark:
        assert await hark.hears("how high is the tower") == ["330 metres."]
        assert await hark.hears(question, lang=lang) == [answer]


async def test_a_skill_without_a_source_is_one_itself() -> None:
    async with assistant() as hark:
        await hark.hears("how high is the old tower")
        assert await hark.hears("where is that from") == ["I have that from towers."]


async def test_all_sources_of_one_answer_are_named_once() -> None:
    async with assistant() as hark:
        await hark.hears("how high is the old tower")
        await hark.hears("two sources")
        assert await hark.hears("how do you know") == ["I have that from Wikipedia and the weather."]


async def test_what_was_not_looked_up_has_no_source_and_sessions_are_kept_apart() -> None:
    async with assistant() as hark:
        await hark.hears("how high is the tower")
        said = await hark.hears("how do you know", session=Session("kitchen"))
        assert said == ["I did not look that up anywhere."]
