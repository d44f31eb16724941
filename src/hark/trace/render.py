"""A trace as text for users."""

from __future__ import annotations

from typing import Any, Final

from hark.trace.turn_trace import TraceRecord, TraceStep

_ENDS: Final = {
    "unmatched": "No plugin claimed this.",
    "cancelled": "A transformer cancelled it.",
    "complete": "Answered.",
    "error": "The handler failed.",
    "refused": "Refused: its session was not an object.",
    "broken": "An error inside Hark; see the log.",
}


def render(trace: TraceRecord) -> str:
    """One line for each step: the time it took, the plugin, the outcome and the reason."""
    heard = f'"{" | ".join(trace.utterances)}"' if any(trace.utterances) else "(nothing)"
    head = f"{heard}  session {trace.session_id}, {trace.lang or 'no language'}, turn {trace.utterance_id}"
    raised = {(step.who, step.detail) for step in trace.steps if step.outcome == "raised"}
    # An exception is shown once, where it was raised; a process that only heard of it says the same again.
    steps = [step for step in trace.steps if step.outcome != "error" or (step.who, step.detail) not in raised]
    lines = [head, *map(_line, steps)]
    end = _ENDS.get(trace.outcome, trace.outcome or "Still open.")
    lines.append(f"{end}  {_time(trace.seconds).strip()} in total, not counting speech.")
    return "\n".join(lines)


def _line(step: TraceStep) -> str:
    detail = "  ".join(part for part in (step.detail, _change(step.before, step.after)) if part).replace("\n", " ")
    return f"  {_time(step.seconds)}  {step.stage:<10} {step.who:<22} {step.outcome:<10} {detail}".rstrip()


def _change(before: Any, after: Any) -> str:
    if before is None and after is None:
        return ""
    if before is None or after is None:  # only one of the two is known
        return _short(after if before is None else before)
    return f"{_short(before)} → {_short(after)}"


def _short(value: Any) -> str:
    several = value if isinstance(value, list) and value else [value]
    text = " | ".join(f'"{one}"' if isinstance(one, str) else str(one) for one in several)
    return text if len(text) <= 100 else text[:97] + "..."


def _time(seconds: float) -> str:
    return f"{seconds * 1000:8.3f} ms" if seconds < 10 else f"{seconds:8.1f} s "
