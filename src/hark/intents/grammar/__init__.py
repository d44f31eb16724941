"""Sentence templates: one line that stands for a set of sentences (INTENT-1).

    turn (on|off) [the] {room} light

`(a|b)` is one of several, `[x]` may be left out, `<name>` is one phrase of a vocabulary, `{slot}` is filled by what was
said; groups nest. A type prefix, `{number:count}`, is read and dropped. Nothing can be escaped.
"""

from hark.intents.grammar.checks import Direction, has_word
from hark.intents.grammar.graph import MAX_PLACES, MAX_WORDS, SentenceGraph, build_graph
from hark.intents.grammar.parser import (
    REGISTERED_TYPES,
    Choice,
    Literal,
    Malformed,
    Node,
    Odd,
    Reference,
    Remark,
    Sequence,
    Slot,
    TemplateError,
)
from hark.intents.grammar.template import Sentence, Template, expand, is_slot, parse, phrases, read_template, sentences
from hark.intents.grammar.vocabularies import MAX_COMPARED, MAX_SENTENCES, Source, Vocabularies

__all__ = [
    "MAX_COMPARED",
    "MAX_PLACES",
    "MAX_SENTENCES",
    "MAX_WORDS",
    "REGISTERED_TYPES",
    "Choice",
    "Direction",
    "Literal",
    "Malformed",
    "Node",
    "Odd",
    "Reference",
    "Remark",
    "Sentence",
    "SentenceGraph",
    "Sequence",
    "Slot",
    "Source",
    "Template",
    "TemplateError",
    "Vocabularies",
    "build_graph",
    "expand",
    "has_word",
    "is_slot",
    "parse",
    "phrases",
    "read_template",
    "sentences",
]
