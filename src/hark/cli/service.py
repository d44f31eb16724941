"""`hark service`: run Hark under systemd."""

from __future__ import annotations

import argparse
import pwd
from pathlib import Path
from typing import Final

from hark import hints
from hark.app.service_names import ALL_SERVICES
from hark.app.state.directory import make_directory
from hark.app.systemd import Systemd, UnitOptions, closed_folder, unit_text
from hark.cli.common import FAILED, OK, print_json, print_note, settings_path, state_path
from hark.cli.options import add_format, add_settings_file, add_state, check_services
from hark.errors import UserError

ABOUT: Final = """\
Installs Hark as a service that systemd starts, restarts and logs: one of this user, or with --system one of the
machine, which runs as the user "hark". The unit gives it no more rights than it needs: it can write to its state
directory only.

examples:
  hark service install                   start with this user's session; "loginctl enable-linger" starts it at boot
  hark service install --voice           ... with microphone and loudspeaker
  hark service show --split              print the unit, and change nothing
  hark service status
  hark service remove
  sudo hark service install --system --state /var/lib/hark
"""
_SYSTEM_STATE: Final = "/var/lib/hark"
_FOR_ALL_USERS: Final = """\
install one for all users, in the clone:
  sudo python3 -m venv /opt/hark && sudo /opt/hark/bin/pip install '.[websocket]'
  sudo /opt/hark/bin/hark service install --system"""


def add_options(command: argparse.ArgumentParser) -> None:
    actions = command.add_subparsers(dest="action", metavar="ACTION", required=True)
    install = actions.add_parser("install", help="write the unit, enable it and start it")
    install.add_argument("--no-start", dest="start", action="store_false", help="enable it, and start it later")
    show = actions.add_parser("show", help="print the unit")
    add_format(actions.add_parser("status", help="report what is installed and whether it runs"))
    actions.add_parser("remove", help="stop it and delete the unit")
    for action in actions.choices.values():
        action.add_argument("--system", action="store_true", help="a service of the machine, not of this user")
        action.add_argument(
            "--service",
            action="append",
            default=[],
            choices=[*ALL_SERVICES, "edge"],
            metavar="SERVICE",
            help="only this service (%(choices)s), at the NATS servers of the settings; can be repeated",
        )
    for action in (install, show):
        action.add_argument("--split", action="store_true", help="every service in a process of its own")
        action.add_argument("--voice", action="store_true", help="with microphone and loudspeaker")
        add_settings_file(action)
        add_state(action)


def service(options: argparse.Namespace) -> int:
    systemd = Systemd(is_system=options.system)
    if options.action in ("install", "show"):
        check_services(options)
    if options.action == "show":
        print(unit_text(_unit(options)), end="")
        return OK
    systemd.check()
    if options.action == "status":
        return _status(systemd, options.format)
    if options.action == "remove":
        name = "-".join(("hark", *options.service)) + ".service"
        print_note(f"removed {systemd.remove(name)}; settings and state are kept")
        return OK
    unit = _unit(options)
    if options.system:
        _check_user(Path(unit.arguments[0]))
    else:
        make_directory(unit.state)
    path = systemd.install(unit.name, unit_text(unit), start=options.start)
    user = "" if options.system else " --user"
    print_note(f"installed {path}; its log: journalctl{user} -u {unit.name}")
    return OK


def _unit(options: argparse.Namespace) -> UnitOptions:
    if options.system and options.state is None:
        options.state = _SYSTEM_STATE
    settings, is_named = settings_path(options)
    return UnitOptions(
        state=Path(state_path(options)).absolute(),
        settings=settings.absolute() if is_named else None,
        is_system=options.system,
        services=tuple(dict.fromkeys(options.service)),
        split=options.split,
        voice=options.voice,
    )


def _check_user(program: Path) -> None:
    try:
        user = pwd.getpwnam("hark")
    except KeyError:
        raise UserError('there is no user "hark"; make one with: useradd --system --groups audio hark') from None
    closed = closed_folder(program, user.pw_uid)
    if closed is not None:
        raise UserError(f'the user "hark" may not enter {closed}, where this Hark is; {_FOR_ALL_USERS}')


def _status(systemd: Systemd, form: str) -> int:
    names = systemd.installed()
    if form == "json":
        states = {name: systemd.state(name) for name in names}
        print_json(states)
        return OK if states and all(state == "active" for state in states.values()) else FAILED
    if not names:
        print(f"no unit of Hark is installed in {systemd.folder}; install one with: {hints.hark('service install')}")
        return FAILED
    states = {name: systemd.state(name) for name in names}
    for name, state in states.items():
        print(f"{name}: {state} ({systemd.folder / name})")
    return OK if all(state == "active" for state in states.values()) else FAILED
