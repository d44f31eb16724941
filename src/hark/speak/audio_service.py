"""What an audio output service does beside showing responses (AUDIO-1)."""

from __future__ import annotations

import logging
from collections.abc import Callable

from hark.bus import Bus
from hark.model import Clock, Message
from hark.speak.instant_sounds import EARCONS, InstantSounds
from hark.speak.playback import Loudspeaker
from hark.speak.remote_audio import RemoteResponse
from hark.speak.response import Render, Response, ResponseContext, SpeechChains
from hark.speak.session_queue import SessionQueues
from hark.speak.sounds import QueuedSound, SoundError, SoundLoader, requested
from hark.speak.synthesis import AudioOutput, Synthesizer
from hark.spec import topics

log = logging.getLogger("hark.speak")


class AudioService:
    """Has responses heard by the sessions that can hear them, and plays the sounds of others."""

    def __init__(
        self,
        bus: Bus,
        clock: Clock,
        wording: SpeechChains,
        show: Render,
        output: AudioOutput,
        serves: Callable[[str], bool],
    ) -> None:
        self._serves = serves
        loudspeaker = Loudspeaker(output.players, output.runner)
        self._bus = bus
        self._wording = wording
        self._output = output
        self._voice = Synthesizer(output)
        self._sounds = SoundLoader(output.options, output.runner)
        self._heard = SessionQueues(bus, loudspeaker, output.options.ahead)
        self._remote = SessionQueues(bus)
        self._means = ResponseContext(bus, clock, wording, show, self._voice)
        self._instants = InstantSounds(
            loudspeaker, self._sounds, self._heard.spawn, output.hears, output.options.instant_sounds
        )
        self.runs = [self._heard, self._remote]
        """What is being said and played here, and made for elsewhere."""

    def takes(
        self, elsewhere: Callable[[Message], None], stop: Callable[[Message], None]
    ) -> dict[str, Callable[[Message], None]]:
        """What is done with the Messages of each topic; responses nobody here can hear go `elsewhere`."""

        def speak(message: Message) -> None:
            if self._output.hears(message.session_id):
                self._heard.queue(Response(message, self._means))
            else:
                elsewhere(message)

        takes = {
            topics.UTTERANCE_SPEAK: speak,
            topics.AUDIO_QUEUE: self._queue,
            topics.AUDIO_PLAY_SOUND: self._instants.play,
            topics.AUDIO_STOP: stop,
            topics.AUDIO_IS_SPEAKING: self._tell,
        }
        if self._output.options.remote:
            takes[topics.UTTERANCE_SPEAK_B64] = self._speak_elsewhere
        if self._output.options.earcons:
            takes |= dict.fromkeys(EARCONS, self._instants.signal)
        return takes

    def _queue(self, message: Message) -> None:
        if not self._output.hears(message.session_id):
            return
        try:
            request = requested(message)
        except SoundError as bad:
            log.warning("dropped %s: %s", message.type, bad)
        else:
            self._heard.queue(QueuedSound(message, request, self._sounds, self._wording))

    def _speak_elsewhere(self, message: Message) -> None:
        # Of whatever session: who is to hear it is not here.
        tells = not self._serves(message.session_id)
        self._remote.queue(RemoteResponse(message, self._means, self._voice, self._output.runner, tells=tells))

    def _tell(self, query: Message) -> None:
        self._bus.emit(query.response({"speaking": self._heard.is_heard(query.session_id)}))
