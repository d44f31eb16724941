"""A choice of a template's sentences in which every word still occurs.

Templates with many small choices stand for thousands of sentences that differ in an article. An engine that generalises
needs every word in its place, not every combination: each choice is varied while the others stay as they are, once with
everything said that can be left out, and once without.
"""

from __future__ import annotations

from typing import Final

from hark.app.convert.cleaning import trim
from hark.app.convert.splitting import Vocabularies
from hark.app.convert.tree import EMPTY, Alt, Item, Ref, Seq, render, size

_LARGE: Final = 24
"""A choice among more than this is thinned itself."""


def thinned(seq: Seq, known: Vocabularies) -> list[Seq]:
    """Lines that stand for some of the sentences of `seq`, and for no others."""
    lines: dict[str, Seq] = {}
    for said in (False, True):
        fixed = [_fixed(item, known, said) for item in seq.items]
        choices = [place for place, item in enumerate(seq.items) if isinstance(item, (Alt, Ref))]
        for place in choices or [0]:
            items = [Alt((one,)) for one in fixed]
            if choices:
                items[place] = _varied(seq.items[place], known)
            line = trim(Seq(tuple(items)))
            lines.setdefault(render(line), line)
    return list(lines.values())


def _varied(item: Item, known: Vocabularies) -> Alt:
    if isinstance(item, Ref):
        if size(item, known.size) <= _LARGE:
            return Alt((Seq((item,)),))
        item = Alt((known.body(item.name),))
    if not isinstance(item, Alt) or size(item, known.size) <= _LARGE:
        return Alt((Seq((item,)),))
    return Alt(tuple(line for branch in item.branches for line in thinned(branch, known)), item.optional)


def _fixed(item: Item, known: Vocabularies, said: bool) -> Seq:
    """One way to say an item: all of it, or as little as possible."""
    match item:
        case Ref(name):
            return _first(known.body(name), known, said)
        case Alt(branches, optional):
            if optional and not said:
                return EMPTY
            ways = [_first(branch, known, said) for branch in branches]
            return ways[0] if said else min(ways, key=lambda way: len(render(way)))
        case _:
            return Seq((item,))


def _first(seq: Seq, known: Vocabularies, said: bool) -> Seq:
    return Seq(tuple(part for item in seq.items for part in _fixed(item, known, said).items))
