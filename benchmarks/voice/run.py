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
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from voice import models, report, sounds
from voice.scores import is_command, plain, wrong_words

HERE: Final = Path(__file__).parent
LIMIT: Final = 600
"""Seconds for one engine."""


def worker(**job: Any) -> Any:
    """What one engine does, in a process of its own."""
    done = subprocess.run(
        [sys.executable, str(HERE / "worker.py")], input=json.dumps(job), capture_output=True, text=True, timeout=LIMIT
    )
    if done.returncode:
        raise SystemExit(f"{job['engine']} failed:\n{done.stderr[-2_000:]}")
    return json.loads(done.stdout)


def recognisers() -> dict[str, tuple[str, dict[str, Any], bool]]:
    """By the name in the table: engine, settings, and whether it is asked about the other talk as well."""
    tiny = str(models.fetched(models.WHISPER))
    own = {"phrases": ["go forward ten meters"]}
    return {
        "faster-whisper tiny.en": ("faster-whisper", {"model": tiny}, True),
        "the same, whole window": ("faster-whisper", {"model": tiny, "padding": 30.0}, False),
        "pocketsphinx, grammar": ("pocketsphinx", own, True),
        "the same, else tiny.en": (
            "pocketsphinx",
            own | {"otherwise": "faster-whisper", "otherwise_settings": {"model": tiny}},
            True,
        ),
        "sherpa-onnx, Moonshine base": ("sherpa-onnx", {"model": str(models.moonshine())}, False),
    }


def measured(made: dict[str, Any], name: str) -> dict[str, Any]:
    """All figures of one recogniser."""
    engine_id, settings, asked_more = recognisers()[name]
    scenes, people = made["scenes"], made["human"]
    talk = made["talk"] if asked_more else []
    noise = [path for one in made["noise"] if one["kind"] != "crowd" for path in one["cuts"]]
    parts = [[one["command"] for one in scenes], [one["path"] for one in people], noise, [one["path"] for one in talk]]
    done = worker(what="stt", engine=engine_id, settings=settings, files=[path for part in parts for path in part])
    found = iter(done["found"])
    commands, human, hissed, other = ([next(found) for _ in part] for part in parts)
    wrong = sum(wrong_words(one["text"], got[0]) for one, got in zip(scenes, commands, strict=True))
    exact = [plain(one["text"]) == plain(got[0]) for one, got in zip(scenes, commands, strict=True)]
    by_voice = {
        voice: sum(right for one, right in zip(scenes, exact, strict=True) if one["voice"] == voice)
        for voice in sounds.VOICES
    }
    false = [(one["text"], got[0]) for one, got in zip(talk, other, strict=True) if is_command(got[0])]
    return {
        "name": name,
        "commands": len(scenes),
        "exact": sum(exact),
        "by_voice": by_voice,
        "words": 1 - wrong / sum(len(plain(one["text"])) for one in scenes),
        "delay": median(got[1] for got in commands),
        "work": median(got[2] for got in commands),
        "processor": sum(got[2] for got in commands) / sum(got[3] for got in commands),
        "rtf": sum(got[1] for got in commands) / sum(got[3] for got in commands),
        "memory": done["memory"],
        "loading": done["loading"],
        "others": len(talk),
        "false": false,
        "noise": len(noise),
        "imagined": [got[0] for got in hissed if got[0]],
        "missed": [
            (one["voice"], one["text"], got[0])
            for one, got, right in zip(scenes, commands, exact, strict=True)
            if not right
        ],
        "human": _human(people, human, name),
    }


def _human(people: list[dict[str, Any]], found: list[Any], name: str) -> dict[str, Any]:
    """Of people: words right for those who write down anything, else the one command, and what became one."""
    if not people:
        return {}
    command = plain(found[0][0]) == plain(people[0]["text"])
    if name == "pocketsphinx, grammar":
        return {"command": command, "false": sum(bool(got[0]) for got in found[1:]), "of": len(people) - 1}
    wrong = sum(wrong_words(one["text"], got[0]) for one, got in zip(people, found, strict=True))
    return {"command": command, "words": 1 - wrong / sum(len(plain(one["text"])) for one in people), "of": len(people)}


def waking(made: dict[str, Any]) -> list[dict[str, Any]]:
    """How often engines woke in talk and noise in which nobody called."""
    files = [one["path"] for one in (*made["talk"], *made["noise"], *made["human"])]
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
    made = sounds.make()
    results: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8")) if options.only and kept.is_file() else {}
    results |= {"scenes": made["scenes"], "noise": [one["kind"] for one in made["noise"]]}
    results.setdefault("load", [])
    parts: dict[str, Any] = {name: partial(measured, made, name) for name in recognisers()}
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
