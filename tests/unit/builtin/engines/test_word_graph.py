"""From templates to a graph of words."""

from __future__ import annotations

import pytest

from hark.builtin.engines.speech_grammar import graph as automaton
from hark.builtin.engines.speech_grammar.grammar import Grammar, SpokenTemplate, grammar_of
from hark.builtin.engines.speech_grammar.graph import END, START, GrammarTooLarge, GraphBuilder
from hark.builtin.engines.speech_grammar.spoken_forms import spell
from hark.intents import expand

ROOMS = ("kitchen", "living room")


def grammar(*templates: str, lang: str = "en-US", **values: tuple[str, ...]) -> Grammar:
    return grammar_of([SpokenTemplate(template, lang, lambda slot: values.get(slot, ())) for template in templates])


def accepts(made: Grammar, text: str) -> bool:
    return made.graph.accepts(text.split())


@pytest.mark.parametrize(
    "template",
    [
        "turn on the light",
        "(turn|switch) [on|off] the (light|lamp) [please]",
        "[a [b [c]]] d (e|f (g|h))",
        "light[s] (un|)lock the door",
        "a (b|c)(d|e) f",
    ],
)
def test_the_graph_holds_the_sentences_of_a_template_and_no_others(template: str) -> None:
    made = grammar(template)
    sentences = {tuple(sentence.split()) for sentence in expand(template)}
    for sentence in sentences:
        assert made.graph.accepts(sentence)
        assert not made.graph.accepts((*sentence, "banana"))
        assert not made.graph.accepts(sentence[:-1]) or sentence[:-1] in sentences
    assert not made.graph.accepts(())
    assert made.open == ()


def test_a_slot_holds_the_values_that_were_registered() -> None:
    made = grammar("turn on the {room} light", room=ROOMS)
    assert accepts(made, "turn on the living room light")
    assert not accepts(made, "turn on the bathroom light")


def test_a_slot_that_can_hold_anything_leaves_its_sentences_out() -> None:
    made = grammar("take a note that {text}", "play [{genre}] music")
    assert made.open == ("take a note that {text}",)
    assert accepts(made, "play music")
    assert made.graph.words == {"play", "music"}


def test_of_words_put_together_open_sentences_are_left_out_as_well() -> None:
    made = grammar("light[s] {colour_of_my_dreams}", "door[s] [{anything}]")
    assert made.open == ("light[s] {colour_of_my_dreams}",)
    assert accepts(made, "doors")


def test_typed_slots_hold_numbers_durations_days_and_colours() -> None:
    made = grammar("{number:x} degrees", "timer for {duration:y}", "rain on {date:z}", "make it {color:c}")
    for text in ("seventeen degrees", "a hundred and five degrees", "timer for an hour and a half",
                 "timer for two hours and ten minutes", "timer for half an hour", "timer for two and a half hours",
                 "rain on friday evening", "rain on tomorrow", "make it blue", "zero degrees"):  # fmt: skip
        assert accepts(made, text), text
    for text in ("degrees", "seventeen seventeen degrees", "timer for minutes", "make it loud"):
        assert not accepts(made, text), text


def test_a_slots_name_says_what_it_holds_where_its_type_does_not() -> None:
    assert accepts(grammar("set the volume to {level}"), "set the volume to forty two")
    assert grammar("mach es {level}", lang="de-DE").open == ("mach es {level}",)


def test_what_people_contract_may_be_contracted() -> None:
    made = grammar("what is the time")
    assert accepts(made, "what's the time")
    assert accepts(grammar("what's up"), "what is up")


def test_figures_are_read_aloud() -> None:
    assert accepts(grammar("channel 5"), "channel five")
    assert [spell(n) for n in (0, 7, 13, 20, 42, 300, 117, 2026, 70_000)] == [
        "zero", "seven", "thirteen", "twenty", "forty two", "three hundred", "one hundred seventeen",
        "two thousand twenty six", "seventy thousand"]  # fmt: skip


def test_malformed_templates_are_left_to_the_matcher_to_report() -> None:
    made = grammar("turn (on", "hello")
    assert accepts(made, "hello")
    assert made.open == ()


def test_nothing_is_written_out() -> None:
    """A template of a billion sentences is a few dozen states."""
    words = [f"{chr(97 + n)}{letter}" for n in range(26) for letter in "xy"]
    made = grammar(" ".join(f"[{word}]" for word in words[:30]) + " end")
    assert len(made.graph.arcs) < 40
    assert made.graph.accepts((words[3], words[17], "end"))
    assert not made.graph.accepts((words[17], words[3], "end"))


def test_what_is_common_is_there_once() -> None:
    rooms = [f"turn on the {room} light now please" for room in "abcdefgh"]
    assert len(grammar(*rooms).graph.arcs) == len(grammar(rooms[0]).graph.arcs)


def test_words_can_be_taken_out() -> None:
    graph = grammar("turn (on|off)").graph.without({"off"})
    assert graph.accepts(("turn", "on"))
    assert not graph.accepts(("turn", "off"))
    assert graph.without(()) is graph


def test_a_graph_that_grows_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(automaton, "MAX_STATES", 10)
    with pytest.raises(GrammarTooLarge):
        grammar("a b c d e f g h i j k l")


def test_an_empty_phrase_is_no_word() -> None:
    draft = GraphBuilder()
    draft.phrase(START, (), END)
    assert draft.graph().accepts(())
