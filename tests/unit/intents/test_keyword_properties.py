"""The engine against one that tries everything."""

from __future__ import annotations

from contextlib import suppress
from itertools import product
from typing import Any, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st
from keyword_pools import ask, register

from hark.intents import Rejected
from hark.intents.keyword import KeywordPool, Spotted

WORDS = ("a", "b", "c", "d")
phrases = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
vocabularies = st.lists(phrases, min_size=1, max_size=3)
utterances = st.lists(st.sampled_from((*WORDS, "x")), min_size=1, max_size=6)


class Definition(NamedTuple):
    required: dict[str, list[str]]
    one_of: list[dict[str, list[str]]]
    optional: dict[str, list[str]]
    excluded: dict[str, list[str]]

    def fields(self) -> dict[str, Any]:
        def described(named: dict[str, list[str]]) -> list[dict[str, Any]]:
            return [{"name": name, "samples": samples} for name, samples in named.items()]

        return {
            "required": described(self.required),
            "one_of": [described(group) for group in self.one_of],
            "optional": described(self.optional),
            "excluded": described(self.excluded),
        }

    def captured(self) -> dict[str, list[str]]:
        grouped = {name: samples for group in self.one_of for name, samples in group.items()}
        return {**self.required, **grouped, **self.optional}


def named(prefix: str, most: int, least: int = 0) -> st.SearchStrategy[dict[str, list[str]]]:
    return st.lists(vocabularies, min_size=least, max_size=most).map(
        lambda found: {f"{prefix}{number}": samples for number, samples in enumerate(found)}
    )


definitions = st.builds(
    Definition,
    required=named("r", 2),
    one_of=st.one_of(st.just([]), named("g", 2, 1).map(lambda group: [group])),
    optional=named("o", 2),
    excluded=named("e", 1),
).filter(lambda one: bool(one.required or one.one_of))


def spans(said: list[str], samples: list[str]) -> list[tuple[int, int]]:
    """Every place where one of the phrases stands, longest and leftmost first."""
    found = {
        (start, start + len(phrase.split()))
        for phrase in samples
        for start in range(len(said))
        if said[start : start + len(phrase.split())] == phrase.split()
    }
    return sorted(found, key=lambda span: (span[0] - span[1], span[0]))


def verdict(definition: Definition, said: list[str]) -> tuple[int, int, dict[str, str]] | None:
    """Words explained, roles unused and slots, by trying everything; None when a constraint does not hold."""
    there = {name: found for name, samples in definition.captured().items() if (found := spans(said, samples))}
    if any(name not in there for name in definition.required):
        return None
    if any(there.keys().isdisjoint(group) for group in definition.one_of):
        return None
    if any(spans(said, samples) for samples in definition.excluded.values()):
        return None

    def cost(chosen: tuple[tuple[int, int], ...]) -> tuple[int, int]:
        used = [place for start, end in chosen for place in range(start, end)]
        return len(used) - len(set(used)), -len(set(used))

    best = min(product(*there.values()), key=cost)
    unused = sum(name not in there for name in (*definition.required, *definition.optional))
    slots = {name: " ".join(said[start:end]) for name, (start, end) in zip(there, best, strict=True)}
    return -cost(best)[1], unused, slots


@settings(deadline=None, max_examples=200)
@given(st.lists(definitions, min_size=1, max_size=5), utterances)
def test_the_engine_finds_what_trying_everything_finds(chosen: list[Definition], said: list[str]) -> None:
    pool = KeywordPool()
    for number, definition in enumerate(chosen):
        register(pool, f"s{number}.skill:i", **definition.fields())
    judged = [(found, number) for number, one in enumerate(chosen) if (found := verdict(one, said)) is not None]
    answer = ask(pool, " ".join(said), floor=0.0)
    if not judged:
        assert isinstance(answer, str)
        return
    (explained, _, slots), number = min(judged, key=lambda one: (-one[0][0], one[0][1], one[1]))
    assert isinstance(answer, Spotted), answer
    assert (answer.intent.label, answer.slots) == (f"s{number}.skill:i", slots)
    assert answer.score == explained / len(said)
    at_half = ask(pool, " ".join(said), floor=0.5)
    assert isinstance(at_half, Spotted) is (explained / len(said) >= 0.5)


@settings(deadline=None)
@given(st.lists(definitions, min_size=1, max_size=6), st.data(), utterances)
def test_what_is_removed_leaves_the_rest_as_if_it_had_never_been(
    chosen: list[Definition], data: st.DataObject, said: list[str]
) -> None:
    gone = data.draw(st.sets(st.integers(0, len(chosen) - 1)))
    used, fresh = KeywordPool(), KeywordPool()
    for number, definition in enumerate(chosen):
        for pool in (used,) if number in gone else (used, fresh):
            register(pool, f"s{number}.skill:i", **definition.fields())
    for number in gone:
        used.apply("ovos.skill.deregister", {"skill_id": f"s{number}.skill"}, "default")
    found, expected = (
        (answer.intent.label, answer.slots) if isinstance(answer, Spotted) else None
        for answer in (ask(used, " ".join(said), floor=0.0), ask(fresh, " ".join(said), floor=0.0))
    )
    assert found == expected


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(("go", "(a|b)", "[c]", "{d}")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(("name", "samples")), inner),
    max_leaves=12,
)


@settings(deadline=None, max_examples=100)
@given(st.fixed_dictionaries(dict.fromkeys(("required", "one_of", "optional", "excluded"), values)))
def test_any_payload_is_a_registration_or_rejected(fields: dict[str, Any]) -> None:
    pool = KeywordPool()
    with suppress(Rejected):
        register(pool, "a.b:i", **fields)
        assert list(pool.intents("default"))
    assert isinstance(ask(pool, "go a b c"), (str, Spotted))


@settings(deadline=None)
@given(st.text(max_size=60))
def test_any_utterance_is_answered(text: str) -> None:
    pool = KeywordPool()
    register(pool, "a.b:i", required=[{"name": "go", "samples": ["go"]}])
    assert isinstance(ask(pool, text), (str, Spotted))
    assert isinstance(ask(pool, f"{text} go", floor=0.0), Spotted)
