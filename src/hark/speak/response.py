"""A response on its way: words, sound, and telling who waits for it."""

from __future__ import annotations

import logging
from contextlib import aclosing
from typing import TYPE_CHECKING

import msgspec

from hark.bus import Bus
from hark.chains import Flow
from hark.model import Audio, Clock, Message
from hark.speak.item import Item, Outcome
from hark.speak.run import Run
from hark.speak.wording import Render, Worded, Wording, cancellation
from hark.spec import topics
from hark.trace import TurnTrace, summarize

if TYPE_CHECKING:  # who shows text only has no voice
    from hark.speak.voice import Sentence, Voice

log = logging.getLogger("hark.speak")


class Means(msgspec.Struct, frozen=True):
    """What responses are made with."""

    bus: Bus
    clock: Clock
    wording: Wording
    render: Render
    voice: Voice | None = None


class Response(Item):
    """What a handler said: through the dialog chain, then shown; with a voice, heard, and shown when that begins."""

    def __init__(self, message: Message, means: Means) -> None:
        super().__init__(message)
        self._means = means
        self._received = means.clock.monotonic()
        self._worded: Worded | None = None
        self._shown = False
        self._showing = 0.0
        """Seconds that took."""
        self._first: float | None = None
        """Seconds from receipt to the first sound."""

    async def make(self, run: Run) -> Outcome:
        """As promised by `Item`."""
        worded = await self._means.wording.of(self.origin)
        if worded is None:
            return "dropped"
        self._worded, self.message = worded, worded.message
        if run.stopped:
            return "stopped"
        if worded.flow.cancelled:
            return self._cancelled(worded.flow)
        if self._means.voice is None:
            self._show(worded)
            return "rendered"
        return await self._speak(run, worded, self._means.voice)

    async def _speak(self, run: Run, worded: Worded, voice: Voice) -> Outcome:
        """Offer sentence after sentence as it is made; or, with no looking ahead, all of them in the end."""
        said = made = 0
        held: list[Audio] = []
        for sentence in voice.sentences(worded):
            said += 1
            if voice.options.ahead:
                await run.room()
            if run.stopped:
                return "stopped"
            if voice.options.ahead and voice.streams(worded):
                made += await self._stream(run, worded, voice, sentence)
                continue
            flow = await self._sound(worded, voice, sentence)
            if flow is None:
                continue
            if flow.cancelled:
                return self._withdrawn(run, flow)
            made += 1
            self.message = flow.message()
            if voice.options.ahead:
                await run.offer(self, flow.artifact)
            else:
                held.append(flow.artifact)
        for audio in held:
            await run.offer(self, audio)
        return "rendered" if made or not said else "failed"

    async def _sound(self, worded: Worded, voice: Voice, sentence: Sentence) -> Flow | None:
        """A sentence after the tts chain; None when nobody could speak it."""
        audio = await voice.whole(sentence, worded.trace)
        return None if audio is None else await self._means.wording.heard(worded, audio, voice.tts)

    async def _stream(self, run: Run, worded: Worded, voice: Voice, sentence: Sentence) -> int:
        made = 0
        async with aclosing(voice.pieces(sentence, worded.trace)) as pieces:
            async for audio in pieces:
                if run.stopped:
                    break
                made = 1
                await run.offer(self, audio, sentence)
        return made

    def begins(self) -> None:
        """As promised by `Item`."""
        if self._first is None:
            self._first = self._means.clock.monotonic() - self._received
        self._show_safely()

    def note(self, who: str, how: str, seconds: float, why: str) -> None:
        """As promised by `Item`."""
        self._trace().step("play", who, how, seconds, why)

    def end(self, outcome: Outcome) -> None:
        """As promised by `Item`: the trace tells it, and whoever waits for it is told."""
        super().end(outcome)
        if self._means.voice is not None and outcome in ("rendered", "failed"):
            self._show_safely()  # what cannot be heard can be read
        trace = self._trace()
        if outcome == "rendered" and self._worded is not None:
            told, took = "", self._showing
            if self._first is not None:
                told, took = f"heard after {self._first:.3f} s", self._means.clock.monotonic() - self._received
            text = summarize(self._worded.flow.artifact)
            trace.step("speak", self.origin.session_id, outcome, took, told, None, text)
        elif outcome == "stopped":
            trace.step("speak", self.origin.session_id, outcome, 0.0, "the user stopped it")
        elif outcome == "failed":
            trace.step("speak", self.origin.session_id, outcome, 0.0, "it could not be rendered")
        self._means.bus.emit(self.message.forward(topics.SPEECH_RENDERED, {"outcome": outcome}))

    def _withdrawn(self, run: Run, flow: Flow) -> Outcome:
        """A tts transformer does not want this response: what was heard was heard, nothing more will be."""
        if run.stopped:
            return "stopped"
        run.withdraw(self)
        return self._cancelled(flow)

    def _cancelled(self, flow: Flow) -> Outcome:
        self._means.bus.emit(cancellation(flow))
        return "cancelled"

    def _trace(self) -> TurnTrace:
        return self._means.wording.trace_of(self.origin) if self._worded is None else self._worded.trace

    def _show(self, worded: Worded) -> None:
        self._shown = True
        began = self._means.clock.monotonic()
        self._means.render(worded.spoken())
        self._showing = self._means.clock.monotonic() - began

    def _show_safely(self) -> None:
        if self._worded is None or self._shown:
            return
        try:
            self._show(self._worded)
        except Exception:
            log.exception("a response could not be shown: %s", self.origin)
