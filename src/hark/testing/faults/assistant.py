"""An assistant with faulty plugins in it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from types import TracebackType
from typing import Any, Final, Self

from hark.builtin import CommonQuery, Fallback
from hark.bus import LocalBus
from hark.chains import Flow
from hark.model import Audio, Message, Session
from hark.model.session_merge import Denials
from hark.plugins import Match, PipelinePlugin, Plugin, Transformer, Turn, handles
from hark.skills import Skill, intent
from hark.spec import TransformerType
from hark.testing.assistant import Assistant, Hearing
from hark.testing.clock import FakeClock, settle
from hark.testing.faults.builders import KINDS
from hark.testing.faults.plugin import TRIGGERS, FaultSwitch, FaultyPlugin, Point
from hark.trace import TurnTrace

UNKNOWN_FIELD: Final = {"row": 7, "seats": ["a", "b"]}
"""A session field nobody knows: it has to survive every turn."""

SKILL_QUESTION: Final = "who looks after the animals"
SKILL_ANSWER: Final = "The keeper does."

_CALLED_BEFORE: Final[tuple[Point, ...]] = ("can_converse", "converse", "can_stop", "stopped")
"""Those are asked only in sessions in which they were called."""

_LIMITS: Final[Mapping[str, Any]] = {"handler": 10.0}
_LONG: Final = 240.0
"""Seconds, of the assistant's own time, in which every turn has to be over."""
_LIMIT: Final = 65.0
"""Seconds, likewise, after which every call with a limit was given up."""
_QUIET: Final = 10
"""Rounds of the event loop in which nothing goes on, before it is believed."""
_ROUNDS: Final = 400
"""Looks at a worker thread that is about to finish, before time passes."""


class ControlPlugin(PipelinePlugin):
    """Claims whatever no animal has claimed, and says what it heard."""

    id = "tame"
    quick = True

    def match(self, utterances: Sequence[str], lang: str, session: Session) -> Match | None:  # noqa: ARG002
        """As promised by `PipelinePlugin`; one question is left to the skill."""
        if utterances[0] == SKILL_QUESTION:
            return None
        return self.claim("answer", lang=lang, utterance=utterances[0])

    @handles("answer")
    def answer(self, turn: Turn) -> str:
        """What it says to everything."""
        return heard(turn.utterance)


class ControlSkill(Skill):
    """A skill with one registered intent, which no garbage of others may spoil."""

    id = "tame.skill"
    quick = True

    @intent(SKILL_QUESTION)
    def who(self, _turn: Turn) -> str:
        """Answers the question."""
        return SKILL_ANSWER


def heard(utterance: str) -> str:
    """What `ControlPlugin` answers to an utterance."""
    return f"I heard: {utterance}"


def control_plugins() -> tuple[Plugin, ...]:
    """Those that come after the animals: a transformer of each kind that changes nothing, a skill, and `ControlPlugin`."""
    onlookers = (_onlooker(kind, base) for kind, base in KINDS.items())
    return (*onlookers, ControlSkill(), CommonQuery(), Fallback(), ControlPlugin())


def _onlooker(kind: str, base: type[Transformer]) -> Plugin:
    def transform(_self: Plugin, artifact: Any, _ctx: Any) -> Any:
        return artifact

    def transform_metadata(_self: Plugin, _ctx: Any) -> None:
        return None

    chosen = transform_metadata if kind == "metadata" else transform
    members = {"id": f"tame-{kind}", "priority": 90, "quick": True, "transform": chosen}
    made: Plugin = type("Onlooker", (base,), members)()
    return made


class _Records(logging.Handler):
    """Keeps what is logged."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """As promised by `logging.Handler`."""
        self.lines.append(record.getMessage())


class FaultyAssistant(Assistant):
    """An assistant with animals, and with tame plugins that run after them in every chain and in the pipeline.

    `async with Visit(animal, ...) as visit: hearing = await visit.provoke("..."); await invariants(visit, hearing)`.
    """

    def __init__(
        self,
        *inhabitants: FaultyPlugin | Plugin,
        bus: type[LocalBus] = LocalBus,
        settings: Mapping[str, Any] | None = None,
        mood: Callable[[str], bool] | None = None,
    ) -> None:
        clock = FakeClock()
        self.cage = FaultSwitch(clock, mood=mood)
        self.animals = {one.id: one for one in inhabitants if isinstance(one, FaultyPlugin)}
        plugins = [one.plugin(self.cage) if isinstance(one, FaultyPlugin) else one for one in inhabitants]
        tree = {key: dict(value) for key, value in (settings or {}).items()}
        tree["limits"] = {**_LIMITS, **tree.get("limits", {})}
        tree.setdefault("plugins", {}).setdefault("common_query", {"gate": False})
        super().__init__(*plugins, *control_plugins(), settings=tree, clock=clock, bus=bus)
        self._records = _Records()

    @property
    def log(self) -> list[str]:
        """Every warning and error that was logged during the visit."""
        return self._records.lines

    async def __aenter__(self) -> Self:
        logging.getLogger("hark").addHandler(self._records)
        with self.cage.provoked():
            await self._while_time_passes(super().__aenter__())
        await self.hears("good morning", session=Session(persona_id="zoo", zoo_ticket=UNKNOWN_FIELD))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            with self.cage.provoked():
                await super().__aexit__(kind, error, trace)
        finally:
            await self.cage.open()
            await settle()
            logging.getLogger("hark").removeHandler(self._records)

    async def provoke(self, text: str, only: FaultyPlugin | None = None, **how: Any) -> Hearing:
        """Say something while every animal, or `only` this one, does its worst, and see it through to the end.

        In a session that carries denylists and a field nobody knows, unless told otherwise. Animals that are asked only
        when something is to stop hear that instead.
        """
        if only is not None:
            text = TRIGGERS.get(only.point, text)
        how.setdefault("session", self._visitor(only))
        with self.cage.provoked(None if only is None else only.id):
            hearing = self.say(text, **how)
            if any(animal.point == "timer" for animal in self.animals.values()):
                await self.clock.advance(0.0)
            await self.see_out()
            await self._through_the_audio_chains(hearing)
        return hearing

    async def see_out(self, *, idlers: bool = True) -> None:
        """Let time pass until no turn is open and everything is said; with `idlers`, until nobody is at work either,
        or has been for longer than any limit.
        """
        passed, step, quiet, rounds = 0.0, 0.25, 0, 0
        while quiet < _QUIET:
            await asyncio.sleep(0)
            rounds += 1
            if not self._is_open() and not (idlers and self._is_busy() and passed < _LIMIT):
                quiet += 1
            elif rounds > (_ROUNDS if self._is_finishing() else _QUIET):
                assert passed < _LONG, f"a turn is still open, or something to be said:\n{self.why()}"
                await self.clock.advance(step)
                passed, step, quiet, rounds = passed + step, min(step * 1.5, 10.0), 0, 0

    def _visitor(self, only: FaultyPlugin | None) -> Session:
        """A session in which the animals were called that take part in a dialogue, or `only` this one."""
        asked = [one for one in (self.animals.values() if only is None else (only,)) if one.point in _CALLED_BEFORE]
        handlers = [{"skill_id": one.id, "activated_at": self.clock.wall()} for one in asked]
        lists = {"active_handlers": handlers, "converse_handlers": handlers} if handlers else {}
        return Session("visitor", blacklisted_skills=["zoo.denied"], zoo_ticket=UNKNOWN_FIELD, **lists)

    def _is_open(self) -> bool:
        return bool(self.runtime.orchestrator.open_turns or self.runtime.speaker.pending or self.bus.pending)

    def _is_busy(self) -> bool:
        return bool(self.runtime.runner.busy or self.cage.hanging)

    def _is_finishing(self) -> bool:
        """Whether a worker is doing something that does not hang: it will be through in no time."""
        return bool(self.runtime.runner.threads.busy) and not self.cage.hanging

    async def _through_the_audio_chains(self, hearing: Hearing) -> None:
        """Nobody feeds the two audio chains yet: send something through by hand, as part of the turn."""
        trace = turn_of(self, hearing)
        session = Session("visitor", zoo_ticket=UNKNOWN_FIELD)
        origin = Message("zoo.sound", {}, {"utterance_id": trace.utterance_id}, session)
        kinds: tuple[TransformerType, ...] = ("audio", "tts")
        for kind in kinds:
            flow = Flow(Audio(b"\0\0" * 8, 16_000), None, origin, session, Denials.of(session))
            await self._while_time_passes(self.runtime.chains[kind].run(flow, trace))
            assert flow.artifact.defect() is None, f"the {kind} chain let through: {flow.artifact.defect()}"
        await self.see_out()

    async def _while_time_passes(self, work: Coroutine[Any, Any, Any]) -> None:
        """See `work` to its end, however long it takes by the assistant's own clock."""
        task = asyncio.ensure_future(work)
        self.cage.spared.add(task)
        passed, rounds = 0.0, 0
        while not task.done() and passed < _LONG:
            await asyncio.sleep(0)
            rounds += 1
            if rounds > _QUIET and not task.done() and not self._is_finishing():
                await self.clock.advance(0.5)
                passed, rounds = passed + 0.5, 0
        assert task.done(), f"this takes too long: {work}"
        await task


def turn_of(assistant: Assistant, hearing: Hearing) -> TurnTrace:
    """The trace of the turn that was heard."""
    for trace in reversed(list(assistant.runtime.traces)):
        if trace.utterances == hearing.utterances:
            return trace
    raise AssertionError(f"no turn was opened for {hearing.utterances}")
