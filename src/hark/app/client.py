"""Say something to an assistant and follow the turn until its answer was rendered."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

from hark.app.turn_follower import FollowedTurns, TurnFollower
from hark.bus import Bus
from hark.model import Clock, Message
from hark.speak import SpokenResponse
from hark.spec import DEFAULT_SESSION_ID, topics

_REMARK_LIMIT: Final = 1.0
"""Seconds after the end of a turn without an answer in which something may be said about it."""
_SPEECH_LIMIT: Final = 60.0
"""Seconds that speech may still take after the end of its turn."""


class Client:
    """The client of the terminal and of the control socket. Speech that answers no turn goes to `aside`.

    `remarks` says whether the assistant has something to say about turns that end without an answer.
    """

    def __init__(
        self, bus: Bus, clock: Clock, aside: Callable[[str], None], remarks: Callable[[], bool] = lambda: True
    ) -> None:
        self._bus = bus
        self._clock = clock
        self._aside = aside
        # The name is random: other processes may follow turns of the same assistant.
        self._turns = FollowedTurns(os.urandom(4).hex(), self.serves, remarks=remarks)
        self._present = Counter({DEFAULT_SESSION_ID: 1})
        """Open turns by session; the default session, that of the device itself, always counts as open."""
        self._unrendered = 0
        self._all_rendered = asyncio.Event()
        self._all_rendered.set()
        self._subscribe()

    def serves(self, session_id: str) -> bool:
        """Whether speech in this session is rendered here."""
        return self._present[session_id] > 0

    def render(self, spoken: SpokenResponse) -> None:
        """Pass speech to the turn it answers; in the default session other speech goes to `aside`."""
        turn = self._turns.of(spoken.message)
        if turn is not None:
            turn.hear(spoken.text)
        elif spoken.message.session_id == DEFAULT_SESSION_ID:
            self._aside(spoken.text)

    async def ask(
        self,
        text: str,
        hear: Callable[[str], None],
        *,
        lang: str | None = None,
        session_id: str = DEFAULT_SESSION_ID,
        intent: Mapping[str, Any] | None = None,
    ) -> TurnFollower:
        """Say `text` and wait until its turn ended and its speech was rendered; raises `MalformedMessage`.

        With `intent`, that one is called by its name.

        A turn that asks a question stays open until something is said in its session. If `text` is the answer to a
        question, the turn that asked it is returned, once it has ended.
        """
        entry, turn = self._turns.begin([text], hear=hear, lang=lang, session=session_id)
        if intent is not None:
            entry = entry.with_data({**entry.data, "intent": intent})
        self._enter(session_id)
        try:
            self._bus.emit(entry)
            await self._heard(turn)
            if not turn.resumed or turn.outcome not in ("complete", "cancelled"):
                return turn
            await self._heard(turn.resumed[-1])
            return turn.resumed[-1] if turn.outcome == "complete" else turn
        finally:
            if not turn.has_asked:  # else the answer, in another turn, ends it
                self._forget(turn)

    async def all_rendered(self, seconds: float) -> None:
        """Wait until no speech is left to be rendered, at most this long."""
        with suppress(TimeoutError):
            async with self._clock.timeout(seconds):
                await self._all_rendered.wait()

    def give_up(self, reason: str) -> None:
        """Expect nothing more of any open turn."""
        for turn in self._turns:
            turn.give_up(reason)

    def _subscribe(self) -> None:
        """Have `_saw` called with every Message of a turn."""
        self._bus.tap(self._saw)

    async def _heard(self, turn: TurnFollower) -> None:
        await turn.ended.wait()
        if turn.awaits_remark:
            try:
                async with self._clock.timeout(_REMARK_LIMIT):
                    await turn.remarked.wait()
            except TimeoutError:  # what is loaded elsewhere is not known here
                turn.forget_unrendered()
        with suppress(TimeoutError):  # a response that is never rendered
            async with self._clock.timeout(_SPEECH_LIMIT):
                await turn.over.wait()

    def _forget(self, turn: TurnFollower) -> None:
        if turn in self._turns:
            self._turns.forget(turn)
            self._leave(turn.session_id)

    def _enter(self, session_id: str) -> None:
        self._present[session_id] += 1

    def _leave(self, session_id: str) -> None:
        self._present[session_id] -= 1
        if not self._present[session_id]:
            del self._present[session_id]

    def _saw(self, message: Message) -> None:
        self._count_speech(message)
        turn = self._turns.saw(message)
        if turn is not None and turn.has_asked and not turn.is_open:
            self._forget(turn)

    def _forget_unrendered(self) -> None:
        """Wait no longer for speech that was to be rendered: the service that had it is gone."""
        self._unrendered = 0
        self._all_rendered.set()
        for turn in self._turns:
            turn.forget_unrendered()

    def _count_speech(self, message: Message) -> None:
        if message.type == topics.SPEECH_RENDERED:
            self._unrendered = max(self._unrendered - 1, 0)
        elif message.type == topics.UTTERANCE_SPEAK and self.serves(message.session_id):
            self._unrendered += isinstance(message.data.get("utterance"), str)
        else:
            return
        if self._unrendered:
            self._all_rendered.clear()
        else:
            self._all_rendered.set()
