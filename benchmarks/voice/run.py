"""Measures engines: `python benchmarks/voice/run.py [--write]`, in a quarter of an hour on two busy cores.

Needs `pip install '.[dev,bench-voice]'`, and on Debian takes recordings of people from the package
pocketsphinx-testdata. Nothing is measured of an engine but what its own process did.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, Final, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from voice import models, report, sounds
from voice.house import House
from voice.scores import is_command, plain, wrong_words
from voice.understanding import claims

HERE: Final = Path(__file__).parent
LIMIT: Final = 1_800
"""Seconds for one engine."""


def worker(**job: Any) -> Any:
    """What one engine does, in a process of its own."""
    done = subprocess.run(
        [sys.executable, str(HERE / "worker.py")], input=json.dumps(job), capture_output=True, text=True, timeout=LIMIT
    )
    if done.returncode:
        raise SystemExit(f"{job['engine']} failed:\n{done.stderr[-2_000:]}")
    return json.loads(done.stdout)


class Recogniser(NamedTuple):
    """One line of the table."""

    engine: str
    settings: dict[str, Any]
    talk: tuple[str, ...] = ()
    """The houses in which it is asked about other talk as well."""
    near: tuple[str, ...] = ()
    """The houses in which it is asked about near misses."""
    houses: tuple[str, ...] = ("held out",)
    """The houses it is tried in besides that of the benchmark."""


def recognisers() -> dict[str, Recogniser]:
    """By the name in the table."""
    tiny = str(models.fetched(models.WHISPER))
    own = {"phrases": ["go forward ten meters"]}
    everywhere = ("benchmark", "held out", "development")
    other = {"otherwise": "faster-whisper", "otherwise_settings": {"model": tiny}}
    return {
        "faster-whisper tiny.en": Recogniser(
            "faster-whisper", {"model": tiny}, everywhere, everywhere[1:], everywhere[1:]
        ),
        "the same, as it was heard": Recogniser(
            "faster-whisper", {"model": tiny, "preference": 0.0}, houses=everywhere[1:]
        ),
        "pocketsphinx, grammar": Recogniser("pocketsphinx", own, everywhere[:1], everywhere[1:2]),
        "the same, else tiny.en": Recogniser("pocketsphinx", own | other, everywhere[:1]),
        "sherpa-onnx, Moonshine base": Recogniser("sherpa-onnx", {"model": str(models.moonshine())}, houses=()),
    }


def measured(all_made: dict[str, Any], name: str) -> dict[str, Any]:
    """All figures of one recogniser."""
    recogniser, made = recognisers()[name], all_made["benchmark"]
    talk = made["talk"] if "benchmark" in recogniser.talk else []
    noise = [path for one in made["noise"] if one["kind"] != "crowd" for path in one["cuts"]]
    done, parts = asked(recogniser, "benchmark", made["scenes"], made["human"], noise, talk)
    commands, human, hissed, other = parts
    row = {"name": name} | judged(made["scenes"], commands, sounds.HOUSES["benchmark"])
    row |= {
        "delay": median(got[1] for got in commands),
        "work": median(got[2] for got in commands),
        "processor": sum(got[2] for got in commands) / sum(got[3] for got in commands),
        "rtf": sum(got[1] for got in commands) / sum(got[3] for got in commands),
        "memory": done["memory"],
        "loading": done["loading"],
        "others": len(talk),
        "false": false_commands(talk, other, sounds.HOUSES["benchmark"]),
        "taken": taken(talk, other, sounds.HOUSES["benchmark"]),
        "noise": len(noise),
        "imagined": [first(got) for got in hissed if first(got)],
        "human": _human(made["human"], human, name),
        "sets": {},
    }
    for house in recogniser.houses:
        elsewhere = all_made[house]
        its = (elsewhere["talk"] or talk) if house in recogniser.talk else []
        near = elsewhere["near"] if house in recogniser.near else []
        _, (commands, other, nearly) = asked(recogniser, house, elsewhere["scenes"], its, near)
        row["sets"][house] = judged(elsewhere["scenes"], commands, sounds.HOUSES[house]) | {
            "others": len(its),
            "false": false_commands(its, other, sounds.HOUSES[house]),
            "near": len(near),
            "mistaken": false_commands(near, nearly, sounds.HOUSES[house]),
        }
    return row


def asked(recogniser: Recogniser, house: str, *parts: list[Any]) -> tuple[Any, list[list[Any]]]:
    """What it made of the files of each part, in a house."""
    files = [one if isinstance(one, str) else one["file"] for part in parts for one in part]
    done = worker(what="stt", engine=recogniser.engine, settings=recogniser.settings, house=house, files=files)
    found = iter(done["found"])
    return done, [[next(found) for _ in part] for part in parts]


def first(got: list[Any]) -> str:
    """The likeliest reading."""
    return str(got[0][0]) if got[0] else ""


def judged(scenes: list[dict[str, Any]], commands: list[Any], house: House) -> dict[str, Any]:
    """How many commands are right: word for word, and in what a turn makes of them."""
    wrong = sum(wrong_words(one["text"], first(got)) for one, got in zip(scenes, commands, strict=True))
    exact = [plain(one["text"]) == plain(first(got)) for one, got in zip(scenes, commands, strict=True)]
    meant = claims(house, [[one["text"]] for one in scenes])
    found = claims(house, [got[0] for got in commands])
    return {
        "commands": len(scenes),
        "exact": sum(exact),
        "understood": sum(a is not None and a == b for a, b in zip(meant, found, strict=True)),
        "by_voice": {
            voice: sum(right for one, right in zip(scenes, exact, strict=True) if one["voice"] == voice)
            for voice in sounds.VOICES
        },
        "words": 1 - wrong / sum(len(plain(one["text"])) for one in scenes),
        "missed": [
            (one["voice"], one["text"], first(got))
            for one, got, right in zip(scenes, commands, exact, strict=True)
            if not right
        ],
    }


def false_commands(talk: list[dict[str, Any]], found: list[Any], house: House) -> list[tuple[str, str]]:
    """Talk of which the first reading is, word for word, a command."""
    return [(one["text"], first(got)) for one, got in zip(talk, found, strict=True) if is_command(first(got), house)]


def taken(talk: list[dict[str, Any]], found: list[Any], house: House) -> dict[str, int]:
    """Of talk: how much a whole turn takes for a command, as it was heard and as it would have been typed."""
    heard, typed = claims(house, [got[0] for got in found]), claims(house, [[one["text"]] for one in talk])
    return {"heard": sum(one is not None for one in heard), "typed": sum(one is not None for one in typed)}


def _human(people: list[dict[str, Any]], found: list[Any], name: str) -> dict[str, Any]:
    """Of people: words right for those who write down anything, else the one command, and what became one."""
    if not people:
        return {}
    command = plain(first(found[0])) == plain(people[0]["text"])
    if name == "pocketsphinx, grammar":
        return {"command": command, "false": sum(bool(got[0]) for got in found[1:]), "of": len(people) - 1}
    wrong = sum(wrong_words(one["text"], first(got)) for one, got in zip(people, found, strict=True))
    return {"command": command, "words": 1 - wrong / sum(len(plain(one["text"])) for one in people), "of": len(people)}


def waking(made: dict[str, Any]) -> list[dict[str, Any]]:
    """How often engines woke in talk and noise in which nobody called."""
    files = [one["file"] for one in (*made["talk"], *made["noise"], *made["human"])]
    phrases = {
        "microwakeword": ["hey jarvis", "alexa", "hey mycroft", "okay nabu"],
        "pocketsphinx-kws": ["hey computer"],
    }
    return [
        {"name": name, **worker(what="wake", engine=name, files=files, phrases=some)} for name, some in phrases.items()
    ]


def speaking() -> list[dict[str, Any]]:
    """How fast voices are."""
    texts = {
        "short": "The light is on.",
        "long": "It is half past seven on Tuesday evening, and tomorrow it will rain in the morning, with up to "
        "fifteen degrees in the afternoon and a light wind from the west.",
    }
    joe = {"voices": [str(models.fetched(models.JOE) / "en_US-joe-medium.onnx")]}
    return [
        {"name": name, **worker(what="tts", engine=name, settings=settings, texts=texts)}
        for name, settings in (("hibari", {}), ("nanotts", {}), ("espeak-ng", {}), ("piper", joe))
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write docs/voice-measured.md and its picture")
    parser.add_argument("--only", default="", help="only what has this in its name; the rest stays as it was measured")
    options = parser.parse_args()
    began, kept = time.monotonic(), models.CACHE / "results.json"
    all_made = {name: sounds.make(house) for name, house in sounds.HOUSES.items()}
    made = all_made["benchmark"]
    results: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8")) if options.only and kept.is_file() else {}
    results |= {"scenes": made["scenes"], "noise": [one["kind"] for one in made["noise"]]}
    results.setdefault("load", [])
    parts: dict[str, Any] = {name: partial(measured, all_made, name) for name in recognisers()}
    parts |= {"wake": partial(waking, made), "tts": speaking}
    for name, measure in parts.items():
        if options.only in name:
            try:
                results[name] = measure()
            except subprocess.TimeoutExpired:
                print(f"{name}: not done in {LIMIT} s", flush=True)
                continue
            results["load"].append(os.getloadavg()[0])
            print(json.dumps(results[name]), flush=True)
            kept.write_text(json.dumps(results), encoding="utf-8")
    if options.write:
        results["stt"] = [results[name] for name in recognisers() if name in results]
        report.write(results, HERE.parents[1] / "docs")
    print(f"{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
