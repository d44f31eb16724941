"""What is compared: text with `*`, `(a|b)`, `[a]` and `{name}`, against what was said."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from hark.app.script.compiling import compiled
from hark.app.script.mistakes import Wrong
from hark.app.script.plain import plain

_FILL: Final = re.compile(r"\\([\\{}#])|\{([^{}]*)\}|([{}])")

Captured = Mapping[str, str]


class _Text:
    """What is written in a line; two are the same when their texts are."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and str(other) == self.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.text!r})"


class Speech(_Text):
    """What a person says: plain text, in which `{name}` is what was captured under that name. Raises `Wrong`."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        found = list(_FILL.finditer(text))
        self.names = frozenset(one[2] for one in found if one[2] is not None)
        """The names it uses."""
        if any(one[3] for one in found) or not all(map(str.isidentifier, self.names)):
            remedy = "write the name of something captured, as in {item}, or \\{ and \\} for braces"
            raise Wrong("these braces mean nothing", remedy)

    def filled(self, captured: Captured) -> str:
        """The text with everything in its place; raises `KeyError` for a name under which nothing was captured."""
        return _FILL.sub(lambda found: captured[found[2]] if found[2] is not None else found[1], self.text)


class Pattern(_Text):
    """What Hark is to say. Case, spaces and the punctuation around words do not count. Raises `Wrong`.

    `*` is any words, also none; `mil*` a word that begins so; `(a|b)` one of them; `[a]` may be missing; `{name}` is
    captured, or, when something was captured under that name before, just that. A backslash takes the meaning away.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._compiled = compiled(text, {})
        self.names = frozenset(self._compiled[1].values())
        """The names it captures, or uses."""

    def match(self, said: str, captured: Captured, *, within: bool = False) -> dict[str, str] | None:
        """What was captured, if `said` is so; None if it is not. `within`: other words may stand around."""
        known = {name: captured[name] for name in self.names if name in captured}
        regex, names = compiled(self.text, known) if known else self._compiled
        heard = plain(said)
        found = re.search(rf"(?<!\S)(?:{regex})(?!\S)", heard) if within else re.fullmatch(regex, heard)
        if found is None:
            return None
        values: dict[str, str] = {}
        for group, name in names.items():
            value = found[group]
            if value is not None and values.setdefault(name, value) != value:
                return None
        return values
