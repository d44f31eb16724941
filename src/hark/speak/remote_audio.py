"""Responses for somebody else's loudspeaker: `ovos.utterance.speak.b64` to `ovos.audio.speech` (AUDIO-1 §3.4)."""

from __future__ import annotations

import base64

from hark.chains import Flow
from hark.hosting import Runner
from hark.model import Audio, Message
from hark.model.wav import write_wav
from hark.speak.off_loop import off_loop
from hark.speak.playback import as_one, form
from hark.speak.response import ResponseContext, cancellation
from hark.speak.session_queue import ItemOutcome, QueueItem, SessionQueue
from hark.speak.synthesis import Synthesizer
from hark.spec import topics


class RemoteResponse(QueueItem):
    """Made as every response is, sent as one WAV file, never heard here.

    `tells`: nobody else here renders it, so whoever waits for it is told when it was sent.
    """

    def __init__(
        self, message: Message, means: ResponseContext, voice: Synthesizer, runner: Runner, *, tells: bool
    ) -> None:
        super().__init__(message)
        self._tells = tells
        self._means = means
        self._voice = voice
        self._runner = runner

    async def make(self, run: SessionQueue) -> ItemOutcome:
        """As promised by `QueueItem`."""
        worded = await self._means.wording.of(self.origin)
        if worded is None:
            return "dropped"
        if worded.flow.cancelled:
            return self._cancelled(run, worded.flow)
        spoken = []
        for sentence in self._voice.sentences(worded):
            if run.stopped:
                return "stopped"
            audio = await self._voice.whole(sentence, worded.trace)
            if audio is not None:
                spoken.append(audio)
        if spoken:
            flow = await self._means.wording.heard(worded, await self._whole(spoken), self._voice.tts)
            if flow.cancelled:
                return self._cancelled(run, flow)
            self.message = flow.message()
            if not run.stopped:
                self._send(flow.artifact)
        if self.listens and not run.stopped:
            self._means.bus.emit(self.message.forward(topics.MIC_LISTEN))
        return "rendered" if spoken else "failed"

    async def _whole(self, spoken: list[Audio]) -> Audio:
        if len({form(audio) for audio in spoken}) == 1:
            return as_one(spoken)
        return await off_loop(self._runner, lambda: as_one(spoken))

    def _send(self, audio: Audio) -> None:
        data: dict[str, object] = {"audio": base64.b64encode(write_wav(audio)).decode(), "mime": "audio/wav"}
        if self.listens:
            data["listen"] = True
        self._means.bus.emit(self.message.forward(topics.AUDIO_SPEECH, data))

    def _cancelled(self, run: SessionQueue, flow: Flow) -> ItemOutcome:
        if run.stopped:
            return "stopped"
        self._means.bus.emit(cancellation(flow))
        return "cancelled"

    def note(self, who: str, how: str, seconds: float, why: str) -> None:
        """Nobody plays it."""

    def end(self, outcome: ItemOutcome) -> None:
        """As promised by `QueueItem`."""
        super().end(outcome)
        self._means.wording.trace_of(self.origin).step(
            "speak", self.origin.session_id, outcome, 0.0, "to be heard elsewhere"
        )
        if self._tells:
            self._means.bus.emit(self.message.forward(topics.SPEECH_RENDERED, {"outcome": outcome}))
