"""Measure ovos-core: one process, its own in-process bus, the shared workload.

Run by the Python of the peer's own venv; nothing of Hark is imported. Prints exactly one JSON object on standard output; what
went wrong, and what ovos-core had to say about it, goes to standard error. See README.md beside this file for the fields.
"""

import time

_FIRST_LINE = time.clock_gettime(time.CLOCK_BOOTTIME)

import argparse  # noqa: E402  (the clock above has to be read before anything is imported)
import importlib.metadata  # noqa: E402
import importlib.util  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import statistics  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402
import threading  # noqa: E402
import uuid  # noqa: E402
from collections.abc import Callable, Sequence  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

BENCHMARKS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(BENCHMARKS))

from workload import Skill, Utterance, matched, unmatched, workload  # noqa: E402

LANG = "en-US"
PADATIOUS = "ovos-padatious-pipeline-plugin"
PADACIOSO = "ovos-padacioso-pipeline-plugin"
TRANSFORMERS = ("ovos-utterance-normalizer", "ovos-utterance-cancel-plugin")

# `all` is the order of the configuration ovos-core ships, less the plugins that are not among the measured ones; padacioso, which
# that configuration does not list, stands right behind padatious, whose stand-in it is.
PIPELINES: dict[str, tuple[str, ...]] = {
    "template": (f"{PADATIOUS}-high",),
    "all": (
        "ovos-stop-pipeline-plugin-high",
        "ovos-converse-pipeline-plugin",
        f"{PADATIOUS}-high",
        f"{PADACIOSO}-high",
        "ovos-adapt-pipeline-plugin-high",
        "ovos-fallback-pipeline-plugin-high",
        "ovos-stop-pipeline-plugin-medium",
        f"{PADATIOUS}-medium",
        f"{PADACIOSO}-medium",
        "ovos-adapt-pipeline-plugin-medium",
        "ovos-fallback-pipeline-plugin-medium",
        "ovos-fallback-pipeline-plugin-low",
    ),
}

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
LOOP_SIZES = (0, 1, 5, 20)


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


def isolate(home: Path) -> None:
    """Point every place ovos-core reads or writes into `home`."""
    for name in list(os.environ):
        if name.startswith(("OVOS_", "MYCROFT_", "XDG_")):
            del os.environ[name]
    places = {
        "HOME": home,
        "XDG_CONFIG_HOME": home / "config",
        "XDG_DATA_HOME": home / "data",
        "XDG_CACHE_HOME": home / "cache",
        "XDG_STATE_HOME": home / "state",
        "XDG_RUNTIME_DIR": home / "run",
        "XDG_CONFIG_DIRS": home / "none",
        "XDG_DATA_DIRS": home / "none",
        "TMPDIR": home / "tmp",
    }
    for name, place in places.items():
        place.mkdir(parents=True, exist_ok=True)
        os.environ[name] = str(place)
    os.environ["OVOS_DISTRIBUTION_CONFIG"] = str(home / "none" / "distribution.conf")
    os.environ["MYCROFT_SYSTEM_CONFIG"] = str(home / "none" / "system.conf")
    tempfile.tempdir = None


def configure(home: Path, pipeline: Sequence[str], log_level: str) -> None:
    """Write the one configuration file of the run: the stages, and everything else at its shipped default."""
    wanted = {plugin_of(entry) for entry in pipeline}
    installed = {point.name for point in importlib.metadata.entry_points(group="opm.pipeline")}
    settings = {
        "lang": LANG,
        "log_level": log_level,
        "utterance_transformers": {name: {} for name in TRANSFORMERS},
        "intents": {"pipeline": list(pipeline), "blacklisted_pipelines": sorted(installed - wanted)},
    }
    place = home / "config" / "mycroft" / "mycroft.conf"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps(settings, indent=2))


def plugin_of(entry: str) -> str:
    """The plugin a pipeline entry belongs to: the entry without its confidence tier."""
    for tier in ("-high", "-medium", "-low"):
        entry = entry.removesuffix(tier)
    return entry


def choose_pipeline(stages: str, notes: list[str]) -> list[str]:
    """The entries of `stages`; without padatious, padacioso takes its place and `notes` says so."""
    pipeline = list(PIPELINES[stages])
    # Looked up, not imported: importing it would read the configuration before there is one.
    if importlib.util.find_spec("ovos_padatious") is None:
        notes.append("padatious is not installed: padacioso stands in for it, and the figures are not those of the default engine")
        pipeline = list(dict.fromkeys(entry.replace(PADATIOUS, PADACIOSO) for entry in pipeline))
    return pipeline


class Peer:
    """A running ovos-core: intent service and skills on one FakeBus, and what was seen on that bus."""

    def __init__(self, skills: Sequence[Skill], home: Path) -> None:
        from ovos_bus_client.message import Message
        from ovos_core.intent_services.service import IntentService
        from ovos_utils.fakebus import FakeBus
        from ovos_utils.log import init_service_logger

        self.imported = time.clock_gettime(time.CLOCK_BOOTTIME)
        init_service_logger("skills")
        self.message = Message
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
        session_id = uuid.uuid4().hex
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

    def candidates(self, utterances: Sequence[Utterance]) -> float:
        """How many wordings of one utterance the transformers hand to the pipeline, on average."""
        counts = [len(self.service.utterance_plugins.transform([u.text], {"lang": LANG})[0]) for u in utterances]
        return statistics.fmean(counts)


def best_seconds(batch: Callable[[], float], batches: int = 15) -> float:
    """The best of several batches, each of which reports its seconds per operation: what else the machine does only adds."""
    return min(batch() for _ in range(batches))


def transformer_loop() -> dict[str, float]:
    """Seconds per utterance through ovos-core's utterance transformer loop with 0, 1, 5 and 20 no-op transformers."""
    from ovos_core.transformers import UtteranceTransformersService
    from ovos_plugin_manager.templates.transformers import UtteranceTransformer

    def service(size: int) -> Any:
        names = [f"noop-{number}" for number in range(size)]

        def transformer(name: str, priority: int) -> type:
            class NoOp(UtteranceTransformer):  # type: ignore[misc]
                """Returns what it was given."""

                def __init__(self, config: dict[str, Any] | None = None) -> None:
                    super().__init__(name, priority, config)

                def transform(self, utterances: list[str], context: dict[str, Any]) -> tuple[list[str], dict[str, Any]]:
                    return utterances, context

            return NoOp

        class Loop(UtteranceTransformersService):  # type: ignore[misc]
            """The service itself; only the plugins it discovers are ours."""

            @classmethod
            def find_plugins(cls) -> Any:
                return {name: transformer(name, 50) for name in names}.items()

        loop = Loop(None, config={name: {} for name in names})
        if len(loop.plugins) != size:
            raise BenchmarkError(f"the transformer service loaded {len(loop.plugins)} of {size} no-op transformers")
        return loop

    def per_utterance(loop: Any, rounds: int = 2000) -> float:
        utterances = ["turn on the kitchen light"]
        # A context of its own for every call, made before the clock starts: the loop appends to a list inside it.
        contexts = [{"lang": LANG, "session": {"session_id": "bench"}} for _ in range(rounds)]
        transform = loop.transform
        begin = time.perf_counter()
        for context in contexts:
            transform(utterances, context)
        return (time.perf_counter() - begin) / rounds

    loops = {size: service(size) for size in LOOP_SIZES}
    return {str(size): best_seconds(lambda loop=loop: per_utterance(loop)) for size, loop in loops.items()}


def message_costs(rounds: int = 2000) -> dict[str, float]:
    """Seconds to decode and to encode `message.json` with ovos-bus-client."""
    from ovos_bus_client.message import Message

    wire = (BENCHMARKS / "message.json").read_text().strip()
    decoded = Message.deserialize(wire)
    if json.loads(decoded.serialize()) != json.loads(wire):
        raise BenchmarkError("the message does not survive ovos-bus-client")

    def deserialize() -> float:
        begin = time.perf_counter()
        for _ in range(rounds):
            Message.deserialize(wire)
        return (time.perf_counter() - begin) / rounds

    def serialize() -> float:
        begin = time.perf_counter()
        for _ in range(rounds):
            decoded.serialize()
        return (time.perf_counter() - begin) / rounds

    return {
        "bytes": len(wire.encode()),
        "deserialize": best_seconds(deserialize),
        "serialize": best_seconds(serialize),
    }


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

    peer = Peer(workload(arguments.skills), home)
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

    plugin = peer.service.pipeline_plugins.get(PADATIOUS)
    start = process_start()
    return {
        "peer": "ovos-core",
        "versions": versions(),
        "skills": arguments.skills,
        "stages": stages,
        "plugins": sorted(peer.service.pipeline_plugins),
        "notes": notes,
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
        "training_debounce_seconds": max((c._TRAIN_DEBOUNCE_S for c in plugin.containers.values()), default=0.0) if plugin else 0.0,
        "rss_bytes": rss,
        "rss_end_bytes": resident_bytes(),
        "transformer_loop": transformer_loop(),
        "message": message_costs(),
    }


def tail_of_logs(home: Path, lines: int = 40) -> str:
    """The last lines ovos-core logged, for a run that failed."""
    found: list[str] = []
    for place in sorted((home / "state").rglob("*.log")):
        found += place.read_text(errors="replace").splitlines()[-lines:]
    return "\n".join(found)


def main() -> int:
    """Read the arguments, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--skills", type=int, default=1, help="synthetic skills, 1 to 100 (training 100 does not end in useful time)")
    parser.add_argument("--turns", type=int, default=300, help="measured turns of each kind")
    parser.add_argument("--warmup", type=int, default=30, help="turns of each kind before the measured ones")
    parser.add_argument("--stages", choices=sorted(PIPELINES), default="template")
    parser.add_argument("--home", type=Path, help="keep the peer's files here; a second run then starts with what the first trained")
    parser.add_argument("--log-level", default="INFO", help="ovos-core's own default is INFO")
    arguments = parser.parse_args()

    output = os.fdopen(os.dup(1), "w")
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)

    with tempfile.TemporaryDirectory(prefix="hark-bench-ovos-") as temporary:
        home = (arguments.home or Path(temporary)).resolve()
        isolate(home)
        try:
            result = measure(arguments, home)
        except ImportError as error:
            print(f"ovos-core cannot be imported ({error}); install requirements.txt into this venv", file=sys.stderr)
            return 2
        except BenchmarkError as error:
            print(tail_of_logs(home), file=sys.stderr)
            print(f"benchmark failed: {error}", file=sys.stderr)
            return 1
        for note in result["notes"]:
            print(f"note: {note}", file=sys.stderr)
        json.dump(result, output)
        output.write("\n")
        output.flush()
        # ovos-core leaves worker threads behind that would hold up the exit, and the files under `home` with them.
        sys.stderr.flush()
        if arguments.home is None:
            for place, _, files in os.walk(temporary, topdown=False):
                for name in files:
                    os.unlink(os.path.join(place, name))
                os.rmdir(place)
        os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
