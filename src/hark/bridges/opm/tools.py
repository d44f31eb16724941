"""Solvers and toolboxes of OVOS as toolboxes of Hark: a persona, or a program on the bus, calls their tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Final

from hark.bridges.opm.instance import OvosPlugin, accepts, make
from hark.plugins import Tool, Toolbox
from hark.plugins.tools import read_tool

_PASSAGES: Final = 3
"""What a knowledge base is asked for: its best passages."""


class OvosSolver(OvosPlugin, Toolbox):
    """A question solver, chat engine or knowledge base: one tool, `answer`."""

    _method: Callable[..., Any]

    def _make(self) -> None:
        # No bus: nothing of the assistant is asked by it.
        self._inner = make(self.found, self.settings)
        # By generation: a solver, a chat engine, a knowledge base.
        methods = (getattr(self._inner, name, None) for name in ("get_spoken_answer", "get_response", "query"))
        self._method = next(filter(callable, methods))

    def tools(self) -> Sequence[Tool]:
        own = (type(self._inner).__doc__ or "").strip().partition("\n\n")[0]
        about = f"Answers a question. {self.found.name}{f': {own}' if own else ''}"
        return (read_tool(self.answer, "answer", description=about),)

    def answer(self, question: Annotated[str, "a whole question, in the language of the user"]) -> str:
        """The answer as text, also where there is none."""
        lang, units = self.host.lang, self.host.home.units or "metric"
        offered = {"lang": lang, "units": units, "k": _PASSAGES, "context": {"lang": lang, "units": units}}
        found = self._method(question, **{name: offered[name] for name in accepts(self._method, *offered)})
        passages = found if isinstance(found, list) else [found]
        texts = [str(one[0] if isinstance(one, tuple) else one) for one in passages if one]
        return "\n".join(texts) or "It knows no answer."


class OvosToolbox(OvosPlugin, Toolbox):
    """A toolbox of the pre-release line, whose tools are described by pydantic models."""

    def _make(self) -> None:
        # No bus: Hark answers for its tools.
        self._inner = make(self.found, self.settings, toolbox_id=self.found.name)

    def tools(self) -> Sequence[Tool]:
        return [self._tool(one) for one in self._inner.discover_tools()]

    def _tool(self, one: Any) -> Tool:
        def check(given: Mapping[str, Any]) -> Mapping[str, Any]:
            one.argument_schema(**given)  # raises pydantic's ValidationError, a ValueError
            return given

        return Tool(
            str(one.name),
            str(one.description),
            one.argument_schema.model_json_schema(),
            one.output_schema.model_json_schema(),
            partial(self._call, one.name),
            check,
            lambda result: result,
        )

    def _call(self, name: str, **arguments: Any) -> Any:
        return self._inner.call_tool(name, arguments).model_dump(mode="json")
