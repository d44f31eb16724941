"""What the room says on the bus. Every Message is fresh, and says whose session it is about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from hark.bus import Bus
from hark.hear.options import HearOptions
from hark.model import Message, Session
from hark.model.frozen import EMPTY
from hark.plugins.engines import WakeWord
from hark.spec import topics
from hark.spec.names import SOURCE

State = Literal["asleep", "waiting", "listening", "thinking"]


class Signals:
    """Emits the signals of AUDIO-IN-1 §6, and the state for displays."""

    def __init__(self, bus: Bus, options: HearOptions) -> None:
        self._bus = bus
        self._context = {} if options.source is None else {SOURCE: options.source}
        self._own = options.session_id
        self._state: State | None = None

    def fresh(self, topic: str, data: Mapping[str, Any] = EMPTY, session_id: str | None = None) -> Message:
        """A Message that comes from nowhere but here."""
        return Message(topic, data, self._context, Session(session_id or self._own))

    def wake_word(self, word: WakeWord) -> None:
        """Somebody said a wake word, and a recording follows."""
        data = {"wake_word": word.phrase.replace("_", " ")}
        if word.lang is not None:
            data["lang"] = word.lang
        self._bus.emit(self.fresh(topics.LISTENER_WAKEWORD, data))

    def hush(self) -> None:
        """Somebody wants to speak: what is being said in this conversation is to stop."""
        self._bus.emit(self.fresh(topics.AUDIO_STOP))

    def started(self, session_id: str) -> None:
        """A recording begins."""
        self._bus.emit(self.fresh(topics.LISTENER_RECORD_STARTED, session_id=session_id))

    def ended(self, session_id: str) -> None:
        """A recording is over."""
        self._bus.emit(self.fresh(topics.LISTENER_RECORD_ENDED, session_id=session_id))

    def awoken(self, request: Message | None = None) -> None:
        """Sleep is over."""
        if request is None:
            self._bus.emit(self.fresh(topics.LISTENER_AWOKEN))
        else:
            told = request if request.session is not None else request.carrying(Session())
            self._bus.emit(told.forward(topics.LISTENER_AWOKEN))

    def partial(self, text: str, session_id: str) -> None:
        """What was understood so far."""
        self._bus.emit(self.fresh(topics.LISTENER_PARTIAL, {"utterance": text}, session_id))

    def state(self, state: State) -> None:
        """What the room does now, where that is something else than before."""
        if state != self._state:
            self._state = state
            self._bus.emit(self.fresh(topics.LISTENER_STATE, {"state": state}))
