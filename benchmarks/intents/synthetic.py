"""Intents that look like people's, any number of them, for measuring speed. The same every time.

An intent is a thing that can be done to something ("dim" the "desk lamp"). Verbs, things, frames and slots are shared
by all intents, so hardly any word distinguishes one intent from the others: that is what makes many intents hard.
"""

from __future__ import annotations

import random
import re
from typing import Final, NamedTuple

from intents.corpus import Corpus
from intents.vocabulary import (
    CIRCUMSTANCES,
    DEEDS,
    FRAMES,
    OBJECTS,
    PEOPLE,
    STRANGE_THINGS,
    STRANGE_VERBS,
    THINGS,
    UNKNOWN,
    VALUES,
    VERBS,
)

FIVE: Final = 5
_SLOT = re.compile(r"\{(\w+)\}")


class Synthetic(NamedTuple):
    """A corpus with intents to spare, and sentences to ask."""

    corpus: Corpus
    more: list[tuple[str, list[str], list[str]]]
    """Intents that are not in the corpus: name, templates, sentences."""
    questions: dict[str, list[str]]
    """By sort: matched, unrelated, near miss. Every one is asked once, so nothing gains from remembering answers."""
    right: list[str]
    """The intents of the matched ones."""


def make(intents: int, questions: int, seed: int = 7) -> Synthetic:
    """`intents` intents of five templates; a smaller number gives the first of a larger one."""
    rng = random.Random(f"synthetic {seed}")
    pairs = [(verb, thing) for verb in VERBS for thing in THINGS]
    rng.shuffle(pairs)
    if intents + 20 > len(pairs):
        raise ValueError(f"there are words for {len(pairs) - 20} intents only")
    corpus = Corpus(entities={slot: list(values) for slot, values in VALUES.items()})
    more = []
    for number, (verb, thing) in enumerate(pairs[: intents + 20]):
        own = random.Random(f"intent {seed} {number}")
        frames = [own.choice(FRAMES[:3]), *own.sample(FRAMES[3:], FIVE - 1)]
        templates = [frame.format(verb=verb, thing=thing) for frame in frames]
        spoken = [_filled(template, own, known=True) for template in templates]
        name = f"{verb} {thing}".replace(" ", "_")
        if number < intents:
            corpus.intents[name], corpus.spoken[name] = templates, spoken
        else:
            more.append((name, templates, spoken))
    matched = _matched(corpus, questions, rng)
    asked = {
        "matched": list(matched),
        "unrelated": _unrelated(questions, rng),
        "near miss": _near_misses(pairs[intents + 20 :], questions, rng),
    }
    return Synthetic(corpus, more, asked, list(matched.values()))


def _filled(template: str, rng: random.Random, known: bool) -> str:
    return _SLOT.sub(lambda slot: rng.choice(VALUES[slot[1]] if known else UNKNOWN), template)


def _distinct(count: int, say: list[str]) -> list[str]:
    return list(dict.fromkeys(say))[:count]


def _matched(corpus: Corpus, count: int, rng: random.Random) -> dict[str, str]:
    """Sentences of the templates with their intents; a fifth of them have values that are not registered."""
    templates = [(template, name) for name, templates in corpus.intents.items() for template in templates]
    say: dict[str, str] = {}
    while len(say) < count:
        template, name = rng.choice(templates)
        say.setdefault(_filled(template, rng, rng.random() < 0.8), name)
    return say


def _unrelated(count: int, rng: random.Random) -> list[str]:
    """What people say to each other."""
    parts = (PEOPLE, DEEDS, OBJECTS, CIRCUMSTANCES)
    return _distinct(count, [" ".join(rng.choice(part) for part in parts) for _ in range(count * 4)])


def _near_misses(absent: list[tuple[str, str]], count: int, rng: random.Random) -> list[str]:
    """The frames of the intents with something no intent does: a pair that is not there, or a strange verb or thing."""
    say = []
    for _ in range(count * 4):
        verb, thing = rng.choice(absent) if absent else (rng.choice(VERBS), rng.choice(STRANGE_THINGS))
        sort = rng.randrange(3)
        if sort == 1:
            thing = rng.choice(STRANGE_THINGS)
        elif sort == 2:
            verb = rng.choice(STRANGE_VERBS)
        say.append(_filled(rng.choice(FRAMES).format(verb=verb, thing=thing), rng, known=True))
    return _distinct(count, say)
