"""How right a text is."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from hark.builtin.engines.speech_grammar.grammar import SpokenTemplate, grammar_of
from hark.builtin.engines.speech_grammar.graph import WordGraph
from hark.builtin.engines.speech_grammar.nearest import nearest
from hark.builtin.engines.speech_grammar.spoken_forms import spell
from hark.intents import words
from voice.development import DEVELOPMENT
from voice.held_out import HELD_OUT
from voice.house import BENCHMARK, House

_HOUSES: Final = (BENCHMARK, DEVELOPMENT, HELD_OUT)


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


@lru_cache
def _graph(house: str) -> WordGraph:
    templates, entities = next((one.templates, one.entities) for one in _HOUSES if one.name == house)
    said = (
        SpokenTemplate(text, "en-US", lambda slot: entities.get(slot, ()), True)
        for texts in templates.values()
        for text in texts
    )
    return grammar_of(said).graph


def is_command(text: str, house: House = BENCHMARK) -> bool:
    """Whether a text is, word for word, something the house's skills registered; an open slot holds anything."""
    said = plain(text)
    return bool(said) and any(list(near.words) == said for near in nearest(_graph(house.name), said, 0.0, 5))
