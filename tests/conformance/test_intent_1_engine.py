"""OVOS-INTENT-1, the rows about engines: what the template matcher that ships makes of templates."""

from __future__ import annotations

from typing import Any

import pytest

from flow.stage import MakeAssistant
from hark.model import Message, Session
from hark.plugins import Turn
from hark.skills import Skill, intent
from hark.spec import topics
from hark.testing import Assistant, settle

PLAYER = "player.demo"

Heard = list[dict[str, str]]


def player(*samples: str, heard: Heard) -> Skill:
    """A skill that notes the slots of what it is asked to play."""

    class Player(Skill):
        id = PLAYER
        quick = True

        @intent(*samples)
        def play(self, turn: Turn) -> None:
            heard.append(dict(turn.slots))

    return Player()


async def slots(assistant: MakeAssistant, said: str, *samples: str, **values: list[str]) -> dict[str, str] | None:
    """The slots with which one intent with these samples, and perhaps values of its slots, is claimed; or None."""
    heard: Heard = []
    async with assistant(player(*samples, heard=heard)) as hark:
        for name, some in values.items():
            tell(hark, topics.ENTITY_REGISTER, {"entity_name": name, "samples": some})
        await settle()
        await hark.hears(said)
    return heard[0] if heard else None


def tell(hark: Assistant, topic: str, data: dict[str, Any]) -> None:
    hark.bus.emit(Message(topic, {"skill_id": PLAYER, "lang": "en-US", **data}, {}, Session("default")))


@pytest.mark.spec("INTENT-1/5.1.a")
@pytest.mark.spec("INTENT-1/5.2.a")
async def test_a_slot_is_filled_with_the_words_that_were_said(assistant: MakeAssistant) -> None:
    assert await slots(assistant, "play some old jazz", "play {query}") == {"query": "some old jazz"}


@pytest.mark.spec("INTENT-1/5.1.d")
async def test_a_slot_whose_part_was_not_said_is_left_out(assistant: MakeAssistant) -> None:
    assert await slots(assistant, "play jazz", "play {q} [on {e}]") == {"q": "jazz"}
    assert await slots(assistant, "play jazz on spotify", "play {q} [on {e}]") == {"q": "jazz", "e": "spotify"}


@pytest.mark.spec("INTENT-1/5.3.a")
@pytest.mark.spec("INTENT-1/5.6.k")
@pytest.mark.spec("INTENT-1/6.2.d")
@pytest.mark.spec("INTENT-1/7.c")
async def test_a_type_leaves_the_value_as_it_was_said(assistant: MakeAssistant) -> None:
    assert await slots(assistant, "count to forty two", "count to {number:n}") == {"n": "forty two"}


@pytest.mark.spec("INTENT-1/5.4.a")
@pytest.mark.spec("INTENT-1/5.4.b")
async def test_known_values_tell_where_a_slot_ends(assistant: MakeAssistant) -> None:
    sample, said = "play {song} on {device}", "play love on air on radio"
    assert await slots(assistant, said, sample) == {"song": "love on air", "device": "radio"}
    found = await slots(assistant, said, sample, device=["air on radio"])
    assert found == {"song": "love", "device": "air on radio"}


@pytest.mark.spec("INTENT-1/5.4.c")
async def test_a_value_nobody_listed_is_matched_all_the_same(assistant: MakeAssistant) -> None:
    found = await slots(assistant, "play jazz on tidal", "play {q} on {engine}", engine=["spotify"])
    assert found == {"q": "jazz", "engine": "tidal"}


@pytest.mark.spec("INTENT-1/5.4.d")
@pytest.mark.spec("INTENT-1/7.b")
async def test_slots_need_no_values(assistant: MakeAssistant) -> None:
    assert await slots(assistant, "play jazz on tidal", "play {q} on {engine}") == {"q": "jazz", "engine": "tidal"}


@pytest.mark.spec("INTENT-1/6.2.b")
async def test_samples_of_one_intent_may_have_different_slots(assistant: MakeAssistant) -> None:
    samples = ("play {q}", "switch to {engine}", "hush")
    assert await slots(assistant, "play jazz", *samples) == {"q": "jazz"}
    assert await slots(assistant, "switch to tidal", *samples) == {"engine": "tidal"}
    assert await slots(assistant, "hush", *samples) == {}


@pytest.mark.spec("INTENT-1/6.2.c")
async def test_every_sentence_of_a_template_is_matched(assistant: MakeAssistant) -> None:
    sample = "[please] (play|start) {q} [now]"
    for said in ("play jazz", "please play jazz", "start jazz now", "please start jazz now"):
        assert await slots(assistant, said, sample) == {"q": "jazz"}


@pytest.mark.spec("INTENT-1/6.1.a")
async def test_a_skill_registers_with_name_language_and_samples(assistant: MakeAssistant) -> None:
    async with assistant(player("play {query}", heard=[])) as hark:
        await settle()
        registered = hark.of(topics.REGISTER_TEMPLATE)[0]
    assert registered.data["skill_id"] == PLAYER
    assert registered.data["intent_name"] == "play"
    assert registered.data["lang"] == "en-US"
    assert registered.data["samples"] == ("play {query}",)


@pytest.mark.spec("INTENT-1/6.2.a")
@pytest.mark.spec("INTENT-1/3.7.f")
@pytest.mark.parametrize("bad", ["play (it", "{q}", "play {a} {b}", "play <songs>", "play|start"])
async def test_a_malformed_sample_is_found_when_it_is_registered(
    assistant: MakeAssistant, bad: str, caplog: pytest.LogCaptureFixture
) -> None:
    heard: Heard = []
    async with assistant(player("hush", heard=heard)) as hark:
        tell(hark, topics.REGISTER_TEMPLATE, {"intent_name": "play", "samples": [bad, "play nicely"]})
        await settle()
        assert [record for record in caplog.records if bad in record.getMessage()]
        await hark.hears("play nicely")
    assert heard == [{}], "the others count"
