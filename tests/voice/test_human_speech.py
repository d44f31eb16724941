"""A recording of a person, which comes inside a package."""

from hark.model.wav import read_wav
from hark.testing.voice.assistant import VoiceAssistant
from voice_engines import Real, inside, voice_settings


async def test_a_person_is_understood_sentence_by_sentence(real: Real) -> None:
    spoken = read_wav((inside("moonshine_voice") / "assets" / "beckett.wav").read_bytes())
    engines = real.engines(("vad", "silero"), ("stt", "faster-whisper"))
    async with VoiceAssistant(engines=engines, settings=voice_settings()) as house:
        await house.hears(spoken)
        heard = " ".join(house.following.heard).lower()
    for words in ("ever tried", "ever failed", "try again", "fail again", "fail better"):
        assert words in heard
    assert len(house.following.heard) > 1  # a pause ends a command
