"""One spoken command: where it begins and ends, its sound, session and trace. Time is counted in samples."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable
from itertools import count
from typing import TYPE_CHECKING, Final, Literal

from hark.hear.options import HearOptions
from hark.model import Audio, Clock, Session
from hark.model.audio import describe_audio
from hark.plugins.engines import SAMPLE_RATE
from hark.trace import TurnTrace

if TYPE_CHECKING:
    from hark.hear.streaming import Stream


BYTES_A_SECOND: Final = 2 * SAMPLE_RATE

End = Literal["silence", "no speech", "too long", "released", "sound ended", "microphone lost", "asleep", "closed"]
"""Why a recording is over."""


class PreRoll:
    """The last blocks before a recording, each with whether there was voice in it."""

    def __init__(self, seconds: float) -> None:
        self._most = _bytes(seconds)
        self._blocks: deque[tuple[bytes, bool]] = deque()
        self._size = 0

    def add(self, block: bytes, voice: bool) -> None:
        self._blocks.append((block, voice))
        self._size += len(block)
        while self._blocks and self._size - len(self._blocks[0][0]) >= self._most:
            self._size -= len(self._blocks.popleft()[0])

    def clear(self) -> None:
        self._blocks.clear()
        self._size = 0

    def blocks(self) -> list[tuple[bytes, bool]]:
        return list(self._blocks)

    def unbroken_speech(self, seconds: float) -> list[tuple[bytes, bool]]:
        """The voice without a pause up to now, at most `seconds` of it: before a pause was the wake word."""
        taken: deque[tuple[bytes, bool]] = deque()
        size = 0
        for block, voice in reversed(self._blocks):
            if not voice or size + len(block) > _bytes(seconds):
                break
            taken.appendleft((block, voice))
            size += len(block)
        return list(taken)


class Recording:
    """The sound of one command: `add` says when it is over.

    What is kept begins `pre_roll` seconds before the speech. A voice that goes on from the start for less than `tail`
    seconds was the end of something else, such as the wake word; when it goes on for longer, all of it is kept. `held`:
    only the caller, or the limit, ends it.
    """

    def __init__(
        self,
        options: HearOptions,
        before: Iterable[tuple[bytes, bool]] = (),
        *,
        tail: float = 0.0,
        held: bool = False,
    ) -> None:
        self._options = options
        self._tail = tail
        self._held = held
        self._blocks: deque[bytes] = deque()
        self._size = 0
        self._length = 0
        self._run = 0
        self._quiet = 0
        self._in_tail = tail > 0
        """Whether the voice from before the recording has not paused since."""
        self.spoke = False
        """Whether there was speech, not just noise."""
        for block, voice in before:
            self._blocks.append(block)
            self._size += len(block)
            self._run = 0 if self._in_tail or not voice else self._run + len(block)

    @property
    def seconds(self) -> float:
        """How long it lasts so far."""
        return self._length / BYTES_A_SECOND

    @property
    def kept(self) -> Iterable[bytes]:
        return tuple(self._blocks)

    @property
    def samples(self) -> bytes:
        return b"".join(self._blocks)

    @property
    def has_speech(self) -> bool:
        """Whether it is worth recognising."""
        return self.spoke or (self._held and self._run > 0)

    def skip(self, block: bytes) -> End | None:
        """Count a block's time without keeping it. Return why the recording is over, once it is."""
        self._length += len(block)
        return "too long" if self._length >= _bytes(self._options.longest) else None

    def add(self, block: bytes, voice: bool) -> End | None:
        """Take in a block. Return why the recording is over, once it is."""
        self._length += len(block)
        self._blocks.append(block)
        self._size += len(block)
        if voice:
            self._voice(len(block))
        else:
            self._silence(len(block))
        if not self.spoke and not self._held:
            self._slide()
        return self._over()

    def _voice(self, size: int) -> None:
        self._run += size
        self._quiet = 0
        options = self._options
        if self._run >= _bytes(self._tail if self._in_tail else options.shortest):
            self.spoke = True

    def _silence(self, size: int) -> None:
        self._quiet += size
        if self.spoke or self._held:
            return
        if self._in_tail:
            while self._size > size:  # all before this block was the end of something else
                self._size -= len(self._blocks.popleft())
            self._in_tail = False
        self._run = 0

    def _slide(self) -> None:
        """Before the speech, keep only `pre_roll` seconds."""
        while len(self._blocks) > 1 and self._size - self._run - len(self._blocks[0]) >= _bytes(self._options.pre_roll):
            self._size -= len(self._blocks.popleft())

    def _over(self) -> End | None:
        options = self._options
        if not self._held:
            if self.spoke and self._quiet >= _bytes(options.silence):
                return "silence"
            if not self.spoke and not self._run and self._length >= _bytes(options.no_speech):
                return "no speech"
        return "too long" if self._length >= _bytes(options.longest) else None


def _bytes(seconds: float) -> int:
    return round(seconds * SAMPLE_RATE) * 2


_PROCESS: Final = os.urandom(6).hex()
_numbers = count(1)


class Capture:
    """One command until it has its outcome: its recording, session and trace."""

    def __init__(
        self,
        session: Session,
        recording: Recording,
        clock: Clock,
        opened_by: str,
        lang: str | None = None,
        persona: str | None = None,
        wake_phrase: str = "",
    ) -> None:
        self.id = f"capture-{_PROCESS}-{next(_numbers)}"
        self.session_before = session if persona is None else session.without("persona_id")
        """The session as it was before the recording."""
        hints = {"request_lang": lang, "persona_id": persona}
        self.session = session.replace(**{name: hint for name, hint in hints.items() if hint is not None})
        """The session with what the start of the recording says about it."""
        self.recording = recording
        self.opened_by = opened_by
        self.wake_word = ""
        """The phrase of the wake word that opened the microphone, if one did."""
        self.wake_phrase = wake_phrase
        """The wake phrase, where the command was said in one breath with it: its end is in the sound."""
        self.stream: Stream | None = None
        """The recognition during the recording, if there is one."""
        self.trace = TurnTrace(self.id, session.session_id, (), clock.wall(), clock.monotonic)

    @property
    def session_id(self) -> str:
        return self.session.session_id

    def ended(self, end: End) -> None:
        """Note how the recording ended."""
        recording = self.recording
        outcome = "spoken" if recording.has_speech else "nothing"
        kept = describe_audio(Audio(recording.samples, SAMPLE_RATE))
        self.trace.step("record", self.opened_by, outcome, recording.seconds, f"ended by {end}", None, kept)
