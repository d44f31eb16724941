"""The benchmark's own set of sentences."""

from __future__ import annotations

from hark.intents import sentences
from intents.fewshot import Row, template
from intents.sources import HALF, HOUSE, House, read_house


def test_sentences_are_read_with_their_slots() -> None:
    known, foreign = read_house("# a remark\n## on\nlamp in the [big hall](room) on\n\n## -\nhello there\n")
    assert known == {"on": [Row("lamp in the big hall on", "on", (("room", "big hall"),))]}
    assert foreign == [Row("hello there", None)]


def test_a_seed_splits_every_intent_into_what_is_taught_and_what_is_asked() -> None:
    house = House(HOUSE.read_text())
    task = house.task(1)
    assert {len(rows) for rows in task.drawn.values()} == {HALF}
    taught = {row.text for rows in task.drawn.values() for row in rows}
    asked = [row.text for row in task.test]
    assert len(asked) == len(set(asked)) == HALF * len(task.drawn)
    assert not taught & {*asked, *(row.text for row in task.foreign)}
    assert house.task(1) == task
    assert house.task(2).drawn != task.drawn


def test_every_sentence_makes_a_template_that_has_a_slot_where_the_sentence_has() -> None:
    known, _ = read_house(HOUSE.read_text())
    for rows in known.values():
        for row in rows:
            made = template(row)
            assert len(sentences(made, "en-US")) == 1
            assert ("{" in made) == bool(row.slots)
