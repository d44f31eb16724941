"""What a model may have done for it while it answers: the interface between a persona and its tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from hark.plugins import Session, Turn


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
    """A tool that could not do what the model wanted; the text is what the model is told."""


class ToolSource(Protocol):
    """Where a persona has its tools from. It is called on the event loop, for any number of turns at once."""

    def offered(self, session: Session, lang: str) -> Sequence[ToolDefinition]:
        """The tools that the model may call in this session."""

    async def call(self, name: str, arguments: Mapping[str, Any], turn: Turn) -> str:
        """Call one that was offered; what the model is told. Raises `ToolError`.

        `arguments` are as the model wrote them: an object, not checked against the schema. `turn` is the turn that
        the model answers, by which the tool may speak, ask the user and note things for `hark why`. It is cancelled
        when the turn is stopped or the time for a tool is over.
        """


class NoTools:
    """A persona without tools."""

    def offered(self, session: Session, lang: str) -> Sequence[ToolDefinition]:  # noqa: ARG002
        return ()

    async def call(self, name: str, arguments: Mapping[str, Any], turn: Turn) -> str:  # noqa: ARG002
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
    """Characters of a result; the model is told that the rest was left out."""
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
