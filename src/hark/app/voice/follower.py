"""Follows the device's own session until every turn has ended and everything was said."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from hark.app.turn_follower import OUTCOMES, REMARKS, detail_of, is_unanswered
from hark.bus import Bus
from hark.model import Message
from hark.spec import DEFAULT_SESSION_ID, topics
from hark.spec.names import REMARK

_STEPS: Final = {
    topics.UTTERANCE_HANDLE: 1,
    topics.UTTERANCE_HANDLED: -1,
    topics.UTTERANCE_SPEAK: 1,
    topics.SPEECH_RENDERED: -1,
}


class VoiceFollower:
    """Follows the device's own session: what was recognised, what was answered, how the last turn ended."""

    def __init__(
        self, bus: Bus, *, remarks: bool = False, on_heard: Callable[[str], None] = lambda _text: None
    ) -> None:
        """`remarks`: the assistant says something about turns that end without an answer. `on_heard` is called with
        what was recognised, before it is answered.
        """
        self._remarks = remarks
        self._on_heard = on_heard
        self.heard: list[str] = []
        """What was recognised, a text for each command."""
        self.not_understood = 0
        """Commands that were not recognised."""
        self.outcome = ""
        self.detail = ""
        self.utterance_id = ""
        """Of the last turn."""
        self.answered = False
        """Whether something was said in the last turn."""
        self._open = 0
        self._quiet = asyncio.Event()
        self._quiet.set()
        self.close = bus.tap(self._follow)

    async def quiet(self) -> None:
        """Wait until every turn has ended and everything was said."""
        await self._quiet.wait()

    def _follow(self, message: Message) -> None:
        if message.session_id != DEFAULT_SESSION_ID:
            return
        if message.type == topics.UTTERANCE_HANDLE:
            utterances = message.data.get("utterances") or ("",)
            self.heard.append(str(utterances[0]))
            self._on_heard(self.heard[-1])
            self.answered = False
        elif message.type == topics.UTTERANCE_SPEAK:
            self.answered = True
        elif message.type == topics.STT_FAILED:
            self.not_understood += 1
        elif message.type == topics.UTTERANCE_HANDLED:
            self.utterance_id = message.utterance_id or ""
        if message.type in OUTCOMES:
            self.outcome, self.detail = OUTCOMES[message.type], detail_of(message)
        self._open += _STEPS.get(message.type, 0)
        if self._remarks:
            self._open += is_unanswered(message)
            self._open -= message.type in REMARKS and message.context.get(REMARK) is True
        if self._open > 0:
            self._quiet.clear()
        else:
            self._quiet.set()
