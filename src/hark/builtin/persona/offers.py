"""A tool as it is offered to a model: how it is called, and how a user is asked about a call."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol
from unicodedata import category

from hark.builtin.persona.tools import ToolDefinition
from hark.plugins import Session, Turn
from hark.spec import topics

Arguments = Mapping[str, Any]

_NAME: Final = re.compile(r"[^A-Za-z0-9_-]+")
LONGEST_NAME: Final = 64
_LONGEST_DESCRIPTION: Final = 1_024
"""Characters that endpoints accept."""
_SENTENCE_END: Final = re.compile(r"[?!¿¡؟。？！]+|[.:;…]+(?=\s)")  # noqa: RUF001 - marks of many scripts
_LONGEST_VALUES: Final = 240
_LONGEST_VALUE: Final = 60
"""Characters that are said of all arguments of a call, and of one of them: a long one does not hide the others."""


@dataclass(frozen=True)
class ToolOffer:
    """What the model sees of a tool, what it stands for, and how it is called."""

    definition: ToolDefinition
    full_name: str
    """As settings and traces name it."""
    dangerous: bool
    """Whether its author says that the user is to be asked first."""
    described: Callable[[Arguments], str]
    """A call as a user is asked about it."""
    call: Callable[[Arguments, Turn], Awaitable[str]]
    """What the model is told; raises `ToolError`."""


class OfferedTools(Protocol):
    """A kind of tools: toolboxes, intents, sources."""

    def offers(self, session: Session, lang: str) -> Iterable[ToolOffer]:
        """Those that there are in a session at this moment."""


def defined(name: str, description: str, parameters: Mapping[str, Any]) -> ToolDefinition:
    """A definition that endpoints accept."""
    return ToolDefinition(_NAME.sub("_", name)[:LONGEST_NAME], description[:_LONGEST_DESCRIPTION], parameters)


def readable(name: str) -> str:
    """The name of a skill, a toolbox or a tool, as it is said."""
    return re.sub(r"[._-]+", " ", name.removesuffix(".skill"))


def as_text(value: Any) -> str:
    """A text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def shown(text: str) -> str:
    """A text on one line, without characters that are not seen, or change the order of those that are."""
    return " ".join("".join(" " if category(one)[0] in "CZ" else one for one in text).split())


def shortened(arguments: Arguments) -> dict[str, str]:
    """Arguments as a user is asked about them: of a long one its beginning and its end, and no end of a sentence, so
    that what is asked stays one question.
    """
    longest = min(_LONGEST_VALUE, _LONGEST_VALUES // max(1, len(arguments)))
    texts = {name: _SENTENCE_END.sub(",", shown(as_text(value))) for name, value in arguments.items()}
    return {
        name: text if len(text) <= longest else f"{text[: longest * 2 // 3]} … {text[-longest // 3 :]}"
        for name, text in texts.items()
    }


def note_source(turn: Turn, source: str) -> None:
    """Say what an answer is taken from, for users who ask how the assistant knows."""
    turn.emit(topics.ANSWER_SOURCES, {"sources": [source], "more": True})
