"""How the room listens."""

from __future__ import annotations

from typing import Literal

import msgspec

from hark.plugins.engines import WakeWord
from hark.spec.names import DEFAULT_SESSION_ID


class HearOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What a deployment decides about listening. Seconds are seconds of sound: recorded sound may go faster."""

    lang: str = "en-US"
    """The language of who speaks, where nothing else says it."""
    session_id: str = DEFAULT_SESSION_ID
    """The conversation that wake words and push-to-talk belong to."""
    source: str | None = None
    """What this listener calls itself on the bus, if anything."""
    wake_words: tuple[WakeWord, ...] = ()
    """What opens the ears, all of them at once."""
    opens_by: Literal["wake word", "speech"] = "wake word"
    """`speech`: whatever is said is a command, without a wake word."""
    pre_roll: float = 0.4
    """Seconds kept from before somebody was found to speak, so that the first sound is not lost."""
    wake_pre_roll: float = 0.2
    """Seconds kept from before a wake word was spotted, for who goes on in the same breath."""
    wake_tail: float = 0.15
    """A voice that goes on for less than this after the wake word was the wake word's own end."""
    speech_threshold: float = 0.5
    """How likely speech has to be, from 0 to 1."""
    shortest: float = 0.1
    """Seconds of speech that are a beginning; anything shorter is a noise."""
    silence: float = 0.7
    """Seconds of silence after which a command is over."""
    no_speech: float = 5.0
    """Seconds after which nobody is waited for any longer."""
    longest: float = 30.0
    """Seconds after which a command is over in any case."""
    min_confidence: float = 0.0
    """Transcripts their engine is less sure of than this are not used; where it does not know, they are."""
    streaming: bool = True
    """Recognise while somebody speaks, where the engine can and no audio transformer has to see the sound first."""
    partials: bool = False
    """Show on `hark.listener.partial` what is understood so far."""
    barge_in: bool = True
    """A wake word stops what is being played in its session."""
    half_duplex: bool = False
    """While something is played heed wake words only: for machines that hear themselves."""
    echo_tail: float = 0.3
    """Seconds for which a voice that goes on after the assistant has spoken is most likely its own."""
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
    """Commands that may wait to be recognised; until there are fewer, nothing opens the ears."""
