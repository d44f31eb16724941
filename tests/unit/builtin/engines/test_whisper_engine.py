"""Whisper: a short window, and guards against what it makes up."""

from __future__ import annotations

from typing import Any

import pytest

from hark.builtin.engines.needs import need
from hark.builtin.engines.whisper import FasterWhisper
from hark.model import Audio
from voice_samples import spoken, whisper_tiny

SECOND = Audio(b"\x01\x00" * 16_000, 16_000)


@pytest.fixture(scope="module")
def whisper() -> FasterWhisper:
    engine = FasterWhisper()
    engine.settings = FasterWhisper.Settings(model=whisper_tiny())
    engine.load()
    return engine


def made_up(monkeypatch: pytest.MonkeyPatch, *found: tuple[str, float, float]) -> tuple[FasterWhisper, list[int]]:
    """An engine whose model says these things, one after the other; and the windows it was shown."""
    engine = FasterWhisper()
    engine.settings = FasterWhisper.Settings()
    engine._numpy = need("numpy", "faster-whisper")
    windows: list[int] = []

    def read(_sound: Any, _code: str, window: int) -> tuple[str, float, float]:
        windows.append(window)
        return found[len(windows) - 1]

    monkeypatch.setattr(engine, "_read", read)
    return engine, windows


def test_it_understands_english_alone(whisper: FasterWhisper) -> None:
    assert whisper.langs == ("en",)
    assert whisper.serves("en-GB")
    assert not whisper.serves("de-DE")
    assert whisper_tiny() in whisper.about()


def test_it_is_shown_what_was_said_and_a_little_more(monkeypatch: pytest.MonkeyPatch) -> None:
    engine, windows = made_up(monkeypatch, ("Hello.", -0.2, 0.1))
    said = engine.transcribe(SECOND, "en-US")
    assert said.utterances == ("Hello.",)
    assert said.confidence == pytest.approx(0.8187, abs=0.001)
    assert windows == [900]


@pytest.mark.parametrize("text", ["What time is it? What time is it?", "ha " * 60])
def test_who_repeats_himself_is_shown_the_whole_window(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, windows = made_up(monkeypatch, (text, -0.1, 0.1), ("What time is it?", -0.2, 0.1))
    assert engine.transcribe(SECOND, "en").utterances == ("What time is it?",)
    assert windows == [900, 3000]


@pytest.mark.parametrize(
    ("text", "score", "silence"),
    [
        ("Thank you.", -1.2, 0.9),  # no speech, and not even sure of that
        ("Mumble mumble.", -2.5, 0.0),  # understood nothing
        ("", -0.1, 0.0),
    ],
)
def test_what_it_makes_up_is_nothing(text: str, score: float, silence: float, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, _ = made_up(monkeypatch, (text, score, silence))
    assert engine.transcribe(SECOND, "en").utterances == ()


def test_what_repeats_itself_in_the_whole_window_too_is_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    engine, windows = made_up(monkeypatch, *[("so so so " * 30, -0.1, 0.0)] * 2)
    assert engine.transcribe(SECOND, "en").utterances == ()
    assert len(windows) == 2


def test_long_speech_is_read_half_a_minute_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    engine, windows = made_up(monkeypatch, ("One.", -0.1, 0.0), ("Two.", -0.5, 0.0))
    said = engine.transcribe(Audio(bytes(2 * 40 * 16_000), 16_000), "en")
    assert said.utterances == ("One. Two.",)
    assert windows == [3000, 1800]


def test_a_real_repetition_of_words_is_none(whisper: FasterWhisper) -> None:
    assert not whisper._repeats("no no")
    assert not whisper._repeats("turn on the light and turn on the heating")


def test_it_understands_a_command(whisper: FasterWhisper) -> None:
    said = whisper.transcribe(spoken("what is the weather like tomorrow", "hibari", "en-US"), "en-US")
    assert said.utterances[0].lower().rstrip("?.") == "what is the weather like tomorrow"
    assert said.confidence is not None
    assert said.confidence > 0.5
