"""Pipeline plugins: who claims an utterance."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from hark.model import Frozen, Match, Message, Session
from hark.plugins.base import Plugin


class Declined(msgspec.Struct, frozen=True):
    """A refusal with a reason, for `hark why`: `Declined("no template within distance 3")`."""

    reason: str


class PollFn(Protocol):
    """Asks candidates a question over the bus; see `Round.poll`."""

    async def __call__(
        self,
        topic: str,
        data: Mapping[str, Any],
        candidates: Sequence[str],
        window: float,
        *,
        answer_topic: str | None = None,
        rank: Callable[[Message], float] | None = None,
    ) -> list[Message]:
        """The answers, best first."""


class Round(msgspec.Struct, frozen=True):
    """The match round a matcher is asked in, for those that poll or are configured for each pipeline entry."""

    entry: str
    """The pipeline entry that led here; several may lead to one plugin."""
    config: Frozen
    """What the settings say for this entry."""
    message: Message
    """The entry Message as the chains left it."""
    poll: PollFn
    """`await round.poll(topic, data, candidates, window)`: the candidates' answers, in the order of `candidates` or,
    with `rank`, highest first. A `.ping` is answered by a `.pong`, anything else by `.response`, unless
    `answer_topic` says otherwise."""


class PipelinePlugin(Plugin):
    """Claims utterances. `match` may be `def` or `async def`, and may name a fourth parameter, `round: Round`.

    Its own intents are methods under `@handles`.
    """

    @abstractmethod
    def match(
        self, utterances: Sequence[str], lang: str, session: Session
    ) -> Match | Declined | Awaitable[Match | Declined | None] | None:
        """A claim, or None (or `Declined`) to let the next plugin try. First claim wins; nobody compares scores."""

    def claim(self, intent_name: str, *, lang: str, utterance: str, slots: Mapping[str, str] | None = None) -> Match:
        """A claim for one of this plugin's own `@handles` methods."""
        return Match(self.id, intent_name, lang, utterance, Frozen(slots or {}))
