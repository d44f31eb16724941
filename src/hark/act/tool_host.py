"""The toolbox host and the tool service of TOOLS-1: every toolbox of this process on the bus, written once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final
from uuid import uuid4

import msgspec

from hark.bus import Bus, Subscription
from hark.hosting import Loaded, Runner
from hark.hosting.runner import error_text
from hark.model import MalformedMessage, Message
from hark.plugins.tools import Tool, Toolbox
from hark.spec import topics
from hark.spec.names import is_pipeline_id

log = logging.getLogger("hark.act")

_REFRESH: Final = 10.0
"""Seconds that a toolbox may take to look for its tools."""
_HOST: Final = "hark_tool_host"
"""Context key by which a host knows its own answers."""

_LONGEST_RESULT: Final = 1_000_000
"""Bytes of a result as JSON: every program on the bus gets it, and a model reads a hundredth of it."""
_CHECKED: Final = 10.0
"""Seconds for checking a result."""

_MISSING: Final = "Missing required field: 'name'"


def _checked(tool: Tool, result: Any) -> dict[str, Any]:
    """A result that fits its schema and a Message, or what is wrong with it."""
    try:
        size = len(result) if isinstance(result, str) else len(msgspec.json.encode(result))
        if size > _LONGEST_RESULT:
            return {"error": f"the result is too long: {size} bytes, at most {_LONGEST_RESULT}"}
        return {"result": tool.check_result(result)}
    except Exception as error:  # noqa: BLE001 - a schema of a plugin may be anything
        return {"error": f"the result does not fit: {error}"}


class ToolHost:
    """Answers for all toolboxes of this process, to callers that name a toolbox and to those that name only a tool."""

    def __init__(self, bus: Bus, runner: Runner) -> None:
        self._bus = bus
        self._runner = runner
        self._id = uuid4().hex
        self._plugins: dict[str, Toolbox] = {}
        self._old_topics: dict[str, Subscription] = {}
        """The predecessor topics, by toolbox_id (TOOLS-1 §6)."""
        self._reported: set[str] = set()
        answers: tuple[tuple[str, Callable[[Message], Any]], ...] = (
            (topics.PERSONA_TOOLS_DISCOVER, self._discover),
            (topics.PERSONA_TOOLS_CALL, self._call),
            (topics.TOOLS_LIST, self._list),
            (topics.TOOLS_GET, self._get),
            (topics.TOOLS_INVOKE, self._invoke),
            (topics.TOOLS_RELOAD, self._list),
        )
        self._subscriptions = [
            *(bus.on(topic, answer, name=f"tools on {topic}", concurrent=True) for topic, answer in answers),
            bus.on(
                topics.response_topic(topics.PERSONA_TOOLS_DISCOVER), self._notice, name="tools: those of other hosts"
            ),
        ]

    def attach(self, plugin: Toolbox) -> None:
        """Answer for a toolbox that has started."""
        self._plugins[plugin.id] = plugin
        self._changed()

    def detach(self, plugin_id: str) -> None:
        """Answer for it no more."""
        if self._plugins.pop(plugin_id, None) is not None:
            self._changed()

    def close(self) -> None:
        """Listen no longer."""
        for subscription in (*self._subscriptions, *self._old_topics.values()):
            subscription.close()

    def _changed(self) -> None:
        self._follow_old_topics()
        self._bus.post(Message(topics.TOOLS_CHANGED))

    def boxes(self) -> dict[str, tuple[Toolbox, dict[str, Tool]]]:
        """The toolboxes by id, with their tools by name."""
        found: dict[str, tuple[Toolbox, dict[str, Tool]]] = {}
        for plugin in self._plugins.values():
            try:
                offered = {box: {tool.name: tool for tool in tools} for box, tools in plugin.toolboxes().items()}
            except Exception as error:  # noqa: BLE001 - it is a plugin's code
                log.warning("the tools of %s cannot be listed: %s", plugin.id, error_text(error))
                continue
            for box, tools in offered.items():
                if not is_pipeline_id(box):
                    self._report(box, f"{plugin.id}: a toolbox_id has letters, digits, '_' and '-', unlike {box!r}")
                elif box in found:
                    self._report(box, f"{plugin.id} and {found[box][0].id} both have a toolbox {box!r}; rename one")
                else:
                    found[box] = plugin, tools
        return found

    async def _refreshed(self) -> dict[str, tuple[Toolbox, dict[str, Tool]]]:
        for plugin in list(self._plugins.values()):
            if type(plugin).refresh is not Toolbox.refresh:
                await self._runner.call(Loaded(plugin, plugin.refresh, limit=_REFRESH))
        self._follow_old_topics()
        return self.boxes()

    # The host: a toolbox is named (TOOLS-1 §4).

    async def _discover(self, query: Message) -> None:
        for box, (_, tools) in (await self._refreshed()).items():
            described = {"toolbox_id": box, "tools": [tool.definition(box) for tool in tools.values()]}
            self._answer(query, described)

    async def _call(self, request: Message) -> None:
        """Answer for a hosted toolbox; for any other, keep silent: its host answers."""
        box = request.data.get("toolbox_id")
        if isinstance(box, str):
            await self._call_in(box, request)

    async def _call_by_old_topic(self, box: str, request: Message) -> None:
        log.warning("%s is called by a topic that is going away; use %s", box, topics.PERSONA_TOOLS_CALL)
        await self._call_in(box, request)

    async def _call_in(self, box: str, request: Message) -> None:
        found = self.boxes().get(box)
        if found is None:
            return
        plugin, tools = found
        name = request.data.get("name")
        if not isinstance(name, str):
            outcome: dict[str, Any] = {"error": _MISSING}
        elif name not in tools:
            outcome = {"error": f"unknown tool {name!r}" + ("" if tools else f"; {box} has no tools at the moment")}
        else:
            outcome = await self._outcome(plugin, tools[name], request.data.get("kwargs"))
        self._answer(request, {"toolbox_id": box, **outcome})

    # The service: only a tool is named (TOOLS-1 §5).

    async def _list(self, query: Message) -> None:
        boxes = await self._refreshed()
        if query.type == topics.TOOLS_RELOAD:
            self._bus.post(Message(topics.TOOLS_CHANGED))
        tools = [tool.definition(box) for box, (_, tools) in boxes.items() for tool in tools.values()]
        self._answer(query, {"tools": tools})

    async def _get(self, query: Message) -> None:
        found = self._named(query.data.get("name"))
        self._answer(query, {"error": found} if isinstance(found, str) else found[1].definition(found[2]))

    async def _invoke(self, request: Message) -> None:
        name = request.data.get("name")
        found = self._named(name)
        if isinstance(found, str):
            outcome: dict[str, Any] = {"error": found}
        else:
            outcome = await self._outcome(found[0], found[1], request.data.get("args"))
        self._answer(request, {"name": name if isinstance(name, str) else "", **outcome})

    def _named(self, name: object) -> tuple[Toolbox, Tool, str] | str:
        """The only tool of this name, with its toolbox; else why there is none."""
        if not isinstance(name, str) or not name:
            return _MISSING
        found = [(plugin, tools[name], box) for box, (plugin, tools) in self.boxes().items() if name in tools]
        if not found:
            return f"Unknown tool: '{name}'"
        if len(found) > 1:
            return f"Ambiguous tool name: '{name}' (toolboxes: {', '.join(sorted(box for _, _, box in found))})"
        return found[0]

    async def _outcome(self, plugin: Toolbox, tool: Tool, arguments: object) -> dict[str, Any]:
        """`result` or `error` of one call."""
        given = {} if arguments is None else arguments
        if not isinstance(given, Mapping):
            return {"error": "the arguments are no object"}
        try:
            checked = tool.check_arguments(given)
        except Exception as error:  # noqa: BLE001 - a schema of a plugin may be anything
            return {"error": f"the arguments do not fit: {error}"}
        outcome = await self._runner.call(Loaded(plugin, partial(tool.function, **checked), limit=tool.timeout))
        if outcome.late:
            return {"error": f"TimeoutError: no result within {tool.timeout:g} s"}
        if outcome.error is not None:
            text = error_text(outcome.error)
            return {"error": text if ": " in text else f"{text}: "}
        result = await self._runner.call(Loaded(plugin, partial(_checked, tool, outcome.value), limit=_CHECKED))
        answer: dict[str, Any] = {"error": error_text(result.error)} if result.error is not None else result.value
        return answer

    def _answer(self, request: Message, data: dict[str, Any]) -> None:
        try:
            answer = request.response(data)
        except MalformedMessage as error:  # deeper than a Message may be, or no JSON
            plain = {key: value for key, value in data.items() if key in ("toolbox_id", "name")}
            answer = request.response({**plain, "error": f"the result does not fit into a Message: {error}"})
        self._bus.emit(answer.carrying(**{_HOST: self._id}))

    # Predecessor topics, and ids that are taken.

    def _follow_old_topics(self) -> None:
        boxes = self.boxes()
        for box in [box for box in self._old_topics if box not in boxes]:
            self._old_topics.pop(box).close()
        for box in boxes:
            if box not in self._old_topics:
                topic = topics.old_tools_call(box)
                call = partial(self._call_by_old_topic, box)
                self._old_topics[box] = self._bus.on(topic, call, name=f"tools on {topic}", concurrent=True)

    def _notice(self, answer: Message) -> None:
        """Report a toolbox of another host that has the id of one of ours: a call would run in both."""
        box = answer.data.get("toolbox_id")
        if answer.context.get(_HOST) != self._id and isinstance(box, str) and box in self.boxes():
            self._report(box, f"another program on the bus has a toolbox {box!r} too; rename one of the two")

    def _report(self, box: str, problem: str) -> None:
        if box not in self._reported:
            self._reported.add(box)
            log.error("%s", problem)
