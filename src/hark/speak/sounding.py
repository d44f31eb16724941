"""What an audio output service does beside showing responses (AUDIO-1)."""

from __future__ import annotations

import logging
from collections.abc import Callable

from hark.bus import Bus
from hark.model import Clock, Message
from hark.speak.formats import BadSound
from hark.speak.instants import EARCONS, Instants
from hark.speak.loudspeaker import Loudspeaker
from hark.speak.remote import Remote
from hark.speak.response import Means, Response
from hark.speak.runs import Runs
from hark.speak.sounds import Sound, Sounds, requested
from hark.speak.voice import AudioOutput, Voice
from hark.speak.wording import Render, Wording
from hark.spec import topics

log = logging.getLogger("hark.speak")


class Sounding:
    """Has responses heard by the sessions that can hear them, and plays the sounds of others."""

    def __init__(
        self,
        bus: Bus,
        clock: Clock,
        wording: Wording,
        show: Render,
        output: AudioOutput,
        serves: Callable[[str], bool],
    ) -> None:
        self._serves = serves
        loudspeaker = Loudspeaker(output.players, output.runner)
        self._bus = bus
        self._wording = wording
        self._output = output
        self._voice = Voice(output)
        self._sounds = Sounds(output.options, output.runner)
        self._heard = Runs(bus, loudspeaker, output.options.ahead)
        self._remote = Runs(bus)
        self._means = Means(bus, clock, wording, show, self._voice)
        self._instants = Instants(
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
        except BadSound as bad:
            log.warning("dropped %s: %s", message.type, bad)
        else:
            self._heard.queue(Sound(message, request, self._sounds, self._wording))

    def _speak_elsewhere(self, message: Message) -> None:
        # Of whatever session: who is to hear it is not here.
        tells = not self._serves(message.session_id)
        self._remote.queue(Remote(message, self._means, self._voice, self._output.runner, tells=tells))

    def _tell(self, query: Message) -> None:
        self._bus.emit(query.response({"speaking": self._heard.is_heard(query.session_id)}))
