"""Answers queries for the loaded transformers (TRANSFORM-1 §6)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from hark.bus import Bus
from hark.chains.chain import Chain
from hark.model import Message
from hark.spec import topics


class ChainListing:
    """Answers which transformers this process has loaded in each of its chains.

    Processes with the same transformers share a `group`: one of them answers.
    """

    def __init__(self, bus: Bus, chains: Iterable[Chain], group: str | None = None) -> None:
        self._bus = bus
        self._chains = tuple(chains)
        self._subscriptions = [
            bus.on(
                topics.transformer_list(chain.kind.name),
                partial(self._answer, chain),
                name="transformer listing",
                group=group,
            )
            for chain in self._chains
        ]

    def announce(self) -> None:
        """Emit the lists once without a query."""
        for chain in self._chains:
            topic = topics.response_topic(topics.transformer_list(chain.kind.name))
            self._bus.emit(Message(topic, _loaded(chain)))

    def close(self) -> None:
        for subscription in self._subscriptions:
            subscription.close()

    def _answer(self, chain: Chain, query: Message) -> None:
        self._bus.emit(query.response(_loaded(chain)))


def _loaded(chain: Chain) -> dict[str, object]:
    priorities = {entry.id: entry.priority for entry in chain.registry if not entry.unloaded}
    found: dict[str, object] = {"loaded": list(priorities), "priorities": priorities}
    suspended = chain.suspended()
    return {**found, "suspended": suspended} if suspended else found
