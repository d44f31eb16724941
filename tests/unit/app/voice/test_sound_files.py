"""A recording for a microphone, and a loudspeaker that keeps what it is to play."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from hark.app.voice.sound_files import CollectingPlayer, RecordedMicrophone, progress, save
from hark.errors import UserError
from hark.model import Audio
from hark.model.wav import read_wav


async def test_a_recording_is_listened_to_in_pieces_once_it_may_begin() -> None:
    recorded = RecordedMicrophone(Audio(bytes(2 * 8_000), 8_000))
    recorded.go.set()
    pieces = [piece async for piece in recorded.blocks()]
    assert sum(map(len, pieces)) == 2 * 16_000
    assert {len(piece) for piece in pieces} == {3_200}


async def test_everything_that_was_played_is_kept_in_one_piece() -> None:
    kept = CollectingPlayer()
    assert kept.whole() is None
    await kept.play(Audio(b"\1\0" * 8_000, 8_000))
    await kept.play(Audio(b"\2\0" * 16_000, 16_000))
    whole = kept.whole(pause=0.5)
    assert whole is not None
    assert (whole.sample_rate, whole.seconds) == (16_000, 2.5)


SOUND = Audio(b"\1\0" * 800, 8_000)


class Output(io.StringIO):
    """Standard output or error: a terminal, or not."""

    def __init__(self, *, terminal: bool = False) -> None:
        super().__init__()
        self.buffer = io.BytesIO()
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal


def test_sound_is_saved_as_a_wav_file(tmp_path: Path) -> None:
    save(SOUND, str(tmp_path / "a.wav"))
    assert read_wav((tmp_path / "a.wav").read_bytes()) == SOUND


def test_sound_is_written_to_standard_output(monkeypatch: pytest.MonkeyPatch) -> None:
    out = Output()
    monkeypatch.setattr(sys, "stdout", out)
    save(SOUND, "-")
    assert read_wav(out.buffer.getvalue()) == SOUND


def test_a_file_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"a\.wav: cannot be written"):
        save(SOUND, str(tmp_path / "nowhere" / "a.wav"))


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_is_shown_on_a_terminal_only(terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    errors = Output(terminal=terminal)
    monkeypatch.setattr(sys, "stderr", errors)
    progress()("loading stt")
    assert errors.getvalue() == ("hark: loading stt ...\n" if terminal else "")
