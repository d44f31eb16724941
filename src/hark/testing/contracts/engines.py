"""The contract of engines, by their kind, and the clauses of engines that speak."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from hark.model import Audio
from hark.model.audio import as_mono, int16_samples
from hark.plugins.engines import Engine, EngineKind
from hark.testing.contracts.clause import COMMON, Clause, clause, test_of
from hark.testing.contracts.engines_hearing import MICROPHONE, STT, VAD, WAKEWORD, its_devices_are_names
from hark.testing.contracts.samples import AUDIO, TEXTS
from hark.testing.contracts.subject import Make, RunningEngine, Subject, running_engine

_SENTENCE: Final = "One two three four five."
_LONG: Final = "Turn on the light in the kitchen and then go to the garden. " * 8


def _sound(audio: object, of: str) -> Audio:
    assert type(audio) is Audio, f"{of} is a {type(audio).__name__}: it has to be Audio"
    assert audio.defect() is None, f"{of} is malformed: {audio.defect()}"
    return audio


async def _spoken(running: RunningEngine, text: str, lang: str, voice: str | None = None) -> Audio:
    return _sound(await running.call(text, lang, voice), f"the speech of {text[:40]!r}")


@clause
async def it_speaks(subject: Subject) -> None:
    """A sentence is a sound that takes some time and can be heard; a longer text takes longer."""
    async with running_engine(subject) as running:
        short = await _spoken(running, _SENTENCE, subject.options["lang"])
        assert 0.3 < short.seconds < 20, f"five words take {short.seconds:.1f} s"
        assert max(map(abs, int16_samples(as_mono(short).samples))) > 1_000, "nothing can be heard"
        long = await _spoken(running, _LONG, subject.options["lang"])
        assert long.seconds > 3 * short.seconds, "a long text is cut off"


@clause
async def it_copes_with_any_text(subject: Subject) -> None:
    """What cannot be said is left out, and is no reason to fail."""
    async with running_engine(subject) as running:
        for name, text in TEXTS.items():
            if name != "very_long":
                await _spoken(running, text, subject.options["lang"])
        for text in ("", "<b>bold</b> & \0 \x07", "3.50 € at 10:30"):
            await _spoken(running, text, subject.options["lang"])


@clause
async def each_of_its_voices_speaks(subject: Subject) -> None:
    """The default is the first of them. Three are tried."""
    async with running_engine(subject) as running:
        voices = list(await running.work(running.engine.voices, subject.options["lang"]))
        assert all(isinstance(name, str) and name for name in voices), "a voice has no name"
        for name in voices[:3]:
            assert (await _spoken(running, _SENTENCE, subject.options["lang"], name)).seconds > 0.3, f"{name} is silent"


@clause
async def several_at_once_do_not_get_mixed_up(subject: Subject) -> None:
    """Two sentences at once are each as long as alone, or nearly: some voices vary."""
    async with running_engine(subject) as running:
        lang = subject.options["lang"]
        alone = [(await _spoken(running, text, lang)).seconds for text in (_SENTENCE, _LONG)]
        together = await asyncio.gather(*(_spoken(running, text, lang) for text in (_SENTENCE, _LONG) * 2))
        for number, audio in enumerate(together):
            before = alone[number % 2]
            assert abs(audio.seconds - before) < 0.35 * before, (
                f"alone {before:.1f} s, with others {audio.seconds:.1f} s"
            )


@clause
async def what_streams_is_all_of_it(subject: Subject) -> None:
    """In pieces it is as long as the whole, and all pieces have one format."""
    async with running_engine(subject) as running:
        stream = await running.work(running.engine.stream, _LONG, subject.options["lang"])
        if stream is None:
            return
        pieces = [_sound(piece, "a piece") for piece in await running.work(_all_of, stream)]
        assert pieces, "nothing comes"
        assert len({(one.sample_rate, one.sample_width, one.channels) for one in pieces}) == 1, "the format changes"
        whole = await _spoken(running, _LONG, subject.options["lang"])
        seconds = sum(piece.seconds for piece in pieces)
        assert abs(seconds - whole.seconds) < 0.35 * whole.seconds, f"{seconds:.1f} s of {whole.seconds:.1f} s"


async def _all_of(stream: Any) -> list[Any]:
    if hasattr(stream, "__aiter__"):
        return [piece async for piece in stream]
    return list(stream)


TTS: Final = (
    it_speaks,
    it_copes_with_any_text,
    each_of_its_voices_speaks,
    several_at_once_do_not_get_mixed_up,
    what_streams_is_all_of_it,
)

_SHORT: Final = Audio(b"\x10\x10\xf0\xef" * 800, 16_000)


@clause
async def it_plays_to_the_end(subject: Subject) -> None:
    """Sound of any format, one after the other and at once."""
    async with running_engine(subject) as running:
        for name, audio in AUDIO.items():
            if name != "very_long":
                await running.call(audio)
        await asyncio.gather(*(running.call(_SHORT) for _ in range(3)))


@clause
async def it_ends_when_it_is_cancelled(subject: Subject) -> None:
    """The user said stop: long sound ends at once, and the next one can be heard."""
    async with running_engine(subject) as running:
        playing = asyncio.ensure_future(running.engine.play(Audio(_SHORT.samples * 600, 16_000)))
        await asyncio.sleep(0)
        playing.cancel()
        done, _ = await asyncio.wait({playing}, timeout=2)
        assert done, "it goes on when it is cancelled"
        await running.call(_SHORT)


PLAYER: Final = (it_plays_to_the_end, it_ends_when_it_is_cancelled, its_devices_are_names)


@clause
async def it_loads_describes_itself_and_stops(subject: Subject) -> None:
    """It can be used with the settings it was given, describes itself in one line, and leaves no thread behind."""
    async with running_engine(subject) as running:
        about = await running.work(running.engine.about)
        assert isinstance(about, str), f"about() returned a {type(about).__name__}"
        assert "\n" not in about, "about() is more than one line"
        langs = running.engine.langs
        assert langs is None or (not isinstance(langs, str) and all(isinstance(one, str) for one in langs)), (
            f"langs are {langs!r}: a collection of tags, or None"
        )


_EVERY: Final[tuple[Clause, ...]] = (
    *(one for one in COMMON if "starts_and_stops" not in one.name),  # which is about plugins in a runtime
    it_loads_describes_itself_and_stops,
)
_CLAUSES: Final[Mapping[EngineKind, Sequence[Clause]]] = {
    "stt": STT,
    "tts": TTS,
    "vad": VAD,
    "wakeword": WAKEWORD,
    "microphone": MICROPHONE,
    "player": PLAYER,
}


def engine_contract(
    make: Make,
    *,
    settings: Mapping[str, Any] | None = None,
    lang: str = "en-US",
    examples: Mapping[str, Audio] | None = None,
    speech: Audio | None = None,
    phrase: str = "",
) -> Callable[..., None]:
    """The contract of an engine: `test_contract = engine_contract(MyVoice, lang="de-DE")`.

    `examples` is for recognisers: text in lower case without punctuation, and sound in which exactly that is said.
    `speech` is for voice activity (a person speaks) and for wake words (a person says `phrase`, once).
    """
    made = make if isinstance(make, type) else type(make())
    kind: Any = getattr(made, "kind", None)
    if kind not in _CLAUSES or not issubclass(made, Engine):
        raise TypeError("an engine is a subclass of one of the six kinds in hark.plugins.engines")
    options = {"lang": lang, "examples": dict(examples or {}), "speech": speech, "phrase": phrase}
    return test_of((*_EVERY, *_CLAUSES[kind]), make, settings or {}, **options)
