"""The synthetic intents the speed tables are measured with, and how results are shown."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from intents.picture import Line, draw
from intents.report import write
from intents.scores import Point
from intents.synthetic import make
from intents.tables import seconds


def test_fewer_intents_are_the_first_of_more() -> None:
    few, many = make(10, 5).corpus, make(100, 5).corpus
    assert few.intents == many.head(10).intents
    assert few.spoken == many.head(10).spoken


def test_every_intent_has_five_templates_of_its_own() -> None:
    corpus = make(300, 5).corpus
    templates = [template for templates in corpus.intents.values() for template in templates]
    assert {len(templates) for templates in corpus.intents.values()} == {5}
    assert len(set(templates)) == 1500


def test_questions_are_asked_once_each() -> None:
    made = make(100, 200)
    for questions in made.questions.values():
        assert len(set(questions)) == len(questions) == 200


def test_small_numbers_of_intents_have_sentences_enough() -> None:
    made = make(10, 400)
    assert len(made.questions["matched"]) == len(made.right) == 400
    assert set(made.right) == set(made.corpus.intents)


def test_what_is_added_later_is_not_there_yet() -> None:
    made = make(50, 5)
    assert not {name for name, _, _ in made.more} & set(made.corpus.intents)


def test_more_intents_than_words_are_refused() -> None:
    with pytest.raises(ValueError, match="words for 1180 intents"):
        make(1181, 1)


@pytest.mark.parametrize(("value", "said"), [(2.5, "2.50 s"), (0.0123, "12.3 ms"), (0.0004, "400 µs")])
def test_times_are_told_in_the_unit_people_use(value: float, said: str) -> None:
    assert seconds(value) == said


def test_a_picture_has_a_line_and_a_name_for_each_engine() -> None:
    lines = [Line("ours & more", [Point(0.0, 0.2), Point(1.0, 0.9)], [Point(0.1, 0.5)], ours=True)]
    lines.append(Line("theirs", [Point(0.0, 0.1), Point(1.0, 0.9)], []))
    root = ElementTree.fromstring(draw("a title", lines))
    svg = "{http://www.w3.org/2000/svg}"
    names = [text.text for text in root.iter(f"{svg}text")]
    heights = [float(text.attrib["y"]) for text in root.iter(f"{svg}text") if text.text in ("ours & more", "theirs")]
    assert len(list(root.iter(f"{svg}polyline"))) == 2
    assert {"a title", "ours & more", "theirs"} <= set(names)
    assert abs(heights[0] - heights[1]) >= 18


def test_a_page_keeps_what_stands_outside_the_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- speed -->\nold\n<!-- end of speed -->\nafter\n")
    write(page, {"speed": "new"})
    assert page.read_text() == "before\n<!-- speed -->\n\nnew\n\n<!-- end of speed -->\nafter\n"
    with pytest.raises(ValueError, match="no place for accuracy"):
        write(page, {"accuracy": "lost"})
