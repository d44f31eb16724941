"""Making the sentences of a tree, one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

from hark.intents.grammar.nodes import Choice, Literal, Node, Reference, Sequence, Slot

Members = Callable[[Reference], tuple[str, ...]]
_Todo = tuple[Node, "_Todo"] | None  # what still follows, as a chain, so that branches share it


def walk(root: Node, members: Members) -> Iterator[str]:
    """Every sentence of a tree, once, in the order of writing, spaces collapsed; made as it is asked for."""
    parts = root.parts if isinstance(root, Sequence) else (root,)
    flat = [_flat(part, members) for part in parts]
    pools = [pool for pool in flat if pool is not None]
    texts = map("".join, product(*pools)) if len(pools) == len(flat) else _nested(root, members)
    seen: set[str] = set()
    for text in texts:
        sentence = " ".join(text.split())
        if sentence not in seen:
            seen.add(sentence)
            yield sentence


def _flat(node: Node, members: Members) -> list[str] | None:
    """The texts of a node without groups in its groups, as most are; None for others."""
    if isinstance(node, Choice):
        found: list[str] = []
        for branch in node.branches:
            texts = _plain(branch, members)
            if texts is None:
                return None
            found += texts
        return found
    return _plain(node, members)


def _plain(node: Node, members: Members) -> list[str] | None:
    """The texts of a node without groups; None for others."""
    if isinstance(node, Literal):
        return [node.text]
    if isinstance(node, Slot):
        return [f"{{{node.name}}}"]
    if isinstance(node, Reference):
        return list(members(node))
    if isinstance(node, Choice):
        return None
    text = ""
    for part in node.parts:
        if isinstance(part, Literal):
            text += part.text
        elif isinstance(part, Slot):
            text += f"{{{part.name}}}"
        else:
            return None
    return [text]


def _nested(root: Node, members: Members) -> Iterator[str]:
    """The texts of any tree, however deep."""
    waiting: list[tuple[str, _Todo]] = [("", (root, None))]
    while waiting:
        text, todo = waiting.pop()
        while todo is not None:
            node, todo = todo
            if isinstance(node, Literal):
                text += node.text
            elif isinstance(node, Slot):
                text += f"{{{node.name}}}"
            elif isinstance(node, Sequence):
                for part in reversed(node.parts):
                    todo = (part, todo)
            elif isinstance(node, Choice):
                waiting += [(text, (branch, todo)) for branch in reversed(node.branches)]
                break
            else:
                waiting += [(text + member, todo) for member in reversed(members(node))]
                break
        else:
            yield text
