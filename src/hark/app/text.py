"""Text for the terminal, beside the answers."""

from __future__ import annotations

import shlex
from typing import Final

from hark import hints

_LONG_ID: Final = 20
_SHORT_ID: Final = 8

# Text of a skill or an exception cannot control the terminal or look like several lines.
_CONTROL: Final[dict[int, str]] = dict.fromkeys((*range(32), *range(127, 160), 0x2028, 0x2029), " ")
# Nor can it reorder what is around it: marks, embeddings, overrides and isolates of bidirectional text.
_CONTROL.update(dict.fromkeys((0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)), ""))


def one_line(text: str) -> str:
    """`text` on a single line, without control characters and characters that change the direction of text."""
    return text if text.isprintable() else " ".join(text.translate(_CONTROL).split(" ")).strip()


def lines_of(text: str) -> str:
    """`text` with its line breaks, but without other control characters."""
    return "\n".join(line if line.isprintable() else line.translate(_CONTROL) for line in text.split("\n"))


def counted(number: int, noun: str) -> str:
    """ "1 intent", "2 intents"."""
    return f"{number} {noun}{'s' * (number != 1)}"


def why_command(utterance_id: str, state: str | None, bus: str | None = None) -> str:
    """The command that explains a turn; `state` and `bus` are the values of the options --state and --bus."""
    command = hints.hark(f"why {utterance_id if len(utterance_id) <= _LONG_ID else utterance_id[:_SHORT_ID]}")
    for option, given in (("state", state), ("bus", bus)):
        command += f" --{option} {shlex.quote(given)}" if given is not None else ""
    return command


def remark(outcome: str, detail: str, command: str, *, answered: bool = False) -> str | None:
    """A line for a turn that did not end with an answer alone; `command` explains the turn.

    `answered`: the assistant has said so itself.
    """
    if outcome == "complete":
        return None
    if answered and outcome == "unmatched":
        return f"(Details: {command})"
    if answered and outcome == "error":
        return one_line(f"({detail}. Details: {command})")
    if outcome == "asked":
        return f"This question stays open. To answer questions, start a conversation: {hints.hark('run')}"
    if outcome == "cancelled":
        # What the user took back needs no reason.
        return "Cancelled." if detail.endswith(": stop_word") else one_line(f"Cancelled by {detail}.")
    if outcome == "unmatched":
        text = "Sorry, I did not understand that."
    elif outcome == "error":
        handler, _, error = detail.partition(": ")
        text = f"The skill {handler} failed: {error}"
    else:
        text = "This turn did not end properly."
    return one_line(f"{text} (Details: {command})")
