"""The templates of a registration, compiled: what each fits, and what an intent is judged by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from hark.intents.grammar import Choice, Graph, Reference, Sentence, Template, is_slot, read_template, sentences, weave
from hark.intents.patterns.line import Line
from hark.intents.patterns.samples import pick
from hark.intents.patterns.web import Web

Pattern = Line | Web
"""One template of an intent."""

SAMPLES: Final = 48
"""Sentences an intent is judged by; of more, that many are picked. Bounds what registering costs."""


def compiled(template: str, lang: str) -> Pattern | None:
    """A template for comparison; None where it is nothing but slots; raises `TemplateError`."""
    read = read_template(template)
    if not has_choice(read):
        made = sentences(template, lang)
        return Line(made[0]) if made else None
    return Web(weave(read, lang))


def has_choice(template: Template) -> bool:
    """Whether it can stand for more than one sentence."""
    return any(isinstance(node, (Choice, Reference)) for node in template.nodes)


def sampled(patterns: Sequence[Pattern]) -> tuple[Sentence, ...]:
    """At most `SAMPLES` different sentences, the same every time, and a few more if some slot is in none of them.

    Every template has its share, however many sentences it stands for: what an author wrote down is an example, what
    can be left out of it is not.
    """
    chosen = patterns
    if len(patterns) > SAMPLES:
        chosen = [patterns[place * len(patterns) // SAMPLES] for place in range(SAMPLES)]
    found: dict[Sentence, None] = {}
    waiting = sorted(chosen, key=lambda pattern: isinstance(pattern, Web))
    for done, pattern in enumerate(waiting):
        share = max(1, (SAMPLES - len(found)) // (len(waiting) - done))
        found.update(dict.fromkeys([pattern.sentence] if isinstance(pattern, Line) else pick(pattern.graph, share)))
    return _with_all_slots(patterns, tuple(found))


def _with_all_slots(patterns: Sequence[Pattern], samples: tuple[Sentence, ...]) -> tuple[Sentence, ...]:
    """The samples, and a sentence for every slot that is in none of them."""
    seen = {term for sentence in samples for term in sentence}
    more: list[Sentence] = []
    for pattern in patterns:
        missing = {f"{{{name}}}" for name in slots_of(pattern)} - seen
        if missing:
            sentences = [pattern.sentence] if isinstance(pattern, Line) else pick(pattern.graph, SAMPLES)
            for sentence in sentences:
                if missing & set(sentence):
                    more.append(sentence)
                    missing -= set(sentence)
                    seen.update(sentence)
    return (*samples, *more)


def slots_of(pattern: Pattern) -> Iterator[str]:
    """The names of the slots that some sentence has, in the order of writing."""
    if isinstance(pattern, Line):
        yield from (term[1:-1] for term in pattern.sentence if is_slot(term))
    else:
        for name in dict.fromkeys(name for _, _, name in pattern.graph.slots):
            if _can(pattern.graph, name, True):
                yield name


def is_always(slot: str, pattern: Pattern) -> bool:
    """Whether no sentence is without a slot."""
    if isinstance(pattern, Line):
        return f"{{{slot}}}" in pattern.sentence
    return not _can(pattern.graph, slot, False)


def _can(graph: Graph, slot: str, wanted: bool) -> bool:
    """Whether some sentence with a word has the slot, or has it not. What has no word is no sentence."""
    steps = graph.steps()
    term = f"{{{slot}}}"
    # Of each place, how it can be reached: bit 0 without word or slot, 1 with a word, 2 with the slot, 3 with both.
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
