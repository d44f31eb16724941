"""What commands that hear or speak have in common."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from hark.app.commands.common import complain
from hark.app.trouble import Trouble
from hark.model import Audio
from hark.model.wav import write_wav


def progress() -> Callable[[str], None]:
    """Tells a person at the terminal what takes its time; a program that reads the errors is not bothered."""
    if sys.stderr.isatty():
        return lambda line: complain(f"{line} ...")
    return lambda _line: None


def save(audio: Audio, name: str) -> None:
    """Write a WAV file, or to standard output for `-`."""
    data = write_wav(audio)
    if name == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    try:
        Path(name).write_bytes(data)
    except OSError as error:
        raise Trouble(f"{name}: the sound cannot be written: {error.strerror}") from None
