"""Compiling the templates of a registration: patterns, anchor words, and sample sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from hark.intents.grammar import (
    Choice,
    Reference,
    Sentence,
    SentenceGraph,
    Slot,
    Template,
    build_graph,
    is_slot,
    read_template,
    sentences,
)
from hark.intents.patterns.pattern import NO_KINDS, PatternGraph, PatternSentence, SlotKinds

_WHOLE: Final = 1 << 20
_STRIDE: Final = 648_055
"""The golden section of `_WHOLE`: its multiples are evenly distributed and have no period."""


def pick(graph: SentenceGraph, most: int) -> list[Sentence]:
    """At most `most` different sentences, the same every time; all of them if there are no more ways than that."""
    steps = graph.steps()
    ways = _ways(steps)
    total = ways[0]
    picked: dict[Sentence, None] = {}
    for number in _numbers(total, most):
        sentence = _sentence(steps, ways, number)
        if not all(map(is_slot, sentence)):
            picked[sentence] = None
    return list(picked)


def _numbers(total: int, most: int) -> Iterator[int]:
    if total <= most:
        yield from range(total)
        return
    # One from each of `most` equal parts. Not at equal distances: a choice among ten would always come out the same.
    for part in range(most):
        begin, end = part * total // most, (part + 1) * total // most
        yield begin + (end - begin) * ((part + 1) * _STRIDE % _WHOLE) // _WHOLE


def _ways(steps: list[list[tuple[str, int]]]) -> list[int]:
    """How many ways lead from each place to the end."""
    ways = [0] * len(steps)
    ways[-1] = 1
    for place in range(len(steps) - 2, -1, -1):
        ways[place] = sum([ways[to] for _, to in steps[place]])
    return ways


def _sentence(steps: list[list[tuple[str, int]]], ways: list[int], number: int) -> Sentence:
    terms = []
    place = 0
    while steps[place]:
        for term, to in steps[place]:
            if number < ways[to]:
                place = to
                if term:
                    terms.append(term)
                break
            number -= ways[to]
    return tuple(terms)


Anchor = tuple[str, ...]
"""Words of which every sentence has one."""


def anchors(pattern: PatternSentence | PatternGraph) -> list[Anchor]:
    """The anchors of a pattern; never empty."""
    if isinstance(pattern, PatternSentence):
        return [(word,) for word in dict.fromkeys(pattern.sentence) if not is_slot(word)]
    return _of_graph(pattern.graph) or [tuple(pattern.graph.words)]


def _of_graph(graph: SentenceGraph) -> list[Anchor]:
    """The words that all paths begin or end with, between two places that every sentence passes."""
    steps = graph.steps()
    found: dict[Anchor, None] = {}
    begin, furthest = 0, 0
    for place in range(len(steps)):
        if place and furthest <= place:
            found.update(dict.fromkeys(_between(steps, begin, place)))
            begin = place
        furthest = max([furthest, *[to for _, to in steps[place]]])
    return list(found)


def _between(steps: list[list[tuple[str, int]]], begin: int, end: int) -> list[Anchor]:
    first = [term for term, _ in steps[begin]]
    last = [term for place in range(begin, end) for term, to in steps[place] if to == end]
    return [tuple(dict.fromkeys(terms)) for terms in (first, last) if all(term and not is_slot(term) for term in terms)]


Pattern = PatternSentence | PatternGraph
"""One template of an intent."""

SAMPLES: Final = 48
"""The number of sample sentences of an intent; of more, that many are picked. Bounds the cost of registering."""


_SHORT: Final = 400
"""Characters of a template whose pattern may be kept after its registration: bounds what all of them take."""


def compiled(template: str, lang: str) -> Pattern | None:
    """Compile a template; None if it consists of slots only; raises `TemplateError`.

    Matchers, and assistants that follow each other in one process, register the same templates: patterns are shared.
    """
    return _kept(template, lang) if len(template) <= _SHORT else _compiled(template, lang)


@lru_cache(maxsize=1024)  # what others registered and took back must not stay for long
def _kept(template: str, lang: str) -> Pattern | None:
    return _compiled(template, lang)


def _compiled(template: str, lang: str) -> Pattern | None:
    read = read_template(template)
    if not has_choice(read):
        made = sentences(template, lang)
        return PatternSentence(made[0], _kinds(read)) if made else None
    return PatternGraph(template, lang, build_graph(read, lang), _kinds(read))


_BESIDE: Final = "beside_"
"""`{lamp_beside_colour:name}` says that values of the slot `colour` are written out as words beside the slot."""


def _kinds(template: Template) -> SlotKinds:
    """The types its slots are written with."""
    slots = [node for node in template.nodes if isinstance(node, Slot)]
    typed = {node.name for node in slots if node.type}
    if not typed:
        return NO_KINDS
    kinds: dict[str, frozenset[str]] = {}
    beside: set[str] = set()
    for name in typed:
        types = [node.type.partition(_BESIDE) for node in slots if node.name == name]
        beside.update(other for _, _, other in types if other)
        kinds[name] = frozenset([kind.rstrip("_") for kind, _, _ in types])
    if beside:
        kinds[""] = frozenset(beside)
    return kinds


def has_choice(template: Template) -> bool:
    """Whether it can stand for more than one sentence."""
    return any(isinstance(node, (Choice, Reference)) for node in template.nodes)


def sampled(patterns: Sequence[Pattern]) -> tuple[Sentence, ...]:
    """At most `SAMPLES` different sentences, the same every time, and a few more if some slot is in none of them.

    Every template has its share, however many sentences it stands for: each line of an author is an example, each
    combination of its options is not.
    """
    chosen = patterns
    if len(patterns) > SAMPLES:
        chosen = [patterns[place * len(patterns) // SAMPLES] for place in range(SAMPLES)]
    found: dict[Sentence, None] = {}
    waiting = sorted(chosen, key=lambda pattern: isinstance(pattern, PatternGraph))
    for done, pattern in enumerate(waiting):
        share = max(1, (SAMPLES - len(found)) // (len(waiting) - done))
        found.update(
            dict.fromkeys([pattern.sentence] if isinstance(pattern, PatternSentence) else pick(pattern.graph, share))
        )
    return _with_all_slots(patterns, tuple(found))


def _with_all_slots(patterns: Sequence[Pattern], samples: tuple[Sentence, ...]) -> tuple[Sentence, ...]:
    """The samples, and a sentence for every slot that is in none of them."""
    seen = {term for sentence in samples for term in sentence}
    more: list[Sentence] = []
    for pattern in patterns:
        missing = {f"{{{name}}}" for name in slots_of(pattern)} - seen
        if missing:
            sentences = [pattern.sentence] if isinstance(pattern, PatternSentence) else pick(pattern.graph, SAMPLES)
            for sentence in sentences:
                if missing & set(sentence):
                    more.append(sentence)
                    missing -= set(sentence)
                    seen.update(sentence)
    return (*samples, *more)


def slots_of(pattern: Pattern) -> Iterator[str]:
    """The names of the slots that some sentence has, in the order of writing."""
    if isinstance(pattern, PatternSentence):
        yield from (term[1:-1] for term in pattern.sentence if is_slot(term))
    else:
        for name in dict.fromkeys(name for _, _, name in pattern.graph.slots):
            if _can(pattern.graph, name, True):
                yield name


def is_always(slot: str, pattern: Pattern) -> bool:
    """Whether no sentence is without a slot."""
    if isinstance(pattern, PatternSentence):
        return f"{{{slot}}}" in pattern.sentence
    return not _can(pattern.graph, slot, False)


def _can(graph: SentenceGraph, slot: str, wanted: bool) -> bool:
    """Whether some sentence has the slot (or, if not `wanted`, lacks it). A sentence has at least one word."""
    steps = graph.steps()
    term = f"{{{slot}}}"
    # For each place, how it can be reached: bit 0 without word or slot, 1 with a word, 2 with the slot, 3 with both.
    reached = [0] * len(steps)
    reached[0] = 1
    for place, ways in enumerate(reached):
        for said, to in steps[place]:
            if not said or (is_slot(said) and said != term):
                reached[to] |= ways
            elif said == term:
                reached[to] |= (ways & 0b0011) << 2 | ways & 0b1100
            else:
                reached[to] |= (ways & 0b0101) << 1 | ways & 0b1010
    return bool(reached[-1] & (0b1000 if wanted else 0b0010))
