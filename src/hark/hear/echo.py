"""Whether a voice in the microphone may be the assistant's own."""

from __future__ import annotations

from typing import Final

from hark.hear.recording import BYTES_A_SECOND

_RECENT: Final = round(0.5 * BYTES_A_SECOND)
"""Bytes since the last voice during playback: with fewer, the machine hears itself."""
_KNOWN: Final = round(1.0 * BYTES_A_SECOND)
"""Bytes of playback after which it is clear whether the machine hears itself."""


class Echo:
    """Follows playback and what the microphone picks up of it.

    After playback, a voice may be the assistant's own for `tail` seconds, as long as it does not pause, if a voice was
    heard during playback. A machine with an echo canceller, or whose user wears headphones, hears none: there, every
    voice is an answer.
    """

    def __init__(self, tail: float) -> None:
        self._tail = round(tail * BYTES_A_SECOND)
        self._playing: set[str] = set()
        self._left = 0
        self._played = 0
        self._since_voice = 0

    @property
    def playing(self) -> bool:
        return bool(self._playing)

    @property
    def possible(self) -> bool:
        """Whether a voice may be the assistant's own although playback has ended."""
        return self._left > 0

    def started(self, session_id: str) -> None:
        self._playing.add(session_id)
        self._left = self._played = self._since_voice = 0

    def ended(self, session_id: str) -> bool:
        """Whether there was playback in that session."""
        if session_id not in self._playing:
            return False
        self._playing.discard(session_id)
        if self._playing:
            self._left = self._played = self._since_voice = 0
        elif self._played < _KNOWN or self._since_voice < _RECENT:
            self._left = self._tail
        return True

    def add(self, block: bytes, voice: bool) -> None:
        """Take note of a block from the microphone."""
        if self._playing:
            self._played += len(block)
            self._since_voice = 0 if voice else self._since_voice + len(block)
        elif self._left:
            self._left = max(0, self._left - len(block)) if voice else 0
