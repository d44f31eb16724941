"""Home Assistant's matcher beside Hark's."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hark.builtin.hassil import HassilMatcher
from hark.model import ContextEntry, Message, Session
from hark.plugins import Turn, handles
from hark.skills import Skill
from hark.spec import topics
from hark.testing import Assistant
from hark.testing.contracts import matcher_contract

SENTENCES = Path(__file__).parent / "hassil_sentences.yaml"


@pytest.fixture
def paths() -> list[str]:
    return [str(SENTENCES)]


def settings(paths: list[str], skill_id: str = "") -> dict[str, dict[str, object]]:
    own: dict[str, object] = {"paths": paths} | ({"skill_id": skill_id} if skill_id else {})
    return {"plugins": {"hassil": own}}


class Home(Skill):
    id = "home.skill"

    def __init__(self) -> None:
        self.turned_on: list[dict[str, str]] = []

    @handles("LightOn")
    def light_on(self, turn: Turn) -> str:
        self.turned_on.append(dict(turn.slots))
        return f"{turn.slots.get('room', 'no room')} is on"

    @handles("Brew")
    def brew(self, turn: Turn) -> str:
        return f"for {turn.slots.get('guest', 'nobody')}"


async def test_it_gives_the_answer_that_the_sentences_carry(paths: list[str]) -> None:
    async with Assistant(HassilMatcher(), settings=settings(paths)) as assistant:
        assert await assistant.hears("turn on the kitchen light") == ["Lights on."]
        assert await assistant.hears("Brew two cups of black tea!") == ["Brewing black tea."]
        assert await assistant.hears("kindly brew 3 cups of tea") == ["Brewing tea."]


async def test_a_skill_gets_the_intent_with_its_slots_as_text(paths: list[str]) -> None:
    home = Home()
    async with Assistant(HassilMatcher(), home, settings=settings(paths, home.id)) as assistant:
        assert await assistant.hears("turn on the sitting room lights") == ["light.living is on"]
        await assistant.hears("it is dark", session=Session("x", site_id="hall"))
    assert home.turned_on == [{"room": "light.living"}, {"kind": "lamp,strip", "area": "hall"}]


async def test_without_a_skill_it_leaves_alone_what_it_cannot_answer(paths: list[str]) -> None:
    async with Assistant(HassilMatcher(), settings=settings(paths)) as assistant:
        assert await assistant.hears("brew for anna") == []
        assert await assistant.hears("turn on the moon light") == []
        assert "hassil recognises nothing" in assistant.why()


async def test_values_that_its_skill_registers_fill_a_list(paths: list[str]) -> None:
    home = Home()
    async with Assistant(HassilMatcher(), home, settings=settings(paths, home.id)) as assistant:
        assert await assistant.hears("brew for anna") == []
        entity = {"entity_name": "guest", "lang": "en", "samples": ["[aunt] anna", "(broken"]}
        home.host.emit("ovos.entity.register", {"skill_id": "another.skill", **entity})
        await assistant.runtime.bus.settled()
        assert await assistant.hears("brew for anna") == []
        home.host.emit("ovos.entity.register", {"skill_id": home.id, **entity})
        await assistant.runtime.bus.settled()
        assert await assistant.hears("brew for aunt anna") == ["for aunt anna"]


async def test_context_of_the_conversation_opens_what_requires_it(paths: list[str]) -> None:
    async with Assistant(HassilMatcher(), settings=settings(paths)) as assistant:
        assert await assistant.hears("wake me", session=Session("a")) == []
        tired = Session("b", intent_context={"bedtime": ContextEntry("late")})
        assert await assistant.hears("wake me", session=tired) == ["I will."]
        spent = Session("c", intent_context={"bedtime": ContextEntry("late", expires_at=1.0)})
        assert await assistant.hears("wake me", session=spent) == []


async def test_it_says_that_nothing_is_set_and_that_a_language_is_missing(paths: list[str]) -> None:
    async with Assistant(HassilMatcher()) as assistant:
        await assistant.hears("turn on the kitchen light")
        assert "[plugins.hassil]" in assistant.why()
    german = {"assistant": {"lang": "de-DE"}, **settings(paths)}
    async with Assistant(HassilMatcher(), settings=german) as assistant:
        await assistant.hears("turn on the kitchen light")
        assert "no sentences in de-DE" in assistant.why()


async def test_a_missing_package_is_reported_with_the_extra(paths: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hassil.util", None)
    async with Assistant(HassilMatcher(), settings=settings(paths)) as assistant:
        assert any("pip install 'hark-voice[hassil]'" in str(refusal) for refusal in assistant.runtime.refusals)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("intents: {}", "states no language"),
        ("language: en\nintents: [", "cannot be read"),
        ("language: en\nintents: {}\na: &a [x]\nb: [" + "*a, " * 25 + "x]", "more than 20 aliases"),
        ("language: en\nintents: " + "[" * 1_200 + "]" * 1_200, "nested too deep"),
        ("language: en\nintents: {A: {data: [{sentences: ['(a']}]}}", "Unable to find end of group"),
    ],
)
async def test_a_broken_file_keeps_it_from_starting_and_is_named(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "broken.yaml").write_text(text)
    async with Assistant(HassilMatcher(), settings=settings([str(tmp_path)])) as assistant:
        assert any(told in str(refusal) for refusal in assistant.runtime.refusals)


async def test_the_package_is_taken_by_language_and_files_come_on_top(tmp_path: Path) -> None:
    (tmp_path / "house.yaml").write_text(
        "language: en\nlists: {area: {values: [attic]}, name: {values: []}, floor: {values: []}}\n"
    )
    both = {"plugins": {"hassil": {"package": ["en"], "paths": [str(tmp_path)]}}}
    async with Assistant(HassilMatcher(), settings=both) as assistant:
        assert await assistant.hears("turn on the lights in the attic") == ["Turned on the lights"]
        assistant.runtime.bus.emit(Message(topics.pipeline_intents_list("hassil")))
        await assistant.runtime.bus.settled()
        (listed,) = assistant.of("ovos.pipeline.hassil.intents.list.response")
    assert listed.data["intents"] == ({"skill_id": "hassil", "intent_name": "answer", "lang": "en"},)


async def test_what_it_could_claim_for_a_skill_is_listed(paths: list[str]) -> None:
    async with Assistant(HassilMatcher(), settings=settings(paths, "home.skill")) as assistant:
        assistant.runtime.bus.emit(Message(topics.pipeline_intents_list("hassil")))
        await assistant.runtime.bus.settled()
        (listed,) = assistant.of("ovos.pipeline.hassil.intents.list.response")
    assert [intent["intent_name"] for intent in listed.data["intents"]] == ["LightOn", "Brew", "Wake"]


test_contract_without_settings = matcher_contract(HassilMatcher)
test_contract_with_sentences = matcher_contract(
    HassilMatcher, settings={"paths": [str(SENTENCES)]}, examples=["turn on the kitchen light", "brew 2 cups of tea"]
)
