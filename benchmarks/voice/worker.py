"""One engine in a process of its own: reads a job, does it, writes what came out. Used by run.py."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from hark.builtin.engines.speech_grammar.registrations import GrammarLearner
from hark.model import Message
from hark.plugins.engines import WakeWord
from voice.sounds import HOUSES, engine, load


def memory() -> int:
    """The most it ever had, in megabytes."""
    # Not getrusage: there, a process inherits the peak of the one that started it.
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) // 1024


def recognise(job: dict[str, Any]) -> dict[str, Any]:
    """The readings, the seconds and the seconds of processor time of each file."""
    began = time.perf_counter()
    recogniser = engine("stt", job["engine"], job["settings"])
    if isinstance(recogniser, GrammarLearner):  # what the bus would bring
        for topic, data in HOUSES[job["house"]].registrations():
            recogniser.learn(Message(topic, data))
        recogniser.transcribe(load(job["files"][0]), "en-US")  # with the first speech, what was learned is made use of
    loading = time.perf_counter() - began
    found = []
    for path in job["files"]:
        audio = load(path)
        wall, processor = time.perf_counter(), time.process_time()
        said = recogniser.transcribe(audio, "en-US")
        spent = time.perf_counter() - wall, time.process_time() - processor
        found.append([said.utterances, *spent, audio.seconds])
    return {"found": found, "loading": loading, "memory": memory(), "about": recogniser.about()}


def wake(job: dict[str, Any]) -> dict[str, Any]:
    """How often each phrase was heard in all files together."""
    spotter = engine("wakeword", job["engine"])
    counts, seconds, spent = {}, 0.0, 0.0
    sounds = [load(path) for path in job["files"]]
    for phrase in job["phrases"]:
        detector, counts[phrase] = spotter.detector(WakeWord("it", phrase)), 0
        began = time.process_time()
        for audio in sounds:
            for at in range(0, len(audio.samples), 2_048):
                counts[phrase] += detector.hears(audio.samples[at : at + 2_048])
        spent += time.process_time() - began
    seconds = sum(audio.seconds for audio in sounds)
    return {"counts": counts, "seconds": seconds, "share": spent / seconds / len(counts), "memory": memory()}


def speak(job: dict[str, Any]) -> dict[str, Any]:
    """How long a short and a long sentence take."""
    voice = engine("tts", job["engine"], job["settings"])
    found = {}
    for name, text in job["texts"].items():
        times = []
        for _ in range(3):
            began = time.perf_counter()
            audio = voice.synthesize(text, "en-US")
            times.append(time.perf_counter() - began)
        found[name] = [min(times), audio.seconds]
    return {"found": found, "memory": memory(), "about": voice.about()}


if __name__ == "__main__":
    task = json.load(sys.stdin)
    json.dump({"stt": recognise, "wake": wake, "tts": speak}[task["what"]](task), sys.stdout)
