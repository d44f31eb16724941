"""One command, from the moment somebody is listened to."""

from __future__ import annotations

import os
from itertools import count
from typing import TYPE_CHECKING, Final

from hark.hear.recording import End, Recording
from hark.model import Audio, Clock, Session
from hark.model.audio import describe_audio
from hark.plugins.engines import SAMPLE_RATE
from hark.trace import TurnTrace

if TYPE_CHECKING:
    from hark.hear.streaming import Stream

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
