"""Whisper: a short window, and guards against what it makes up."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from hark.builtin.engines import model_packages
from hark.builtin.engines.whisper import FasterWhisper
from hark.builtin.engines.whisper_model import WhisperModel, WhisperResult
from hark.model import Audio, Message
from hark.plugins.engines import Unavailable
from hark.spec import topics
from hark.testing import settle
from unit.builtin.engines.engine_stage import stage
from voice_samples import spoken, whisper_tiny

PROSE = (
    "The old house stood at the end of a narrow lane, behind a row of chestnut trees that nobody had cut for years. In "
    "the morning the postman left his bicycle at the gate and walked up the path with the letters in his hand. Most of "
    "them were bills, but now and then there was a card from the coast, where my aunt had moved after the war."
)
SECOND = Audio(b"\x01\x00" * 16_000, 16_000)


@pytest.fixture(scope="module")
def whisper() -> FasterWhisper:
    engine = FasterWhisper()
    engine.settings = FasterWhisper.Settings(model=whisper_tiny())
    engine.load()
    return engine


def made_up(monkeypatch: pytest.MonkeyPatch, *found: tuple[str, float, float]) -> tuple[FasterWhisper, list[int]]:
    """An engine whose model says these things, one after the other; and the windows it was shown."""
    windows: list[int] = []

    def read(_model: WhisperModel, _sound: Any, _code: str, window: int, _beam: int) -> WhisperResult:
        windows.append(window)
        text, score, silence = found[len(windows) - 1]
        return WhisperResult((text,), score, silence, None)

    monkeypatch.setattr(WhisperModel, "read", read)
    return learned(), windows


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
def test_a_repetition_is_tried_again_with_the_whole_window(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_half_a_minute_of_prose_is_no_repetition(whisper: FasterWhisper) -> None:
    sound = spoken(PROSE, "hibari", "en-US")
    assert 20 < sound.seconds < 30
    [text, *_] = whisper.transcribe(sound, "en-US").utterances
    assert text.startswith("The old house stood at the end of a narrow lane")
    assert len(text.split()) > 60


def test_it_understands_a_command(whisper: FasterWhisper) -> None:
    said = whisper.transcribe(spoken("what is the weather like tomorrow", "hibari", "en-US"), "en-US")
    assert said.utterances[0].lower().rstrip("?.") == "what is the weather like tomorrow"
    assert said.confidence is not None
    assert said.confidence > 0.5


def registered(*samples: str, **data: Any) -> Message:
    known = {"skill_id": "lamps.skill", "intent_name": "on", "lang": "en-US", "samples": list(samples), **data}
    return Message("ovos.intent.register.template", known)


def learned(**settings: Any) -> FasterWhisper:
    engine = FasterWhisper()
    engine.settings = FasterWhisper.Settings(model=whisper_tiny(), **settings)
    engine.load()
    return engine


def test_a_command_it_would_mishear_is_understood_once_registered() -> None:
    engine = learned()
    sound = spoken("put sports talk on in the basement", "nanotts", "en-US")
    misheard = engine.transcribe(sound, "en-US").utterances
    assert misheard[0].lower().rstrip(".") != "put sports talk on in the basement"
    engine.learn(registered("put (sports talk|news) on in the (basement|attic)", "feed the cat"))
    said = engine.transcribe(sound, "en-US").utterances
    assert said[0].lower().rstrip(".") == "put sports talk on in the basement"
    assert said[1:] == misheard  # whoever wants to know what it sounded like can see it


def test_what_sounds_nothing_like_a_command_stays_what_it_is() -> None:
    engine = learned()
    engine.learn(registered("boil the (kettle|water)", "feed the cat"))
    said = engine.transcribe(spoken("my neighbour bought a new bicycle", "hibari", "en-US"), "en-US").utterances
    assert [text.lower().rstrip(".") for text in said] == ["my neighbor bought a new bicycle"]


def test_with_no_preference_it_writes_down_what_it_heard() -> None:
    engine = learned(preference=0.0)
    sound = spoken("put sports talk on in the basement", "nanotts", "en-US")
    before = engine.transcribe(sound, "en-US")
    engine.learn(registered("put (sports talk|news) on in the (basement|attic)"))
    assert engine.transcribe(sound, "en-US") == before


async def test_skills_that_registered_before_are_asked_to_do_so_again() -> None:
    async with stage() as house:
        heard: list[str] = []
        house.bus.tap(lambda message: heard.append(message.type))
        assert await house.add(FasterWhisper(), model=whisper_tiny()) is None
        await settle()
        assert topics.READY in heard


class Hub:
    """The library of the model hub: has one file, and records which revision is wanted."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.asked: list[str | None] = []

    def snapshot_download(self, _name: str, *, revision: str | None, **_how: Any) -> str:
        self.asked.append(revision)
        return str(self.folder)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hub:
    hub = Hub(tmp_path)
    (tmp_path / "model.bin").write_bytes(b"weights")
    needed = FasterWhisper.load.__globals__["need"]
    monkeypatch.setitem(
        FasterWhisper.load.__globals__,
        "need",
        lambda name, extra: hub if name == "huggingface_hub" else needed(name, extra),
    )
    monkeypatch.setattr(model_packages, "find_spec", lambda _name: None)
    return hub


def test_a_model_that_is_not_pinned_is_not_downloaded(hub: Hub) -> None:
    engine = FasterWhisper()
    for settings in ({"model": "base"}, {"model": "base", "revision": "main"}, {"model": "base", "revision": "0" * 40}):
        engine.settings = FasterWhisper.Settings(**settings)
        with pytest.raises(Unavailable, match="not pinned"):
            engine.load()
    assert hub.asked == []


@pytest.mark.parametrize("model", ["base", "tiny.en"])
def test_a_download_with_another_digest_is_not_loaded(hub: Hub, model: str) -> None:
    engine = FasterWhisper()
    pin = {} if model == "tiny.en" else {"revision": "a" * 40, "digests": {"model.bin": "0" * 64}}
    engine.settings = FasterWhisper.Settings(model=model, **pin)
    with pytest.raises(Unavailable, match="wrong digest"):
        engine.load()
    [revision] = hub.asked
    assert revision == (model_packages.WHISPER["tiny.en"].revision if model == "tiny.en" else "a" * 40)


def test_a_download_with_its_digest_is_loaded(hub: Hub) -> None:
    digest = hashlib.sha256(b"weights").hexdigest()
    engine = FasterWhisper()
    engine.settings = FasterWhisper.Settings(model="base", revision="a" * 40, digests={"model.bin": digest})
    with pytest.raises(Unavailable, match="cannot be loaded"):  # seven bytes are no model
        engine.load()
    assert hub.asked == ["a" * 40]
