"""Sounds that are heard at once, over everything else, and to their end (AUDIO-1 §4.2)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from hark.model import Audio, Message
from hark.speak.earcons import Earcon, earcon
from hark.speak.formats import BadSound
from hark.speak.loudspeaker import Loudspeaker
from hark.speak.run import Spawn
from hark.speak.sounds import Request, Sounds, requested
from hark.spec import topics

log = logging.getLogger("hark.speak")

EARCONS: Final[dict[str, Earcon]] = {
    topics.LISTENER_RECORD_STARTED: "listening",
    topics.LISTENER_RECORD_ENDED: "done",
    topics.STT_FAILED: "error",
}
"""What is heard when."""


class Instants:
    """Plays instant sounds. Nothing stops them but the end of the room; there may be `most` at a time."""

    def __init__(
        self, loudspeaker: Loudspeaker, sounds: Sounds, spawn: Spawn, serves: Callable[[str], bool], most: int
    ) -> None:
        self._loudspeaker = loudspeaker
        self._sounds = sounds
        self._spawn = spawn
        self._serves = serves
        self._most = most
        self._heard = 0

    def play(self, message: Message) -> None:
        """`ovos.audio.play_sound`, of a session that is heard here."""
        if not self._serves(message.session_id):
            return
        try:
            self._begin(requested(message), message)
        except BadSound as bad:
            log.warning("dropped %s: %s", message.type, bad)

    def signal(self, message: Message) -> None:
        """Play the earcon that goes with a Message."""
        if self._serves(message.session_id):
            self._begin(earcon(EARCONS[message.type]), message)

    def _begin(self, what: Request | Audio, message: Message) -> None:
        if self._heard >= self._most:
            log.warning("dropped %s: %d instant sounds are heard already", message.type, self._heard)
            return
        self._heard += 1
        task = self._spawn(self._play(what, message), f"play an instant sound for {message.session_id}")
        task.add_done_callback(self._over)

    def _over(self, _task: object) -> None:
        self._heard -= 1

    async def _play(self, what: Request | Audio, message: Message) -> None:
        try:
            audio = what if isinstance(what, Audio) else await self._sounds.get(what)
        except BadSound as bad:
            log.warning("dropped %s: %s", message.type, bad)
            return
        await self._loudspeaker.play(audio, _untold)


def _untold(_who: str, _how: str, _seconds: float, _why: str) -> None:
    """Whether a player failed, its host has told."""
