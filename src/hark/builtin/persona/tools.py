"""What a model may have done for it while it answers: tools as the model, a persona and a user know them."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol
from unicodedata import category

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
class ToolDefinition:
    """A tool as the model sees it."""

    name: str
    """Letters, digits, `_` and `-`, at most 64 of them: what endpoints accept."""
    description: str
    parameters: Mapping[str, Any]
    """The JSON Schema of an object."""

    def described(self) -> dict[str, Any]:
        """The definition as endpoints take it."""
        function = {"name": self.name, "description": self.description, "parameters": dict(self.parameters)}
        return {"type": "function", "function": function}


class ToolError(Exception):
    """A tool that could not do what the model wanted; the text is what the model gets."""


class ToolSource(Protocol):
    """Where a persona has its tools from. It is called on the event loop, for any number of turns at once."""

    def offered(self, session: Session, lang: str) -> Sequence[ToolDefinition]:
        """The tools that the model may call in this session."""

    async def call(self, name: str, arguments: Arguments, turn: Turn) -> str:
        """Call one that was offered; what the model gets. Raises `ToolError`.

        `arguments` are as the model wrote them: an object, not checked against the schema. `turn` is the turn that
        the model answers, by which the tool may speak, ask the user and note things for `hark why`. It is cancelled
        when the turn is stopped or the time for a tool is over.
        """


class NoTools:
    """A persona without tools."""

    def offered(self, session: Session, lang: str) -> Sequence[ToolDefinition]:  # noqa: ARG002
        return ()

    async def call(self, name: str, arguments: Arguments, turn: Turn) -> str:  # noqa: ARG002
        raise ToolError(f"there is no tool {name}")


NO_TOOLS: Final[ToolSource] = NoTools()


@dataclass(frozen=True)
class ToolLimits:
    """Which tools there are, and how much they may do for one answer."""

    rounds: int = 5
    """How often the model is given results and may want more; then it has to answer."""
    calls: int = 8
    """Calls in one round; further ones are refused."""
    seconds: float = 120.0
    """Seconds for one call, the questions it asks the user included."""
    characters: int = 8_000
    """Characters of a result; the model reads that the rest was left out."""
    intents: bool = True
    """Whether the intents of skills are tools."""
    sources: bool = True
    """Whether the model can look things up where the skills do."""
    most: int = 128
    """The most tools that are offered at once, as many as hosted endpoints take; toolboxes come first."""
    only: tuple[str, ...] = ()
    """If any: the tools that are offered, by "toolbox/tool", "skill_id:intent_name" or "sources/look_up"; `*` is any
    text.
    """
    never: tuple[str, ...] = ()
    """Tools that are not offered, in the same way."""
    confirm: tuple[str, ...] = ()
    """Tools that the user is asked about before they are called, in the same way, beside those that are marked as
    dangerous.
    """


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
    """What the model gets; raises `ToolError`."""


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
