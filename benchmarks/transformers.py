"""What the shipped transformers cost, and what noise suppression does to recognition. See docs/transformers.md.

    python benchmarks/transformers.py cost [--peers PYTHON]    one call of each, beside the OVOS plugin of its purpose
    python benchmarks/transformers.py turn                     a turn with all text transformers on, and with none
    python benchmarks/transformers.py denoise                  words recognised in noise, with and without `denoise`

Times are process times, medians of batches.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from array import array
from collections.abc import Callable
from inspect import isawaitable
from pathlib import Path
from typing import Any, cast

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from hark.builtin import Cancel, Normalize, ParrotSkill, Values
from hark.builtin.transformers import SHIPPED
from hark.model import Audio, Message, Session, SystemClock
from hark.model.audio import int16_bytes, int16_samples
from hark.plugins import Ctx, Match
from hark.testing import Assistant

SENTENCE = "what's the weather like in the kitchen"
ANSWER = "It is 17:30 and -3 °C in Lisbon, Dr. Smith."
PEERS = {
    "utterance.normalize": "ovos-utterance-normalizer",
    "utterance.cancel": "ovos-utterance-plugin-cancel",
    "utterance.corrections": "ovos-utterance-corrections-plugin",
    "dialog.speakable": "ovos-dialog-normalizer-plugin",
    "intent.keywords": "keyword-template-matcher",
    "audio_tap.sound-data": "ovos-audio-transformer-plugin-ggwave",
}
SERVICES = ("translate", "tone", "publish", "spoken-language")
"""What waits for a server or a model: measured with it, or not at all."""


async def median_us(call: Callable[[], object], batches: int = 30, calls: int = 50) -> float:
    async def once() -> None:
        result = call()
        if isawaitable(result):
            await result

    await once()
    times = []
    for _ in range(batches):
        began = time.process_time()
        for _ in range(calls):
            await once()
        times.append((time.process_time() - began) / calls)
    return statistics.median(times) * 1e6


def tables(folder: Path) -> dict[str, Any]:
    """Settings that give each of them something to do, with 100,000 names and 1,000 corrections."""
    names = folder / "entities"
    names.mkdir()
    (names / "song.txt").write_text("\n".join(f"song number {number} of the year" for number in range(100_000)))
    (names / "room.txt").write_text("kitchen = r1\n")
    corrections = folder / "corrections.txt"
    corrections.write_text("\n".join(f"misheard {number} = meant {number}" for number in range(1_000)))
    return {
        "language": {"langs": ["en-US", "de-DE", "es-ES"], "always": True},
        "corrections": {"file": str(corrections)},
        "validate": {"typed": True},
        "policy": {"rules": [{"phrases": ["bad word", "another"]}]},
        "privacy": {"otherwise": "all"},
        "rate-limit": {"per_minute": 1e9, "burst": 1_000_000_000},
        "router": {"routes": [{"devices": ["attic"], "persona": "x"}]},
        "entities": {"folder": str(names)},
        "defaults": {"slots": {"units": "system_unit"}, "values": {"system_unit": "metric"}},
        "content": {"rules": [{"phrases": ["darn", "heck"], "say": "dear"}]},
        "tempo": {"tempo": 1.1},
    }


def artifact(kind: str) -> Any:
    from voice_samples import spoken

    return {
        "utterance": [SENTENCE],
        "intent": Match("player.skill", "play", "en-US", "play waterloo by abba in the kitchen", {"when": "now"}),
        "dialog": ANSWER,
    }.get(kind) or spoken("what is the weather in Lisbon")


async def cost(peers: str | None) -> None:
    theirs = json.loads(_peer(peers)) if peers else {}
    print(f"{'transformer':26} {'µs a call':>10}   the OVOS plugin")
    with tempfile.TemporaryDirectory() as folder:
        made = [Normalize(), Cancel(), Values(), *(one.load()() for one in SHIPPED if one.id not in SERVICES)]
        async with Assistant(*made, settings={"plugins": tables(Path(folder))}) as assistant:
            _register(assistant)
            for plugin in made:
                name = f"{getattr(plugin, 'type', 'audio_tap')}.{plugin.id}"
                peer = PEERS.get(name, "")
                other = theirs.get(peer, "not run") if peer else ""
                print(f"{name:26} {await _once(plugin):10.1f}   {peer} {other}".rstrip())
    await services()


async def services() -> None:
    """Those that ask a server, with one on this machine that answers at once: what they and it take together."""
    from hark.builtin.transformers.dialog.tone import ModelTone
    from hark.builtin.transformers.translation import UtteranceTranslation
    from unit.builtin.transformers.http_services import chat, libretranslate, serving

    with serving(libretranslate) as translator, serving(chat(lambda _instruction, text: text)) as model:
        tone, translate = ModelTone(), UtteranceTranslation()
        settings = {"plugins": {"translate": {"url": translator.url}, "tone": {"url": f"{model.url}/v1"}}}
        async with Assistant(tone, translate, settings=settings):
            context = Message("x").context
            asked: list[float] = []
            known: list[float] = []
            for number in range(200):
                for times in (asked, known):
                    began = time.process_time()
                    await translate.transform([f"di hola {number}"], Ctx(context, Session("x"), "es-ES", True))
                    times.append(time.process_time() - began)
            english = Ctx(context, Session("x"), "en-US", True)
            reworded = await median_us(lambda: tone.transform(ANSWER, english), 20, 5)
    for name, times in (("translate, asked", asked), ("translate, remembered", known)):
        print(f"{name:26} {statistics.median(times) * 1e6:10.1f}")
    print(f"{'tone':26} {reworded:10.1f}")


async def _once(plugin: Any) -> float:
    kind = getattr(plugin, "type", "audio_tap")
    given = artifact(kind)

    def call() -> object:
        if kind == "audio_tap":
            return plugin.hear(Audio(given.samples[:32_000], 16_000), None)
        ctx = Ctx(Message("x").context, Session("x"), "en-US", kind not in ("metadata", "intent"))
        return plugin.transform(ctx) if kind == "metadata" else plugin.transform(given, ctx)

    return await median_us(call, *((5, 3) if kind in ("audio", "tts", "audio_tap") else (30, 50)))


def _register(assistant: Assistant) -> None:
    data = {"skill_id": "player.skill", "intent_name": "play", "lang": "en-US", "samples": ["play {song} by {artist}"]}
    assistant.bus.emit(Message("ovos.intent.register.template", data))


def _peer(python: str) -> str:
    script = Path(__file__).parent / "peer_ovos" / "transformers.py"
    done = subprocess.run([python, str(script)], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1]


async def turn() -> None:
    """Turns as installed and with all text transformers, in turn; the steps of the latter from their traces."""
    with tempfile.TemporaryDirectory() as folder:
        settings = {"plugins": tables(Path(folder)), "trace": {"size": 20}}
        text = [one for one in SHIPPED if one.kind in ("utterance", "metadata", "intent", "dialog")]
        few = Assistant(Normalize(), Cancel(), Values(), ParrotSkill(), clock=SystemClock())
        many = Assistant(
            *(Normalize(), Cancel(), Values(), ParrotSkill()),
            *(one.load()() for one in text if one.id not in SERVICES),
            settings=settings,
            clock=SystemClock(),
        )
        steps: dict[str, list[float]] = {}
        whole: dict[str, list[float]] = {"as installed": [], "all text transformers": []}
        async with few, many:
            for _ in range(300):
                for name, assistant in (("as installed", few), ("all text transformers", many)):
                    await assistant.hears("say it is 17:30 in the kitchen")
                    whole[name].append(assistant.trace().seconds)
                    assistant.messages.clear()
                for step in many.trace().steps:
                    if step.stage in ("utterance", "metadata", "intent", "dialog"):
                        steps.setdefault(f"{step.stage}.{step.who}", []).append(step.seconds)
    for name, found in steps.items():
        print(f"{name:26} {statistics.median(found) * 1e6:8.1f} µs")
    print(f"{'all of them':26} {sum(statistics.median(found) for found in steps.values()) * 1e6:8.1f} µs")
    for name, found in whole.items():
        print(f"a turn, {name:22} {statistics.median(found) * 1e6:8.1f} µs until its end marker")


async def denoise() -> None:
    from hark.builtin.engines import engine_class
    from hark.builtin.transformers.audio.noise import NoiseSuppression
    from voice_samples import spoken, whisper_tiny

    plugin = NoiseSuppression()
    plugin.settings = plugin.Settings()
    await plugin.start()
    sentences = [
        "turn on the light in the kitchen", "what is the weather in Lisbon", "set a timer for ten minutes",
        "put milk and eggs on my shopping list", "tell me a joke", "what time is it in Tokyo",
        "play some quiet music", "how much is five miles in kilometers",
    ]  # fmt: skip
    for engine_id, options in (
        ("pocketsphinx", {"phrases": tuple(sentences)}),
        ("faster-whisper", {"model": whisper_tiny(), "threads": 1}),
    ):
        engine: Any = engine_class("stt", engine_id)()
        engine.settings = engine.Settings(**options)
        engine.load()
        for decibels in (20, 10, 5):
            right = {"plain": 0, "denoised": 0}
            words = 0
            for number, text in enumerate(sentences):
                noisy = _with_noise(spoken(text), decibels, number)
                words += len(text.split())
                for name, sound in (("plain", noisy), ("denoised", plugin.transform(noisy, cast("Any", None)))):
                    heard = " ".join(engine.transcribe(sound, "en-US").utterances[:1]).lower()
                    heard_words = "".join(c if c.isalnum() else " " for c in heard).split()
                    right[name] += sum(word.lower() in heard_words for word in text.split())
            shares = ", ".join(f"{name} {100 * count / words:.0f} %" for name, count in right.items())
            print(f"{engine_id:15} {decibels:3} dB: {shares} of {words} words")


def _with_noise(speech: Audio, decibels: float, seed: int) -> Audio:
    """Speech with steady noise, coloured as that of a fan, this far below it."""
    samples = int16_samples(speech.samples)
    dice = random.Random(seed)
    noise, last = [], 0.0
    for _ in samples:
        last = 0.9 * last + dice.gauss(0, 1)
        noise.append(last)
    power = sum(n * n for n in samples) / len(samples)
    scale = (power / 10 ** (decibels / 10) / (sum(n * n for n in noise) / len(noise))) ** 0.5
    mixed = (max(-32_768, min(32_767, round(n + scale * m))) for n, m in zip(samples, noise, strict=True))
    return Audio(int16_bytes(array("h", mixed)), speech.sample_rate)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("cost", "turn", "denoise"))
    parser.add_argument("--peers", metavar="PYTHON", help="the Python of an environment with the OVOS plugins")
    options = parser.parse_args()
    asyncio.run(cost(options.peers) if options.what == "cost" else turn() if options.what == "turn" else denoise())


if __name__ == "__main__":
    main()
