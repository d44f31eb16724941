"""Devices that users talk to, and what was said to each."""

from __future__ import annotations

from collections import deque
from typing import Any, Final

from hark.model import Audio, Location, Message, Session
from hark.spec import DEFAULT_SESSION_ID, topics
from hark.testing.scripts.script import HERE

MARK: Final = "hark_script"
"""Context key that names the utterance of the script a Message derives from; derived Messages carry it along."""

_DECIDED: Final = (topics.INTENT_MATCHED, topics.UTTERANCE_HANDLED)


class ScriptTurn:
    """One utterance of the script, and the state of its turn."""

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self.utterance_id = ""
        self.asks = False
        """Whether it waits for an answer: the last speech opens the microphone."""
        self._entries = 0
        self._markers = 0
        self._decided: set[str | None] = set()
        self._unrendered = 0

    @property
    def is_open(self) -> bool:
        """Whether its end marker or the rendering of a speech is still to come."""
        return self._entries > self._markers or self._unrendered > 0

    @property
    def is_undecided(self) -> bool:
        """Whether no plugin has claimed it yet, and it has not ended."""
        return self._entries > len(self._decided)

    def observe(self, message: Message) -> None:
        """Update its state by a Message that derives from it."""
        if message.type == topics.UTTERANCE_SPEAK:
            self._unrendered += 1
            self.asks = message.data.get("listen") is True
        elif message.type == topics.SPEECH_RENDERED:
            self._unrendered -= 1
        elif message.type == topics.UTTERANCE_HANDLE:
            self._entries += 1
        elif message.type == topics.UTTERANCE_HANDLED:
            self._markers += 1
            self.asks = False
        if message.type in _DECIDED:
            self._decided.add(message.utterance_id)
            self.utterance_id = self.utterance_id or message.utterance_id or ""


class SpokenAnswer:
    """A speech of Hark."""

    def __init__(self, text: str, asks: bool) -> None:
        self.text = text
        self.asks = asks
        self.sounds: list[Audio] = []
        """The sounds that were played of it, in a spoken conversation."""
        self.complete = True
        """Whether it was played to its end."""
        self.failed = False
        """Whether it could not be synthesised or played."""


class Device:
    """A device that users talk to. A satellite keeps its session and sends it with each utterance (SESSION-2)."""

    def __init__(self, name: str, session: Session) -> None:
        self.name = name
        self._session = session
        self.lang: str | None = None
        """The language of its users, if the script sets one."""
        self.unread: deque[SpokenAnswer] = deque()
        """Speeches that no line of the script was compared with yet."""
        self.lenient = False
        """Whether speeches that are not in the script are allowed now."""
        self.last: ScriptTurn | None = None
        """The last utterance to it."""
        self.spoke = False
        """Whether it spoke since then."""

    @property
    def session_id(self) -> str:
        """The id of its session."""
        return self._session.session_id

    def utterance(self, text: str, lang: str | None, mark: str) -> Message:
        """The Message for an utterance to it."""
        data: dict[str, Any] = {"utterances": [text]}
        if lang is not None:
            data["lang"] = lang
        own = self.session_id == DEFAULT_SESSION_ID  # the assistant itself stores that session
        return Message(topics.UTTERANCE_HANDLE, data, {MARK: mark}, None if own else self._session)

    def update_session(self, session: Session | None) -> None:
        """Store the session of a Message from Hark, unless it has no fields but its id."""
        if session is not None and len(tuple(session)) > 1:
            self._session = session


class Devices:
    """The devices of a conversation; one exists as soon as it is named."""

    def __init__(self, where: Location) -> None:
        self._where = where
        self._by_session: dict[str, Device] = {}

    def named(self, name: str) -> Device:
        """The device of this name."""
        session_id = DEFAULT_SESSION_ID if name == HERE else name
        if session_id not in self._by_session:
            session = Session() if name == HERE else Session(session_id, location=self._where)
            self._by_session[session_id] = Device(name, session)
        return self._by_session[session_id]

    def all(self) -> list[Device]:
        """All devices so far."""
        return list(self._by_session.values())

    def update_session(self, message: Message) -> None:
        """Store the session of a Message in the device that has it."""
        device = self._by_session.get(message.session_id)
        if device is not None:
            device.update_session(message.session)


class ScriptTurns:
    """The turns of a conversation, by the mark of each."""

    def __init__(self) -> None:
        self._turns: dict[str, ScriptTurn] = {}

    def begin(self, device: Device, mark: str) -> None:
        """Start a turn for an utterance to a device."""
        for turn in self._turns.values():
            if turn.session_id == device.session_id:
                turn.asks = False  # this may be the answer it waited for
        device.last = self._turns[mark] = ScriptTurn(device.session_id)
        device.spoke = False

    def get(self, mark: object) -> ScriptTurn | None:
        """The turn with this mark, if there is one."""
        return self._turns.get(mark) if isinstance(mark, str) else None

    def forget(self, *, also_open: bool = False) -> None:
        """Remove the turns that have ended, or all."""
        self._turns = {mark: turn for mark, turn in self._turns.items() if turn.is_open and not also_open}

    @property
    def any_running(self) -> bool:
        """Whether a handler is running that does not wait for an answer."""
        return any(turn.is_open and not turn.asks for turn in self._turns.values())

    @property
    def any_undecided(self) -> bool:
        """Whether for a turn no plugin has claimed it yet."""
        return any(turn.is_undecided for turn in self._turns.values())
