"""Answering who asks which transformers are loaded (TRANSFORM-1 §6)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from hark.bus import Bus
from hark.chains.chain import Chain
from hark.model import Message
from hark.spec import topics


class ChainListing:
    """Tells which transformers this process has loaded for each of its chains.

    Where several processes have the same ones, they name a `group`, and one of them answers.
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
        """Say it once unasked, for whoever happens to listen."""
        for chain in self._chains:
            topic = topics.response_topic(topics.transformer_list(chain.kind.name))
            self._bus.emit(Message(topic, _slice(chain)))

    def close(self) -> None:
        """Answer no longer."""
        for subscription in self._subscriptions:
            subscription.close()

    def _answer(self, chain: Chain, query: Message) -> None:
        self._bus.emit(query.response(_slice(chain)))


def _slice(chain: Chain) -> dict[str, object]:
    priorities = {entry.id: entry.plugin.priority for entry in chain.registry}
    return {"loaded": list(priorities), "priorities": priorities}
