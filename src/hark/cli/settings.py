"""`hark settings`: a settings file with every key; whether yours is right, and what follows from it."""

from __future__ import annotations

import argparse
import os
from typing import Final

from hark.app.paths import state_directory
from hark.app.text import one_line
from hark.cli.common import FAILED, OK, load_settings, note_language, print_json, settings_path
from hark.cli.options import add_format, add_plugins, add_settings_file

ABOUT: Final = """\
Prints a settings file with every key, its default and what it is for. The file is read from
$XDG_CONFIG_HOME/hark/hark.toml, or ~/.config/hark/hark.toml, unless --settings names another. "check" reads yours and
reports what is wrong in it, with file, line and remedy; the exit status is 1 when there is something. "show" prints the
values in effect and where each comes from: a line of the file, or the default.

examples:
  mkdir -p ~/.config/hark && hark settings > ~/.config/hark/hark.toml
  hark settings check
  hark settings check hark.toml
  hark settings show | grep -v default$
"""


def add_options(command: argparse.ArgumentParser) -> None:
    add_plugins(command)
    actions = command.add_subparsers(dest="action", metavar="ACTION")
    check = actions.add_parser("check", help="report what is wrong in the settings file")
    show = actions.add_parser("show", help="print the values in effect and where each comes from")
    for action in (check, show):
        add_settings_file(action)
        action.add_argument(
            "settings", nargs="?", metavar="FILE", default=argparse.SUPPRESS, help="the same as --settings FILE"
        )
        add_format(action)
    check.add_argument("--no-plugins", dest="plugins", action="store_false", default=argparse.SUPPRESS,
                       help="do not check the tables of installed plugins")  # fmt: skip


def settings(options: argparse.Namespace) -> int:
    if options.action == "show":
        return _show(options)
    if options.action == "check":
        return _check(options)
    from hark.app.plugin_set import plugins
    from hark.app.settings.document import document
    from hark.builtin.engines import ENGINES, engine_class
    from hark.plugins import Plugin

    loadable = [type(plugin) for plugin in plugins(installed=options.plugins) if isinstance(plugin, Plugin)]
    engines = [(kind, engine_class(kind, engine_id)) for kind, engine_id in ENGINES]
    print(document(loadable, engines), end="")
    return OK


def _show(options: argparse.Namespace) -> int:
    from hark.app.settings.document import written
    from hark.app.settings.effective import effective_values

    path, named = settings_path(options)
    values = list(effective_values(path, named=named))
    if options.format == "json":
        print_json(values)
        return OK
    table = ""
    for value in values:
        if value.table != table:
            print(f"{'' if not table else chr(10)}[{one_line(value.table)}]")
            table = value.table
        text = f"{value.key} = {written(value.value)}" if value.value is not None else f"# {value.key} is not set"
        print(f"{one_line(text):<60}  # {f'{path}:{value.line}' if value.line is not None else 'default'}")
    return OK


def _check(options: argparse.Namespace) -> int:
    import asyncio

    from hark.app.diagnostics.settings_faults import settings_faults
    from hark.app.settings import SettingsError
    from hark.cli.startup import make_assistant, mute_refusal_log

    path = settings_path(options)[0]

    async def found() -> list[str]:
        read = load_settings(options)
        note_language(read.assistant.lang)
        mute_refusal_log()
        async with make_assistant(options, read, None) as assistant:
            state = state_directory(os.environ)
            return [*settings_faults(assistant.runtime, path, state, installed=options.plugins)]

    try:
        wrong = asyncio.run(found())
    except SettingsError as error:
        wrong = str(error).splitlines()
    if options.format == "json":
        print_json({"file": str(path), "wrong": wrong})
    else:
        right = "nothing is wrong" if path.exists() else "there is no such file: every setting has its default"
        print("\n".join(map(one_line, wrong)) if wrong else f"{path}: {right}")
    return FAILED if wrong else OK
