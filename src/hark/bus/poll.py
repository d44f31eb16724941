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

    candidates: frozenset[str] | None
    """Who may answer; None lets anybody."""
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
        candidates: Sequence[str] | None,
        window: float,
        *,
        data: Mapping[str, Any] = EMPTY,
        enough: Callable[[Mapping[str, Message]], bool] | None = None,
        look_after: float | None = None,
        each: bool = False,
    ) -> dict[str, Message]:
        """Answer `message` with `topic` and return the candidates' answers by `skill_id`, in the candidates' order.

        Without `candidates` anybody may answer, in the order of arrival. Ends when all candidates answered, when
        `enough` says so (it is asked after each answer, and after `look_after` seconds), or after `window` seconds.
        Only the first answer of a candidate counts, and only one with the session and utterance of `message`. With
        `each`, every candidate gets a Message of its own that names it. Nobody to ask: nothing is emitted.
        """
        if candidates is not None and not candidates:
            return {}
        if window != window:  # NaN is neither before nor after anything: it would upset every timer there is
            raise ValueError("a poll needs a number of seconds")
        key = (answer_topic, message.session_id, message.utterance_id)
        if key in self._rounds:
            raise RuntimeError(f"a poll on {answer_topic} is under way for this utterance")
        if answer_topic not in self._listening:
            self._listening[answer_topic] = self._bus.on(answer_topic, self._answered, name=f"poll on {answer_topic}")
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        current = _Round(None if candidates is None else frozenset(candidates), {}, done, enough)
        timers = [self._clock.after(window, lambda: _finish(done))]
        if look_after is not None and look_after < window:
            timers.append(self._clock.after(look_after, lambda: _look(current)))
        self._rounds[key] = current
        try:
            for asked in candidates or () if each else (None,):
                self._bus.emit(message.reply(topic, data if asked is None else {**data, "skill_id": asked}))
            await done
        finally:
            for timer in timers:
                timer.cancel()
            del self._rounds[key]
        answers = current.answers
        return {one: answers[one] for one in (answers if candidates is None else candidates) if one in answers}

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
        if not isinstance(skill_id, str) or skill_id in current.answers:
            return
        if current.candidates is not None and skill_id not in current.candidates:
            return
        current.answers[skill_id] = message
        if current.candidates is not None and len(current.answers) == len(current.candidates):
            _finish(current.done)
        else:
            _look(current)


def _look(current: _Round) -> None:
    if current.enough is not None and current.enough(current.answers):
        _finish(current.done)


def _finish(done: asyncio.Future[None]) -> None:
    if not done.done():
        done.set_result(None)
