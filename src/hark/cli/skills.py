"""`hark skills`: install and remove packages with skills."""

from __future__ import annotations

import argparse
import asyncio
from typing import TYPE_CHECKING, Final

from hark.cli.common import OK, load_settings, print_json, print_note, state_path
from hark.cli.options import add_format, add_settings_file, add_state

if TYPE_CHECKING:
    from hark.app.skill_packages import SkillPackages

ABOUT: Final = """\
Lists, installs, updates and removes packages with skills. A package of Hark is installed into Hark's own environment.
A skill of OVOS gets an environment of its own in the state directory; "hark run" starts it by its own launcher,
restarts it when it ends, and stops it at its own end. "run" runs the skills of OVOS alone, for an assistant that runs
elsewhere on this machine: hark run --split, or a stock bus.

examples:
  hark skills install ovos-skill-hello-world
  hark skills install ovos-skill-hello-world==0.6.0a1 --pre
  hark skills list
  hark skills disable ovos-skill-hello-world
  hark skills remove ovos-skill-hello-world
"""
_NONE: Final = "No packages with skills are installed besides what comes with Hark."


def add_options(command: argparse.ArgumentParser) -> None:
    add_settings_file(command)
    add_state(command)
    actions = command.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = actions.add_parser("list", help="print which packages there are")
    add_format(listing, json_alias=True)
    for name, about in (
        ("install", "install a package"),
        ("update", "install the newest version of a package, or of all"),
        ("remove", "remove a package"),
        ("enable", "run a disabled skill of OVOS again"),
        ("disable", "keep a skill of OVOS installed, and do not run it"),
    ):
        action = actions.add_parser(name, help=about)
        optional = "?" if name == "update" else None
        action.add_argument("package", nargs=optional, metavar="PACKAGE", help="its name, perhaps with a version")
        if name in ("install", "update"):
            action.add_argument("--pre", action="store_true", help="versions before a release as well")
    actions.add_parser("run", help="run the skills of OVOS alone, beside an assistant that runs elsewhere")


def skills(options: argparse.Namespace) -> int:
    from hark.app.skill_packages import SkillPackages

    packages = SkillPackages(state_path(options))
    if options.action == "list":
        return _list(packages, as_json=options.format == "json")
    if options.action == "run":
        return asyncio.run(_run(packages, options))
    if options.action == "install":
        print_note(f"installing {options.package}; this can take minutes")
        made = packages.install(options.package, prerelease=options.pre)
        where = "in Hark itself" if made.origin == "hark" else "in a process of its own"
        print(f"{made.name} {made.version}: {', '.join(made.skill_ids)}, {where} from the next start of Hark on")
    elif options.action == "update":
        names = [options.package] if options.package else [one.name for one in packages.all()]
        if not names:
            print(_NONE)
        for name in names:
            old = packages.named(name)
            new = packages.install(old.source, prerelease=options.pre or old.is_prerelease)
            print(f"{new.name}: {old.version} → {new.version}" if new.version != old.version else f"{new.name}: newest")
    elif options.action == "remove":
        print(f"{packages.remove(options.package).name} removed")
    else:
        changed = packages.set_enabled(options.package, options.action == "enable")
        print(f"{changed.name} {'enabled' if changed.enabled else 'disabled'}, from the next start of Hark on")
    return OK


def _list(packages: SkillPackages, *, as_json: bool) -> int:
    found = packages.all()
    if as_json:
        print_json(found)
        return OK
    for one in found:
        where = "hark" if one.origin == "hark" else "ovos, own process" if one.enabled else "ovos, disabled"
        print(f"{one.name:<36} {one.version:<12} {where:<18} {', '.join(one.skill_ids)}")
    if not found:
        print(_NONE)
    return OK


async def _run(packages: SkillPackages, options: argparse.Namespace) -> int:
    from hark.app.processes.skill_processes import SkillProcesses
    from hark.app.signals import on_stop_signal
    from hark.model import SystemClock

    processes = SkillProcesses(packages, load_settings(options).bus, SystemClock())
    stop = asyncio.Event()
    on_stop_signal(stop.set)
    processes.start()
    print_note(f"running {', '.join(processes.names) or 'no skills: none is installed'}")
    if processes.names:
        await stop.wait()
    await processes.stop()
    return OK
