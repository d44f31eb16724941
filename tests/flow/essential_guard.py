"""Random failures of an essential guard: `python tests/flow/essential_guard.py 10000` (ruling R19)."""

from __future__ import annotations

import asyncio
import logging
import random
import sys
from collections import Counter
from typing import Any, Final

import msgspec

from hark.model import Match, Session
from hark.plugins import (
    Ctx,
    DialogTransformer,
    IntentTransformer,
    MetadataTransformer,
    PipelinePlugin,
    Turn,
    UtteranceTransformer,
    handles,
)
from hark.spec import topics
from hark.testing import Assistant

FAILURES: Final = ("raise", "wrong shape", "late", "breaker open", "unloaded", "not installed")
LIMIT: Final = 1.0


class GuardReport(msgspec.Struct):
    """What became of the turns."""

    turns: int = 0
    spoken: int = 0
    cancelled: int = 0
    failures: Counter[str] = msgspec.field(default_factory=Counter)
    passed_a_broken_guard: list[str] = msgspec.field(default_factory=list)
    """Sentences that were said although the guard did not accept them."""


class Guard:
    """Does to each text what the plan says; shared by a guard of each chain."""

    plan = ""
    stuck: asyncio.Event

    async def judge(self, artifact: Any) -> Any:
        if self.plan == "raise":
            raise LookupError("the rules are gone")
        if self.plan == "wrong shape":
            return random.choice((7, [1], b"", {"text": "x"}, object()) + (() if artifact is None else (None,)))
        if self.plan == "late":
            await self.stuck.wait()
        return artifact


class UtteranceGuard(UtteranceTransformer):
    """The guard of the utterance chain."""

    id = "guard"
    guard: Guard

    async def transform(self, utterances: list[str], ctx: Ctx) -> list[str]:
        judged: list[str] = await self.guard.judge(utterances)
        return judged


class MetadataGuard(MetadataTransformer):
    """The guard of the metadata chain."""

    id = "guard"
    guard: Guard

    async def transform(self, ctx: Ctx) -> None:
        judged: None = await self.guard.judge(None)
        return judged


class IntentGuard(IntentTransformer):
    """The guard of the intent chain."""

    id = "guard"
    guard: Guard

    async def transform(self, match: Match, ctx: Ctx) -> Match:
        judged: Match = await self.guard.judge(match)
        return judged


class DialogGuard(DialogTransformer):
    """The guard of the dialog chain."""

    id = "guard"
    guard: Guard

    async def transform(self, text: str, ctx: Ctx) -> str:
        judged: str = await self.guard.judge(text)
        return judged


GUARDS: Final[tuple[type[Any], ...]] = (UtteranceGuard, MetadataGuard, IntentGuard, DialogGuard)


class Parroting(PipelinePlugin):
    """Claims everything and says it."""

    id = "parroting"
    quick = True

    def match(self, utterances: Any, lang: str, session: Session) -> Match:
        return Match(self.id, "say", lang, utterances[0])

    @handles("say")
    def say(self, turn: Turn) -> str:
        return turn.utterance


async def random_failures(turns: int, seed: int = 1) -> GuardReport:
    """Let an essential guard of each chain that a text turn passes fail at random, and see what gets past it."""
    choose, report = random.Random(seed), GuardReport()
    for made in GUARDS:
        await _of_one_chain(made(), turns // len(GUARDS), choose, report)
    return report


async def _of_one_chain(guard: Any, turns: int, choose: random.Random, report: GuardReport) -> None:
    kind = guard.type
    guard.guard = Guard()
    guard.guard.stuck = asyncio.Event()
    settings = {
        "transformer": {kind: {"guard": {"essential": True}}},
        "limits": {"transformer": LIMIT, "failures": 3},
    }
    async with Assistant(guard, Parroting(), settings=settings) as assistant:
        registry = assistant.runtime.transformers[kind]
        entry = registry.get("guard")
        for number in range(turns):
            plan = choose.choice((*FAILURES, "accept", "accept"))
            guard.guard.plan = plan
            sentence = f"sentence {number}"
            entry.succeeded()
            if plan == "breaker open":
                for _ in range(3):
                    entry.failed(assistant.clock.monotonic(), late=True)
            entry.unloaded = "3 of its calls have not returned" if plan == "unloaded" else ""
            if plan == "not installed":
                registry.remove("guard")
            turn = assistant.say(sentence, session=choose.choice(_SESSIONS)(kind, number))
            if plan == "late":
                await assistant.clock.advance(LIMIT)
            await turn.over.wait()
            if plan == "not installed":
                registry.register(entry)
            report.turns += 1
            if plan != "accept":
                report.failures[plan] += 1
            if turn.spoken:
                report.spoken += 1
                if plan != "accept" or turn.spoken != [sentence]:
                    report.passed_a_broken_guard.append(f"{plan}: {turn.spoken}")
            report.cancelled += bool(assistant.of(topics.UTTERANCE_CANCELLED))
            assistant.messages.clear()
            assistant.rendered.clear()


_SESSIONS: Final[tuple[Any, ...]] = (
    lambda _kind, _number: None,
    lambda _kind, number: Session(f"client-{number}"),
    # A session that asks for a chain without the guard.
    lambda kind, number: Session(f"client-{number}", **{f"{kind}_transformers": ["another"]}),
)


def main() -> None:
    turns = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    logging.disable()  # each failure is a line
    report = asyncio.run(random_failures(turns))
    failures = ", ".join(f"{count} x {name}" for name, count in sorted(report.failures.items()))
    sys.stdout.write(
        f"{report.turns} turns: {report.spoken} accepted and said, {report.cancelled} cancelled\n{failures}\n"
        f"sentences past a broken guard: {len(report.passed_a_broken_guard)}\n"
    )
    sys.exit(bool(report.passed_a_broken_guard))


if __name__ == "__main__":
    main()
