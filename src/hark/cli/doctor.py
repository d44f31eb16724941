"""`hark doctor`: examine the running assistant, or one that is started for it."""

from __future__ import annotations

import argparse
import asyncio
import socket
from typing import TYPE_CHECKING, Final

import msgspec

from hark.app.control.client import NoAnswer, connect
from hark.app.control.protocol import Examine, Examined
from hark.app.diagnostics.render import render
from hark.app.diagnostics.report import DoctorReport
from hark.app.port_holder import remedy_for_taken
from hark.app.state.session_file import session_advice
from hark.app.text import lines_of
from hark.cli.common import FAILED, OK, load_settings, print_json, print_note, settings_path, state_path
from hark.cli.options import add_bus, add_format, add_settings, add_state
from hark.errors import UserError

if TYPE_CHECKING:
    from hark.app.settings.tables import BusTable

ABOUT: Final = """\
Reports which plugins are loaded and in which order they run; which are not loaded, with reason, file, line and remedy;
and which settings have no effect. Asks the running assistant, which is found in the same way as by hark say. If none
runs, one is started to be examined. The exit status is 1 when something needs attention.

examples:
  hark doctor
  hark doctor --format json | jq .missing
  hark doctor --voice                    check the engines for speech as well
"""


def add_options(command: argparse.ArgumentParser) -> None:
    add_format(command, json_alias=True)
    command.add_argument("--voice", action="store_true", help="load the engines of [voice] too, and report on them")
    command.add_argument(
        "--overlaps", action="store_true", help="list the sentences that two skills of Hark claim, too"
    )
    command.add_argument("--alone", action="store_true", help="do not ask the running assistant")
    add_settings(command)
    add_state(command)
    add_bus(command)


def doctor(options: argparse.Namespace) -> int:
    report = _of_the_running(options) or _elsewhere(options) or _alone(options)
    if options.bus is None:
        report = msgspec.structs.replace(report, advice=[*report.advice, *session_advice(state_path(options))])
    if options.format == "json":
        print_json(report)
    else:
        print(lines_of(render(report, overlaps=options.overlaps)))
    return OK if report.healthy else FAILED


def _of_the_running(options: argparse.Namespace) -> DoctorReport | None:
    is_here = not (options.alone or options.voice or options.bus is not None)
    connection = connect(state_path(options)) if is_here else None
    if connection is None:
        return None
    with connection:
        try:
            for answer in connection.ask(Examine()):
                if isinstance(answer, Examined):
                    return answer.report
        except NoAnswer as silent:
            print_note(f"the running assistant does not answer ({silent}); this is how one would start now")
    return None


def _elsewhere(options: argparse.Namespace) -> DoctorReport | None:
    if options.bus is not None and (options.alone or options.voice):
        raise UserError("--alone and --voice examine this machine, so they do not go with --bus")
    if options.alone or options.voice:
        return None
    from hark.cli.elsewhere import elsewhere

    place = elsewhere(options)
    return place.examine() if place is not None else None


def _taken_port(table: BusTable) -> list[str]:
    """What stands in the way of the websocket server, where no assistant runs that could have its port."""
    if not table.serve or not table.port:
        return []
    family = socket.AF_INET6 if ":" in table.host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((table.host, table.port))
        except OSError as error:
            remedy = remedy_for_taken(table.host, table.port, table.path)
            return [f"port {table.port} of {table.host} cannot be had: {error.strerror}; {remedy}"]
    return []


def _alone(options: argparse.Namespace) -> DoctorReport:
    # Only now: asking a running assistant takes a fraction of the time of starting one.
    from hark.app.diagnostics.examine import examine
    from hark.cli.startup import make_assistant, mute_refusal_log

    settings = load_settings(options)

    async def look() -> DoctorReport:
        mute_refusal_log()
        async with make_assistant(options, settings, None) as assistant:
            report = await examine(assistant.runtime, str(settings_path(options)[0]))
            report = msgspec.structs.replace(report, advice=[*report.advice, *_taken_port(settings.bus)])
        if not options.voice:
            return report
        from hark.app.voice.engine_report import with_engines

        return await with_engines(report, settings, installed=options.plugins)

    return asyncio.run(look())
