"""How to listen."""

from __future__ import annotations

from typing import Literal

import msgspec

from hark.plugins.engines import WakeWord
from hark.spec.names import DEFAULT_SESSION_ID, SOURCE


class HearOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What a deployment decides about listening.

    Seconds are seconds of sound unless they are said to be by the clock: recorded sound may be faster than the clock.
    """

    lang: str = "en-US"
    """The language of the speaker, where nothing else says it."""
    session_id: str = DEFAULT_SESSION_ID
    """The session that wake words and push-to-talk belong to."""
    source: str | None = None
    """The `source` of this listener's Messages, if any."""
    wake_words: tuple[WakeWord, ...] = ()
    """Every one of them starts a recording."""
    opens_by: Literal["wake word", "speech"] = "wake word"
    """`speech`: whatever is said is a command, without a wake word."""
    pre_roll: float = 0.4
    """Seconds kept from before speech was detected, so that its first sound is not lost."""
    wake_pre_roll: float = 0.2
    """Seconds kept from before a wake word was detected, for a command in the same breath."""
    wake_tail: float = 0.15
    """A voice that goes on for less than this after the wake word was the end of the wake word."""
    speech_threshold: float = 0.5
    """The probability of speech, from 0 to 1, above which a block counts as voice."""
    shortest: float = 0.1
    """Seconds of voice that are speech; anything shorter is a noise."""
    silence: float = 0.7
    """Seconds of silence after which a command is over."""
    no_speech: float = 5.0
    """Seconds without speech after which a recording is given up."""
    longest: float = 30.0
    """Seconds after which a command is over in any case."""
    min_confidence: float = 0.0
    """Transcripts with less confidence than this are not used; those without a confidence are."""
    streaming: bool = True
    """Recognise during the recording, where the engine can and no audio transformer has to see the sound first."""
    partials: bool = False
    """Emit what is recognised so far on `hark.listener.partial`."""
    barge_in: bool = True
    """A wake word stops playback in its session."""
    half_duplex: bool = False
    """During playback react to wake words only: for machines that hear themselves."""
    echo_tail: float = 0.3
    """Seconds for which a voice that goes on after playback is most likely the assistant's own."""
    wake_by_voice: bool = False
    """A wake word also ends sleep."""
    in_step: bool = False
    """Take no more sound until a command is recognised and answered: a recording does not wait by itself."""
    stall: float = 10.0
    """Seconds by the clock without any sound after which a command is over, and a steady microphone opened again."""
    reopen_after: float = 0.5
    """Seconds by the clock until a microphone that failed is opened again; twice as long each time it fails again."""
    reopen_at_most: float = 30.0
    """The longest of these waits."""
    most_waiting: int = 8
    """Commands that may wait to be recognised; until there are fewer, no recording starts."""

    @property
    def context(self) -> dict[str, str]:
        """The context of a Message that this listener originates."""
        return {} if self.source is None else {SOURCE: self.source}
