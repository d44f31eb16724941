"""Whether a voice in the microphone may be the assistant's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from hark.bus import Bus
from hark.hear.options import HearOptions
from hark.hear.recording import BYTES_A_SECOND
from hark.model import Message
from hark.spec import topics


class Talking:
    """Follows what is played to those who are listened to."""

    def __init__(self, bus: Bus, serves: Callable[[str], bool], changed: Callable[[], None]) -> None:
        self._serves = serves
        self._changed = changed
        self._sessions: set[str] = set()
        self._subscriptions = (
            bus.on(topics.AUDIO_OUTPUT_STARTED, self._started, name="hear: it talks"),
            bus.on(topics.AUDIO_OUTPUT_ENDED, self._ended, name="hear: it is silent"),
        )

    def __bool__(self) -> bool:
        return bool(self._sessions)

    def close(self) -> None:
        """Follow it no longer."""
        for subscription in self._subscriptions:
            subscription.close()

    def _started(self, message: Message) -> None:
        if self._serves(message.session_id):
            self._sessions.add(message.session_id)
            self._changed()

    def _ended(self, message: Message) -> None:
        if message.session_id in self._sessions:
            self._sessions.discard(message.session_id)
            self._changed()


_RECENT: Final = round(0.5 * BYTES_A_SECOND)
"""Bytes since the last voice while something is played: with less than that, the machine hears itself."""
_KNOWN: Final = round(1.0 * BYTES_A_SECOND)
"""Bytes of playing after which it is clear whether the machine hears itself."""


class Echo:
    """Whether a voice that is heard now may be the assistant's, of what was just played.

    It may be for `echo_tail` seconds, as long as it does not pause, if a voice was heard while that was played. A
    machine with an echo canceller, or whose user wears headphones, hears none: there, every voice is an answer.
    """

    def __init__(self, options: HearOptions, talking: Talking) -> None:
        self._most = round(options.echo_tail * BYTES_A_SECOND)
        self._talking = talking
        self._left = 0
        self._played = 0
        self._since_voice = 0

    @property
    def on(self) -> bool:
        """Whether a voice may be the assistant's own, though nothing is played any more."""
        return self._left > 0

    def turned(self) -> None:
        """Something begins to be played, or nothing is any more."""
        if self._talking:
            self._left = self._played = self._since_voice = 0
        elif self._played < _KNOWN or self._since_voice < _RECENT:
            self._left = self._most

    def hear(self, block: bytes, voice: bool) -> None:
        """Take note of a block of sound."""
        if self._talking:
            self._played += len(block)
            self._since_voice = 0 if voice else self._since_voice + len(block)
        elif self._left:
            self._left = max(0, self._left - len(block)) if voice else 0
