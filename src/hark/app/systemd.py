"""Units for systemd: Hark as a service of a user or of the machine, with no more rights than it needs."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from hark import hints
from hark.errors import UserError

RUNNING: Final = Path("/run/systemd/system")
"""There where systemd is the init of the machine (sd_booted(3))."""
_TIME: Final = 60.0

# What no part of Hark needs. Models of speech make code at run time, so MemoryDenyWriteExecute is not among it.
_HARDENING: Final = """\
NoNewPrivileges=yes
ProtectSystem=strict
PrivateTmp=yes
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
ProtectClock=yes
ProtectHostname=yes
LockPersonality=yes
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM
UMask=0077
"""


class UnitOptions(msgspec.Struct, frozen=True):
    """What is to run, and where."""

    state: Path
    settings: Path | None = None
    is_system: bool = False
    """A service of the machine, with a user of its own, rather than one of the user who installs it."""
    services: tuple[str, ...] = ()
    """Only these services, in one process; else all."""
    split: bool = False
    voice: bool = False
    command: tuple[str, ...] = ()
    """What starts Hark; found by itself if empty."""

    @property
    def name(self) -> str:
        """The name of the unit."""
        return "-".join(("hark", *self.services)) + ".service"

    @property
    def arguments(self) -> list[str]:
        """The command of the unit."""
        options = [word for name in self.services for word in ("--service", name)]
        options += ["--stay"] if not self.services else []
        options += ["--split"] if self.split else []
        options += ["--voice"] if self.voice else []
        options += ["--settings", str(self.settings)] if self.settings is not None else []
        return [*(self.command or hark_command()), "run", *options, "--state", str(self.state)]


def unit_text(options: UnitOptions) -> str:
    """The unit file."""
    what = f"Hark voice assistant ({', '.join(options.services)})" if options.services else "Hark voice assistant"
    own_user = "User=hark\nCapabilityBoundingSet=\nPrivateUsers=yes\n" if options.is_system else ""
    # Where Hark or its settings are in a home directory, it must be able to read them there.
    paths = (options.arguments[0], *([str(options.settings)] if options.settings is not None else []))
    at_home = not options.is_system or any(path.startswith(("/home/", "/root/")) for path in paths)
    if options.is_system and options.state.parent == Path("/var/lib"):
        own_user += f"StateDirectory={quoted(options.state.name)}\nStateDirectoryMode=0700\n"
    devices = "" if options.voice else "PrivateDevices=yes\n"
    return f"""\
# Written by "hark service install"; changed by "systemctl edit", removed by "hark service remove".
[Unit]
Description={what}
After=network.target{" sound.target" if options.voice else ""}

[Service]
Type=exec
ExecStart={" ".join(map(quoted, options.arguments))}
StandardInput=null
StandardOutput=null
Restart=on-failure
RestartSec=2
KillMode=mixed
TimeoutStopSec=30
{own_user}{_HARDENING}ProtectHome={"read-only" if at_home else "yes"}
{devices}ReadWritePaths={quoted(str(options.state))}

[Install]
WantedBy={"multi-user.target" if options.is_system else "default.target"}
"""


def quoted(word: str) -> str:
    """A word of a command line as systemd reads it."""
    if any(not character.isprintable() for character in word):
        raise UserError(f"{word!r} cannot be part of a unit file")
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{escaped}"' if any(character in " \t'\";" for character in word) or not word else escaped


def closed_folder(path: Path, uid: int) -> Path | None:
    """The first folder on the way to `path` that a user may not enter."""
    for folder in reversed(path.absolute().parents):
        status = folder.stat()
        if status.st_uid != uid and not status.st_mode & stat.S_IXOTH:
            return folder
    return None


def hark_command() -> tuple[str, ...]:
    """What starts the Hark that runs now, from any directory."""
    beside = Path(sys.executable).parent / "hark"
    return (str(beside),) if beside.exists() else (sys.executable, "-m", "hark")


class Systemd:
    """The systemd of this user, or of the machine."""

    def __init__(self, *, is_system: bool, environment: Mapping[str, str] | None = None) -> None:
        self._is_system = is_system
        self._environment = os.environ if environment is None else environment

    @property
    def folder(self) -> Path:
        """Where unit files are."""
        if self._is_system:
            return Path("/etc/systemd/system")
        named = Path(self._environment.get("XDG_CONFIG_HOME", ""))
        return (named if named.is_absolute() else Path.home() / ".config") / "systemd" / "user"

    def check(self) -> None:
        """Raise `UserError` where there is no systemd to ask."""
        if shutil.which("systemctl") is None or not RUNNING.is_dir():
            raise UserError(
                "systemd does not run on this machine. "
                f"Start Hark in another way with: {hints.hark('run --stay')} </dev/null. "
                f"The unit file alone is printed by: {hints.hark('service show')}"
            )
        if self._is_system and os.geteuid() != 0:
            command = hints.hark("service install --system", anywhere=True)
            raise UserError(f"a service of the machine is installed by root: sudo {command}")

    def install(self, name: str, text: str, *, start: bool) -> Path:
        """Write a unit, enable it, and start it if wanted; raises `UserError`."""
        path = self.folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        except OSError as error:
            raise UserError(f"{path} cannot be written: {error.strerror}") from None
        self._ask("daemon-reload")
        self._ask("enable", *(["--now"] if start else []), name)
        return path

    def remove(self, name: str) -> Path:
        """Stop and delete a unit; raises `UserError`."""
        path = self.folder / name
        if not path.exists():
            raise UserError(f"{name} is not installed: there is no {path}")
        self._ask("disable", "--now", name)
        path.unlink()
        self._ask("daemon-reload")
        return path

    def state(self, name: str) -> str:
        """Whether a unit runs, in a word of systemd: active, inactive, failed, ..."""
        return self._run("is-active", name).stdout.strip() or "unknown"

    def installed(self) -> Sequence[str]:
        """The names of Hark's units that are there."""
        return sorted(path.name for path in self.folder.glob("hark*.service"))

    def _ask(self, *words: str) -> None:
        done = self._run(*words)
        if done.returncode != 0:
            raise UserError(f"systemctl {' '.join(words)} failed: {done.stderr.strip() or done.returncode}")

    def _run(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = ["systemctl", *([] if self._is_system else ["--user"]), *words]
        try:
            return subprocess.run(command, capture_output=True, text=True, timeout=_TIME, check=False)  # noqa: S603 - words of our own
        except (OSError, subprocess.TimeoutExpired) as error:
            raise UserError(f"{' '.join(command)}: {error}") from None
