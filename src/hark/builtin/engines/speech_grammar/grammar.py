"""From what skills registered to a graph of words. Templates are not written out, however many sentences they hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Final, NamedTuple

from hark.builtin.engines.speech_grammar.graph import ANYTHING, END, START, GraphBuilder, WordGraph
from hark.builtin.engines.speech_grammar.spoken_forms import spell, writers
from hark.intents import TemplateError
from hark.intents.grammar import Choice, Literal, Node, Reference, Slot, Template, is_slot, parse
from hark.intents.text import contractions, spoken_words

Values = Callable[[str], Collection[str]]
"""The values a slot is known to take; none when nobody registered any."""

# A word that is put together from pieces, as in `light[s]`: such a template is written out, nothing else will do.
_GLUED: Final = re.compile(r"[^\s(\[{<|][(\[{<]|[)\]}>][^\s)\]}>|]")
_FIGURES: Final = re.compile(r"\d{1,6}")


class SpokenTemplate(NamedTuple):
    """One template that may be said, and what its slots can hold."""

    template: str
    lang: str
    values: Values
    fill: bool = False
    """Whether slots that can hold anything are kept, as a place for `ANYTHING`."""


class Grammar(NamedTuple):
    """What can be understood, and what had to be left out."""

    graph: WordGraph
    open: tuple[str, ...]
    """Templates of which nothing is left, because a slot can hold anything."""


def grammar_of(all_said: Iterable[SpokenTemplate]) -> Grammar:
    """One graph for everything that may be said."""
    draft = GraphBuilder()
    left_out = [said.template for said in all_said if not _write(draft, said)]
    return Grammar(draft.graph(), tuple(dict.fromkeys(left_out)))


def _write(draft: GraphBuilder, said: SpokenTemplate) -> bool:
    """Write a template into the draft; False when none of its sentences can be."""
    try:
        template = parse(said.template)
        written_out = _written_out(template, said) if _GLUED.search(said.template) else None
    except TemplateError:
        return True  # somebody else has complained about it
    if written_out is not None:
        return sum(written_out(draft)) > 0
    return _write_tree(draft, template, said)


def _written_out(template: Template, said: SpokenTemplate) -> Callable[[GraphBuilder], Iterator[bool]]:
    types = {node.name: node.type for node in template.nodes if isinstance(node, Slot)}
    sentences = tuple(template.samples())

    def write(draft: GraphBuilder) -> Iterator[bool]:
        for sentence in sentences:
            state = START
            for part in re.split(r"(\{\w+\})", sentence):
                if not part.strip():
                    continue
                after = draft.state()
                if is_slot(part):
                    if not _write_slot(draft, part[1:-1], types[part[1:-1]], said, state, after):
                        break
                else:
                    _write_words(draft, part, said.lang, state, after)
                state = after
            else:
                draft.skip(state, END)
                yield True

    return write


def _write_tree(draft: GraphBuilder, template: Template, said: SpokenTemplate) -> bool:
    """Each node becomes two states with its sentences between them; True when there is a way from start to end."""
    ends: dict[Node, tuple[int, int]] = {}
    ways: dict[Node, bool] = {}
    for node in template.nodes:  # parts come before the whole
        start, end = ends[node] = draft.state(), draft.state()
        if isinstance(node, Literal):
            _write_words(draft, node.text, said.lang, start, end)
            ways[node] = True
        elif isinstance(node, Slot):
            ways[node] = _write_slot(draft, node.name, node.type, said, start, end)
        elif isinstance(node, Choice):
            for branch in node.branches:
                draft.skip(start, ends[branch][0])
                draft.skip(ends[branch][1], end)
            ways[node] = any(ways[branch] for branch in node.branches)
        elif isinstance(node, Reference):
            ways[node] = False  # registrations carry their vocabularies with them
        else:
            state = start
            for part in node.parts:
                draft.skip(state, ends[part][0])
                state = ends[part][1]
            draft.skip(state, end)
            ways[node] = all(ways[part] for part in node.parts)
    draft.skip(START, ends[template.root][0])
    draft.skip(ends[template.root][1], END)
    return ways[template.root]


def _write_slot(draft: GraphBuilder, name: str, type: str, said: SpokenTemplate, start: int, end: int) -> bool:
    values = said.values(name)
    for value in values:
        _write_words(draft, value, said.lang, start, end)
    if values:
        return True
    found = writers(name, type, said.lang)
    for write in found:
        write(draft, start, end)
    if not found and said.fill:
        draft.word(start, ANYTHING, end)
    return bool(found) or said.fill


def _write_words(draft: GraphBuilder, text: str, lang: str, start: int, end: int) -> None:
    """A row of words, figures read aloud; what people contract may be contracted."""
    row = [part for word in spoken_words(text, lang) for part in _aloud(word)]
    if not row:
        draft.skip(start, end)
        return
    states = [start, *(draft.state() for _ in row[1:]), end]
    short = {long: short for short, long in contractions(lang).items() if long.count(" ") == 1}
    for place, word in enumerate(row):
        draft.word(states[place], word, states[place + 1])
        if contracted := short.get(" ".join(row[place : place + 2])):
            draft.word(states[place], contracted, states[place + 2])


def _aloud(word: str) -> list[str]:
    """`5` as "five", `c-5` as "c", "five"."""
    return _FIGURES.sub(lambda found: f" {spell(int(found[0]))} ", word.replace("-", " ")).split()
