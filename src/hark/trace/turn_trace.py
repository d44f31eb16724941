"""The trace of one turn: what happened, step by step, and what is kept of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from hark.model import Audio, Match
from hark.model.audio import describe_audio

_LONGEST: Final = 2_000
"""Characters up to which a text is kept unchanged."""
_MOST_TEXTS: Final = 20
_KEEPS: Final = ("all", "no-text", "none")
"""What a trace may keep, from the most to the least."""
_MOST_STEPS: Final = 1_000
_STEP_BYTES: Final = 300
"""What a step takes without its texts."""


class TraceStep(msgspec.Struct, frozen=True):
    """One step of a turn: which plugin or part acted, how it ended, how long it took."""

    stage: str
    """The stage of the turn: `utterance`, `match`, `handler`, `dialog`, ..."""
    who: str
    """The id of the plugin, or the part of Hark, that acted."""
    outcome: str
    """One word: `changed`, `unchanged`, `declined`, `claimed`, `failed`, `late`, `skipped`, ..."""
    at: float
    """Seconds since the turn began, when the step ended."""
    seconds: float = 0.0
    """How long it took."""
    detail: str = ""
    """The reason, as text."""
    before: Any = None
    """The artifact before the step, if the step changed it."""
    after: Any = None
    """The artifact after the step."""


class TurnTrace:
    """The steps of one turn. Cheap to write: values are kept by reference and rendered later."""

    __slots__ = (
        "_began",
        "_now",
        "keep",
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
        """How the turn ended; empty while it is open."""
        self.seconds = 0.0
        self.steps: list[TraceStep] = []
        self.keep = "all"
        """What it may keep: `all`, `no-text`, or `none`. Only `limit` changes it."""
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
        """Add a step that ends now. Of more than a thousand in one turn, the rest is left out."""
        if len(self.steps) >= _MOST_STEPS:
            return
        if self.keep != "all":
            detail, before, after = "", None, None
        self.steps.append(TraceStep(stage, who, outcome, self._now() - self._began, seconds, detail, before, after))

    def limit(self, keep: object) -> None:
        """Keep no more than this from now on, and nothing more of what is here; more than before it never keeps.

        Anything but `all`, `no-text` and `none` has no effect: it may come from outside.
        """
        if keep not in _KEEPS or _KEEPS.index(str(keep)) <= _KEEPS.index(self.keep):
            return
        self.keep = str(keep)
        self.utterances = ()
        self.steps = [_wordless(step) for step in self.steps]

    def follows(self, earlier: TurnTrace) -> None:
        """Put the steps of an earlier trace before those of this turn; their times are negative."""
        back = earlier._began - self._began
        self.limit(earlier.keep)
        moved = [msgspec.structs.replace(step, at=step.at + back) for step in earlier.steps]
        if self.keep != "all":
            moved = [_wordless(step) for step in moved]
        self.steps = [*moved, *self.steps]  # another list: a reader may be iterating over this one

    def end(self, outcome: str) -> None:
        """Record how the turn ended; steps may still follow, such as the speech it caused."""
        self.outcome = outcome
        self.seconds = self._now() - self._began

    def weight(self) -> int:
        """The bytes that it holds, roughly."""
        total = _STEP_BYTES + sum(map(len, self.utterances))
        for step in self.steps:
            total += _STEP_BYTES + len(step.detail)
            if step.before is not None:
                total += _length(step.before)
            if step.after is not None:
                total += _length(step.after)
        return total

    def record(self) -> TraceRecord:
        """A copy as plain data."""
        steps = [
            msgspec.structs.replace(
                step, detail=_encodable(step.detail), before=_plain(step.before), after=_plain(step.after)
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


def _wordless(step: TraceStep) -> TraceStep:
    """A step without anything that was said."""
    return msgspec.structs.replace(step, detail="", before=None, after=None)


def _length(artifact: Any) -> int:
    kind = type(artifact)
    if kind is str:
        return len(artifact)
    return sum(map(len, artifact)) if kind is tuple else 0


def _plain(value: Any) -> Any:
    """`value` as JSON, for readers."""
    if isinstance(value, str):
        return _encodable(value)
    if value is None or isinstance(value, (int, float, bool)):
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {_encodable(str(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, Match):
        slots = "".join(f", {name} = {slot}" for name, slot in value.slots.items())
        return _encodable(f"{value.skill_id}:{value.intent_name}{slots}")
    return _encodable(str(value))


def _encodable(text: str) -> str:
    """`text` without lone surrogates, which UTF-8 cannot encode: a plugin may use them in its reasons."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def summarize(artifact: Any) -> Any:
    """The artifact itself, or a short description of one that is too large to keep in a thousand traces.

    Sound is always described.
    """
    kind = type(artifact)
    if kind is str:
        return artifact if len(artifact) <= _LONGEST else f"{artifact[:_LONGEST]}... ({len(artifact)} characters)"
    if kind is tuple:
        if len(artifact) <= _MOST_TEXTS and all(len(text) <= _LONGEST for text in artifact):
            return artifact
        more = (f"... ({len(artifact)} in total)",) if len(artifact) > _MOST_TEXTS else ()
        return (*map(summarize, artifact[:_MOST_TEXTS]), *more)
    if kind is Audio:
        return describe_audio(artifact)
    if kind is Match and sum(map(len, artifact.slots.values())) > _LONGEST:
        return f"{artifact.topic} with {len(artifact.slots)} slot{'s' * (len(artifact.slots) != 1)}"
    return artifact
