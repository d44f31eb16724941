"""What an engine is taught: the same for every engine."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(slots=True)
class Corpus:
    """Intents with their templates, the known values of the slots, and the sentences the templates were made from."""

    intents: dict[str, list[str]] = field(default_factory=dict)
    """Templates of INTENT-1 by intent; a slot is written `{name}`."""
    entities: dict[str, list[str]] = field(default_factory=dict)
    """Known values by slot."""
    spoken: dict[str, list[str]] = field(default_factory=dict)
    """The plain sentences behind the templates, one each: what an engine without slots is taught."""

    def to_json(self) -> dict[str, Any]:
        """As plain objects."""
        return asdict(self)

    def head(self, count: int) -> Corpus:
        """The first `count` intents."""
        names = list(self.intents)[:count]
        return Corpus({n: self.intents[n] for n in names}, self.entities, {n: self.spoken[n] for n in names})
