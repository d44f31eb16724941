"""How right a text is."""

from __future__ import annotations

import re

from hark.builtin.engines.pocketsphinx.grammar import Said, grammar_of
from hark.builtin.engines.pocketsphinx.numbers import spell
from hark.intents import words
from voice.house import ENTITIES, TEMPLATES

_GRAPH = grammar_of(
    [Said(text, "en-US", lambda slot: ENTITIES.get(slot, ())) for texts in TEMPLATES.values() for text in texts]
).graph


def plain(text: str) -> list[str]:
    """The words, figures read aloud: recognisers write "30%" where somebody said "thirty percent"."""
    text = text.replace("%", " percent ").replace("°", " degrees ").replace("-", " ")
    text = re.sub(r"\d{1,6}", lambda found: f" {spell(int(found[0]))} ", text)
    return words(text, "en")


def wrong_words(said: str, heard: str) -> int:
    """Words that have to be put in, taken out or changed."""
    a, b = plain(said), plain(heard)
    row = list(range(len(b) + 1))
    for i, one in enumerate(a, start=1):
        row, last = [i, *row[1:]], row
        for j, other in enumerate(b, start=1):
            row[j] = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (one != other))
    return row[-1]


def is_command(text: str) -> bool:
    """Whether a text is, word for word, something the house's skills registered."""
    return bool(text) and _GRAPH.accepts(plain(text))
