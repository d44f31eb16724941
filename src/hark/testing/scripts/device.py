"""Devices that users talk to, and what was said to each."""

from __future__ import annotations

from collections import deque
from typing import Any, Final

from hark.model import Audio, Location, Message, Session
from hark.spec import DEFAULT_SESSION_ID, topics
from hark.testing.scripts.script import HERE

MARK: Final = "hark_script"
"""Context key that tells which utterance a Message goes back to; every derivation carries it along."""

_DECIDED: Final = (topics.INTENT_MATCHED, topics.UTTERANCE_HANDLED)


class ScriptTurn:
    """Something that was said to Hark, and what became of it."""

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self.utterance_id = ""
        self.asks = False
        """Whether it waits for an answer: what was said last opens the microphone."""
        self._entries = 0
        self._markers = 0
        self._decided: set[str | None] = set()
        self._unrendered = 0

    @property
    def open(self) -> bool:
        """Whether there is still something to come of it."""
        return self._entries > self._markers or self._unrendered > 0

    @property
    def deciding(self) -> bool:
        """Whether nobody was found yet to answer it."""
        return self._entries > len(self._decided)

    def saw(self, message: Message) -> None:
        """Take note of a Message that goes back to it."""
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
    """Something Hark said."""

    def __init__(self, text: str, asks: bool) -> None:
        self.text = text
        self.asks = asks
        self.sounds: list[Audio] = []
        """What was heard of it, where it was played aloud."""
        self.whole = True
        """Whether nobody interrupted it."""
        self.failed = False
        """Whether it was to be heard, and could not be made to sound."""


class Device:
    """One end of a conversation. A satellite remembers its session and sends it along, as SESSION-2 has it."""

    def __init__(self, name: str, session: Session) -> None:
        self.name = name
        self._session = session
        self.lang: str | None = None
        """The language that is spoken to it, where the script says so."""
        self.unread: deque[SpokenAnswer] = deque()
        """What it said and the script has not come to yet."""
        self.lenient = False
        """Whether it may say things now that are not in the script."""
        self.last: ScriptTurn | None = None
        """What was last said to it."""
        self.spoke = False
        """Whether it said anything since."""

    @property
    def session_id(self) -> str:
        """The session it speaks in."""
        return self._session.session_id

    def utterance(self, text: str, lang: str | None, mark: str) -> Message:
        """`text` as it goes to the assistant."""
        data: dict[str, Any] = {"utterances": [text]}
        if lang is not None:
            data["lang"] = lang
        own = self.session_id == DEFAULT_SESSION_ID  # its store is the assistant itself
        return Message(topics.UTTERANCE_HANDLE, data, {MARK: mark}, None if own else self._session)

    def adopt(self, session: Session | None) -> None:
        """Take over the session as Hark tells it; one that says nothing is not taken for an empty one."""
        if session is not None and len(tuple(session)) > 1:
            self._session = session


class Devices:
    """Everybody who was spoken of, or spoke: there is a device as soon as somebody names it."""

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
        """All of them."""
        return list(self._by_session.values())

    def adopt(self, message: Message) -> None:
        """Let the device whose session it is know how that is now."""
        device = self._by_session.get(message.session_id)
        if device is not None:
            device.adopt(message.session)


class ScriptTurns:
    """Everything that was said to Hark, by the mark that tells which Messages go back to it."""

    def __init__(self) -> None:
        self._heard: dict[str, ScriptTurn] = {}

    def begin(self, device: Device, mark: str) -> None:
        """Something is said to a device."""
        for heard in self._heard.values():
            if heard.session_id == device.session_id:
                heard.asks = False  # whoever waited may be answered by this
        device.last = self._heard[mark] = ScriptTurn(device.session_id)
        device.spoke = False

    def of(self, mark: object) -> ScriptTurn | None:
        """What was said under a mark, if that is one."""
        return self._heard.get(mark) if isinstance(mark, str) else None

    def forget(self, *, all_of_them: bool = False) -> None:
        """Forget what is over, or all of them."""
        self._heard = {mark: heard for mark, heard in self._heard.items() if heard.open and not all_of_them}

    @property
    def working(self) -> bool:
        """Whether a handler is under way that waits for nobody's answer."""
        return any(heard.open and not heard.asks for heard in self._heard.values())

    @property
    def deciding(self) -> bool:
        """Whether for something nobody was found yet to answer it."""
        return any(heard.deciding for heard in self._heard.values())
