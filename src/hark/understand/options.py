"""What a deployment decides about understanding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from hark.model import Frozen, Session, converse
from hark.model.frozen import EMPTY, Sealed
from hark.model.session_merge import Denials
from hark.spec.names import DENYLISTS

_DENYLISTS: Final = frozenset(DENYLISTS)
_NOTHING_DENIED: Final = Denials()


class PipelineEntry(msgspec.Struct, frozen=True):
    """What a pipeline entry stands for: a plugin, and its configuration at this place."""

    plugin: str
    config: Frozen = EMPTY


class TurnOptions(msgspec.Struct, frozen=True):
    """The deployment's answers to everything a session leaves open."""

    lang: str = "en-US"
    """The language of an utterance that shows no other."""
    langs: frozenset[str] = frozenset({"en-US"})
    """Every enabled language, in canonical case."""
    pipeline: tuple[str, ...] = ()
    """The entries asked when the session names none, in order."""
    entries: Mapping[str, PipelineEntry] = {}
    """Entries that are more than a plugin's id."""
    denylists: Mapping[str, tuple[str, ...]] = {}
    """What is denied to sessions that carry no list of their own, by session field."""
    protect_skills: bool = True
    """Whether only a skill itself may deregister it (ruling R12)."""
    max_open_turns: int = 1_000
    accept_within: float = 2.0
    """Seconds in which a handler must take a dispatch."""
    handler_limit: float | None = None
    """Seconds a handler may take; None leaves it all the time it wants."""
    beat: float = 2.0
    """Seconds between two signs of life of a handler host; three missed ones and it is lost."""
    converse_cap: int = converse.CAP
    """How many handlers of a session may be offered the next utterance."""
    converse_ttl: float | None = converse.TTL
    """Seconds for which they are; None keeps them until there are too many."""
    context_topics: bool = True
    """Whether skills may remember and forget by `ovos.context.set`, `.unset` and `.clear`."""
    grace: float = 5.0
    """Seconds that open turns are given at shutdown."""

    def entry(self, name: str) -> PipelineEntry:
        """What an entry of the pipeline stands for."""
        return self.entries.get(name) or PipelineEntry(name)

    def denials_for(self, session: Session) -> Denials:
        """The denylists in force for a session: its own where it has one, else the deployment's."""
        if _DENYLISTS.isdisjoint(session):
            return self._deployed
        others = {name: denied for name, denied in self.denylists.items() if name not in session}
        return Denials(Denials.of(session).lists, Sealed(others))

    @property
    def _deployed(self) -> Denials:
        return Denials(deployed=Sealed(self.denylists)) if self.denylists else _NOTHING_DENIED
