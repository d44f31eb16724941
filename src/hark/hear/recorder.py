"""The recording that goes on at this moment, if one does."""

from __future__ import annotations

import logging
from collections.abc import Callable

from hark.hear.options import HearOptions
from hark.hear.recognition import Recogniser, RecognitionQueue
from hark.hear.recording import Capture, End, Recording
from hark.hear.signals import Signals
from hark.hear.trace_link import TraceLink
from hark.model import Clock, Session, Timer

log = logging.getLogger("hark.hear")


class Recorder:
    """Begins and ends recordings, one at a time, with one signal for each beginning and one for each end."""

    def __init__(
        self,
        clock: Clock,
        options: HearOptions,
        signals: Signals,
        recogniser: Recogniser,
        thinking: RecognitionQueue,
        telling: TraceLink,
        changed: Callable[[], None],
    ) -> None:
        self._clock = clock
        self._options = options
        self._signals = signals
        self._recogniser = recogniser
        self._thinking = thinking
        self._telling = telling
        self._changed = changed
        """Is told whenever a recording began or ended."""
        self._capture: Capture | None = None
        self._stall: Timer | None = None
        self._heard = False
        """Whether any sound came since somebody last looked."""
        self._full = False

    @property
    def on(self) -> bool:
        """Whether somebody is being recorded."""
        return self._capture is not None

    @property
    def free(self) -> bool:
        """Whether another recording could begin."""
        full = self._thinking.open >= self._options.most_waiting
        if full and not self._full:
            log.warning("%d commands wait to be recognised: no other is taken", self._thinking.open)
        self._full = full
        return self._capture is None and not full

    def begin(
        self,
        recording: Recording,
        opened_by: str,
        session: Session,
        lang: str | None = None,
        persona: str | None = None,
        run_on: str = "",
    ) -> None:
        """Record somebody."""
        capture = self._capture = Capture(session, recording, self._clock, opened_by, lang, persona, run_on)
        self._signals.started(capture.session_id)
        if self._capture is capture:  # whoever heard of it may have ended it
            capture.stream = self._recogniser.stream(capture.session, lambda text: self._partial(capture, text))
            self._watch()
            self._changed()

    def add(self, block: bytes, voice: bool, deaf: bool) -> None:
        """Take in a block of sound; `deaf`: let it pass."""
        capture = self._capture
        if capture is None:
            return
        self._heard = True
        recording = capture.recording
        if deaf:
            end = recording.pass_over(block)
        else:
            spoke = recording.spoke
            end = recording.add(block, voice)
            if capture.stream is not None and recording.spoke:
                for kept in (block,) if spoke else recording.kept:
                    capture.stream.feed(kept)
        if end is not None:
            self.end(end)

    def end(self, end: End) -> None:
        """The recording is over; what was said is recognised."""
        capture = self._let_go(end)
        if capture is not None:
            self._thinking.take(capture)
            self._changed()

    def drop(self, end: End) -> None:
        """The recording is over, and nothing comes of it."""
        capture = self._let_go(end)
        if capture is not None:
            self._telling.alone(capture, end)
            self._thinking.forget(capture)
            self._changed()

    def _let_go(self, end: End) -> Capture | None:
        capture, self._capture = self._capture, None
        if capture is not None:
            if self._stall is not None:
                self._stall.cancel()
                self._stall = None
            capture.ended(end)
            self._signals.ended(capture.session_id)
        return capture

    def _partial(self, capture: Capture, text: str) -> None:
        if self._options.partials:
            self._signals.partial(text, capture.session_id)

    def _watch(self) -> None:
        """See to it that a recording ends although no sound comes."""
        self._heard = False
        self._stall = self._clock.after(self._options.stall, self._look)

    def _look(self) -> None:
        if self._heard:
            self._watch()
        else:
            log.warning("no sound has come for %g s: the recording is over", self._options.stall)
            self.end("microphone lost")
