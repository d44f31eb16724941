"""Measure ovos-core: one process, its own in-process bus, the shared workload.

Run by the Python of the peer's own venv; nothing of Hark is imported. Prints exactly one JSON object on standard
output; what went wrong, and what ovos-core had to say about it, goes to standard error. README.md beside this file
explains the fields.
"""
# ruff: noqa: E402  (the clock has to be read before anything is imported)

import time

_FIRST_LINE = time.clock_gettime(time.CLOCK_BOOTTIME)

import argparse
import importlib.metadata
import json
import os
import shutil
import signal
import statistics
import sys
import tempfile
import threading
import traceback
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

BENCHMARKS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(BENCHMARKS))

from isolation import LANG, PADATIOUS, PIPELINES, TRANSFORMERS, choose_pipeline, configure, isolate
from micro import message_costs, transformer_loop

from workload import Skill, Utterance, matched, unmatched, workload

PACKAGES = (
    "ovos-core",
    "ovos-workshop",
    "ovos-bus-client",
    "ovos-plugin-manager",
    "ovos-spec-tools",
    "ovos-utils",
    "ovos-config",
    "ovos-padatious",
    "padacioso",
    "ovos-adapt-parser",
    "ovos-utterance-normalizer",
    "ovos-utterance-plugin-cancel",
)

TURN_LIMIT = 30.0


class BenchmarkError(Exception):
    """The peer did not do what was measured; no figure of this run may be used."""


def process_start() -> float:
    """When the kernel started this process, on the boot-time clock (resolution: one clock tick, 10 ms)."""
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    return int(fields[19]) / os.sysconf("SC_CLK_TCK")


def resident_bytes() -> int:
    """VmRSS of this process."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise BenchmarkError("no VmRSS in /proc/self/status")


class Peer:
    """A running ovos-core: intent service and skills on one FakeBus, and what was seen on that bus."""

    def __init__(self, skills: Sequence[Skill], home: Path, session: str = "fresh") -> None:
        from ovos_bus_client.message import Message
        from ovos_core.intent_services.service import IntentService
        from ovos_utils.fakebus import FakeBus
        from ovos_utils.log import init_service_logger

        self.imported = time.clock_gettime(time.CLOCK_BOOTTIME)
        init_service_logger("skills")
        self.message = Message
        self.session = session
        self.bus = FakeBus()
        self.ran: list[tuple[str, str]] = []
        self.unmatched: list[str] = []
        self.ended: list[tuple[str, float]] = []
        self.done = threading.Event()
        self.bus.on("ovos.utterance.handled", self._on_handled)
        self.bus.on("ovos.intent.unmatched", self._on_unmatched)
        trained = threading.Event()
        self.bus.on("mycroft.skills.trained", lambda message: trained.set())

        self.service = IntentService(self.bus)
        self.served = time.clock_gettime(time.CLOCK_BOOTTIME)
        self.skills = [self._load(skill, home) for skill in skills]
        self.loaded = time.clock_gettime(time.CLOCK_BOOTTIME)
        self._train(trained)
        self.ready = time.clock_gettime(time.CLOCK_BOOTTIME)

    def _load(self, skill: Skill, home: Path) -> Any:
        """A skill as an author ships it: `.intent` files in a locale folder, one silent handler for each."""
        from ovos_workshop.skills.ovos import OVOSSkill

        root = home / "skills" / skill.skill_id
        locale = root / "locale" / LANG
        locale.mkdir(parents=True, exist_ok=True)
        for intent in skill.intents:
            (locale / f"{intent.name}.intent").write_text("\n".join(intent.samples) + "\n")
        ran = self.ran

        def silent(skill_id: str, intent_name: str) -> Callable[[Any], None]:
            def handler(message: Any) -> None:
                ran.append((skill_id, intent_name))

            return handler

        class Synthetic(OVOSSkill):  # type: ignore[misc]
            """The workload's intents, with handlers that say nothing."""

            def initialize(self) -> None:
                for intent in skill.intents:
                    self.register_intent_file(f"{intent.name}.intent", silent(skill.skill_id, intent.name))

        return Synthetic(bus=self.bus, skill_id=skill.skill_id, resources_dir=str(root))

    def _train(self, trained: threading.Event) -> None:
        """Ask for training as ovos-core does after loading skills, and wait until nothing is left to train."""
        plugin = self.service.pipeline_plugins.get(PADATIOUS)
        if plugin is None:
            return
        self.bus.emit(self.message("mycroft.skills.train"))
        while any(container.needs_compile for container in plugin.containers.values()):
            trained.wait(0.01)
        if not trained.wait(TURN_LIMIT):
            raise BenchmarkError("padatious never announced the end of its training")

    def _on_handled(self, message: Any) -> None:
        now = time.perf_counter()
        self.ended.append((message.context["session"]["session_id"], now))
        self.done.set()

    def _on_unmatched(self, message: Any) -> None:
        self.unmatched.append(message.context["session"]["session_id"])

    def turn(self, utterance: Utterance) -> float:
        """Seconds from emitting the utterance to its end marker; raises unless exactly the right thing happened."""
        self.ran.clear()
        self.unmatched.clear()
        self.ended.clear()
        self.done.clear()
        session_id = uuid.uuid4().hex if self.session == "fresh" else self.session
        message = self.message(
            "ovos.utterance.handle",
            {"utterances": [utterance.text], "lang": LANG},
            {"session": {"session_id": session_id}, "source": "bench", "destination": "skills"},
        )
        begin = time.perf_counter()
        self.bus.emit(message)
        if not self.done.wait(TURN_LIMIT):
            raise BenchmarkError(f"no end marker within {TURN_LIMIT:.0f} s: {utterance.text!r}")
        if [ended for ended, _ in self.ended] != [session_id]:
            raise BenchmarkError(f"end markers for {self.ended}, expected one for {session_id}: {utterance.text!r}")
        expected_runs = [(utterance.skill_id, utterance.intent_name)] if utterance.skill_id else []
        expected_unmatched = [] if utterance.skill_id else [session_id]
        if self.ran != expected_runs or self.unmatched != expected_unmatched:
            raise BenchmarkError(
                f"{utterance.text!r}: handlers run {self.ran}, expected {expected_runs}; "
                f"unmatched {len(self.unmatched)} times, expected {len(expected_unmatched)}"
            )
        return self.ended[0][1] - begin

    def active(self) -> int:
        """How many skills of the default session may be offered what is said next."""
        from ovos_bus_client.session import SessionManager

        return len(SessionManager.default_session.active_handlers)

    def stages(self) -> list[str]:
        """The stages an utterance of a fresh session goes through, as the running service has them."""
        from ovos_bus_client.session import Session

        chains = {
            "utterance": self.service.utterance_plugins.plugins,
            "metadata": self.service.metadata_plugins.plugins,
            "intent": self.service.intent_plugins.plugins,
        }
        found = [f"{kind}:{plugin.name}" for kind, plugins in chains.items() for plugin in plugins]
        fresh = Session.deserialize({"session_id": uuid.uuid4().hex})
        return found + [f"pipeline:{entry}" for entry, _ in self.service.get_pipeline(fresh)]

    def debounce(self) -> float:
        """The fixed pause padatious makes before it trains, in case more is registered; part of `training`."""
        plugin = self.service.pipeline_plugins.get(PADATIOUS)
        return max((c._TRAIN_DEBOUNCE_S for c in plugin.containers.values()), default=0.0) if plugin else 0.0

    def candidates(self, utterances: Sequence[Utterance]) -> float:
        """How many wordings of one utterance the transformers hand to the pipeline, on average."""
        counts = [len(self.service.utterance_plugins.transform([u.text], {"lang": LANG})[0]) for u in utterances]
        return statistics.fmean(counts)


def versions() -> dict[str, str]:
    """What is being measured: Python and the packages in the path of a turn."""
    found = {"python": ".".join(map(str, sys.version_info[:3]))}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found


def measure(arguments: argparse.Namespace, home: Path) -> dict[str, Any]:
    """The whole run; the JSON object of the protocol."""
    notes: list[str] = []
    pipeline = choose_pipeline(arguments.stages, notes)
    configure(home, pipeline, arguments.log_level)
    total = arguments.warmup + arguments.turns
    plan = {"matched": matched(total, arguments.skills), "unmatched": unmatched(total)}

    peer = Peer(workload(arguments.skills), home, arguments.session)
    rss = resident_bytes()

    stages = peer.stages()
    entries = [stage.removeprefix("pipeline:") for stage in stages if stage.startswith("pipeline:")]
    if entries != pipeline:
        raise BenchmarkError(f"pipeline is {entries}, asked for {pipeline}")
    if len([stage for stage in stages if stage.startswith("utterance:")]) != len(TRANSFORMERS):
        raise BenchmarkError(f"utterance transformers are not {TRANSFORMERS}: {stages}")

    seconds: dict[str, list[float]] = {}
    for kind, utterances in plan.items():
        for utterance in utterances[: arguments.warmup]:
            peer.turn(utterance)
        seconds[kind] = [peer.turn(utterance) for utterance in utterances[arguments.warmup :]]
        if kind == "matched":
            active = peer.active()

    start = process_start()
    return {
        "peer": "ovos-core",
        "versions": versions(),
        "skills": arguments.skills,
        "stages": stages,
        "plugins": sorted(peer.service.pipeline_plugins),
        "notes": notes,
        "active": active,
        "matched": seconds["matched"],
        "unmatched": seconds["unmatched"],
        "candidates": {kind: peer.candidates(utterances) for kind, utterances in plan.items()},
        "ready_seconds": peer.ready - start,
        "ready_parts": {
            "interpreter": _FIRST_LINE - start,
            "imports": peer.imported - _FIRST_LINE,
            "service": peer.served - peer.imported,
            "skills": peer.loaded - peer.served,
            "training": peer.ready - peer.loaded,
        },
        "training_debounce_seconds": peer.debounce(),
        "rss_bytes": rss,
        "rss_end_bytes": resident_bytes(),
        "transformer_loop": transformer_loop(),
        "message": message_costs(BENCHMARKS / "message.json"),
    }


def tail_of_logs(home: Path, lines: int = 40) -> str:
    """The last lines ovos-core logged, for a run that failed."""
    found: list[str] = []
    for place in sorted((home / "state").rglob("*.log")):
        found += place.read_text(errors="replace").splitlines()[-lines:]
    return "\n".join(found)


def main() -> NoReturn:
    """Read the arguments, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--skills", type=int, default=1, help="synthetic skills; 1 and 10 are practical")
    parser.add_argument("--turns", type=int, default=300, help="measured turns of each kind")
    parser.add_argument("--warmup", type=int, default=30, help="turns of each kind before the measured ones")
    parser.add_argument("--stages", choices=sorted(PIPELINES), default="template")
    parser.add_argument("--session", choices=("fresh", "default"), default="fresh")
    parser.add_argument("--home", type=Path, help="keep the peer's files, its training among them, here")
    parser.add_argument("--log-level", default="INFO", help="ovos-core's own default is INFO")
    parser.add_argument("--limit", type=int, default=300, help="seconds after which the run is given up")
    arguments = parser.parse_args()

    def give_up(signum: int, frame: Any) -> NoReturn:
        raise BenchmarkError(f"not finished after {arguments.limit} s")

    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(arguments.limit)
    output = os.fdopen(os.dup(1), "w")
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)

    home = (arguments.home or Path(tempfile.mkdtemp(prefix="hark-bench-ovos-"))).resolve()
    try:
        isolate(home)
        result = measure(arguments, home)
        for note in result["notes"]:
            print(f"note: {note}", file=sys.stderr)
        json.dump(result, output)
        output.write("\n")
        output.flush()
        status = 0
    except ImportError as error:
        print(f"ovos-core cannot be imported ({error}): run install.py on this venv", file=sys.stderr)
        status = 2
    except Exception as error:
        print(tail_of_logs(home), file=sys.stderr)
        if not isinstance(error, BenchmarkError):
            traceback.print_exc()
        print(f"benchmark failed: {error}", file=sys.stderr)
        status = 1
    finally:
        if arguments.home is None:
            shutil.rmtree(home, ignore_errors=True)
    sys.stderr.flush()
    # Not sys.exit: ovos-core leaves worker threads behind that would hold it up.
    os._exit(status)


if __name__ == "__main__":
    main()
