"""What an engine need not define has a default."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection

import pytest

from hark.model import Audio
from hark.plugins.engines import Microphone, Player, Recognition, STTEngine, Transcript, TTSEngine, Unavailable


class Recogniser(STTEngine):
    id = "recogniser"

    def __init__(self, langs: Collection[str] | None = None) -> None:
        self.langs = langs

    def transcribe(self, audio: Audio, lang: str) -> Transcript:
        return Transcript()


class Voice(TTSEngine):
    id = "voice"

    def synthesize(self, text: str, lang: str, voice: str | None = None) -> Audio:
        return Audio(b"", 16_000)


class Loudspeaker(Player):
    id = "loudspeaker"

    async def play(self, audio: Audio) -> None:
        pass


class Line(Microphone):
    id = "line"

    def blocks(self) -> AsyncIterator[bytes]:
        raise NotImplementedError


class Stream(Recognition):
    def feed(self, samples: bytes) -> str:
        return ""

    def finish(self) -> Transcript:
        return Transcript(("done",))


@pytest.mark.parametrize(
    ("langs", "lang", "serves"),
    [
        (None, "pt-BR", True),
        (("en",), "en-GB", True),
        (("en-US",), "EN", True),
        (("en-US", "de"), "de-AT", True),
        (("en-US",), "eng", False),
        ((), "en", False),
    ],
)
def test_an_engine_serves_a_language_whatever_the_region(
    langs: Collection[str] | None, lang: str, serves: bool
) -> None:
    assert Recogniser(langs).serves(lang) is serves


def test_streaming_voices_devices_and_description_are_optional() -> None:
    assert Recogniser().recognition("en") is None
    assert Voice().stream("hello", "en") is None
    assert [*Voice().voices("en"), *Loudspeaker().devices(), *Line().devices()] == []
    assert Voice().about() == ""


def test_loading_and_closing_are_optional() -> None:
    voice = Voice()
    for step in (voice.load, voice.warm_up, voice.unload, Stream().close):
        assert step() is None


def test_an_engine_that_cannot_work_gives_a_reason_and_a_remedy() -> None:
    error = Unavailable("the model is missing", "download it")
    assert (str(error), error.remedy) == ("the model is missing", "download it")
    assert Unavailable("no microphone").remedy == ""
