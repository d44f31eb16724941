"""Which transformers run, and in which order (TRANSFORM-1 §§4 and 5)."""

from __future__ import annotations

import logging
from typing import Any

from hark.hosting import Loaded, Registry
from hark.model import Session
from hark.model.merge import Denials
from hark.plugins import Transformer
from hark.spec.names import TransformerType

log = logging.getLogger("hark.chains")

Chained = tuple[Loaded[Transformer], ...]


class Composition:
    """Preference, then availability, then policy: the chain of one kind for one session."""

    def __init__(self, kind: TransformerType, registry: Registry[Any], order: tuple[str, ...] | None) -> None:
        self.registry: Registry[Transformer] = registry
        self._order = order
        """The deployer's explicit list; None leaves it to the priorities."""
        self._preference = f"{kind}_transformers"
        self._denylist = f"blacklisted_{kind}_transformers"
        self._deployed: Chained = ()
        self._version = -1

    def reorder(self, order: tuple[str, ...] | None) -> None:
        """Go by another list of the deployer, or by the priorities; each run that begins after this does."""
        self._order = order
        self._version = -1

    def deployed(self) -> Chained:
        """The chain of a session that asks for nothing."""
        if self._version != self.registry.version:
            self._version = self.registry.version
            if self._order is None:
                self._deployed = tuple(sorted(self.registry, key=lambda entry: entry.plugin.priority))
            else:
                self._deployed = self._named(self._order)
        return self._deployed

    def effective(self, session: Session, denials: Denials) -> Chained:
        """The chain of this session. Asking only for what is not there gives an empty chain, never the deployed one."""
        preferred = session.get(self._preference)
        chain = self.deployed() if preferred is None else self._named(preferred)
        if denials and (denied := denials.denied(self._denylist)):
            chain = tuple(entry for entry in chain if entry.id not in denied)
        return chain

    def _named(self, ids: tuple[str, ...]) -> Chained:
        found = []
        for transformer_id in dict.fromkeys(ids):
            entry = self.registry.get(transformer_id)
            if entry is None:
                log.debug("no %s transformer %r is loaded", self.registry.kind, transformer_id)
            else:
                found.append(entry)
        return tuple(found)
