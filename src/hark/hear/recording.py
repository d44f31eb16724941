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
    """The last moments before a recording."""

    def __init__(self, seconds: float) -> None:
        self._most = _bytes(seconds)
        self._blocks: deque[tuple[bytes, bool]] = deque()
        self._size = 0

    def add(self, block: bytes, voice: bool) -> None:
        """Remember a block, and forget those that are too old."""
        self._blocks.append((block, voice))
        self._size += len(block)
        while self._blocks and self._size - len(self._blocks[0][0]) >= self._most:
            self._size -= len(self._blocks.popleft()[0])

    def clear(self) -> None:
        """Forget everything."""
        self._blocks.clear()
        self._size = 0

    def take(self) -> list[tuple[bytes, bool]]:
        """All of it."""
        return list(self._blocks)

    def breath(self, seconds: float) -> list[tuple[bytes, bool]]:
        """What was said without a pause up to now, at most `seconds` of it: before a pause was the wake word."""
        taken: deque[tuple[bytes, bool]] = deque()
        size = 0
        for block, voice in reversed(self._blocks):
            if not voice or size + len(block) > _bytes(seconds):
                break
            taken.appendleft((block, voice))
            size += len(block)
        return list(taken)


class Recording:
    """One command as it is spoken: `add` says when it is over.

    What is kept begins a moment before the speech. A voice that goes on from the start for less than `tail` seconds was
    the end of something else, such as the wake word; when it goes on for longer, it is all kept.
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
        """Whether whoever spoke before has not paused since."""
        self.spoke = False
        """Whether somebody has spoken."""
        for block, voice in before:
            self._blocks.append(block)
            self._size += len(block)
            self._run = 0 if self._in_tail or not voice else self._run + len(block)

    @property
    def seconds(self) -> float:
        """How long it has been going on."""
        return self._length / BYTES_A_SECOND

    @property
    def kept(self) -> Iterable[bytes]:
        """What was kept so far."""
        return tuple(self._blocks)

    @property
    def samples(self) -> bytes:
        """What was kept, in one piece."""
        return b"".join(self._blocks)

    @property
    def worth_recognising(self) -> bool:
        """Whether there is any speech in it."""
        return self.spoke or (self._held and self._run > 0)

    def pass_over(self, block: bytes) -> End | None:
        """Let time go by without listening; why the recording is over, once it is."""
        self._length += len(block)
        return "too long" if self._length >= _bytes(self._options.longest) else None

    def add(self, block: bytes, voice: bool) -> End | None:
        """Take in a block of sound; why the recording is over, once it is."""
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
            while self._size > size:  # all of it was the end of something else
                self._size -= len(self._blocks.popleft())
            self._in_tail = False
        self._run = 0

    def _slide(self) -> None:
        """Nobody has spoken yet: of the silence only the last of it is kept."""
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
    """What is known of one command before it is an utterance."""

    def __init__(
        self,
        found: Session,
        recording: Recording,
        clock: Clock,
        opened_by: str,
        lang: str | None = None,
        persona: str | None = None,
        run_on: str = "",
    ) -> None:
        self.id = f"capture-{_PROCESS}-{next(_numbers)}"
        self.found = found if persona is None else found.without("persona_id")
        """The session as it was when nobody spoke yet."""
        hints = {"request_lang": lang, "persona_id": persona}
        self.session = found.replace(**{name: hint for name, hint in hints.items() if hint is not None})
        """The session with what is to be read from how this was opened."""
        self.recording = recording
        self.opened_by = opened_by
        self.run_on = run_on
        """The wake phrase, where the command was said in one breath with it: its end is in the sound."""
        self.stream: Stream | None = None
        """The recognition that goes on while somebody speaks, if there is one."""
        self.trace = TurnTrace(self.id, found.session_id, (), clock.wall(), clock.monotonic)

    @property
    def session_id(self) -> str:
        """Whose command it is."""
        return self.session.session_id

    def ended(self, end: End) -> None:
        """Note how the recording ended."""
        recording = self.recording
        outcome = "spoken" if recording.worth_recognising else "nothing"
        kept = describe_audio(Audio(recording.samples, SAMPLE_RATE))
        self.trace.step("record", self.opened_by, outcome, recording.seconds, f"over by {end}", None, kept)
