"""Random templates, well-formed or not."""

from __future__ import annotations

from hypothesis import strategies as st

VOCABULARIES = {
    "color": ["red", "(light|dark) blue"],
    "nest": ["<color> paint", "tin"],
    "one": ["solo"],
    "sign": ["!", "ok"],
    "loop": ["<pool>"],
    "pool": ["x", "<loop>"],
    "slotted": ["a {b}"],
    "nothing": [],
    "blank": ["[x]"],
}

WORDS = ("turn", "on", "the", "b", "c", ",", "-", "5:30", "Ü")
NAMED = ("{a}", "{b}", "{{c}}", "{date:a}", "{datex:b}", "<color>", "<nest>", "<one>", "<sign>")
ODD = (
    "{_a}",
    "{A}",
    "{1}",
    "{ a }",
    "{}",
    "<loop>",
    "<nope>",
    "<Color>",
    "<slotted>",
    "<nothing>",
    "<blank>",
    "()",
    "|",
)

_leaves = st.one_of(st.sampled_from(WORDS), st.sampled_from(WORDS), st.sampled_from(NAMED))


def _groups(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    branches = st.lists(st.one_of(inner, inner, inner, st.just("")), min_size=1, max_size=3).map("|".join)
    return st.one_of(
        st.tuples(st.lists(inner, min_size=2, max_size=4), st.sampled_from([" ", " ", ""])).map(
            lambda made: made[1].join(made[0])
        ),
        branches.map(lambda text: f"({text})"),
        branches.map(lambda text: f"[{text}]"),
    )


nested = st.recursive(_leaves, _groups, max_leaves=9)
"""Mostly well-formed."""

odd = st.recursive(st.one_of(_leaves, st.sampled_from(ODD)), _groups, max_leaves=6)
"""Often with something in it that is no part of a template."""

noise = st.text(alphabet="ab ,(|)[]{}<>:_A1", max_size=16)
"""Hardly ever well-formed."""

templates = st.one_of(nested, nested, odd, noise)
