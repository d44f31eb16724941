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
"""The value of a session field unknown to Hark: it has to survive every turn."""

SKILL_QUESTION: Final = "who checks the plugins"
SKILL_ANSWER: Final = "The control skill does."

_CALLED_BEFORE: Final[tuple[Point, ...]] = ("can_converse", "converse", "can_stop", "stopped")
"""Points that are called only in sessions in which their skill was active."""

_LIMITS: Final[Mapping[str, Any]] = {"handler": 10.0}
_LONG: Final = 240.0
"""Seconds on the assistant's clock in which every turn has to be over."""
_LIMIT: Final = 65.0
"""Seconds on that clock after which every call with a limit has been abandoned."""
_QUIET: Final = 10
"""Idle rounds of the event loop that count as quiet."""
_ROUNDS: Final = 400
"""Rounds of the event loop left to a worker thread that is about to finish, before time passes."""


class ControlPlugin(PipelinePlugin):
    """Claims whatever no faulty plugin has claimed, and repeats what it heard."""

    id = "control"
    quick = True

    def match(self, utterances: Sequence[str], lang: str, session: Session) -> Match | None:  # noqa: ARG002
        """Claims everything but the question that the control skill answers."""
        if utterances[0] == SKILL_QUESTION:
            return None
        return self.claim("answer", lang=lang, utterance=utterances[0])

    @handles("answer")
    def answer(self, turn: Turn) -> str:
        """What it says to everything."""
        return heard(turn.utterance)


class ControlSkill(Skill):
    """A skill with one registered intent, which must stay in order whatever other plugins register."""

    id = "control.skill"
    quick = True

    @intent(SKILL_QUESTION)
    def who(self, _turn: Turn) -> str:
        """Answers the question."""
        return SKILL_ANSWER


def heard(utterance: str) -> str:
    """What `ControlPlugin` answers to an utterance."""
    return f"I heard: {utterance}"


def control_plugins() -> tuple[Plugin, ...]:
    """The plugins that run after the faulty ones: transformers that change nothing, a skill and a matcher."""
    transformers = (_control_transformer(kind, base) for kind, base in KINDS.items())
    return (*transformers, ControlSkill(), CommonQuery(), Fallback(), ControlPlugin())


def _control_transformer(kind: str, base: type[Transformer]) -> Plugin:
    def transform(_self: Plugin, artifact: Any, _ctx: Any) -> Any:
        return artifact

    def transform_metadata(_self: Plugin, _ctx: Any) -> None:
        return None

    chosen = transform_metadata if kind == "metadata" else transform
    members = {"id": f"control-{kind}", "priority": 90, "quick": True, "transform": chosen}
    made: Plugin = type("ControlTransformer", (base,), members)()
    return made


class _Records(logging.Handler):
    """Keeps what is logged."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


class FaultyAssistant(Assistant):
    """An assistant with faulty plugins, and control plugins that run after them in every chain and in the pipeline.

    Inside `async with FaultyAssistant(...) as assistant`: `hearing = await assistant.provoke("hello")`, then
    `await invariants(assistant, hearing)`.
    """

    def __init__(
        self,
        *plugins: FaultyPlugin | Plugin,
        bus: type[LocalBus] = LocalBus,
        settings: Mapping[str, Any] | None = None,
        decide: Callable[[str], bool] | None = None,
    ) -> None:
        clock = FakeClock()
        self.switch = FaultSwitch(clock, decide=decide)
        self.faulty_plugins = {one.id: one for one in plugins if isinstance(one, FaultyPlugin)}
        made = [one.plugin(self.switch) if isinstance(one, FaultyPlugin) else one for one in plugins]
        tree = {key: dict(value) for key, value in (settings or {}).items()}
        tree["limits"] = {**_LIMITS, **tree.get("limits", {})}
        tree.setdefault("plugins", {}).setdefault("common_query", {"gate": False})
        super().__init__(*made, *control_plugins(), settings=tree, clock=clock, bus=bus)
        self._records = _Records()

    @property
    def log(self) -> list[str]:
        """Every warning and error that was logged since the assistant started."""
        return self._records.lines

    async def __aenter__(self) -> Self:
        logging.getLogger("hark").addHandler(self._records)
        with self.switch.on():
            await self._while_time_passes(super().__aenter__())
        await self.hears("good morning", session=Session(persona_id="faults", unknown_field=UNKNOWN_FIELD))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            with self.switch.on():
                await super().__aexit__(kind, error, trace)
        finally:
            await self.switch.release()
            await settle()
            logging.getLogger("hark").removeHandler(self._records)

    async def provoke(self, text: str, only: FaultyPlugin | None = None, **how: Any) -> Hearing:
        """Say `text` while all faults are on, or `only` that of this plugin, and run until everything is over.

        The session carries denylists and an unknown field unless another is given. Points that are called only when
        something is to stop get that utterance instead.
        """
        if only is not None:
            text = TRIGGERS.get(only.point, text)
        how.setdefault("session", self._session_for(only))
        with self.switch.on(None if only is None else only.id):
            hearing = self.say(text, **how)
            if any(faulty.point == "timer" for faulty in self.faulty_plugins.values()):
                await self.clock.advance(0.0)
            await self.run_until_quiet()
            await self._through_the_audio_chains(hearing)
        return hearing

    async def run_until_quiet(self, *, workers: bool = True) -> None:
        """Let time pass until no turn is open and everything is said.

        With `workers`, also until no plugin is at work, or every limit of a plugin that still is has passed.
        """
        passed, step, quiet, rounds = 0.0, 0.25, 0, 0
        while quiet < _QUIET:
            await asyncio.sleep(0)
            rounds += 1
            if not self._is_open() and not (workers and self._is_busy() and passed < _LIMIT):
                quiet += 1
            elif rounds > (_ROUNDS if self._is_finishing() else _QUIET):
                assert passed < _LONG, f"a turn is still open, or something to be said:\n{self.why()}"
                await self.clock.advance(step)
                passed, step, quiet, rounds = passed + step, min(step * 1.5, 10.0), 0, 0

    def _session_for(self, only: FaultyPlugin | None) -> Session:
        """A session in which the skills among the faulty plugins are active, or `only` this one."""
        asked = [
            one for one in (self.faulty_plugins.values() if only is None else (only,)) if one.point in _CALLED_BEFORE
        ]
        handlers = [{"skill_id": one.id, "activated_at": self.clock.wall()} for one in asked]
        lists = {"active_handlers": handlers, "converse_handlers": handlers} if handlers else {}
        return Session("tested", blacklisted_skills=["faults.denied"], unknown_field=UNKNOWN_FIELD, **lists)

    def _is_open(self) -> bool:
        return bool(self.runtime.orchestrator.open_turns or self.runtime.speaker.pending or self.bus.pending)

    def _is_busy(self) -> bool:
        return bool(self.runtime.runner.busy or self.switch.hanging)

    def _is_finishing(self) -> bool:
        """Whether a worker thread is busy without hanging: it is about to be done."""
        return bool(self.runtime.runner.threads.busy) and not self.switch.hanging

    async def _through_the_audio_chains(self, hearing: Hearing) -> None:
        """A text turn does not pass the two audio chains: run them on a short sound, as part of the turn."""
        trace = turn_of(self, hearing)
        session = Session("tested", unknown_field=UNKNOWN_FIELD)
        origin = Message("faults.sound", {}, {"utterance_id": trace.utterance_id}, session)
        kinds: tuple[TransformerType, ...] = ("audio", "tts")
        for kind in kinds:
            flow = Flow(Audio(b"\0\0" * 8, 16_000), None, origin, session, Denials.of(session))
            await self._while_time_passes(self.runtime.chains[kind].run(flow, trace))
            assert flow.artifact.defect() is None, f"the {kind} chain let through: {flow.artifact.defect()}"
        await self.run_until_quiet()

    async def _while_time_passes(self, work: Coroutine[Any, Any, Any]) -> None:
        """Run `work` to its end, however long it takes by the assistant's clock."""
        task = asyncio.ensure_future(work)
        self.switch.spared.add(task)
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
