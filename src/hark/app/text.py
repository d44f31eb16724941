"""Text for the terminal, beside the answers."""

from __future__ import annotations

import shlex
from typing import Final

_LONG_ID: Final = 20
_SHORT_ID: Final = 8

# Whatever a skill says or an exception holds, it cannot steer the terminal or pass for several lines.
_CONTROL: Final = dict.fromkeys((*range(32), *range(127, 160)), " ")


def one_line(text: str) -> str:
    """`text` on a single line, without control characters."""
    return text if text.isprintable() else " ".join(text.translate(_CONTROL).split(" ")).strip()


def lines_of(text: str) -> str:
    """`text` with its line breaks, but without other control characters."""
    return "\n".join(line if line.isprintable() else line.translate(_CONTROL) for line in text.split("\n"))


def why_command(utterance_id: str, state: str | None, bus: str | None = None) -> str:
    """The command that explains a turn; `state` and `bus` are what the user gave as --state and --bus."""
    told = f"hark why {utterance_id if len(utterance_id) <= _LONG_ID else utterance_id[:_SHORT_ID]}"
    for option, given in (("state", state), ("bus", bus)):
        told += f" --{option} {shlex.quote(given)}" if given is not None else ""
    return told


def remark(outcome: str, detail: str, ask: str) -> str | None:
    """What there is to say about the end of a turn that did not just answer; `ask` is the command to ask why."""
    if outcome == "complete":
        return None
    if outcome == "asked":
        return "This question stays open. To answer questions, start a conversation: hark run"
    if outcome == "cancelled":
        return one_line(f"(cancelled by {detail})")
    told = {
        "unmatched": "nobody claimed this",
        "error": f"something went wrong in {detail}",
    }.get(outcome, "this turn broke")
    return one_line(f"({told}; ask why with: {ask})")
