"""The story of one turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from hark.model import Audio, Match
from hark.model.audio import describe_audio


class TraceStep(msgspec.Struct, frozen=True):
    """One thing that happened: who did it, how it ended, how long it took."""

    stage: str
    """Which part of the flow: `utterance`, `match`, `handler`, `dialog`, ..."""
    who: str
    """The plugin or part that acted."""
    outcome: str
    """One word: `changed`, `unchanged`, `declined`, `claimed`, `failed`, `late`, `skipped`, ..."""
    at: float
    """Seconds since the turn began, when the step ended."""
    seconds: float = 0.0
    """How long it took."""
    detail: str = ""
    """Why, in a sentence."""
    before: Any = None
    """What it was given, where it changed something."""
    after: Any = None
    """What it made of it."""


class TurnTrace:
    """What happened in one lifecycle, step by step. Cheap to write: values are kept by reference, told apart later."""

    __slots__ = (
        "_began",
        "_now",
        "lang",
        "outcome",
        "seconds",
        "session_id",
        "steps",
        "utterance_id",
        "utterances",
        "wall",
    )

    def __init__(
        self, utterance_id: str, session_id: str, utterances: tuple[str, ...], wall: float, now: Callable[[], float]
    ) -> None:
        self.utterance_id = utterance_id
        self.session_id = session_id
        self.utterances = utterances
        self.wall = wall
        self.lang: str | None = None
        self.outcome = ""
        """How it ended, empty while the turn is open."""
        self.seconds = 0.0
        self.steps: list[TraceStep] = []
        self._now = now
        self._began = now()

    def step(
        self,
        stage: str,
        who: str,
        outcome: str,
        seconds: float = 0.0,
        detail: str = "",
        before: Any = None,
        after: Any = None,
    ) -> None:
        """Note one step."""
        self.steps.append(TraceStep(stage, who, outcome, self._now() - self._began, seconds, detail, before, after))

    def follows(self, earlier: TurnTrace) -> None:
        """Put the steps of what led to this turn before its own; their times are before its beginning."""
        back = earlier._began - self._began
        moved = [msgspec.structs.replace(step, at=step.at + back) for step in earlier.steps]
        self.steps = [*moved, *self.steps]  # another list: somebody may be reading this one

    def end(self, outcome: str) -> None:
        """Note how the turn ended; steps may still follow, such as the speech it caused."""
        self.outcome = outcome
        self.seconds = self._now() - self._began

    def record(self) -> TraceRecord:
        """A copy that can be written down."""
        steps = [
            msgspec.structs.replace(
                step, detail=_sayable(step.detail), before=_plain(step.before), after=_plain(step.after)
            )
            for step in self.steps
        ]
        return TraceRecord(
            utterance_id=self.utterance_id,
            session_id=self.session_id,
            utterances=list(self.utterances),
            wall=self.wall,
            lang=self.lang,
            outcome=self.outcome,
            seconds=self.seconds,
            steps=steps,
        )


class TraceRecord(msgspec.Struct):
    """A finished trace as plain data, for disk and for other processes."""

    utterance_id: str
    session_id: str
    utterances: list[str]
    wall: float
    lang: str | None
    outcome: str
    seconds: float
    steps: list[TraceStep]


def _plain(value: Any) -> Any:
    """`value` as something JSON can say, for reading only."""
    if isinstance(value, str):
        return _sayable(value)
    if value is None or isinstance(value, (int, float, bool)):
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {_sayable(str(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, Match):
        slots = "".join(f", {name} = {slot}" for name, slot in value.slots.items())
        return _sayable(f"{value.skill_id}:{value.intent_name}{slots}")
    return _sayable(str(value))


def _sayable(text: str) -> str:
    """`text` without half pairs, which UTF-8 cannot carry: plugins may give such words as their reasons."""
    return text if text.isascii() else text.encode(errors="replace").decode()


_LONG: Final = 2_000
"""Characters up to which an artifact is kept as it is."""
_MANY: Final = 20


def summarize(artifact: Any) -> Any:
    """The artifact itself, unless it is so big that a thousand of them would be felt: then what tells it.

    Sound is told in any case: nobody reads samples.
    """
    kind = type(artifact)
    if kind is str:
        return artifact if len(artifact) <= _LONG else f"{artifact[:_LONG]}... ({len(artifact)} characters)"
    if kind is tuple:
        if len(artifact) <= _MANY and all(len(text) <= _LONG for text in artifact):
            return artifact
        more = (f"... ({len(artifact)} in all)",) if len(artifact) > _MANY else ()
        return (*map(summarize, artifact[:_MANY]), *more)
    if kind is Audio:
        return describe_audio(artifact)
    if kind is Match and sum(map(len, artifact.slots.values())) > _LONG:
        return f"{artifact.topic} with {len(artifact.slots)} slots"
    return artifact
