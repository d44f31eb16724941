"""Skills of OVOS in processes of their own, kept alive while Hark runs."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from hark.app.processes.managed_process import ManagedProcess
from hark.app.processes.supervisor import Supervisor
from hark.app.settings.tables import BusTable
from hark.app.skill_packages import SkillPackages
from hark.bridges.opm.mycroft_conf import MalformedConfig, MycroftConf, read
from hark.model import Clock

log = logging.getLogger("hark.skills")

_GRACE: Final = 5.0
"""Seconds that a skill has to end."""


class SkillProcesses:
    """Runs every enabled skill of OVOS by its own launcher. One that ends is restarted, after longer and longer."""

    def __init__(self, packages: SkillPackages, bus: BusTable, clock: Clock) -> None:
        self._packages = packages
        self._bus = bus
        self._clock = clock
        self._supervisor: Supervisor | None = None

    @property
    def names(self) -> list[str]:
        """The ids of the skills that are run."""
        return [] if self._supervisor is None else [one.name for one in self._supervisor.processes]

    def start(self) -> None:
        processes = [
            ManagedProcess(skill_id, command, self._clock, log.info, probe=_always)
            for skill_id, command in self._commands()
        ]
        if processes:
            log.info("skills of OVOS: %s", ", ".join(one.name for one in processes))
            self._supervisor = Supervisor(
                processes, self._clock, stalled=3_600.0, grace=_GRACE, failed=lambda why: log.error("%s", why)
            )
            self._supervisor.start()

    async def stop(self) -> None:
        if self._supervisor is not None:
            await self._supervisor.stop(self.names)

    def _commands(self) -> Iterator[tuple[str, list[str]]]:
        packages = [one for one in self._packages.of_ovos() if one.enabled]
        environment = self._environment() if packages else []
        for package in packages:
            launcher = self._packages.launcher(package)
            missing = [str(one) for one in launcher if not one.exists()]
            if missing:
                log.error("%s is not installed any more: %s is missing", package.name, ", ".join(missing))
                continue
            for skill_id in package.skill_ids:
                yield skill_id, [*environment, *map(str, launcher), skill_id]

    def _environment(self) -> list[str]:
        """Where the bus is not where `mycroft.conf` says, skills are given a configuration that says where."""
        try:
            conf = read()
        except MalformedConfig as error:
            log.warning("%s", error)
            conf = MycroftConf({})
        usual = {"host": "127.0.0.1", "port": 8181, "route": "/core", "ssl": False}
        here = {"host": self._bus.host, "port": self._bus.port, "route": self._bus.path, "ssl": False}
        if {**usual, **conf.section("websocket")} | {"ssl": False} == here:
            return []
        folder = self._packages.folder / "config"
        file = folder / "mycroft" / "mycroft.conf"
        _write(file, {**conf.tree, "websocket": here})
        return ["/usr/bin/env", f"XDG_CONFIG_HOME={folder}"]


async def _always() -> bool:
    """A skill has no sign of life of its own: whether its process exists is known anyway."""
    return True


def _write(file: Path, tree: dict[str, Any]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(msgspec.json.format(msgspec.json.encode(tree)))
