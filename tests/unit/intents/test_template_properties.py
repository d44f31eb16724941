"""What is drawn from a template is found again."""

from __future__ import annotations

import random
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pools import ask, register

from hark.intents import Found, Rejected, TemplateError, TemplatePool, expand, sentences

LITERALS = ("turn", "on", "off", "the", "light", "in", "to", "please", "Now", "it's")
VALUES = ("kitchen", "red", "42", "jazz")
SLOTS = ("{room}", "{number:count}", "{{name}}")


def templates(*leaves: str) -> st.SearchStrategy[str]:
    """Templates over these words, well-formed or not."""
    return st.recursive(
        st.sampled_from(leaves),
        lambda inner: st.one_of(
            st.lists(inner, min_size=2, max_size=4).map(" ".join),
            st.lists(inner, min_size=2, max_size=3).map(lambda branches: f"({'|'.join(branches)})"),
            inner.map(lambda part: f"[{part}]"),
        ),
        max_leaves=8,
    )


def well_formed(template: str) -> bool:
    try:
        return bool(sentences(template, "en-US"))
    except TemplateError:
        return False


@settings(deadline=None)
@given(st.lists(templates(*LITERALS).filter(well_formed), min_size=1, max_size=5, unique=True), st.data())
def test_every_sentence_without_slots_leads_back_to_an_intent_that_has_it(
    chosen: list[str], data: st.DataObject
) -> None:
    pool = TemplatePool()
    for number, template in enumerate(chosen):
        register(pool, f"a.b:i{number}", template)
    sentence = data.draw(st.sampled_from(expand(data.draw(st.sampled_from(chosen)))))
    found = ask(pool, sentence.upper() + "?")
    assert isinstance(found, Found)
    owners = [f"i{number}" for number, template in enumerate(chosen) if sentence in expand(template)]
    fitting = [f"i{n}" for n, t in enumerate(chosen) if sentences(sentence, "en-US")[0] in sentences(t, "en-US")]
    assert found.intent.intent_name == fitting[0]
    assert set(owners) <= set(fitting)


@settings(deadline=None)
@given(templates(*LITERALS, *SLOTS).filter(well_formed), st.randoms(use_true_random=False), st.data())
def test_every_sentence_with_slots_leads_back_with_its_values(
    template: str, chance: random.Random, data: st.DataObject
) -> None:
    pool = TemplatePool()
    register(pool, "a.b:i", template)
    sentence = data.draw(st.sampled_from(sentences(template, "en-US")))
    values = []
    said = []
    for word in sentence:
        if word.startswith("{"):
            values.append(" ".join(chance.choices(VALUES, k=chance.randint(1, 3))))
            said.append(values[-1])
        else:
            said.append(word)
    found = ask(pool, " ".join(said))
    assert isinstance(found, Found)
    assert list(found.slots.values()) == values


@settings(deadline=None)
@given(st.text(alphabet="ab (|)[]{}<>:x_", max_size=30))
def test_any_text_is_a_template_or_a_template_error(text: str) -> None:
    if well_formed(text):
        assert all(sentences(text))
    else:
        with pytest.raises(TemplateError) as error:
            sentences(text, "en-US")
        assert 0 <= error.value.position <= len(text)


@settings(deadline=None)
@given(st.lists(templates(*LITERALS, *SLOTS), min_size=1, max_size=6), st.data())
def test_what_is_removed_leaves_the_rest_as_if_it_had_never_been(chosen: list[str], data: st.DataObject) -> None:
    gone = data.draw(st.sets(st.integers(0, len(chosen) - 1)))
    used, fresh = TemplatePool(), TemplatePool()
    for number, template in enumerate(chosen):
        for pool in (used,) if number in gone else (used, fresh):
            with suppress(Rejected):
                register(pool, f"s{number}.skill:i", template)
    for number in gone:
        used.apply("ovos.skill.deregister", {"skill_id": f"s{number}.skill"}, "default")
    text = data.draw(st.lists(st.sampled_from(LITERALS + VALUES), min_size=1, max_size=6).map(" ".join))
    found, expected = (
        (answer.intent.label, answer.slots) if isinstance(answer, Found) else None
        for answer in (ask(used, text), ask(fresh, text))
    )
    assert found == expected


@settings(deadline=None)
@given(st.text(max_size=60))
def test_any_utterance_is_answered(text: str) -> None:
    pool = TemplatePool()
    register(pool, "a.b:i", "turn {x} on", "say {y}", "hello")
    assert isinstance(ask(pool, text), (str, Found))
    assert isinstance(ask(pool, f"say {text} x"), Found)
