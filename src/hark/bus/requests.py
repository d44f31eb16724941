"""Asking over the bus: one answer, several answers, or a poll of candidates.

Waiting takes one shared listener however many wait: a listener for each would make every Message cost all of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import count
from typing import Any, Final

import msgspec

from hark.bus.protocols import Bus, Subscription
from hark.model import Clock, Message
from hark.model.frozen import EMPTY
from hark.spec import topics

_ASK: Final = "hark_ask"
"""Context key that distinguishes the requests of several senders; every derivation carries it back."""

_marks = count(1)


class Answers:
    """The Messages on one topic that callers wait for, each known by a key."""

    def __init__(self, bus: Bus, topic: str, key: Callable[[Message], Hashable]) -> None:
        self._key = key
        self._waiting: dict[Hashable, asyncio.Future[Message]] = {}
        self._subscription = bus.on(topic, self._arrived, name=f"answers on {topic}")

    def __len__(self) -> int:
        return len(self._waiting)

    def expect(self, key: Hashable) -> asyncio.Future[Message]:
        """The Message with this key, once it arrives. `forget` the key when done waiting."""
        future: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._waiting[key] = future
        return future

    def forget(self, key: Hashable) -> None:
        """Wait for this key no longer; what arrives for it later is dropped."""
        self._waiting.pop(key, None)

    def close(self) -> None:
        """Stop listening."""
        self._subscription.close()

    def _arrived(self, message: Message) -> None:
        future = self._waiting.pop(self._key(message), None)
        if future is not None and not future.done():
            future.set_result(message)


async def ask(bus: Bus, clock: Clock, request: Message, *, topic: str | None = None, window: float = 2.0) -> Message:
    """Emit `request` and return its answer, on `topic` or its own plus `.response`; raises `TimeoutError`
    when none came within `window` seconds.
    """
    mark = f"{id(bus):x}-{next(_marks)}"
    answers = Answers(bus, topic or topics.response_topic(request.type), lambda message: message.context.get(_ASK))
    try:
        answer = answers.expect(mark)
        bus.emit(request.carrying(hark_ask=mark))
        async with clock.timeout(window):
            return await answer
    finally:
        answers.close()


async def gather(bus: Bus, clock: Clock, request: Message, window: float, *, topic: str | None = None) -> list[Message]:
    """Emit `request` and return every answer that came within `window` seconds, from however many listeners."""
    mark = f"{id(bus):x}-{next(_marks)}"
    found: list[Message] = []

    def arrived(message: Message) -> None:
        if message.context.get(_ASK) == mark:
            found.append(message)

    subscription = bus.on(topic or topics.response_topic(request.type), arrived, name=f"gather {request.type}")
    try:
        bus.emit(request.carrying(hark_ask=mark))
        await clock.sleep(window)
    finally:
        subscription.close()
    return found


_PollKey = tuple[str, str, str | None]


class _PollRound(msgspec.Struct):
    """A poll that waits for answers."""

    candidates: frozenset[str] | None
    """The skills whose answers count; None counts every answer."""
    answers: dict[str, Message]
    done: asyncio.Future[None]
    enough: Callable[[Mapping[str, Message]], bool] | None


class Poll:
    """Polls on a bus: one shared listener for each answer topic, rounds distinguished by session and utterance (R8)."""

    def __init__(self, bus: Bus, clock: Clock) -> None:
        self._bus = bus
        self._clock = clock
        self._rounds: dict[_PollKey, _PollRound] = {}
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

        Without `candidates` every answer counts, in the order of arrival. Ends when all candidates answered, when
        `enough` says so (it is asked after each answer, and after `look_after` seconds), or after `window` seconds.
        Only the first answer of a candidate counts, and only one with the session and utterance of `message`. With
        `each`, every candidate gets a Message of its own that names it. With no candidates nothing is emitted.
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
        current = _PollRound(None if candidates is None else frozenset(candidates), {}, done, enough)
        timers = [self._clock.after(window, lambda: _finish(done))]
        if look_after is not None and look_after < window:
            timers.append(self._clock.after(look_after, lambda: _check(current)))
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
            _check(current)


def _check(current: _PollRound) -> None:
    if current.enough is not None and current.enough(current.answers):
        _finish(current.done)


def _finish(done: asyncio.Future[None]) -> None:
    if not done.done():
        done.set_result(None)
