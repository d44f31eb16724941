"""`hark devices`."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pytest

from hark.builtin.engines.files import NullPlayer
from hark.builtin.engines.sounddevice import SoundDeviceMicrophone
from hark.cli import main
from hark.plugins.engines import Unavailable


def listed(tmp_path: Path, capsys: pytest.CaptureFixture[str], microphone: str, player: str) -> tuple[int, list[str]]:
    (tmp_path / "hark.toml").write_text(f'[voice]\nmicrophone = ["{microphone}"]\nplayer = ["{player}"]\n')
    status = main(["devices", "--settings", str(tmp_path / "hark.toml"), "--no-plugins"])
    return status, capsys.readouterr().out.splitlines()


def test_devices_are_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def two(_self: object) -> Collection[str]:
        return "0: Built-in\n", "1: USB"

    monkeypatch.setattr(SoundDeviceMicrophone, "devices", two)
    monkeypatch.setattr(NullPlayer, "devices", two)
    assert listed(tmp_path, capsys, "sounddevice", "null") == (
        0,
        [
            "microphones:",
            "  sounddevice: 0: Built-in",
            "  sounddevice: 1: USB",
            "loudspeakers:",
            "  null: 0: Built-in",
            "  null: 1: USB",
        ],
    )


def test_the_reason_for_not_loading_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(_self: object) -> Collection[str]:
        raise Unavailable("there is no PortAudio", "install it")

    monkeypatch.setattr(SoundDeviceMicrophone, "devices", none)
    assert listed(tmp_path, capsys, "sounddevice", "trumpet") == (
        1,
        [
            "microphones:",
            "  sounddevice: there is no PortAudio; remedy: install it",
            "loudspeakers:",
            "  trumpet: there is no player engine 'trumpet'; [voice] player can name: null, recorder, sounddevice; "
            "others can be installed",
        ],
    )


def test_an_engine_without_devices_has_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert listed(tmp_path, capsys, "pipe", "null") == (
        1,
        ["microphones:", "  pipe: no device", "loudspeakers:", "  null: no device"],
    )
