"""What an audio output service does beside showing responses (AUDIO-1)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import msgspec

from hark.bus import Bus
from hark.model import Message
from hark.speak.instant_sounds import EARCONS, InstantSounds
from hark.speak.playback import Loudspeaker, gain_of
from hark.speak.remote_audio import RemoteResponse
from hark.speak.response import Response, ResponseContext
from hark.speak.session_queue import SessionQueues
from hark.speak.sounds import QueuedSound, SoundError, SoundLoader, requested
from hark.speak.synthesis import AudioOutput, Synthesizer
from hark.spec import topics

log = logging.getLogger("hark.speak")


class AudioService:
    """Has responses heard in the sessions that can hear them, and plays the sounds of other programs.

    `show_only` is given the responses of sessions that cannot hear this loudspeaker.
    """

    def __init__(
        self,
        bus: Bus,
        context: ResponseContext,
        output: AudioOutput,
        serves: Callable[[str], bool],
        show_only: Callable[[Message], None],
    ) -> None:
        self._bus = bus
        self._output = output
        self._serves = serves
        self._show_only = show_only
        self._loudspeaker = loudspeaker = Loudspeaker(output.players, output.runner)
        self._synthesizer = Synthesizer(output)
        self._context = msgspec.structs.replace(context, synthesizer=self._synthesizer)
        self._sounds = SoundLoader(output.options, output.runner)
        self._audible = SessionQueues(bus, loudspeaker, output.options.ahead)
        self._remote = SessionQueues(bus)
        self._instant = InstantSounds(
            loudspeaker, self._sounds, self._audible, output.hears, output.options.instant_sounds
        )
        self.queues = [self._audible, self._remote]
        """What is played here, and what is made for loudspeakers elsewhere."""

    @property
    def handlers(self) -> dict[str, Callable[[Message], None]]:
        """What is done with the Messages of each topic."""
        handlers: dict[str, Callable[[Message], None]] = {
            topics.UTTERANCE_SPEAK: self._speak,
            topics.AUDIO_QUEUE: self._queue,
            topics.AUDIO_PLAY_SOUND: self._instant.play,
            topics.AUDIO_IS_SPEAKING: self._is_speaking,
            topics.AUDIO_VOLUME: self._set_volume,
        }
        if self._output.options.remote:
            handlers[topics.UTTERANCE_SPEAK_B64] = self._speak_elsewhere
        if self._output.options.earcons:
            handlers |= dict.fromkeys(EARCONS, self._instant.play_earcon)
        return handlers

    def _speak(self, message: Message) -> None:
        if self._output.hears(message.session_id):
            self._audible.add(Response(message, self._context))
        else:
            self._show_only(message)

    def _queue(self, message: Message) -> None:
        if not self._output.hears(message.session_id):
            return
        try:
            request = requested(message)
        except SoundError as error:
            log.warning("dropped %s: %s", message.type, error)
        else:
            self._audible.add(QueuedSound(message, request, self._sounds, self._context.chains))

    def _speak_elsewhere(self, message: Message) -> None:
        # Of whatever session: the loudspeaker is elsewhere.
        reports = not self._serves(message.session_id)
        response = RemoteResponse(message, self._context, self._synthesizer, self._output.runner, reports=reports)
        self._remote.add(response)

    def _set_volume(self, message: Message) -> None:
        level: Any = message.data.get("level")
        if type(level) in (int, float) and 0 <= level <= 100 and self._output.hears(message.session_id):
            self._loudspeaker.gain = gain_of(level)

    def _is_speaking(self, query: Message) -> None:
        self._bus.emit(query.response({"speaking": self._audible.is_playing(query.session_id)}))
