"""Two small costs of the peer by themselves: its utterance transformer loop, and its message codec."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from isolation import LANG

LOOP_SIZES = (0, 1, 5, 20)
ROUNDS = 2000
BATCHES = 15


def best_seconds(batch: Callable[[], float]) -> float:
    """The best of several batches, each reporting seconds per operation: what else the machine does can only add."""
    return min(batch() for _ in range(BATCHES))


def transformer_loop() -> dict[str, float]:
    """Seconds per utterance through ovos-core's utterance transformer loop, by number of no-op transformers."""
    loops = {size: _loop_of(size) for size in LOOP_SIZES}
    return {str(size): best_seconds(partial(_seconds_per_utterance, loop)) for size, loop in loops.items()}


def _loop_of(size: int) -> Any:
    """ovos-core's own service, having loaded `size` no-op transformers through its own loader."""
    from ovos_core.transformers import UtteranceTransformersService
    from ovos_plugin_manager.templates.transformers import UtteranceTransformer

    def transformer(name: str) -> type:
        class NoOp(UtteranceTransformer):  # type: ignore[misc]
            """Returns what it was given."""

            def __init__(self, config: dict[str, Any] | None = None) -> None:
                super().__init__(name, 50, config)

            def transform(self, utterances: list[str], context: dict[str, Any]) -> tuple[list[str], dict[str, Any]]:
                return utterances, context

        return NoOp

    plugins = {f"noop-{number}": transformer(f"noop-{number}") for number in range(size)}

    class Loop(UtteranceTransformersService):  # type: ignore[misc]
        """The service itself; only what it discovers is ours."""

        @classmethod
        def find_plugins(cls) -> Any:
            return plugins.items()

    loop = Loop(None, config={name: {} for name in plugins})
    if len(loop.plugins) != size:
        raise RuntimeError(f"the transformer service loaded {len(loop.plugins)} of {size} no-op transformers")
    return loop


def _seconds_per_utterance(loop: Any) -> float:
    utterances = ["turn on the kitchen light"]
    # A context of its own for every call, made before the clock starts: the loop appends to a list inside it.
    contexts = [{"lang": LANG, "session": {"session_id": "bench"}} for _ in range(ROUNDS)]
    transform = loop.transform
    begin = time.perf_counter()
    for context in contexts:
        transform(utterances, context)
    return (time.perf_counter() - begin) / ROUNDS


def message_costs(place: Path) -> dict[str, float]:
    """Seconds to decode and to encode the message stored at `place` with ovos-bus-client."""
    from ovos_bus_client.message import Message

    wire = place.read_text().strip()
    decoded = Message.deserialize(wire)
    if json.loads(decoded.serialize()) != json.loads(wire):
        raise RuntimeError("the message does not survive ovos-bus-client")

    def deserialize() -> float:
        begin = time.perf_counter()
        for _ in range(ROUNDS):
            Message.deserialize(wire)
        return (time.perf_counter() - begin) / ROUNDS

    def serialize() -> float:
        begin = time.perf_counter()
        for _ in range(ROUNDS):
            decoded.serialize()
        return (time.perf_counter() - begin) / ROUNDS

    return {"bytes": len(wire.encode()), "deserialize": best_seconds(deserialize), "serialize": best_seconds(serialize)}
