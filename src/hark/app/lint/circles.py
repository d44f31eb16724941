"""Vocabularies that need themselves."""

from __future__ import annotations

from collections.abc import Iterator

from hark.app.lint.finding import Code, Finding
from hark.app.lint.mending import MENDS
from hark.app.lint.sheets import Sheet
from hark.intents.grammar import Malformed, Reference
from hark.intents.locale import Line

_Needs = dict[str, tuple[Line, int]]
"""What a vocabulary refers to, and where first."""


def circles(vocabularies: dict[str, Sheet]) -> Iterator[Finding]:
    """Every circle once, at the reference that closes it."""
    needs = {name: _needs(sheet) for name, sheet in vocabularies.items()}
    done: set[str] = set()
    for start in sorted(needs):
        # Depth first, without recursion: the names on the way, each with those it still has to lead to.
        way = {start: iter(sorted(needs[start]))} if start not in done else {}
        while way:
            name = next(reversed(way))
            needed = next(way[name], None)
            if needed is None:
                done.add(name)
                del way[name]
            elif needed in way:
                names = [*way, needed]
                circle = " → ".join(f"<{step}>" for step in names[names.index(needed) :])
                line, position = needs[name][needed]
                message = f"the vocabulary <{needed}> needs itself: {circle}"
                mend = MENDS[Malformed.CYCLIC_VOCABULARY]
                yield vocabularies[name].finding(line, position, Code.CYCLIC_VOCABULARY, message, mend)
            elif needed in needs and needed not in done:
                way[needed] = iter(sorted(needs[needed]))


def _needs(sheet: Sheet) -> _Needs:
    found: _Needs = {}
    for entry in sheet.entries:
        if entry.template.references:
            for node in entry.template.nodes:
                if isinstance(node, Reference):
                    found.setdefault(node.name, (entry.line, node.position))
    return found
