"""Responses for a loudspeaker elsewhere: `ovos.utterance.speak.b64` to `ovos.audio.speech` (AUDIO-1 §3.4)."""

from __future__ import annotations

import base64

from hark.chains import Flow
from hark.hosting import Runner
from hark.model import Audio, Message
from hark.model.wav import write_wav
from hark.speak.playback import as_one, form
from hark.speak.response import ResponseContext, cancellation
from hark.speak.session_queue import ItemOutcome, QueueItem, SessionQueue
from hark.speak.synthesis import Synthesizer
from hark.spec import topics


class RemoteResponse(QueueItem):
    """Made as every response is, sent as one WAV file, never played here.

    `reports`: nothing else here renders it, so its `hark.speech.rendered` is sent from here.
    """

    def __init__(
        self, message: Message, context: ResponseContext, synthesizer: Synthesizer, runner: Runner, *, reports: bool
    ) -> None:
        super().__init__(message)
        self._reports = reports
        self._context = context
        self._synthesizer = synthesizer
        self._runner = runner

    async def make(self, queue: SessionQueue) -> ItemOutcome:
        result = await self._context.chains.run_dialog(self.origin)
        if result is None:
            return "dropped"
        if result.flow.cancelled:
            return self._cancelled(queue, result.flow)
        spoken = []
        for sentence in self._synthesizer.sentences(result):
            if queue.stopped:
                return "stopped"
            audio = await self._synthesizer.whole(sentence, result.trace)
            if audio is not None:
                spoken.append(audio)
        if spoken:
            flow = await self._context.chains.run_tts(result, await self._whole(spoken), self._synthesizer.tts)
            if flow.cancelled:
                return self._cancelled(queue, flow)
            self.message = flow.origin.within(flow.context, flow.lasting_session)
            if not queue.stopped:
                self._send(flow.artifact)
        if self.listens and not queue.stopped:
            self._context.bus.emit(self.message.forward(topics.MIC_LISTEN))
        return "rendered" if spoken else "failed"

    async def _whole(self, spoken: list[Audio]) -> Audio:
        if len({form(audio) for audio in spoken}) == 1:
            return as_one(spoken)
        return await self._runner.off_loop(lambda: as_one(spoken))

    def _send(self, audio: Audio) -> None:
        data: dict[str, object] = {"audio": base64.b64encode(write_wav(audio)).decode(), "mime": "audio/wav"}
        if self.listens:
            data["listen"] = True
        self._context.bus.emit(self.message.forward(topics.AUDIO_SPEECH, data))

    def _cancelled(self, queue: SessionQueue, flow: Flow) -> ItemOutcome:
        if queue.stopped:
            return "stopped"
        self._context.bus.emit(cancellation(flow))
        return "cancelled"

    def note_playback(self, player: str, how: str, seconds: float, why: str) -> None:
        """It is not played here."""

    def end(self, outcome: ItemOutcome) -> None:
        super().end(outcome)
        self._context.chains.trace_of(self.origin).step(
            "speak", self.origin.session_id, outcome, 0.0, "to be heard elsewhere"
        )
        if self._reports:
            self._context.bus.emit(self.message.signal(topics.SPEECH_RENDERED, {"outcome": outcome}))
