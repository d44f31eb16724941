"""What a call of each OVOS transformer plugin costs. Run by the Python of an environment that has them installed:

    PEERS/bin/python benchmarks/peer_ovos/transformers.py

Prints a JSON object: plugin, then microseconds of one call (median of batches, process time) or why it did not run.
"""

from __future__ import annotations

import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from typing import Any

os.environ["HOME"] = tempfile.mkdtemp()
SENTENCE = "what's the weather like in the kitchen"
ANSWER = "It is 17:30 and -3 °C in Lisbon, Dr. Smith."


def cost(call: Callable[[], object], batches: int = 20, calls: int = 50) -> float:
    call()
    times = []
    for _ in range(batches):
        began = time.process_time()
        for _ in range(calls):
            call()
        times.append((time.process_time() - began) / calls)
    return statistics.median(times) * 1e6


def normalizer() -> Callable[[], object]:
    from ovos_utterance_normalizer import UtteranceNormalizerPlugin

    plugin = UtteranceNormalizerPlugin()
    return lambda: plugin.transform([SENTENCE], {"lang": "en-US"})


def corrections() -> Callable[[], object]:
    from ovos_utterance_corrections_transformer import UtteranceCorrectionsPlugin

    plugin = UtteranceCorrectionsPlugin()
    plugin.db = {"whats the wether": "what is the weather"}
    return lambda: plugin.transform([SENTENCE], {"lang": "en-US"})


def cancel() -> Callable[[], object]:
    from ovos_utterance_plugin_cancel import NevermindPlugin

    plugin = NevermindPlugin()
    return lambda: plugin.transform([SENTENCE], {"lang": "en-US"})


def dialog_normalizer() -> Callable[[], object]:
    from ovos_dialog_normalizer_plugin import DialogNormalizerTransformer

    plugin = DialogNormalizerTransformer()
    return lambda: plugin.transform(ANSWER, {"lang": "en-US"})


def keywords() -> Callable[[], object]:
    from kw_template_matcher import TemplateMatcher

    matcher = TemplateMatcher()
    matcher.add_templates(["play {song} by {artist}", "put on something"])
    return lambda: list(matcher.match("play waterloo by abba"))


def ggwave() -> Callable[[], object]:
    from ovos_audio_transformer_plugin_ggwave import GGWavePlugin

    plugin: Any = GGWavePlugin()
    chunk = bytes(2 * 16_000)
    return lambda: plugin.feed_audio_chunk(chunk)


PLUGINS = {
    "ovos-utterance-normalizer": normalizer,
    "ovos-utterance-corrections-plugin": corrections,
    "ovos-utterance-plugin-cancel": cancel,
    "ovos-dialog-normalizer-plugin": dialog_normalizer,
    "keyword-template-matcher": keywords,
    "ovos-audio-transformer-plugin-ggwave": ggwave,
}


def main() -> None:
    from ovos_utils.log import LOG

    LOG.set_level("CRITICAL")
    found: dict[str, float | str] = {}
    for name, make in PLUGINS.items():
        try:
            found[name] = round(cost(make()), 1)
        except Exception as error:
            found[name] = f"{type(error).__name__}: {str(error)[:100]}"
    print(json.dumps(found))


if __name__ == "__main__":
    main()
