"""One of the many ways a template can be said, without making the others."""

from __future__ import annotations

from collections.abc import Set
from random import Random

from hark.intents.grammar import Choice, Literal, Node, Sequence, Slot, Template, Vocabularies


def phrase(
    template: Template, vocabularies: Vocabularies, random: Random, left_out: Set[str] = frozenset()
) -> str | None:
    """A sentence of `template`, slots as `{name}`, each choice left to `random`.

    None of the slots in `left_out` is in it; None when there is no such sentence.
    """
    said: dict[Node, str | None] = {}
    for node in template.nodes:  # parts come ahead of the whole
        if isinstance(node, Literal):
            said[node] = node.text
        elif isinstance(node, Slot):
            said[node] = None if node.name in left_out else f"{{{node.name}}}"
        elif isinstance(node, Sequence):
            said[node] = _joined([said[part] for part in node.parts])
        elif isinstance(node, Choice):
            possible = [text for branch in node.branches if (text := said[branch]) is not None]
            said[node] = random.choice(possible) if possible else None
        else:
            said[node] = random.choice(vocabularies.members(node.name))
    text = said[template.root]
    return None if text is None else " ".join(text.split())


def _joined(parts: list[str | None]) -> str | None:
    texts = [part for part in parts if part is not None]
    return "".join(texts) if len(texts) == len(parts) else None
