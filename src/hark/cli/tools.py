"""`hark tools`: the tools of a running assistant, and calling one."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any, Final

from hark import hints
from hark.app.text import lines_of
from hark.cli.common import FAILED, OK, load_settings, print_json
from hark.cli.options import add_format, add_settings_file, add_state
from hark.errors import UserError

ABOUT: Final = """\
Lists the tools that toolboxes and MCP servers offer to the personas of a running assistant, or calls one. The assistant
is asked over its bus: start it with "hark run", or name its bus with --bus. Where two toolboxes have a tool of the same
name, write TOOLBOX/TOOL.

examples:
  hark tools
  hark tools list --format json
  hark tools call add a=2 b=3
  hark tools call everything/echo message="hello there"
"""
_WINDOW: Final = 120.0
"""Seconds in which a tool has to answer; its own limit is shorter."""
_LISTED: Final = 15.0
"""Seconds in which an assistant has to list its tools: some ask a server for them."""
_ELSEWHERE: Final = 5.0
"""Seconds in which a toolbox that is not listed has to answer."""
_REACH: Final = 3.0
"""Seconds in which a bus has to answer."""


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("action", nargs="?", choices=("list", "call"), default="list", metavar="ACTION",
                         help="list (the default) or call")  # fmt: skip
    command.add_argument("name", nargs="?", metavar="NAME", help="for call: the tool, or TOOLBOX/TOOL")
    command.add_argument("arguments", nargs="*", metavar="KEY=VALUE", help="for call: arguments; values as in JSON")
    add_format(command, json_alias=True)
    command.add_argument("--bus", metavar="URL", help="the bus: ws://... or nats://...; else the one in the settings")
    add_settings_file(command)
    add_state(command)


def tools(options: argparse.Namespace) -> int:
    import asyncio

    from hark.spec import topics

    if options.action == "list":
        answer = asyncio.run(_ask(options, topics.TOOLS_LIST, {}))
        if options.format == "json":
            print_json(answer["tools"])
        else:
            _print_list(answer["tools"])
        return OK
    if options.name is None:
        raise UserError(
            f"name a tool: {hints.hark('tools call NAME KEY=VALUE')}; they are listed by: {hints.hark('tools')}"
        )
    given = _arguments(options.arguments)
    box, slash, name = options.name.rpartition("/")
    if slash:
        data: dict[str, Any] = {"toolbox_id": box, "name": name, "kwargs": given}
        topic = topics.PERSONA_TOOLS_CALL
    else:
        data, topic = {"name": name, "args": given}, topics.TOOLS_INVOKE
    answer = asyncio.run(_ask(options, topic, data))
    if "error" in answer:
        raise UserError(str(answer["error"]))
    result = answer.get("result")
    if isinstance(result, str) and options.format != "json":
        print(result)
    else:
        print_json(result)
    return OK if "result" in answer else FAILED


def _print_list(found: Any) -> None:
    boxes: dict[str, list[Mapping[str, Any]]] = {}
    for tool in found:
        boxes.setdefault(tool["toolbox_id"], []).append(tool)
    if not boxes:
        print(f"There are no tools. Why a toolbox or an MCP server of yours has none: {hints.hark('doctor')}")
        print("How to write a toolbox, and how to add MCP servers: docs/tools.md")
    for box, members in boxes.items():
        print(f"{box}:")
        for tool in members:
            taken = ", ".join(tool["argument_schema"].get("properties", {}))
            lines = str(tool["description"]).strip().splitlines() or [""]
            mark = "  [asks first]" if tool.get("dangerous") else ""
            print(lines_of(f"  {tool['name']}({taken})  {lines[0]}{mark}"))  # a server's words


async def _ask(options: argparse.Namespace, topic: str, data: Mapping[str, Any]) -> Any:
    from hark.app.bus_address import BusAddress
    from hark.bus import ask
    from hark.model import Message, SystemClock
    from hark.spec import topics

    address = BusAddress.of(load_settings(options), options.bus)
    clock = SystemClock()
    bus = await address.connect(clock, patience=_REACH, private=False)
    box = data.get("toolbox_id")
    known: list[str] = []
    try:
        if box is not None:
            listed = await ask(bus, clock, Message(topics.TOOLS_LIST), window=_LISTED)
            known = sorted({tool["toolbox_id"] for tool in listed.data["tools"]})
        # The toolbox of another program is not in the list: that may answer as well, but is not waited for.
        window = _WINDOW if "name" in data and (box is None or box in known) else _LISTED if box is None else _ELSEWHERE
        answer = await ask(bus, clock, Message(topic, data), window=window)
    except TimeoutError:
        what = "no assistant answered"
        if box is not None and known:
            what = f"no toolbox {box!r} answered; there are {', '.join(known)}"
        raise UserError(f"{address}: {what}") from None
    finally:
        await bus.close()
    return answer.data


def _arguments(pairs: list[str]) -> dict[str, Any]:
    import json

    found: dict[str, Any] = {}
    for pair in pairs:
        key, sign, value = pair.partition("=")
        if not sign or not key:
            raise UserError(f"{pair!r} is not KEY=VALUE")
        try:
            found[key] = json.loads(value)
        except ValueError:
            found[key] = value
    return found
