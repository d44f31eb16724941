"""`hark migrate`: what becomes of an installation of OVOS."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hark import hints
from hark.app.text import counted
from hark.cli.common import OK, print_json, print_note, settings_path
from hark.cli.options import add_format, add_settings_file
from hark.errors import UserError

if TYPE_CHECKING:
    from hark.app.migration import Migration

ABOUT: Final = """\
Reads a mycroft.conf and the packages that are installed with a Python, and says of each skill and plugin whether Hark
has something of its own for it (native), runs it as it is (bridge), or does not support it. With --write it puts the
settings that follow from it into the settings file of Hark: language, place, units, transformers in the order of
mycroft.conf, pipeline, engines and wake words. Other keys of that file stay as they are.

examples:
  hark migrate ovos
  hark migrate ovos --python ~/.venvs/ovos/bin/python
  hark migrate ovos --config old/mycroft.conf --write hark.toml
  hark migrate ovos --keep-plugins --write       plugins of OVOS, also where Hark has something of its own
"""


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("source", choices=("ovos",), metavar="SOURCE", help="ovos")
    command.add_argument("--config", metavar="FILE", help="the mycroft.conf; else the user's and the system's")
    command.add_argument("--python", metavar="PYTHON", help="the Python that OVOS is installed with; else Hark's own")
    command.add_argument("--keep-plugins", action="store_true", help="keep plugins of OVOS where Hark has its own")
    command.add_argument("--write", nargs="?", const="", metavar="FILE", help="write FILE, else the settings file")
    add_format(command, json_alias=True)
    add_settings_file(command)


def migrate(options: argparse.Namespace) -> int:
    from hark.app import migration
    from hark.app.settings.edit import with_values
    from hark.bridges.opm.mycroft_conf import MalformedConfig, read

    if options.config is not None and not Path(options.config).is_file():
        raise UserError(f"{options.config}: there is no such file")
    try:
        conf = read(None if options.config is None else [Path(options.config)])
    except MalformedConfig as error:
        raise UserError(str(error)) from None
    path = None if options.python is None else migration.import_path(Path(options.python).expanduser())
    found = migration.migrate(conf, path, keep_plugins=options.keep_plugins)
    if options.format == "json":
        print_json(found.findings)
    else:
        _show(found)
    if options.write is None:
        return OK
    file = Path(options.write) if options.write else settings_path(options)[0]
    try:
        old = file.read_text(encoding="utf-8") if file.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{file} cannot be read: {error}") from None
    text = with_values(old, found.settings)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    print_note(f"{counted(len(found.settings), 'setting')} written to {file}")
    print_note(f"what is missing is shown by: {hints.hark('doctor')}")
    return OK


def _show(found: Migration) -> None:
    from hark.app.migration import needed_package
    from hark.app.settings.document import key_text, written

    print(f"Configuration: {', '.join(found.sources) or 'none found'}")
    for outcome, title in (("native", "Hark has its own"), ("bridge", "Runs as it is"),
                           ("not supported", "Not supported")):  # fmt: skip
        rows = [one for one in found.findings if one.outcome == outcome]
        if rows:
            print(f"\n{title}:")
        for one in rows:
            print(f"  {one.kind:<22} {one.name:<44} {one.how}")
    if any(one.outcome == "bridge" and one.kind != "skill" for one in found.findings):
        print(f"\nPlugins run in Hark's own process: install {needed_package()} and them into one environment.")
    if found.settings:
        print("\nSettings (--write puts them into the settings file):")
        for path, value in found.settings.items():
            print(f"  [{'.'.join(map(key_text, path[:-1]))}] {key_text(path[-1])} = {written(value)}")
    if found.ignored:
        print("\nLeft out of the configuration:")
        for name, why in found.ignored.items():
            print(f"  {name}: {why}")
    if found.unread:
        print(f"\nNot read: {', '.join(found.unread)}")
