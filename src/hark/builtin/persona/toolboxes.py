"""The toolboxes on the bus as tools of a model (TOOLS-1 §4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from hark.builtin.persona.answers import AwaitedAnswers
from hark.builtin.persona.tools import (
    Arguments,
    ToolError,
    ToolOffer,
    as_text,
    defined,
    note_source,
    readable,
    shortened,
)
from hark.plugins import Host, Message, Session, Turn
from hark.spec import topics

_STALE: Final = 60.0
"""Seconds after which toolboxes are looked for again, at the next turn; changes here are known at once."""
_ANSWERED: Final = 1.0
"""Seconds after which a toolbox that has not answered is gone."""
_MOST: Final = 100


class Toolboxes:
    """Finds toolboxes, of this process and of others, and calls their tools. See `OfferedTools`."""

    def __init__(self, host: Host, answers: AwaitedAnswers) -> None:
        self._host = host
        self._answers = answers
        self._tools: dict[str, Sequence[Mapping[str, Any]]] = {}
        """By toolbox."""
        self._dangerous: set[str] = set()
        """Tools that were once said to be dangerous: no later answer on the bus makes them harmless."""
        self._silent: set[str] = set()
        """Toolboxes that have not answered since they were looked for."""
        self._looked = float("-inf")
        host.on(topics.TOOLS_CHANGED, lambda _message: self._look())
        host.on(topics.response_topic(topics.PERSONA_TOOLS_DISCOVER), self._found)

    def offers(self, session: Session, lang: str) -> Iterator[ToolOffer]:  # noqa: ARG002
        """Every tool of every toolbox."""
        if self._host.clock.monotonic() - self._looked > _STALE:
            self._look()
        return (self._offer(box, tool) for box, tools in self._tools.items() for tool in tools)

    def _look(self) -> None:
        self._looked = self._host.clock.monotonic()
        self._silent = set(self._tools)
        self._host.emit(topics.PERSONA_TOOLS_DISCOVER)
        self._host.after(_ANSWERED, self._drop_silent)

    def _drop_silent(self) -> None:
        for box in self._silent:
            self._tools.pop(box, None)
        self._silent.clear()

    def _found(self, answer: Message) -> None:
        box, tools = answer.data.get("toolbox_id"), answer.data.get("tools")
        if not isinstance(box, str) or not isinstance(tools, tuple):
            return
        if box in self._tools or len(self._tools) < _MOST:
            self._silent.discard(box)
            self._tools[box] = found = [tool for tool in tools if _is_definition(tool)]
            self._dangerous.update(f"{box}/{tool['name']}" for tool in found if tool.get("dangerous") is True)

    def _offer(self, box: str, tool: Mapping[str, Any]) -> ToolOffer:
        name = tool["name"]
        full_name = f"{box}/{name}"

        def described(arguments: Arguments) -> str:
            given = ", ".join(f"{key} {value}" for key, value in shortened(arguments).items())
            return f"{readable(box)}: {readable(name)}" + (f", {given}" if given else "")

        async def call(arguments: Arguments, turn: Turn) -> str:
            data = {"toolbox_id": box, "name": name, "kwargs": dict(arguments)}
            outcome = (await self._answers.end_of(turn.derive(topics.PERSONA_TOOLS_CALL, data))).data
            if "error" in outcome:
                raise ToolError(str(outcome["error"]))
            note_source(turn, readable(box))
            return as_text(outcome.get("result"))

        # Endpoints refuse an object of which they are not told the properties.
        schema = {"type": "object", "properties": {}, **tool["argument_schema"]}
        definition = defined(f"{box}-{name}", tool["description"], schema)
        return ToolOffer(definition, full_name, full_name in self._dangerous, described, call)


def _is_definition(tool: Any) -> bool:
    if not isinstance(tool, Mapping) or not isinstance(tool.get("argument_schema"), Mapping):
        return False
    return all(isinstance(tool.get(name), str) for name in ("name", "description"))
