"""Handlers that wait for what the user says next (CONVERSE-1 §5)."""

from __future__ import annotations

import asyncio
import os
from itertools import count
from typing import Final

from hark.bus import Answers, Bus
from hark.model import Clock, Message, ResponseMode, Session
from hark.model.session_merge import three_way_merge
from hark.plugins import Turn
from hark.spec import topics
from hark.spec.names import RESPONSE_ID

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
        self._waiting: dict[Key, asyncio.Future[Answer | None]] = {}
        self._ends: Answers | None = None
        """Of the turns that were answers, or withdrew a question."""
        self._rendered: Answers | None = None
        """How the speech of each question ended."""
        self._withdrawals = bus.on(topics.QUESTION_WITHDRAWN, self._withdrawn, name="act: questions withdrawn")
        self._id = os.urandom(6).hex()
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
        if not isinstance(question, str):
            raise TypeError(f"a question is text, not {type(question).__name__}")
        if asyncio.get_running_loop() is not self._loop:
            raise RuntimeError("only an async def handler can ask, on the event loop that called it")
        self._ends_of_turns()  # before the answer comes, whose end marker may follow it at once
        key = (turn.skill_id, turn.session.session_id)
        answer: asyncio.Future[Answer | None] = asyncio.get_running_loop().create_future()
        self._waiting[key] = answer
        turn.is_withdrawn = False
        mode = self._mode(turn.skill_id, timeout)
        asked = turn.session = turn.session.trusted(response_mode=mode)
        withdrawn: ResponseMode | None = None
        speech = f"question-{self._id}-{next(self._asked)}"
        rendered = self._speech().expect(speech)
        rendered.add_done_callback(lambda ended: _withdraw(answer, ended))
        try:
            data = {"utterance": question, "lang": lang or turn.lang, "listen": True}
            self._bus.post(turn.derive(topics.UTTERANCE_SPEAK, data).carrying(**{RESPONSE_ID: speech}))
            self._tell(turn, waits=True)
            async with self._clock.timeout(timeout):
                given = await answer
            if given is None:
                turn.is_withdrawn = True
                return None
            said, session = given
            # The conversation went on meanwhile: what the handler sends next must not take it back.
            turn.session = three_way_merge(session, asked, turn.session)
            return said
        except TimeoutError:
            return None
        except QuestionCancelled:
            withdrawn = mode
            turn.is_withdrawn = True
            return None
        finally:
            self._speech().forget(speech)
            if self._waiting.get(key) is answer:
                del self._waiting[key]
            # What the handler sends from now on must not open the question again.
            turn.session = turn.session.without("response_mode")
            self._tell(turn, waits=False, withdrawn=withdrawn)

    async def answered(self, turn: Turn) -> None:
        """The handler of `<skill_id>:response`: hand the answer to the handler that waits for it."""
        answer = self._waiting.pop((turn.skill_id, turn.session.session_id), None)
        if answer is None or answer.done():
            raise LookupError(f"{turn.skill_id} waits for no answer in this session any more")
        self._hand_over(turn.message.utterance_id, answer, (turn.utterance, turn.session))

    def _withdrawn(self, message: Message) -> None:
        """The user said something else instead: the handler goes on without an answer once that turn has ended."""
        skill_id = message.data.get("skill_id")
        answer = self._waiting.pop((str(skill_id), message.session_id), None)
        if answer is not None and not answer.done():
            self._hand_over(message.utterance_id, answer, None)

    def close(self) -> None:
        """Listen no longer."""
        self._withdrawals.close()
        for answers in (self._ends, self._rendered):
            if answers is not None:
                answers.close()

    def _speech(self) -> Answers:
        if self._rendered is None:
            self._rendered = Answers(
                self._bus, topics.SPEECH_RENDERED, lambda message: message.context.get(RESPONSE_ID)
            )
        return self._rendered

    def _hand_over(self, utterance_id: str | None, answer: asyncio.Future[Answer | None], said: Answer | None) -> None:
        """Wake the handler that waits once the turn of the answer has ended.

        Not before: what comes of the answer may be the next question, and the end marker of the answer's own turn,
        which knows nothing of that, must not be the last a client hears of its session.
        """
        ends = self._ends_of_turns()

        def give(_ended: object = None) -> None:
            timer.cancel()
            if not answer.done():
                answer.set_result(said)

        timer = self._clock.after(_AT_MOST, give)
        ends.expect(utterance_id).add_done_callback(give)

    def _ends_of_turns(self) -> Answers:
        if self._ends is None:
            self._ends = Answers(self._bus, topics.UTTERANCE_HANDLED, lambda message: message.utterance_id)
        return self._ends

    def _mode(self, skill_id: str, timeout: float) -> ResponseMode:
        """What opens the question; no two look alike, for one that was answered must not seem open again."""
        # Many may be asked at one moment, in as many sessions.
        return ResponseMode(skill_id, self._clock.wall() + timeout + next(self._asked) % 10_000 * 1e-6)

    def _tell(self, turn: Turn, *, waits: bool, withdrawn: ResponseMode | None = None) -> None:
        data: dict[str, object] = {"topic": turn.message.type, "waits": waits}
        if withdrawn is not None:
            data["withdrawn"] = withdrawn
        self._bus.emit(turn.message.signal(topics.HANDLER_WAITING, data).carrying(turn.session))


class QuestionCancelled(Exception):
    """A transformer cancelled the speech of a question (ruling R23)."""


def _withdraw(answer: asyncio.Future[Answer | None], rendered: asyncio.Future[Message]) -> None:
    if not rendered.cancelled() and rendered.result().data.get("outcome") == "cancelled" and not answer.done():
        answer.set_exception(QuestionCancelled())
        answer.exception()  # looked at here: the handler may have been stopped meanwhile
