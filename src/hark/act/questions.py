"""Handlers that wait for what the user says next (CONVERSE-1 §5)."""

from __future__ import annotations

import asyncio
from itertools import count
from typing import Final

from hark.bus import Answers, Bus
from hark.model import Clock, Frozen, Message, ResponseMode, Session
from hark.model.session_merge import three_way_merge
from hark.plugins import Turn
from hark.spec import topics

Key = tuple[str, str]
"""A skill and a session: the one that asked last in a session gets the answer."""
Answer = tuple[str, Session]
"""What was said, and the session it was said in."""

_AT_MOST: Final = 2.0
"""Seconds that a handler waits for the turn of its answer to end."""


class Questions:
    """The open questions. Only the session says what is open; here are the handlers to wake when the answer comes."""

    def __init__(self, bus: Bus, clock: Clock) -> None:
        self._bus = bus
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._waiting: dict[Key, asyncio.Future[Answer]] = {}
        self._ends: Answers | None = None
        """Of the turns that were answers."""
        self._asked = count()

    def __len__(self) -> int:
        return len(self._waiting)

    def waits(self, skill_id: str, session_id: str) -> bool:
        """Whether a handler of this skill waits here for an answer in this session."""
        return (skill_id, session_id) in self._waiting

    async def listen(self, turn: Turn, question: str, timeout: float, lang: str | None) -> str | None:
        """Ask and wait; None when nothing was said within `timeout` seconds. `Turn.listen` promises the rest."""
        if not 0 < timeout < float("inf"):
            raise ValueError(f"a question waits for a number of seconds above 0, not for {timeout!r}")
        if asyncio.get_running_loop() is not self._loop:
            raise RuntimeError("only an async def handler can ask, on the event loop that called it")
        key = (turn.skill_id, turn.session.session_id)
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting[key] = answer
        asked = turn.session = turn.session.trusted(response_mode=self._mode(turn.skill_id, timeout))
        try:
            await turn.speak(question, lang=lang, listen=True)
            self._tell(turn.message, waits=True)
            async with self._clock.timeout(timeout):
                said, session = await answer
            # The conversation went on meanwhile: what the handler sends next must not take it back.
            turn.session = three_way_merge(session, asked, turn.session)
            return said
        except TimeoutError:
            return None
        finally:
            if self._waiting.get(key) is answer:
                del self._waiting[key]
            # What the handler sends from now on must not open the question again.
            turn.session = turn.session.without("response_mode")
            self._tell(turn.message, waits=False)

    async def answered(self, turn: Turn) -> None:
        """The handler of `<skill_id>:response`: hand the answer to the handler that waits for it."""
        answer = self._waiting.pop((turn.skill_id, turn.session.session_id), None)
        if answer is None or answer.done():
            raise LookupError(f"{turn.skill_id} waits for no answer in this session any more")
        self._hand_over(turn.message.utterance_id, answer, (turn.utterance, turn.session))

    def close(self) -> None:
        """Listen no longer."""
        if self._ends is not None:
            self._ends.close()

    def _hand_over(self, utterance_id: str | None, answer: asyncio.Future[Answer], said: Answer) -> None:
        """Wake the handler that waits once the turn of the answer has ended.

        Not before: what comes of the answer may be the next question, and the end marker of the answer's own turn,
        which knows nothing of that, must not be the last a client hears of its session.
        """
        if self._ends is None:
            self._ends = Answers(self._bus, topics.UTTERANCE_HANDLED, lambda message: message.utterance_id)

        def give(_ended: object = None) -> None:
            timer.cancel()
            if not answer.done():
                answer.set_result(said)

        timer = self._clock.after(_AT_MOST, give)
        self._ends.expect(utterance_id).add_done_callback(give)

    def _mode(self, skill_id: str, timeout: float) -> ResponseMode:
        """What opens the question; no two look alike, for one that was answered must not seem open again."""
        # Many may be asked at one moment, in as many sessions.
        return ResponseMode(skill_id, self._clock.wall() + timeout + next(self._asked) % 10_000 * 1e-6)

    def _tell(self, dispatch: Message, waits: bool) -> None:
        self._bus.emit(dispatch.signal(topics.HANDLER_WAITING, Frozen(topic=dispatch.type, waits=waits)))
