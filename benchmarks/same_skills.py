"""Hark and ovos-core side by side with the same skills of OVOS: which skill answers, and how long a turn takes.

    python scripts/interop && python benchmarks/same_skills.py [--line stable] [--rounds 3]

Three installations for each line, one after another, each in a home of its own: Hark on its own bus, Hark in the place
of ovos-core on a stock ovos-messagebus, and ovos-core there. The skills are those of tests/interop, in one process of
their own. A turn is measured by a bare websocket client, from its utterance to the end marker; the same client stands
for ovos-audio: it says that speech has ended as soon as it began. Processor time is that of the orchestrator's process.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.metadata import distributions
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, Final, NamedTuple, cast

from picows import WSFrame, WSListener, WSMsgType, WSTransport, ws_connect

ROOT: Final = Path(__file__).resolve().parents[1]
PEERS: Final = ROOT / ".interop"
HOST: Final = ROOT / "tests" / "interop" / "programs" / "skill_host.py"
LINES: Final = ("stable", "prerelease")
SIDES: Final = ("Hark, own bus", "Hark, stock bus", "ovos-core")
SENTENCES: Final = (
    *("hello world", "how are you", "what time is it", "what day is it", "start parrot", "i am a teapot"),
    *("stop parrot", "spell hello", "who made you", "flip a coin", "tell me a confucius quote", "blah bleh"),
)
OWN: Final = [f"{name}.skill" for name in ("chance", "clock", "dates", "parrot", "smalltalk", "spelling", "timers")]
LOADED: Final = ("mycroft.skills.loaded", "ovos.skill.loaded")
SPEAK: Final = ("ovos.utterance.speak", "speak")
TWINS: Final = ("_namespace_compat_twin", "_intent_compat_twin")
PATIENCE: Final = 240.0


class Turn(NamedTuple):
    seconds: float
    skill: str
    """Which one spoke first; empty where none did."""
    said: str
    markers: int


class Client(WSListener):
    """Says sentences, and stands for ovos-audio."""

    def __init__(self) -> None:
        self.transport: WSTransport
        self.messages: list[dict[str, Any]] = []
        self.more = asyncio.Event()
        self._spoken: set[tuple[Any, str]] = set()

    def on_ws_connected(self, transport: WSTransport) -> None:
        self.transport = transport

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        if frame.msg_type != WSMsgType.TEXT:
            return
        message = json.loads(frame.get_payload_as_bytes())
        message["at"] = perf_counter()
        self.messages.append(message)
        if message["type"] in SPEAK:
            said = (message["context"].get("utterance_id"), message["data"]["utterance"])
            if said not in self._spoken:
                self._spoken.add(said)
                self.send("recognizer_loop:audio_output_start", context=message["context"])
                loop = asyncio.get_running_loop()
                loop.call_later(0.02, self.send, "recognizer_loop:audio_output_end", {}, message["context"])
        self.more.set()

    def send(self, topic: str, data: dict[str, Any] | None = None, context: dict[str, Any] | None = None) -> None:
        kept = {name: value for name, value in (context or {}).items() if name not in TWINS}
        wire = {"type": topic, "data": data or {}, "context": kept}
        self.transport.send(WSMsgType.TEXT, json.dumps(wire).encode())

    async def until(self, first: int, *wanted: str, seconds: float = 30.0) -> dict[str, Any] | None:
        """The first Message of these topics after so many; None where none comes in time."""
        try:
            async with asyncio.timeout(seconds):
                while True:
                    for message in self.messages[first:]:
                        if message["type"] in wanted:
                            return message
                    self.more.clear()
                    await self.more.wait()
        except TimeoutError:
            return None

    async def turn(self, text: str) -> Turn:
        first, began = len(self.messages), perf_counter()
        session = {"session_id": "default"}
        self.send("recognizer_loop:utterance", {"utterances": [text], "lang": "en-US"}, {"session": session})
        end = await self.until(first, "ovos.utterance.handled")
        await asyncio.sleep(0.3)  # what comes late: a second marker, the end of speech
        later = self.messages[first:]
        spoken = [one for one in later if one["type"] in SPEAK]
        skill = str(spoken[0]["context"].get("skill_id", "")) if spoken else ""
        said = str(spoken[0]["data"]["utterance"]) if spoken else ""
        markers = sum(one["type"] == "ovos.utterance.handled" for one in later)
        return Turn((end["at"] - began) if end is not None else float("inf"), skill, said, markers)


def skills_in(folder: Path) -> list[str]:
    [packages] = folder.glob("lib/python3.*/site-packages")
    groups = ("ovos.plugin.skill", "opm.skill")
    found = distributions(path=[str(packages)])
    return sorted({one.name for package in found for one in package.entry_points if one.group in groups})


@contextmanager
def running(home: Path, name: str, *command: str | Path) -> Iterator[subprocess.Popen[bytes]]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "XDG_"))}
    folders = {f"XDG_{kind}_HOME": str(home / kind.lower()) for kind in ("CONFIG", "DATA", "CACHE", "STATE")}
    with (home / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(
            [str(one) for one in command],
            env={**kept, **folders, "HOME": str(home)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


async def connected(port: int) -> Client:
    for _ in range(600):
        try:
            _, client = await ws_connect(Client, f"ws://127.0.0.1:{port}/core")
        except OSError:
            await asyncio.sleep(0.1)
        else:
            return cast("Client", client)
    raise SystemExit("there is no bus")


def processor_time(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def tried(line: str, side: str, rounds: int) -> tuple[dict[str, list[Turn]], float]:
    """The turns of each sentence, and the seconds of processor time of a turn."""
    with tempfile.TemporaryDirectory() as folder, socket.socket() as free, ExitStack() as stack:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        home = Path(folder)
        (home / "config" / "mycroft").mkdir(parents=True)
        websocket = {"host": "127.0.0.1", "port": port, "route": "/core", "ssl": False}
        config = {"websocket": websocket, "lang": "en-US"}
        (home / "config" / "mycroft" / "mycroft.conf").write_text(json.dumps(config))
        settings = home / "hark.toml"
        settings.write_text(f"[bus]\nport = {port}\n[deny]\nskills = {json.dumps(OWN)}\n")
        if side != SIDES[0]:
            stack.enter_context(running(home, "bus", PEERS / "ovos-messagebus" / "bin" / "ovos-messagebus"))
            await connected(port)
        hark = (sys.executable, "-m", "hark", "run", "--settings", settings, "--state", home / "hark")
        if side == SIDES[0]:
            core = stack.enter_context(running(home, "core", *hark, "--stay"))
        elif side == SIDES[1]:
            services = [word for name in ("understand", "act", "schedule") for word in ("--service", name)]
            url = f"ws://127.0.0.1:{port}/core"
            core = stack.enter_context(running(home, "core", *hark, *services, "--bus", url))
        else:
            core = stack.enter_context(running(home, "core", PEERS / f"ovos-core-{line}" / "bin" / "ovos-core"))
        client = await connected(port)
        await ready(client)
        peer = PEERS / f"ovos-skills-{line}"
        missing = set(skills_in(peer))
        stack.enter_context(running(home, "skills", peer / "bin" / "python", HOST, *sorted(missing)))
        seen = 0
        while missing:
            message = await client.until(seen, *LOADED, seconds=PATIENCE)
            if message is None:
                print((home / "skills.log").read_text()[-3_000:], file=sys.stderr)
                raise SystemExit(f"{side}: never loaded: {', '.join(sorted(missing))}")
            seen = client.messages.index(message) + 1
            missing -= {message["data"].get("id"), message["data"].get("skill_id")}
        await asyncio.sleep(2.0)
        if side == SIDES[2]:
            first = len(client.messages)
            client.send("mycroft.skills.train")
            await client.until(first, "mycroft.skills.trained", seconds=PATIENCE)
            await asyncio.sleep(2.0)
        turns: dict[str, list[Turn]] = {text: [] for text in SENTENCES}
        for text in SENTENCES:  # caches are empty, and the lines learn of each other
            await client.turn(text)
        before = processor_time(core.pid)
        for _ in range(rounds):
            for text in SENTENCES:
                turns[text].append(await client.turn(text))
        spent = processor_time(core.pid) - before
        return turns, spent / (rounds * len(SENTENCES))


async def ready(client: Client) -> None:
    """Wait until the orchestrator says that skills may be loaded."""
    for _ in range(int(PATIENCE)):
        first = len(client.messages)
        client.send("mycroft.skills.is_ready")
        answer = await client.until(first, "mycroft.skills.is_ready.response", seconds=1.0)
        if answer is not None and answer["data"].get("status"):
            return
    raise SystemExit("the orchestrator is not ready")


def answer_of(turns: list[Turn]) -> str:
    skills = {one.skill.removeprefix("ovos-skill-").removeprefix("skill-ovos-").partition(".")[0] for one in turns}
    return ", ".join(sorted(one or "none" for one in skills))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--line", choices=LINES, help="one of the two; else both, one after the other")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    rounds = options.rounds
    for line in [options.line] if options.line else LINES:
        found = {side: asyncio.run(tried(line, side, rounds)) for side in SIDES}
        print(f"\n{line}, median of {rounds}\n")
        print("| said | " + " | ".join(SIDES) + " | ratio |\n|---|---|---|---|---:|")
        for text in SENTENCES:
            cells, times = [], []
            for side in SIDES:
                turns = found[side][0][text]
                times.append(median(one.seconds for one in turns))
                cells.append(f"{answer_of(turns)}, {times[-1] * 1e3:.0f} ms")
            print(f"| {text} | " + " | ".join(cells) + f" | {times[2] / times[1]:.1f} |")
        for side in SIDES:
            turns = [one for some in found[side][0].values() for one in some]
            wrong = sum(one.markers != 1 for one in turns)
            each = median(one.seconds for one in turns) * 1e3
            print(
                f"{side}: median {each:.0f} ms, processor {found[side][1] * 1e3:.1f} ms a turn, "
                f"{wrong} of {len(turns)} turns without exactly one end marker"
            )


if __name__ == "__main__":
    main()
