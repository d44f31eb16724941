"""What opens the ears: a wake word, a question, a button, or anybody who speaks."""

from __future__ import annotations

from collections.abc import Callable

from hark.hear.echo import Echo, Talking
from hark.hear.options import HearOptions
from hark.hear.recorder import Recorder
from hark.hear.recording import PreRoll, Recording
from hark.hear.sessions import KnownSessions
from hark.hear.signals import Signals
from hark.model import Session
from hark.plugins.engines import WakeWord


class Openings:
    """Begins recordings, with what was heard just before, where that is possible.

    `able`: whether anybody listens at all.
    """

    def __init__(
        self,
        options: HearOptions,
        signals: Signals,
        sessions: KnownSessions,
        recorder: Recorder,
        echo: Echo,
        able: Callable[[], bool],
        talking: Talking,
    ) -> None:
        self._options = options
        self._signals = signals
        self._sessions = sessions
        self._recorder = recorder
        self._echo = echo
        self._able = able
        self._talking = talking
        self.before = PreRoll(max(options.pre_roll, options.wake_pre_roll))
        """The last moments."""

    @property
    def possible(self) -> bool:
        """Whether a recording could begin now."""
        return self._able() and self._recorder.free

    @property
    def deaf(self) -> bool:
        """Whether what is heard is most likely the assistant itself."""
        return self._options.half_duplex and (bool(self._talking) or self._echo.on)

    def pushed(self, session_id: str | None, lang: str | None, held: bool) -> bool:
        """Somebody pushed a button; whether that opened the ears."""
        if not self.possible:
            return False
        recording = Recording(self._options, self.before.take(), held=held)
        self._recorder.begin(recording, "push-to-talk", self._session(session_id), lang)
        return True

    def asked(self, session_id: str) -> None:
        """Somebody was asked something."""
        if self.possible:
            tail = self._options.echo_tail if self._echo.on and not self.deaf else 0.0
            recording = Recording(self._options, self.before.take(), tail=tail)
            self._recorder.begin(recording, "request", self._session(session_id))

    def spoken(self) -> None:
        """Somebody speaks."""
        if self._options.opens_by == "speech" and not self.deaf and self.possible:
            self._recorder.begin(Recording(self._options, self.before.take()), "speech", self._session())

    def woken(self, word: WakeWord) -> None:
        """Somebody said a wake word."""
        self._signals.wake_word(word)
        if self._options.barge_in:
            self._signals.hush()
        if not self.possible:  # whoever heard of it may have had other plans
            return
        before = self.before.breath(self._options.wake_pre_roll)
        recording = Recording(self._options, before, tail=self._options.wake_tail)
        run_on = word.phrase if before else ""
        self._recorder.begin(recording, word.phrase, self._session(), word.lang, word.persona, run_on)

    def _session(self, session_id: str | None = None) -> Session:
        return self._sessions.of(session_id or self._options.session_id)
