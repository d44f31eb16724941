"""Measure ovos-core in processes of its own, over its own websocket bus: bus, intent service, skills, and this one.

Run by the Python of the peer's venv, which needs ovos-messagebus as well. Prints one JSON object with the seconds of
each turn, from emitting the utterance to its end marker, seen by a client of the bus.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from pathlib import Path
from typing import Any

BENCHMARKS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(BENCHMARKS))

from isolation import LANG, PADATIOUS, choose_pipeline, configure, isolate  # noqa: E402

from workload import Skill, matched, unmatched, workload  # noqa: E402

TURN_LIMIT = 30.0


def client() -> Any:
    """A connection to the peer's bus."""
    from ovos_bus_client import MessageBusClient

    bus = MessageBusClient()
    bus.run_in_thread()
    if not bus.connected_event.wait(TURN_LIMIT):
        raise SystemExit("no connection to the bus")
    return bus


def core() -> None:
    """The intent service, for as long as the bus is there."""
    from ovos_core.intent_services.service import IntentService

    bus = client()
    service = IntentService(bus)

    def trained(message: Any) -> None:
        plugin = service.pipeline_plugins.get(PADATIOUS)
        busy = plugin is not None and any(container.needs_compile for container in plugin.containers.values())
        bus.emit(message.response({"ready": not busy}))

    bus.on("bench.trained", trained)
    threading.Event().wait()


def skills(count: int, home: Path) -> None:
    """The skills of the workload, as an author ships them; they say nothing."""
    from ovos_workshop.skills.ovos import OVOSSkill

    bus = client()

    def load(skill: Skill) -> Any:
        root = home / "skills" / skill.skill_id
        locale = root / "locale" / LANG
        locale.mkdir(parents=True, exist_ok=True)
        for intent in skill.intents:
            (locale / f"{intent.name}.intent").write_text("\n".join(intent.samples) + "\n")

        class Synthetic(OVOSSkill):  # type: ignore[misc]
            def initialize(self) -> None:
                for intent in skill.intents:
                    self.register_intent_file(f"{intent.name}.intent", lambda _message: None)

        return Synthetic(bus=bus, skill_id=skill.skill_id, resources_dir=str(root))

    kept = [load(skill) for skill in workload(count)]
    assert kept
    print("loaded", flush=True)
    threading.Event().wait()


class Client:
    """Says things and waits for their ends."""

    def __init__(self) -> None:
        from ovos_bus_client.message import Message

        self.message = Message
        self.bus = client()
        self.done = threading.Event()
        self.ended: list[tuple[str, float]] = []
        self.unmatched = 0
        self.bus.on("ovos.utterance.handled", self._handled)
        self.bus.on("ovos.intent.unmatched", self._unmatched)

    def _handled(self, message: Any) -> None:
        self.ended.append((message.context["session"]["session_id"], time.perf_counter()))
        self.done.set()

    def _unmatched(self, _message: Any) -> None:
        self.unmatched += 1

    def train(self) -> None:
        self.bus.emit(self.message("mycroft.skills.train"))
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            time.sleep(0.5)
            answer = self.bus.wait_for_response(self.message("bench.trained"), timeout=5)
            if answer is not None and answer.data.get("ready"):
                return
        raise SystemExit("the training did not end")

    def turn(self, text: str, is_match: bool) -> float:
        self.ended.clear()
        self.unmatched = 0
        self.done.clear()
        session_id = uuid.uuid4().hex
        message = self.message(
            "ovos.utterance.handle",
            {"utterances": [text], "lang": LANG},
            {"session": {"session_id": session_id}, "source": "bench", "destination": "skills"},
        )
        began = time.perf_counter()
        self.bus.emit(message)
        if not self.done.wait(TURN_LIMIT):
            raise SystemExit(f"no end marker: {text!r}")
        if [one for one, _ in self.ended] != [session_id] or bool(self.unmatched) == is_match:
            raise SystemExit(f"{text!r}: ended {self.ended}, unmatched {self.unmatched}")
        return self.ended[0][1] - began


def measure(options: argparse.Namespace, home: Path) -> dict[str, Any]:
    """Start everything, talk, and end it."""
    notes: list[str] = []
    pipeline = choose_pipeline("template", notes)
    configure(home, pipeline, "INFO")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    place = home / "config" / "mycroft" / "mycroft.conf"
    settings = json.loads(place.read_text())
    place.write_text(json.dumps({**settings, "websocket": {"host": "127.0.0.1", "port": port, "route": "/core"}}))
    running: list[subprocess.Popen[str]] = []

    def run(*command: str, out: int | None = subprocess.DEVNULL) -> subprocess.Popen[str]:
        made = subprocess.Popen([sys.executable, *command], stdout=out, stderr=subprocess.DEVNULL, text=True)
        running.append(made)
        return made

    try:
        run("-m", "ovos_messagebus")
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        note("bus")
        me = str(Path(__file__).resolve())
        common = ["--home", str(home), "--skills", str(options.skills)]
        run(me, "--as", "core", *common)
        talker = Client()
        while talker.bus.wait_for_response(talker.message("bench.trained"), timeout=1) is None:
            pass
        note("core")
        loading = run(me, "--as", "skills", *common, out=subprocess.PIPE)
        assert loading.stdout is not None
        while loading.stdout.readline().strip() != "loaded":
            pass
        note("skills")
        talker.train()
        note("trained")
        total = options.turns + options.warmup
        found = {
            "matched": [talker.turn(u.text, True) for u in matched(total, options.skills)][options.warmup :],
            "unmatched": [talker.turn(u.text, False) for u in unmatched(total)][options.warmup :],
        }
        pids = [one.pid for one in running]
        return {**found, "notes": notes, "processes": len(pids), "rss_bytes": sum(map(resident, pids))}
    finally:
        for one in running:
            one.kill()
            one.wait()


def note(text: str) -> None:
    """Say how far it got."""
    print(f"ovos-core: {text} ready", file=sys.stderr, flush=True)


def resident(pid: int) -> int:
    """VmRSS of a process."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS:"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--skills", type=int, default=1)
    parser.add_argument("--turns", type=int, default=100)
    parser.add_argument("--warmup", type=int, default=20)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--as", dest="role", choices=("core", "skills"))
    options = parser.parse_args()
    if options.role is not None:
        isolate(options.home)
        core() if options.role == "core" else skills(options.skills, options.home)
        return
    signal.alarm(400)
    home = Path(tempfile.mkdtemp(prefix="hark-bench-ovos-")).resolve()
    output = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    try:
        isolate(home)
        json.dump(measure(options, home), output)
        output.flush()
    finally:
        shutil.rmtree(home, ignore_errors=True)
    os._exit(0)


if __name__ == "__main__":
    main()
