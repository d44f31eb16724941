"""Say something to an assistant and follow the turn until its answer was heard."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from typing import Any, Final, Generic, TypeVar

from hark.bus import Bus
from hark.model import Clock, Message, Session
from hark.speak import SpokenResponse
from hark.spec import DEFAULT_SESSION_ID, topics
from hark.spec.names import CANCEL_BY, CANCEL_REASON

T = TypeVar("T")


class OpenQuestions(Generic[T]):
    """The turns whose handler waits for what is said next. At most one in a session, as the session has it."""

    def __init__(self) -> None:
        self._asking: dict[str, tuple[str, T]] = {}

    def saw(self, message: Message, turn: T) -> T | None:
        """Take note of a Message of `turn`; the turn that goes on because this is the answer to its question."""
        if is_question(message):
            mode = message.session.response_mode if message.session is not None else None
            if mode is not None:
                self._asking[message.session_id] = mode.skill_id, turn
        elif message.type.endswith(":response"):
            skill_id, asking = self._asking.get(message.session_id, ("", None))
            if message.type == f"{skill_id}:response":
                del self._asking[message.session_id]
                return asking
        return None

    def forget(self, turn: T) -> None:
        """The turn is over: it waits for nothing any more."""
        for session_id in [one for one, (_, asking) in self._asking.items() if asking is turn]:
            del self._asking[session_id]


def is_question(message: Message) -> bool:
    """Whether somebody is asked something and the answer goes to whoever asked (CONVERSE-1 §5.1)."""
    if message.type != topics.UTTERANCE_SPEAK or message.data.get("listen") is not True:
        return False
    return message.session is not None and message.session.response_mode is not None


_MARK: Final = "hark_asked"
"""Context key that tells which utterance a Message goes back to; every derivation carries it along."""

OUTCOMES: Final = {
    topics.HANDLER_COMPLETE: "complete",
    topics.HANDLER_ERROR: "error",
    topics.INTENT_UNMATCHED: "unmatched",
    topics.UTTERANCE_CANCELLED: "cancelled",
}
"""What each of these says about a turn."""
_TELLING: Final = (topics.UTTERANCE_SPEAK, topics.UTTERANCE_HANDLED)
"""From these a client learns what has become of its session."""
_PATIENCE: Final = 60.0
"""Seconds that speech may still take after the end of its turn."""
_REMEMBERED: Final = 100
"""How many named sessions are kept for those who speak in them again."""


class Client:
    """Everybody who speaks to one assistant. What is said to nobody in particular goes to `aside`."""

    def __init__(self, bus: Bus, clock: Clock, aside: Callable[[str], None]) -> None:
        self._bus = bus
        self._clock = clock
        self._aside = aside
        self._name = os.urandom(4).hex()
        """Others may talk to the same assistant from another process."""
        self._marks = count(1)
        self._open: dict[str, PendingTurn] = {}
        self._questions = OpenQuestions[PendingTurn]()
        self._sessions: dict[str, Session] = {}
        """Named sessions, each as it was last told: whoever speaks in one sends it along (SESSION-2)."""
        self._present = Counter({DEFAULT_SESSION_ID: 1})
        """How many turns are open in each session; at the device itself there is always somebody."""
        self._unrendered = 0
        self._all_said = asyncio.Event()
        self._all_said.set()
        self._follow()

    def serves(self, session_id: str) -> bool:
        """Whether somebody is here to hear what is said to this session."""
        return self._present[session_id] > 0

    def render(self, spoken: SpokenResponse) -> None:
        """Let whoever asked hear it; speech that nobody waits for is for the device's own session."""
        asked = self._open.get(spoken.message.context.get(_MARK, ""))
        if asked is not None:
            asked.hear(spoken.text)
        elif spoken.message.session_id == DEFAULT_SESSION_ID:
            self._aside(spoken.text)

    async def ask(
        self, text: str, hear: Callable[[str], None], *, lang: str | None = None, session_id: str = DEFAULT_SESSION_ID
    ) -> PendingTurn:
        """Say `text` and wait until its turn ended and was heard; raises `MalformedMessage` for what is no text.

        A turn that asks a question is left to itself until somebody says something in its session. What is returned
        is how the turn went on that this was the answer to, if it was one.
        """
        data: dict[str, Any] = {"utterances": [text]}
        if lang is not None:
            data["lang"] = lang
        mark = f"{self._name}-{next(self._marks)}"
        session = self._sessions.get(session_id) or Session(session_id)
        entry = Message(topics.UTTERANCE_HANDLE, data, {_MARK: mark}, session)
        asked = self._open[mark] = PendingTurn(hear, session_id)
        self._come(session_id)
        try:
            self._bus.emit(entry)
            await self._rest(asked)
            if asked.resumed is None or asked.outcome != "complete":
                return asked
            await self._rest(asked.resumed)
            return asked.resumed
        finally:
            if not asked.asked_back:  # else it goes on without whoever began it
                self._close(mark)

    async def _rest(self, asked: PendingTurn) -> None:
        await asked.ended.wait()
        with suppress(TimeoutError):  # a response that nobody renders
            async with self._clock.timeout(_PATIENCE):
                await asked.silent.wait()

    def _close(self, mark: str) -> None:
        asked = self._open.pop(mark, None)
        if asked is not None:
            self._go(asked.session_id)
            self._questions.forget(asked)

    def _follow(self) -> None:
        """See to it that `_saw` is shown what happens."""
        self._bus.tap(self._saw)

    def _come(self, session_id: str) -> None:
        self._present[session_id] += 1

    def _go(self, session_id: str) -> None:
        self._present[session_id] -= 1
        if not self._present[session_id]:
            del self._present[session_id]

    async def all_said(self, seconds: float) -> None:
        """Wait until nothing is left to be rendered, at most this long."""
        with suppress(TimeoutError):
            async with self._clock.timeout(seconds):
                await self._all_said.wait()

    def give_up(self, why: str) -> None:
        """Nothing is to be expected of any turn that is open."""
        for asked in list(self._open.values()):
            asked.give_up(why)

    def _saw(self, message: Message) -> None:
        change = self._change(message)
        if change:
            self._unrendered = max(self._unrendered + change, 0)
            if self._unrendered:
                self._all_said.clear()
            else:
                self._all_said.set()
        if message.type in _TELLING and message.session is not None:
            self._adopt(message.session)
        mark = message.context.get(_MARK)
        if mark is not None and (asked := self._open.get(mark)) is not None:
            asked.saw(message, change)
            waited = self._questions.saw(message, asked)
            if waited is not None:
                waited.go_on(asked)
            if asked.over:
                self._close(mark)

    def _adopt(self, session: Session) -> None:
        if not session.is_default and self.serves(session.session_id):  # the default session is kept by the assistant
            self._sessions.pop(session.session_id, None)
            self._sessions[session.session_id] = session
            if len(self._sessions) > _REMEMBERED:
                del self._sessions[next(iter(self._sessions))]

    def _change(self, message: Message) -> int:
        """How many responses more, or fewer, wait to be rendered."""
        if message.type == topics.SPEECH_RENDERED:
            return -1
        if message.type != topics.UTTERANCE_SPEAK or not self.serves(message.session_id):
            return 0
        return 1 if isinstance(message.data.get("utterance"), str) else 0


class PendingTurn:
    """An utterance on its way, and how it ended."""

    def __init__(self, hear: Callable[[str], None], session_id: str = DEFAULT_SESSION_ID) -> None:
        self.hear = hear
        self.session_id = session_id
        self.outcome = "broken"
        """`complete`, `unmatched`, `cancelled`, `error`, `asked` while it waits for an answer, or `broken` when nobody
        can tell."""
        self.detail = ""
        """Who cancelled it and why, or what went wrong."""
        self.utterance_id = ""
        self.asks = False
        """Whether its handler waits for an answer."""
        self.asked_back = False
        """Whether it ever did."""
        self.resumed: PendingTurn | None = None
        """The turn that goes on because this was the answer to its question."""
        self.ended = asyncio.Event()
        """Set by the end marker, and while it waits for an answer."""
        self.silent = asyncio.Event()
        """Set while nothing waits to be rendered, once the turn has ended or waits for an answer."""
        self._marked = False
        self._unrendered = 0

    @property
    def over(self) -> bool:
        """Whether nothing is to come any more."""
        return self._marked and self.silent.is_set()

    def saw(self, message: Message, change: int) -> None:
        """Take note of a Message of this turn, and of what is left to be rendered."""
        topic = message.type
        self._unrendered += change
        if topic == topics.UTTERANCE_HANDLED:
            self.utterance_id = message.utterance_id or ""
            self._marked, self.asks = True, False
        elif topic in OUTCOMES and not self._marked:
            # A response can be cancelled as well; of these, the last before the marker is the turn's own.
            self.outcome = OUTCOMES[topic]
            self.detail = detail_of(message)
        elif is_question(message):
            self.utterance_id = message.utterance_id or ""
            self.outcome, self.asks, self.asked_back = "asked", True, True
        elif topic == topics.HANDLER_WAITING and message.data.get("waits") is False:
            self.asks = False
        self._look()

    def give_up(self, why: str) -> None:
        """Nothing is to be expected of it any more."""
        if not self._marked and not self.asks:
            self.outcome, self.detail = "broken", why
        self._marked, self._unrendered = True, 0
        self._look()

    def forget_unrendered(self) -> None:
        """What still waited to be rendered never will be."""
        self._unrendered = 0
        self._look()

    def go_on(self, answer: PendingTurn) -> None:
        """`answer` is what this turn has waited for: whoever gave it hears what follows."""
        self.outcome, self.asks = "broken", False
        self.hear = answer.hear
        answer.resumed = self
        self._look()

    def _look(self) -> None:
        if self._marked or self.asks:
            self.ended.set()
        else:
            self.ended.clear()
        if self.ended.is_set() and self._unrendered <= 0:
            self.silent.set()
        else:
            self.silent.clear()


def detail_of(message: Message) -> str:
    """Who is to blame for how a turn ended."""
    data = message.data
    if message.type == topics.UTTERANCE_CANCELLED:
        return f"{data.get(CANCEL_BY)}: {data.get(CANCEL_REASON)}"
    if message.type == topics.HANDLER_ERROR:
        return f"{data.get('skill_id')}:{data.get('intent_name')}: {data.get('exception')}"
    return ""
