"""How to speak."""

from __future__ import annotations

from pathlib import Path

import msgspec


class SpeakOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What a deployment decides about speaking."""

    lang: str = "en-US"
    """The language of a response when neither the response nor its session names one."""

    ahead: int = 2
    """How many sentences are made while another one plays; 0 makes a whole response before any of it is heard."""

    stream: bool = True
    """Whether engines that can stream a sentence do so, where no tts transformer needs it whole."""

    longest_sentence: int = 300
    """Characters after which a sentence is cut at the next place where a speaker would draw breath."""

    cache_bytes: int = 16_000_000
    """Bytes of rendered speech kept in memory for when it is said again; 0 keeps none."""

    cache_folder: Path | None = None
    """Where rendered speech is kept beyond the life of the process; None keeps none on disk."""

    cache_folder_bytes: int = 100_000_000
    """Bytes of rendered speech kept there."""

    sound_folders: tuple[Path, ...] = ()
    """The folders whose files other programs may have played by name."""

    largest_sound: int = 20_000_000
    """Bytes up to which a sound of another program is read."""

    longest_sound: float = 600.0
    """Seconds up to which it is played."""

    instant_sounds: int = 8
    """How many instant sounds may play at once; more are dropped."""

    remote: bool = True
    """Whether responses are rendered for loudspeakers elsewhere; of several services on one bus, one should do it."""

    earcons: bool = False
    """Whether the beginning and the end of listening, and a failure to understand, are heard."""
