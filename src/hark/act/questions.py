"""Handlers that wait for what the user says next (CONVERSE-1 §5)."""

from __future__ import annotations

import asyncio
from itertools import count

from hark.bus import Bus
from hark.model import Clock, Frozen, Message, Session
from hark.model.session_fields import ResponseMode
from hark.model.three_way import advance
from hark.plugins import Turn
from hark.spec import topics

Key = tuple[str, str]
"""A skill and a session: the one that asked last in a session gets the answer."""


class Questions:
    """The open questions. What is open is told by the session alone; here is who to wake when the answer comes."""

    def __init__(self, bus: Bus, clock: Clock) -> None:
        self._bus = bus
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._waiting: dict[Key, asyncio.Future[tuple[str, Session]]] = {}
        self._asked = count()

    def __len__(self) -> int:
        return len(self._waiting)

    async def listen(self, turn: Turn, question: str, timeout: float, lang: str | None) -> str | None:
        """Ask and wait; None when nothing was said within `timeout` seconds. `Turn.listen` promises the rest."""
        if not 0 < timeout < float("inf"):
            raise ValueError(f"a question waits for a number of seconds above 0, not for {timeout!r}")
        if asyncio.get_running_loop() is not self._loop:
            raise RuntimeError("only an async def handler can ask, on the event loop that called it")
        key = (turn.skill_id, turn.session.session_id)
        answer: asyncio.Future[tuple[str, Session]] = asyncio.get_running_loop().create_future()
        self._waiting[key] = answer
        asked = turn.session = turn.session.trusted(response_mode=self._mode(turn.skill_id, timeout))
        try:
            await turn.speak(question, lang=lang, listen=True)
            self._tell(turn.message, waits=True)
            async with self._clock.timeout(timeout):
                said, session = await answer
            # The conversation went on meanwhile: what the handler sends next must not take it back.
            turn.session = advance(session, asked, turn.session)
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
        """The handler of `<skill_id>:response`: hand the answer to whoever waits for it."""
        answer = self._waiting.pop((turn.skill_id, turn.session.session_id), None)
        if answer is None or answer.done():
            raise LookupError(f"{turn.skill_id} waits for no answer in this session any more")
        answer.set_result((turn.utterance, turn.session))

    def _mode(self, skill_id: str, timeout: float) -> ResponseMode:
        """What opens the question; no two look alike, for one that was answered must not seem open again."""
        # Many may be asked at one moment, in as many sessions.
        return ResponseMode(skill_id, self._clock.wall() + timeout + next(self._asked) % 10_000 * 1e-6)

    def _tell(self, dispatch: Message, waits: bool) -> None:
        self._bus.emit(dispatch.forward(topics.HANDLER_WAITING, Frozen(topic=dispatch.type, waits=waits)))
