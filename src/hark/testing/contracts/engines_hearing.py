"""Clauses of engines that listen."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from hark.intents import words
from hark.model import Audio
from hark.model.audio import int16_samples
from hark.model.resample import resample_mono
from hark.plugins.engines import SAMPLE_RATE, Transcript, Unavailable, WakeWord
from hark.testing.contracts.clause import clause
from hark.testing.contracts.samples import AUDIO
from hark.testing.contracts.subject import RunningEngine, Subject, running_engine

_SECOND: Final = 2 * SAMPLE_RATE
_PIECES: Final = (320, 1_000, 2_048, 7_778)
"""Bytes of sound that come at a time."""
_NEVER: Final = "flibber wozzle gronk"


async def _understood(running: RunningEngine, audio: Audio, lang: str) -> str:
    found = await running.call(audio, lang)
    assert type(found) is Transcript, f"transcribe() returned a {type(found).__name__}: it returns a Transcript"
    assert type(found.utterances) is tuple, "utterances are a tuple"
    assert all(isinstance(text, str) and text.strip() for text in found.utterances), "a candidate is empty"
    sure = found.confidence
    assert sure is None or 0 <= sure <= 1, f"confidence is {sure}: from 0 to 1, or None"
    return " ".join(words(found.utterances[0], lang)) if found.utterances else ""


@clause
async def it_understands_its_examples(subject: Subject) -> None:
    """What is said in the examples, word for word."""
    async with running_engine(subject) as running:
        for text, audio in subject.options["examples"].items():
            heard = await _understood(running, audio, subject.options["lang"])
            assert heard == " ".join(words(text)), f"{text!r} is understood as {heard!r}"


@clause
async def it_makes_nothing_of_silence(subject: Subject) -> None:
    """Where nothing was said, nothing is understood: an empty Transcript, and no failure."""
    async with running_engine(subject) as running:
        for seconds in (0, 1, 3):
            heard = await _understood(running, Audio(bytes(seconds * _SECOND), SAMPLE_RATE), subject.options["lang"])
            assert not heard, f"{seconds} s of silence are understood as {heard!r}"


@clause
async def it_takes_sound_of_any_format(subject: Subject) -> None:
    """A transformer may have changed rate, width and channels."""
    async with running_engine(subject) as running:
        for name, audio in AUDIO.items():
            if name != "very_long":
                await _understood(running, audio, subject.options["lang"])


@clause
async def several_at_once_do_not_get_mixed_up(subject: Subject) -> None:
    """Recordings that are recognised at the same time are each understood as alone."""
    async with running_engine(subject) as running:
        said = list(subject.options["examples"].items())[:3] * 2
        heard = await asyncio.gather(*(_understood(running, audio, subject.options["lang"]) for _, audio in said))
        for (text, _), one in zip(said, heard, strict=True):
            assert one == " ".join(words(text)), f"at once with others, {text!r} is understood as {one!r}"


@clause
async def what_streams_ends_in_the_same_text(subject: Subject) -> None:
    """Sound in pieces is understood as the whole is."""
    async with running_engine(subject) as running:
        for text, audio in subject.options["examples"].items():
            recognition = await running.work(running.engine.recognition, subject.options["lang"])
            if recognition is None:
                return
            samples = resample_mono(audio).samples
            for start in range(0, len(samples), 3_200):
                so_far = await running.work(recognition.feed, samples[start : start + 3_200])
                assert isinstance(so_far, str), "feed() returns what is understood so far"
            found = await running.work(recognition.finish)
            heard = " ".join(words(found.utterances[0])) if found.utterances else ""
            await running.work(recognition.close)
            assert heard == " ".join(words(text)), f"in pieces, {text!r} is understood as {heard!r}"


STT: Final = (
    it_understands_its_examples,
    it_makes_nothing_of_silence,
    it_takes_sound_of_any_format,
    several_at_once_do_not_get_mixed_up,
    what_streams_ends_in_the_same_text,
)


def _probabilities(detector: Any, samples: bytes) -> list[float]:
    size = 2 * detector.block
    found = [detector.probability(samples[at : at + size]) for at in range(0, len(samples) - size + 1, size)]
    assert all(isinstance(one, float) and 0 <= one <= 1 for one in found), "a probability is a number from 0 to 1"
    return found


@clause
async def it_hears_speech_and_no_silence(subject: Subject) -> None:
    """It is sure of speech for some of the speech, and of none in silence."""
    async with running_engine(subject) as running:
        detector = await running.call()
        assert max(_probabilities(detector, bytes(2 * _SECOND))) < 0.5, "it hears speech in silence"
        if subject.options["speech"] is not None:
            speech = resample_mono(subject.options["speech"]).samples
            assert max(_probabilities(detector, speech)) > 0.5, "it does not hear speech"


@clause
async def detectors_know_nothing_of_each_other(subject: Subject) -> None:
    """One for each stream; and one that was reset is as good as new."""
    async with running_engine(subject) as running:
        speech = subject.options["speech"] or AUDIO["ordinary"]
        samples = resample_mono(speech).samples
        first, second = await running.call(), await running.call()
        alone = _probabilities(first, samples)
        _probabilities(second, bytes(_SECOND))
        first.reset()
        assert _probabilities(first, samples) == alone, "reset() does not forget what was heard"


VAD: Final = (it_hears_speech_and_no_silence, detectors_know_nothing_of_each_other)


def _count(detector: Any, samples: bytes, size: int) -> int:
    found = [detector.hears(samples[at : at + size]) for at in range(0, len(samples), size)]
    assert all(isinstance(one, bool) for one in found), "hears() says yes or no"
    return sum(found)


@clause
async def it_hears_its_phrase_once_in_pieces_of_any_length(subject: Subject) -> None:
    """The phrase is heard once each time it is said, however the sound comes."""
    async with running_engine(subject) as running:
        if subject.options["speech"] is None:
            return
        samples = bytes(_SECOND) + resample_mono(subject.options["speech"]).samples + bytes(_SECOND)
        for size in _PIECES:
            detector = await running.call(WakeWord("it", subject.options["phrase"]))
            assert _count(detector, samples, size) == 1, f"in pieces of {size} bytes it is not heard once"
            detector.reset()
            assert _count(detector, samples, size) == 1, "after a reset it is not heard once"


@clause
async def it_wakes_neither_by_silence_nor_by_noise(subject: Subject) -> None:
    """There was no speech."""
    async with running_engine(subject) as running:
        if not subject.options["phrase"]:
            return
        detector = await running.call(WakeWord("it", subject.options["phrase"]))
        noise = bytes((n * n * 31 + n // 7) % 251 for n in range(2 * _SECOND))
        for samples in (bytes(3 * _SECOND), noise, b""):
            assert _count(detector, samples, 2_048) == 0, "it wakes though its phrase was not said"


@clause
async def what_it_cannot_listen_for_it_refuses(subject: Subject) -> None:
    """A phrase it does not know is refused with a remedy, not ignored; one without any words always is."""
    async with running_engine(subject) as running:
        for phrase in (_NEVER, ""):
            found = _detector(running, phrase)
            if isinstance(found, Unavailable):
                assert found.remedy, "it says no remedy"
                continue
            assert phrase, "it listens for nothing at all"
            assert found.hears(bytes(2_048)) is False, "it hears anything"


def _detector(running: RunningEngine, phrase: str) -> Any:
    try:
        return running.engine.detector(WakeWord("it", phrase))
    except Unavailable as refused:
        return refused


WAKEWORD: Final = (
    it_hears_its_phrase_once_in_pieces_of_any_length,
    it_wakes_neither_by_silence_nor_by_noise,
    what_it_cannot_listen_for_it_refuses,
)


@clause
async def it_gives_whole_samples(subject: Subject) -> None:
    """Pieces of 16-bit samples, none of them empty."""
    async with running_engine(subject) as running:
        blocks = running.engine.blocks()
        try:
            count = 0
            async for block in blocks:
                assert type(block) is bytes, f"a piece is a {type(block).__name__}, not bytes"
                assert block, "a piece is empty"
                assert len(int16_samples(block)) * 2 == len(block), "a piece ends within a sample"
                count += 1
                if count == 20:
                    break
            assert count, "it gives no sound at all"
        finally:
            await blocks.aclose()


@clause
async def it_can_be_closed_at_any_time_and_opened_again(subject: Subject) -> None:
    """The listener closes it when it stops; nothing goes on behind."""
    async with running_engine(subject) as running:
        for _ in range(2):
            blocks = running.engine.blocks()
            async for _block in blocks:
                break
            await blocks.aclose()
        never_begun = running.engine.blocks()
        await never_begun.aclose()


@clause
async def its_devices_are_names(subject: Subject) -> None:
    """What it could listen to, for people."""
    async with running_engine(subject) as running:
        assert all(isinstance(name, str) for name in running.engine.devices()), "a device is no text"


MICROPHONE: Final = (it_gives_whole_samples, it_can_be_closed_at_any_time_and_opened_again, its_devices_are_names)
