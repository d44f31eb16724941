"""Data over sound: short texts that another device plays and the microphone hears (ggwave)."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import Any, Final, Literal

from hark.builtin.engines.extras import need
from hark.model.audio import int16_bytes, int16_samples
from hark.plugins import Audio, AudioTap
from hark.plugins.audio_tap import SoundContext
from hark.plugins.engines import SAMPLE_RATE
from hark.spec import topics

RECEIVED: Final = "sound-data.received"
"""The topic on which every text is reported, as {"text": ...}."""
_FRAME: Final = 2 * 1_024
"""Bytes the library takes at a time."""
_INT16: Final = 4
"""The library's number for samples of 16 bits."""

_TIMES: Final = 3
"""How many samples at the rate of the library there are to one of Hark's."""

Action = Literal["utterance", "speak", "listen"]


def _at_library_rate(samples: bytes) -> bytes:
    """The sound with each sample three times.

    What that adds lies above the tones that are listened for; to have the library resample takes twenty times as long.
    """
    given = int16_samples(samples)
    repeated = array("h", bytes(2 * _TIMES * len(given)))
    for at in range(_TIMES):
        repeated[at::_TIMES] = given
    return int16_bytes(repeated)


class DataOverSound(AudioTap):
    """Decodes texts that are sent over sound, before any wake word, and reports them on the bus.

    Any device that plays a sound near the microphone can send one. So a text only becomes a command, an answer or an
    open microphone where the settings allow it: `utterance:what time is it`, `speak:dinner is ready`, `listen:`. It
    takes less than one percent of a core.
    """

    id = "sound-data"

    @dataclass(frozen=True)
    class Settings:
        """What a text may do."""

        allow: tuple[Action, ...] = ()
        """The actions that a text may begin with; without them, it is only reported."""

    settings: Settings

    async def start(self) -> None:
        library: Any = need("ggwave", "sound-data")
        library.disableLog()
        self._library = library
        self._receiver: Any = None
        self._rest = b""
        self._open()

    async def stop(self) -> None:
        self._close()

    def hear(self, audio: Audio, ctx: SoundContext) -> None:
        sound = self._rest + _at_library_rate(audio.samples)
        whole = len(sound) // _FRAME * _FRAME
        self._rest = sound[whole:]
        for at in range(0, whole, _FRAME):
            received = self._library.decode(self._receiver, sound[at : at + _FRAME])
            if received:
                self._received(bytes(received).decode("utf-8", "replace"), ctx)

    def reset(self) -> None:
        self._rest = b""
        self._close()
        self._open()

    def _received(self, text: str, ctx: SoundContext) -> None:
        ctx.emit(RECEIVED, {"text": text})
        action, sign, rest = text.partition(":")
        if not sign or action not in self.settings.allow:
            return
        if action == "utterance" and rest.strip():
            ctx.emit(topics.UTTERANCE_HANDLE, {"utterances": [rest.strip()]})
        elif action == "speak" and rest.strip():
            ctx.emit(topics.UTTERANCE_SPEAK, {"utterance": rest.strip()})
        elif action == "listen":
            ctx.listen()

    def _open(self) -> None:
        parameters = self._library.getDefaultParameters()
        rate = float(_TIMES * SAMPLE_RATE)
        self._receiver = self._library.init({**parameters, "sampleRateInp": rate, "sampleFormatInp": _INT16})

    def _close(self) -> None:
        receiver, self._receiver = self._receiver, None
        if receiver is not None:
            self._library.free(receiver)
