"""Asking several candidates at once which of them wants something (ruling R8)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from hark.bus.base import Bus, Subscription
from hark.model import Clock, Message
from hark.model.frozen import EMPTY

Key = tuple[str, str, str | None]


class _Round(msgspec.Struct):
    """One poll under way."""

    candidates: frozenset[str]
    answers: dict[str, Message]
    done: asyncio.Future[None]
    enough: Callable[[Mapping[str, Message]], bool] | None


class Poll:
    """Polls on a bus: one shared listener for each answer topic, rounds told apart by session and utterance."""

    def __init__(self, bus: Bus, clock: Clock) -> None:
        self._bus = bus
        self._clock = clock
        self._rounds: dict[Key, _Round] = {}
        self._listening: dict[str, Subscription] = {}

    async def run(
        self,
        message: Message,
        topic: str,
        answer_topic: str,
        candidates: Sequence[str],
        window: float,
        *,
        data: Mapping[str, Any] = EMPTY,
        enough: Callable[[Mapping[str, Message]], bool] | None = None,
    ) -> dict[str, Message]:
        """Forward `message` as `topic` and return the candidates' answers by `skill_id`, in the candidates' order.

        Ends when all candidates answered, when `enough` says so, or after `window` seconds. Only the first answer
        of a candidate counts, and only one with the session and utterance of `message`. Nobody to ask: nothing is
        emitted.
        """
        if not candidates:
            return {}
        if window != window:  # NaN is neither before nor after anything: it would upset every timer there is
            raise ValueError("a poll needs a number of seconds")
        key = (answer_topic, message.session_id, message.utterance_id)
        if key in self._rounds:
            raise RuntimeError(f"a poll on {answer_topic} is under way for this utterance")
        if answer_topic not in self._listening:
            self._listening[answer_topic] = self._bus.on(answer_topic, self._answered, name=f"poll on {answer_topic}")
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        current = _Round(frozenset(candidates), {}, done, enough)
        timer = self._clock.after(window, lambda: _finish(done))
        self._rounds[key] = current
        try:
            self._bus.emit(message.forward(topic, data))
            await done
        finally:
            timer.cancel()
            del self._rounds[key]
        return {candidate: current.answers[candidate] for candidate in candidates if candidate in current.answers}

    def close(self) -> None:
        """Stop listening; polls under way end with what they have."""
        for subscription in self._listening.values():
            subscription.close()
        self._listening.clear()
        for current in self._rounds.values():
            _finish(current.done)

    def _answered(self, message: Message) -> None:
        current = self._rounds.get((message.type, message.session_id, message.utterance_id))
        if current is None:
            return
        skill_id = message.data.get("skill_id")
        if skill_id not in current.candidates or skill_id in current.answers:
            return
        current.answers[skill_id] = message
        if len(current.answers) == len(current.candidates) or (current.enough and current.enough(current.answers)):
            _finish(current.done)


def _finish(done: asyncio.Future[None]) -> None:
    if not done.done():
        done.set_result(None)
