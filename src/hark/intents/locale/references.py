"""Vocabularies put in the place of their names: what registrations carry has no `<name>` left (INTENT-1 §3.7)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

_REFERENCE: Final = re.compile(r"<(\w+)>")


def inlined(template: str, members: Callable[[str], Sequence[str]]) -> str:
    """A well-formed `template` with every `<name>` replaced by a group of the templates `members` has for it.

    The result stands for the same sentences and is hardly longer, which expanding would not achieve.
    """

    def group(reference: re.Match[str]) -> str:
        texts = [inlined(text, members) for text in members(reference[1])]
        # A group of one is no group: tools are to warn of those.
        return texts[0] if len(texts) == 1 else f"({'|'.join(texts)})"

    return _REFERENCE.sub(group, template)
