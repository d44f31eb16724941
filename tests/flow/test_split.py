"""An assistant in several processes: it talks as one does, and survives the death of any of them."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
from collections import Counter
from collections.abc import Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from flow.hark_process import PATIENCE, Running, World, eventually, free_port, processes
from hark.app.bus_address import BusAddress
from hark.app.settings.tables import BusTable
from hark.bus import RemoteBus
from hark.model import Message, Session, SystemClock
from hark.spec import DEFAULT_SESSION_ID, topics
from hark.testing.nats_server import NatsServer, closed_port

SERVICES = ("schedule", "hear", "understand", "act", "speak", "edge")
ALL = {*SERVICES, "broker"}

STALLING = """
import time
from hark.skills import Skill, intent

class Stalling(Skill):
    id = "stalling.skill"

    @intent("hang the process")
    async def hang(self, turn):
        time.sleep(60)
"""
KEEPING = """
from hark.skills import Skill, intent

class Keeping(Skill):
    id = "keeping.skill"

    @intent("remember {word}")
    def keep(self, turn):
        turn.remember("word", turn.slots["word"])
        return "yes"

    @intent("tell me", requires=("word",))
    def tell(self, turn):
        return "it is " + turn.session.intent_context["keeping.skill:word"].value
"""


class Split:
    """`hark run --split` in a world of its own."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.port = free_port()
        self.url = f"ws://127.0.0.1:{self.port}/core"
        self.state = str(world.state)
        self.configure()

    def configure(self, more: str = "") -> None:
        self.world.write_settings(f"[bus]\nport = {self.port}\n{more}")

    def command(self, *options: str) -> tuple[str, ...]:
        return ("run", "--split", "--state", self.state, *options)

    @property
    def processes(self) -> dict[str, int]:
        return processes(self.state)

    def all_ready(self, *services: str) -> dict[str, int]:
        """Wait until every process says that it is ready."""
        wanted = set(services) or ALL

        def ready() -> dict[str, int] | None:
            found = self.processes
            report = self.world.hark("doctor").stdout
            named = all(f"process {pid} on " in report for name, pid in found.items() if name != "broker")
            return found if set(found) == wanted and named and "not ready" not in report else None

        return eventually(ready)

    def answer(self, text: str) -> str:
        """What is answered once there is an answer."""

        def answered() -> str | None:
            done = self.world.hark("say", text, "--session", "elsewhere")
            return done.stdout.strip() if done.returncode == 0 else None

        return eventually(answered)

    @asynccontextmanager
    async def client(self) -> Any:
        """A client of the websocket server."""
        bus = await BusAddress(BusTable(url=self.url)).connect(SystemClock(), private=False)
        try:
            yield bus
        finally:
            await bus.close()


@pytest.fixture
def split(tmp_path: Path) -> Iterator[Split]:
    """At the end, no process of it is left."""
    made = Split(World(tmp_path))
    yield made
    eventually(lambda: not made.processes)


def end(running: Running) -> str:
    """Stop it in good order; what it wrote."""
    running.signal(signal.SIGTERM)
    status, errors = running.end(hang_up=False)
    assert status == 0
    return errors


def test_lines_on_standard_input_are_answered_and_then_all_is_over(split: Split) -> None:
    done = split.world.hark(*split.command(), said="say hello world\nwhat nobody understands\n")
    assert done.returncode == 0, done.stderr
    answer, remark, details = done.stdout.splitlines()
    assert (answer, bool(remark)) == ("hello world", True)
    assert details.startswith("(Details: ")
    assert done.stderr == ""
    assert '"what nobody understands"' in split.world.hark("why").stdout, "from disk"


def test_say_why_and_doctor_talk_to_all_processes_as_to_one(split: Split, tmp_path: Path) -> None:
    world = split.world
    with world.running(*split.command()) as running:
        assert running.say("say hello") == "hello"
        said = world.hark("say", "say", "good", "morning", "--why")
        assert (said.returncode, said.stdout.splitlines()[0]) == (0, "good morning"), said.stdout + said.stderr
        stages = [line.split()[2] for line in said.stdout.splitlines()[2:-1]]
        # Speech may be heard before its handler is through: they are in processes of their own.
        assert (stages[-3], set(stages[-2:])) == ("intent", {"handler", "speak"})
        trace = world.hark("why").stdout
        assert '"say good morning"' in trace
        assert "rendered" in trace
        report = world.hark("doctor")
        assert report.returncode == 0, report.stdout
        found = split.processes
        assert set(found) == ALL
        assert all(f"service {name}: process {found[name]} on " in report.stdout for name in SERVICES)
        taken = world.hark("run", "--service", "act", *at_broker(split), "--state", str(tmp_path / "other"))
        assert taken.returncode == 2
        assert f"the service act already runs on this bus in process {found['act']} on" in taken.stderr
        # From elsewhere, by the websocket server.
        other = World(tmp_path / "elsewhere")
        other.write_settings(f'[bus]\ntoken = "{world.state}/service.token"\n')
        assert other.hark("say", "say good day", "--bus", split.url).stdout == "good day\n"
        assert '"say good day"' in other.hark("why", "--bus", split.url).stdout
        assert f"service act: process {found['act']} on " in other.hark("doctor", "--bus", split.url).stdout
        status, errors = running.end()
    assert (status, errors) == (0, "")
    assert "rendered" in world.hark("why").stdout, "from disk"


def at_broker(split: Split) -> tuple[str, ...]:
    """The options of a process that connects to the broker of this assistant."""
    [listen] = [line for line in configuration(split).splitlines() if line.startswith("listen: ")]
    password = str(split.world.state / "nats" / "act.password")
    return "--bus", f"nats://{listen.removeprefix('listen: ')}", "--broker-user", "act", password


def configuration(split: Split) -> str:
    return (split.world.state / "nats" / "server.conf").read_text()


def test_whichever_process_is_killed_it_comes_back_by_itself(split: Split) -> None:
    with split.world.running(*split.command()) as running:
        assert running.say("say first") == "first"
        for name in (*SERVICES, "broker"):
            killed = split.all_ready()[name]
            os.kill(killed, signal.SIGKILL)
            eventually(lambda: split.processes.get(name, killed) != killed)  # noqa: B023
            assert split.answer(f"say {name} is back") == f"{name} is back"
        assert running.say("say last") == "last"
        status, errors = running.end()
    assert status == 0
    for name in ALL:
        assert f"{name} was ended by SIGKILL; it is restarted in 0.1 s" in errors


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_one_signal_ends_all_of_them_and_leaves_nothing_behind(split: Split, number: signal.Signals) -> None:
    with split.world.running(*split.command("--stay", "--workers", "2")) as running:
        assert running.say("say hello") == "hello"
        assert set(split.processes) == (ALL - {"understand"}) | {"understand-1", "understand-2"}
        running.signal(number)
        status, errors = running.end(hang_up=False)
    assert (status, errors) == (0, "")
    assert split.processes == {}
    assert not (split.world.state / "control.sock").exists()
    assert split.world.hark("say", "say it", "--state", split.state).stdout == "it\n", "the directory is free"


def test_a_second_interrupt_does_not_wait_and_leaves_nothing_behind_either(split: Split) -> None:
    with split.world.running(*split.command("--stay")) as running:
        assert running.say("say hello") == "hello"
        os.kill(split.processes["hear"], signal.SIGSTOP)  # it cannot end by itself
        running.signal(signal.SIGINT)
        eventually(lambda: "schedule" not in split.processes)  # which is stopped before it
        running.signal(signal.SIGINT)
        assert running.end(hang_up=False) == (130, "")
    eventually(lambda: not split.processes)
    assert split.world.hark("say", "say it", "--state", split.state).stdout == "it\n", "the directory is free"


def test_when_the_supervisor_is_killed_no_process_is_left(split: Split) -> None:
    with split.world.running(*split.command()) as running:
        assert running.say("say hello") == "hello"
        running.signal(signal.SIGKILL)
        eventually(lambda: not split.processes)


def test_a_process_that_hangs_is_restarted_and_the_culprit_named(split: Split) -> None:
    split.world.install("stalling", STALLING, "skill: Stalling")
    split.configure("[rooms]\nstalled = 2.0\n")
    with split.world.running(*split.command()) as running:
        assert running.say("say hello") == "hello"
        pid = split.processes["act"]
        running.write("hang the process")
        eventually(lambda: split.processes.get("act", pid) != pid)
        assert "the skill stalling" in running.line(), "the user is told"
        assert running.line().startswith("(stalling.skill:hang: "), "the turn has ended with an error"
        assert split.answer("say still here") == "still here"
        end(running)
    assert re.search(r"^act: \S+ \S+ ERROR hark\.watchdog: the event loop was blocked", running.errors, re.MULTILINE)
    assert "stalling.skill:hang" in running.errors
    assert "act has shown no sign of life for" in running.errors


def test_a_process_that_cannot_be_started_ends_the_whole_with_its_reason(split: Split) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", split.port))
        taken.listen()
        done = split.world.hark(*split.command())
    assert done.returncode == 2
    assert f"edge: hark: port {split.port} of 127.0.0.1 is taken" in done.stderr
    assert "edge cannot be started; see above" in done.stderr


async def test_who_gets_in_is_answered_however_early_it_tries(split: Split) -> None:
    """The port opens when the services are ready, however long a skill takes to load."""
    split.world.install("probe", "import time\n\ntime.sleep(1.5)\n" + KEEPING, "skill: Keeping")
    with split.world.running(*split.command("--stay")) as running:
        await asyncio.to_thread(eventually, lambda: _is_open(split.port))
        async with split.client() as bus, asyncio.timeout(PATIENCE):
            spoken: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
            bus.on(topics.UTTERANCE_SPEAK, spoken.set_result)
            bus.emit(Message(topics.UTTERANCE_HANDLE, {"utterances": ["remember apples"]}, {}, Session("visitor")))
            assert (await spoken).data["utterance"] == "yes"
        await asyncio.to_thread(end, running)


async def test_no_client_registers_in_the_name_of_a_skill_also_when_the_edge_was_restarted(split: Split) -> None:
    split.world.install("probe", KEEPING, "skill: Keeping")
    other = {"skill_id": "keeping.skill", "intent_name": "keep", "lang": "en-US", "samples": ["nothing at all"]}
    with split.world.running(*split.command("--stay")) as running:
        edge = (await asyncio.to_thread(split.all_ready))["edge"]
        for is_restarted in (False, True):
            if is_restarted:
                os.kill(edge, signal.SIGKILL)
                await asyncio.to_thread(eventually, lambda: split.processes.get("edge") not in (None, edge))
                await asyncio.to_thread(eventually, lambda: _is_open(split.port))
            async with split.client() as bus, asyncio.timeout(PATIENCE):
                spoken: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
                bus.on(topics.UTTERANCE_SPEAK, spoken.set_result)
                bus.emit(Message(topics.REGISTER_TEMPLATE, other))
                bus.emit(Message(topics.INTENT_DISABLE, other))
                bus.emit(Message(topics.SKILL_DEREGISTER, other))
                bus.emit(Message(topics.UTTERANCE_HANDLE, {"utterances": ["remember apples"]}, {}, Session("visitor")))
                assert (await spoken).data["utterance"] == "yes"
        await asyncio.to_thread(end, running)


def _is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


async def test_what_was_remembered_by_the_marker_is_there_when_understand_was_killed_with_it(split: Split) -> None:
    """Twice: something is remembered, `understand` is killed in the moment of the marker, and asked when it is back."""
    split.world.install("probe", KEEPING, "skill: Keeping")
    with split.world.running(*split.command("--stay")) as running:
        await asyncio.to_thread(running.say, "say hello")
        async with split.client() as bus:
            killed = asyncio.Event()
            doomed = 0

            def handled(message: Message) -> None:
                if message.session_id == DEFAULT_SESSION_ID and doomed:
                    os.kill(doomed, signal.SIGKILL)
                    killed.set()

            bus.on(topics.UTTERANCE_HANDLED, handled)
            await bus.carrier.flush()
            for word in ("apples", "pears"):
                killed.clear()
                doomed = split.processes["understand"]
                assert await asyncio.to_thread(running.say, f"remember {word}") == "yes"
                async with asyncio.timeout(PATIENCE):
                    await killed.wait()
                doomed = 0
                # Only what is remembered makes this an intent at all.
                assert await asyncio.to_thread(running.say, "tell me") == f"it is {word}"
        await asyncio.to_thread(end, running)


def test_what_was_remembered_is_there_in_the_next_run_whatever_the_layout(split: Split) -> None:
    split.world.install("probe", KEEPING, "skill: Keeping")
    hark, one = split.world.hark, ("run", "--state", split.state)
    assert hark(*split.command("--workers", "2"), said="remember apples\n").stdout == "yes\n"
    assert hark(*one, said="tell me\nremember pears\n").stdout == "it is apples\nyes\n"
    assert hark(*split.command(), said="tell me\n").stdout == "it is pears\n"


class Markers:
    """Says things and counts their end markers, all of the same text."""

    def __init__(self, bus: RemoteBus) -> None:
        self._bus = bus
        self._changed = asyncio.Event()
        self.ended: Counter[str] = Counter()
        bus.on(topics.UTTERANCE_HANDLED, self._handled)

    def say(self, visitors: range) -> None:
        for number in visitors:
            session = Session(f"visitor-{number}")
            self._bus.emit(Message(topics.UTTERANCE_HANDLE, {"utterances": ["say hello"]}, {}, session))

    async def are_there_once(self, visitors: range) -> None:
        wanted = {f"visitor-{number}": 1 for number in visitors}
        with suppress(TimeoutError):  # what is missing then says more than that it took too long
            async with asyncio.timeout(PATIENCE):
                while not wanted.keys() <= self.ended.keys():
                    self._changed.clear()
                    await self._changed.wait()
        await self._bus.settled()
        assert self.ended == wanted

    def _handled(self, message: Message) -> None:
        if message.session_id.startswith("visitor-"):
            self.ended[message.session_id] += 1
            self._changed.set()


@pytest.mark.parametrize("name", ["understand", "understand-1", "act", "broker"])
async def test_each_utterance_ends_once_although_a_process_is_killed_in_the_middle(split: Split, name: str) -> None:
    """Seventy at once, a kill, and seventy more while it is away."""
    options = ("--workers", "2") if name == "understand-1" else ()
    with split.world.running(*split.command("--stay", *options)) as running:
        await asyncio.to_thread(running.say, "say hello")
        async with split.client() as bus:
            markers = Markers(bus)
            markers.say(range(70))
            await bus.carrier.flush()
            os.kill(split.processes[name], signal.SIGKILL)
            markers.say(range(70, 140))
            await markers.are_there_once(range(140))
        await asyncio.to_thread(end, running)


def test_workers_share_the_work_and_one_that_is_killed_is_restarted(split: Split) -> None:
    everything = (ALL - {"understand"}) | {"understand-1", "understand-2"}
    with split.world.running(*split.command("--workers", "2")) as running:
        assert running.say("say first") == "first"
        before = split.all_ready(*everything)
        for number in range(4):  # by whichever worker the broker picks
            assert split.world.hark("say", f"say {number}", "--session", "elsewhere").stdout == f"{number}\n"
        os.kill(before["understand-1"], signal.SIGKILL)
        assert running.say("say second") == "second"
        eventually(lambda: split.processes.get("understand-1", before["understand-1"]) != before["understand-1"])
        assert split.all_ready(*everything)["understand-2"] == before["understand-2"]
        assert '"say second"' in split.world.hark("why").stdout
        status, errors = running.end()
    assert status == 0
    assert "understand-1 was ended by SIGKILL; it is restarted in 0.1 s" in errors


def test_where_nats_servers_are_named_no_broker_is_started(split: Split, nats_server: NatsServer) -> None:
    split.configure(f'[nats]\nservers = ["{nats_server.url}"]\nprefix = "split{os.getpid()}."\n')
    with split.world.running(*split.command("--stay")) as running:
        assert running.say("say it") == "it"
        assert set(split.processes) == set(SERVICES)
        # A process without the state directory finds the assistant at NATS.
        other = World(split.world.home / "elsewhere")
        said = other.hark("say", "say", "good", "day", "--why", "--settings", str(split.world.settings))
        assert (said.returncode, said.stdout.splitlines()[0]) == (0, "good day"), said.stderr
        assert "service act: process " in other.hark("doctor", "--settings", str(split.world.settings)).stdout
        assert not other.state.exists()
        assert end(running) == ""


def test_a_broker_that_is_not_there_is_reported_before_anything_is_started(split: Split) -> None:
    server = f"nats://127.0.0.1:{closed_port()}"
    split.configure(f'[nats]\nservers = ["{server}"]\n')
    done = split.world.hark(*split.command())
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert line.startswith(f"hark: no NATS server could be reached at {server} within ")
    assert not (split.world.state / "control.sock").exists()


def test_without_the_extra_the_remedy_is_named(split: Split) -> None:
    split.world.site.mkdir()
    (split.world.site / "nats.py").write_text("raise ModuleNotFoundError(\"No module named 'nats'\", name='nats')")
    done = split.world.hark(*split.command())
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "hark: --split needs nats, which is not installed: pip install 'hark-voice[nats]'\n"


def test_options_that_do_not_go_together_are_refused(split: Split) -> None:
    hark = split.world.hark
    assert "--workers goes with --split" in hark("run", "--workers", "2").stderr
    for number in ("0", "-1", "many", "100"):
        expected = f"argument --workers: '{number}' is not a number from 1 to 99"
        assert expected in hark("run", "--split", f"--workers={number}").stderr
    assert "--bus takes an address of NATS" in hark("run", "--split", "--bus", split.url).stderr
    assert "--service edge joins websocket clients to NATS" in hark("run", "--service", "edge").stderr
    assert "--worker goes with --service understand alone" in hark("run", "--service", "act", "--worker").stderr
