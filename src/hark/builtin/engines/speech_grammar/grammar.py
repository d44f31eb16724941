"""From registered templates to a graph of words, without enumerating their sentences."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Final, NamedTuple

from hark.builtin.engines.speech_grammar.graph import ANYTHING, END, START, GraphBuilder, WordGraph
from hark.builtin.engines.speech_grammar.spoken_forms import spell_digits, writers
from hark.intents import TemplateError
from hark.intents.grammar import Choice, Literal, Node, Reference, Slot, Template, is_slot, parse
from hark.intents.text import contractions, spoken_words

Values = Callable[[str], Collection[str]]
"""The registered values of a slot; none when it can hold anything."""

# A word that is made of pieces, as in `light[s]`: only such a template is enumerated.
_GLUED: Final = re.compile(r"[^\s(\[{<|][(\[{<]|[)\]}>][^\s)\]}>|]")


class SpokenTemplate(NamedTuple):
    """A registered template, and the values of its slots."""

    template: str
    lang: str
    values: Values
    fill: bool = False
    """Whether slots that can hold anything are in the graph, as `ANYTHING`."""


class Grammar(NamedTuple):
    """The sentences that can be recognised, and the templates that were left out."""

    graph: WordGraph
    open: tuple[str, ...]
    """Templates without a sentence in the graph, because a slot can hold anything."""


def grammar_of(templates: Iterable[SpokenTemplate]) -> Grammar:
    """One graph for all templates."""
    builder = GraphBuilder()
    left_out = [spoken.template for spoken in templates if not _write(builder, spoken)]
    return Grammar(builder.graph(), tuple(dict.fromkeys(left_out)))


def _write(builder: GraphBuilder, spoken: SpokenTemplate) -> bool:
    """Write a template into the graph; False when none of its sentences can be."""
    try:
        template = parse(spoken.template)
        enumerated = _enumerated(template, spoken) if _GLUED.search(spoken.template) else None
    except TemplateError:
        return True  # the matcher reports it
    if enumerated is not None:
        return sum(enumerated(builder)) > 0
    return _write_tree(builder, template, spoken)


def _enumerated(template: Template, spoken: SpokenTemplate) -> Callable[[GraphBuilder], Iterator[bool]]:
    types = {node.name: node.type for node in template.nodes if isinstance(node, Slot)}
    sentences = tuple(template.samples())

    def write(builder: GraphBuilder) -> Iterator[bool]:
        for sentence in sentences:
            state = START
            for part in re.split(r"(\{\w+\})", sentence):
                if not part.strip():
                    continue
                after = builder.state()
                if is_slot(part):
                    if not _write_slot(builder, part[1:-1], types[part[1:-1]], spoken, state, after):
                        break
                else:
                    _write_words(builder, part, spoken.lang, state, after)
                state = after
            else:
                builder.skip(state, END)
                yield True

    return write


def _write_tree(builder: GraphBuilder, template: Template, spoken: SpokenTemplate) -> bool:
    """Each node becomes two states with its sentences between them; True when there is a path from start to end."""
    ends: dict[Node, tuple[int, int]] = {}
    paths: dict[Node, bool] = {}
    for node in template.nodes:  # in post-order
        start, end = ends[node] = builder.state(), builder.state()
        if isinstance(node, Literal):
            _write_words(builder, node.text, spoken.lang, start, end)
            paths[node] = True
        elif isinstance(node, Slot):
            paths[node] = _write_slot(builder, node.name, node.type, spoken, start, end)
        elif isinstance(node, Choice):
            for branch in node.branches:
                builder.skip(start, ends[branch][0])
                builder.skip(ends[branch][1], end)
            paths[node] = any(paths[branch] for branch in node.branches)
        elif isinstance(node, Reference):
            paths[node] = False  # registrations contain their vocabularies
        else:
            state = start
            for part in node.parts:
                builder.skip(state, ends[part][0])
                state = ends[part][1]
            builder.skip(state, end)
            paths[node] = all(paths[part] for part in node.parts)
    builder.skip(START, ends[template.root][0])
    builder.skip(ends[template.root][1], END)
    return paths[template.root]


def _write_slot(builder: GraphBuilder, name: str, type: str, spoken: SpokenTemplate, start: int, end: int) -> bool:
    values = spoken.values(name)
    for value in values:
        _write_words(builder, value, spoken.lang, start, end)
    if values:
        return True
    found = writers(name, type, spoken.lang)
    for write in found:
        write(builder, start, end)
    if not found and spoken.fill:
        builder.word(start, ANYTHING, end)
    return bool(found) or spoken.fill


def _write_words(builder: GraphBuilder, text: str, lang: str, start: int, end: int) -> None:
    """A sequence of words, digits spelled out, contractions as alternatives."""
    row = [part for word in spoken_words(text, lang) for part in _spelled(word)]
    if not row:
        builder.skip(start, end)
        return
    states = [start, *(builder.state() for _ in row[1:]), end]
    short = {long: short for short, long in contractions(lang).items() if long.count(" ") == 1}
    for place, word in enumerate(row):
        builder.word(states[place], word, states[place + 1])
        if contracted := short.get(" ".join(row[place : place + 2])):
            builder.word(states[place], contracted, states[place + 2])


def _spelled(word: str) -> list[str]:
    """`5` as "five", `c-5` as "c", "five"."""
    return spell_digits(word.replace("-", " ")).split()
