"""What ten thousand known values of a slot cost a match, beside ten of them."""

from __future__ import annotations

import random
import time
from typing import Final

from hark.intents import Found, TemplatePool, lookup
from hark.model import Session
from hark.spec import DEFAULT_SESSION_ID, topics

MANY: Final = 10_000
FEW: Final = 10
_ROUNDS: Final = 40
_SLOTS: Final = ("artist", "album", "station")


def _values(number: int) -> list[str]:
    rng = random.Random(1)
    syllables = [first + vowel + last for first in "bdfgklmnprst" for vowel in "aeiou" for last in ("", "n", "r", "l")]
    found: dict[str, None] = {}
    while len(found) < number:
        words = ["".join(rng.choices(syllables, k=2)) for _ in range(rng.choice((1, 2, 2, 3)))]
        found[" ".join(words)] = None
    return list(found)


def _pool(values: list[str]) -> TemplatePool:
    pool = TemplatePool()
    frames = ("play {%s}", "put on {%s} in the kitchen", "i want to hear {%s} now", "do you have anything by {%s}")
    for slot in _SLOTS:
        common = {"skill_id": f"{slot}.skill", "lang": "en-US"}
        samples = [f"{frame % slot} {slot}" for frame in frames]
        pool.apply(topics.REGISTER_TEMPLATE, {**common, "intent_name": "play", "samples": samples}, DEFAULT_SESSION_ID)
        pool.apply(topics.ENTITY_REGISTER, {**common, "entity_name": slot, "samples": values}, DEFAULT_SESSION_ID)
    return pool


def _sentences(values: list[str]) -> dict[str, list[str]]:
    known = values[:FEW]
    return {
        "known value": [f"put on {value} in the kitchen {slot}" for value in known for slot in _SLOTS],
        "unknown value": [f"i want to hear zzyzx {number} now {slot}" for number in range(FEW) for slot in _SLOTS],
        "similar": [f"could we hear some {value} {slot}" for value in known for slot in _SLOTS],
        "unrelated": [f"the {value} came home late again" for value in known],
    }


def _microseconds(pool: TemplatePool, texts: list[str], session: Session) -> float:
    began = time.process_time_ns()
    for text in texts:
        lookup(pool, text, "en-US", session, time.time)
    return (time.process_time_ns() - began) / len(texts) / 1e3


def table() -> str:
    """Best of some rounds in which the two take turns; processor time."""
    values, session = _values(MANY), Session("benchmark")
    pools = {FEW: _pool(values[:FEW]), MANY: _pool(values)}
    lines = [
        f"| sentence | µs with {FEW} values a slot | with {MANY:,} | ratio | claimed |",
        "|---|---|---|---|---|",
    ]
    for sort, texts in _sentences(values).items():
        best = dict.fromkeys(pools, float("inf"))
        for _ in range(_ROUNDS):
            for size, pool in pools.items():
                best[size] = min(best[size], _microseconds(pool, texts, session))
        claimed = [isinstance(lookup(pools[MANY], text, "en-US", session, time.time), Found) for text in texts]
        lines.append(
            f"| {sort} | {best[FEW]:.1f} | {best[MANY]:.1f} | {best[MANY] / best[FEW]:.2f} "
            f"| {100 * sum(claimed) / len(claimed):.0f} % |"
        )
    return "\n".join(lines)
