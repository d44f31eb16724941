"""Follow a turn on the bus: what was answered, whether it asks something, how it ended."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from typing import Any, Final

from hark.model import Message, Session
from hark.spec import DEFAULT_SESSION_ID, topics
from hark.spec.names import CANCEL_BY, CANCEL_REASON, DECLINED, REMARK

OUTCOMES: Final = {
    topics.HANDLER_COMPLETE: "complete",
    topics.HANDLER_ERROR: "error",
    topics.INTENT_UNMATCHED: "unmatched",
    topics.UTTERANCE_CANCELLED: "cancelled",
}
"""The outcome of a turn by the topic that announces it."""

_UNANSWERED: Final = (topics.INTENT_UNMATCHED, topics.HANDLER_ERROR)
REMARKS: Final = (topics.UTTERANCE_SPEAK, topics.REMARK_NONE)
"""The topics on which it does, with `hark_remark` in their context."""

_MARK: Final = "hark_turn"
"""Context key that names the followed utterance; every Message derived from it carries the key along."""
_DECIDED: Final = (topics.INTENT_MATCHED, topics.UTTERANCE_HANDLED)
_REPORT_SESSION: Final = (topics.UTTERANCE_SPEAK, topics.UTTERANCE_HANDLED)
"""Topics from which a client learns the new state of its session (SESSION-2)."""


class TurnFollower:
    """One utterance and everything that follows from it, turns that its handler opens included."""

    def __init__(
        self,
        utterances: tuple[str, ...] = (),
        hear: Callable[[str], None] | None = None,
        session_id: str = DEFAULT_SESSION_ID,
        *,
        remarks: bool = False,
    ) -> None:
        self.utterances = utterances
        """What was said to the assistant."""
        self.session_id = session_id
        self.spoken: list[str] = []
        """What was answered so far, with what a handler says whose question this utterance answered."""
        self.outcome = "broken"
        """`complete`, `unmatched`, `cancelled`, `error`, `asked` while a handler waits for an answer, or `broken`."""
        self.detail = ""
        """The plugin that cancelled the turn and its reason, or the handler that failed and its exception."""
        self.utterance_id = ""
        self.entries = 0
        """Utterances seen: the one that was said, and those its handler emitted."""
        self.markers = 0
        """End markers seen; more than utterances is a fault."""
        self.asks = False
        """Whether a handler waits for an answer."""
        self.has_asked = False
        """Whether one ever did."""
        self.resumed: list[TurnFollower] = []
        """The turns that go on because this utterance was the answer to their question."""
        self.ended = asyncio.Event()
        """Set when every end marker is there, and while a handler waits for an answer."""
        self.over = asyncio.Event()
        """Set when it has `ended`, all speech was rendered, and it is decided what is said about a turn that ended
        without an answer, where `remarks` are made at all."""
        self.remarks = remarks
        self.remarked = asyncio.Event()
        """Set while no remark is to come."""
        self._hear = hear
        self._decided: set[str | None] = set()
        self._unrendered = 0
        self._unremarked = 0
        self._given_up = False
        self._answered_by: TurnFollower | None = None

    @property
    def is_open(self) -> bool:
        """Whether an end marker, or an answer or its rendering, is still to come."""
        return not self._is_marked or self._unrendered > 0 or self._unremarked > 0

    @property
    def is_undecided(self) -> bool:
        """Whether an utterance has neither been matched nor ended yet."""
        return self.entries > len(self._decided)

    @property
    def awaits_remark(self) -> bool:
        """Whether the assistant has still to decide what it says about a turn that ended without an answer."""
        return self._unremarked > 0

    def saw(self, message: Message, *, is_rendered: bool = True) -> None:
        """Process a Message of this turn; `is_rendered`: speech in its session is rendered here."""
        topic = message.type
        if self.remarks:
            self._unremarked += is_unanswered(message)
            self._unremarked -= message.context.get(REMARK) is True and topic in REMARKS
        if topic == topics.UTTERANCE_SPEAK:
            if is_rendered and isinstance(message.data.get("utterance"), str):
                self._unrendered += 1
            if is_question(message):
                self.utterance_id = message.utterance_id or ""
                self.outcome, self.asks, self.has_asked = "asked", True, True
        elif topic == topics.SPEECH_RENDERED:
            self._unrendered -= 1
        elif topic == topics.UTTERANCE_HANDLE:
            self.entries += 1
        elif topic == topics.UTTERANCE_HANDLED:
            self.markers += 1
            self.utterance_id = message.utterance_id or ""
            self.asks = self.asks and not self._is_marked
        elif topic == topics.HANDLER_WAITING and message.data.get("waits") is False:
            self.asks = False
        elif topic in OUTCOMES and not self._is_marked:
            # A response can be cancelled as well; the last of these before the marker is the turn's own.
            self.outcome, self.detail = OUTCOMES[topic], detail_of(message)
        if topic in _DECIDED:
            self._decided.add(message.utterance_id)
        self._update()

    def hear(self, text: str) -> None:
        """Record an answer; a resumed turn also passes it to the turn that answered its question."""
        self.spoken.append(text)
        if self._answered_by is not None:
            self._answered_by.hear(text)
        elif self._hear is not None:
            self._hear(text)

    def resume(self, answer: TurnFollower) -> None:
        """Continue: `answer` is the turn this one waited for."""
        self.outcome, self.asks = "broken", False
        if answer is not self:  # a nested turn answers in the name of the one that opened it
            self._answered_by = answer
            answer.resumed.append(self)
        self._update()

    def give_up(self, reason: str) -> None:
        """Expect no more Messages of this turn."""
        if not self._is_marked and not self.asks:
            self.outcome, self.detail = "broken", reason
        self._given_up, self._unrendered, self._unremarked = True, 0, 0
        self._update()

    def forget_unrendered(self) -> None:
        """Wait no longer for speech of this turn."""
        self._unrendered = self._unremarked = 0
        self._update()

    @property
    def _is_marked(self) -> bool:
        return self._given_up or self.markers >= max(self.entries, 1)

    def _update(self) -> None:
        if self._unremarked > 0:
            self.remarked.clear()
        else:
            self.remarked.set()
        if self._is_marked or self.asks:
            self.ended.set()
        else:
            self.ended.clear()
        if self.ended.is_set() and self._unrendered <= 0 and self._unremarked <= 0:
            self.over.set()
        else:
            self.over.clear()


class FollowedTurns:
    """The turns of one client under way: each Message is given to the turn it belongs to, by a mark in its context.

    Named sessions are remembered as they were last reported, because the client sends them with each utterance
    (SESSION-2); at most `remembered` of them, or all. `serves` says whether speech in a session is rendered here,
    `remarks` whether the assistant says something about turns that end without an answer.
    """

    def __init__(
        self,
        name: str,
        serves: Callable[[str], bool] = lambda _session_id: True,
        remembered: int | None = 100,
        remarks: Callable[[], bool] = lambda: False,
    ) -> None:
        self._remarks = remarks
        self._name = name
        self._serves = serves
        self._numbers = count(1)
        self._remembered = remembered
        self._turns: dict[str, TurnFollower] = {}
        self._asking: dict[str, tuple[str, TurnFollower]] = {}
        """By session: the skill that waits for what is said next, and its turn."""
        self._sessions: dict[str, Session] = {}

    def __iter__(self) -> Iterator[TurnFollower]:
        return iter(list(self._turns.values()))

    def __contains__(self, follower: TurnFollower) -> bool:
        return follower in self._turns.values()

    def begin(
        self,
        utterances: list[str],
        *,
        hear: Callable[[str], None] | None = None,
        lang: str | None = None,
        session: Session | str | None = None,
        context: Mapping[str, Any] | None = None,
    ) -> tuple[Message, TurnFollower]:
        """The Message of an utterance, to be emitted, and its follower; raises `MalformedMessage`.

        A session that is named by a string is sent as it was last reported.
        """
        data: dict[str, Any] = {"utterances": utterances}
        if lang is not None:
            data["lang"] = lang
        if isinstance(session, str):
            session = self._sessions.get(session) or Session(session)
        mark = f"{self._name}-{next(self._numbers)}"
        message = Message(topics.UTTERANCE_HANDLE, data, {**(context or {}), _MARK: mark}, session)
        follower = TurnFollower(tuple(utterances), hear, message.session_id, remarks=self._remarks())
        self._turns[mark] = follower
        return message, follower

    def of(self, message: Message) -> TurnFollower | None:
        """The turn a Message belongs to."""
        mark = message.context.get(_MARK)
        return self._turns.get(mark) if isinstance(mark, str) else None

    def saw(self, message: Message) -> TurnFollower | None:
        """Process a Message and return the turn it belongs to."""
        if message.type in _REPORT_SESSION and message.session is not None:
            self._adopt(message.session)
        follower = self.of(message)
        if follower is None:
            return None
        follower.saw(message, is_rendered=self._serves(message.session_id))
        if is_question(message):
            mode = message.session.response_mode if message.session is not None else None
            if mode is not None:
                self._asking[message.session_id] = mode.skill_id, follower
        elif message.type.endswith(":response") or message.type == topics.QUESTION_WITHDRAWN:
            skill_id, asking = self._asking.get(message.session_id, ("", None))
            is_withdrawn = message.data.get("skill_id") == skill_id
            if asking is not None and (message.type == f"{skill_id}:response" or is_withdrawn):
                del self._asking[message.session_id]
                asking.resume(follower)
        return follower

    def forget(self, follower: TurnFollower) -> None:
        """Stop following a turn."""
        self._turns = {mark: turn for mark, turn in self._turns.items() if turn is not follower}
        self._asking = {session: asking for session, asking in self._asking.items() if asking[1] is not follower}

    def _adopt(self, session: Session) -> None:
        if session.is_default:  # the assistant itself keeps it
            return
        self._sessions.pop(session.session_id, None)
        self._sessions[session.session_id] = session
        if self._remembered is not None and len(self._sessions) > self._remembered:
            del self._sessions[next(iter(self._sessions))]


def is_question(message: Message) -> bool:
    """Whether the user is asked something and the answer goes to the skill that asked (CONVERSE-1 §5.1)."""
    if message.type != topics.UTTERANCE_SPEAK or message.data.get("listen") is not True:
        return False
    return message.session is not None and message.session.response_mode is not None


def is_unanswered(message: Message) -> bool:
    """Whether the assistant says something about the turn after this Message, or that it says nothing."""
    return message.type in _UNANSWERED or (message.type == topics.HANDLER_COMPLETE and DECLINED in message.context)


def detail_of(message: Message) -> str:
    """The plugin that decided how a turn ended, and its reason."""
    data = message.data
    if message.type == topics.UTTERANCE_CANCELLED:
        return f"{data.get(CANCEL_BY)}: {data.get(CANCEL_REASON)}"
    if message.type == topics.HANDLER_ERROR:
        return f"{data.get('skill_id')}:{data.get('intent_name')}: {data.get('exception')}"
    return ""
