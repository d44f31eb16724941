"""What can be set about hearing and speaking aloud."""

from __future__ import annotations

import msgspec

from hark.app.settings.kinds import Files, Flag, Lang, Name, Names, Seconds, Share


class VoiceTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Hearing and speaking aloud. Engines are named in order of preference: where one fails, the next takes over. A
    name is an engine's id, or that of an [engine.<name>] table.
    """

    stt: Names = ("faster-whisper",)
    """What turns speech into text."""
    tts: Names = ("hibari", "nanotts")
    """What turns text into speech. Each is asked for the languages it knows."""
    vad: Names = ("silero",)
    """What tells speech from silence."""
    wakeword: Names = ("microwakeword",)
    """What listens for the wake words of [wake.<name>]; without such a table, "hey jarvis"."""
    microphone: Names = ("sounddevice",)
    """Where sound comes from."""
    player: Names = ("sounddevice",)
    """Where sound goes to."""
    always_listening: Flag = False
    """Whether everything that is said is for the assistant, without a wake word."""
    wake_by_voice: Flag = False
    """Whether a wake word also ends sleep; else only somebody at the device can."""
    barge_in: Flag = True
    """Whether a wake word ends what is being said at once."""
    half_duplex: Flag = False
    """Whether only wake words are heard while something is played: for devices that would hear themselves."""
    silence: Seconds = 0.7
    """Seconds of silence after which a command is over."""
    no_speech: Seconds = 5.0
    """Seconds after which nobody is waited for any longer."""
    longest: Seconds = 30.0
    """Seconds after which a command is over in any case."""
    sentence_by_sentence: Flag = True
    """Whether the first sentence of an answer is heard while the next is being made."""
    earcons: Flag = True
    """Whether short sounds tell that somebody is listened to, and when that failed."""
    sound_folders: Files = ()
    """Folders whose sound files others on the bus may have played by naming them."""


class WakeTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A phrase that opens the ears. The name after the dot is yours to choose."""

    phrase: Name
    """The phrase as people say it."""
    model: Name | None = None
    """A model's name or path, where the phrase does not tell."""
    lang: Lang | None = None
    """The language in which whoever says it goes on."""
    persona: Name | None = None
    """Who is talked to."""
    threshold: Share | None = None
    """How sure the engine has to be."""
