"""What all tests share: an assistant on each kind of bus, whose turns are checked when the test is over."""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any

import hypothesis
import msgspec
import pytest

from flow.stage import MakeAssistant
from hark.app.settings import Settings
from hark.builtin import TemplateMatcher
from hark.bus.nats import NatsCarrier
from hark.model import Clock
from hark.plugins import Plugin
from hark.spec import topics
from hark.testing import Assistant, LocalBus, WireBus
from hark.testing.joined import SaidOnce
from hark.testing.nats_bus import NatsBus
from hark.testing.quiet import QuietCarrier
from hark.testing.websocket_bus import WebSocketBus

pytest_plugins = ["conformance_plugin", "coverage_plugin", "nats_plugin"]

# Other programs as they are, which have to be installed first: `make interop`.
collect_ignore = [] if os.environ.get("HARK_INTEROP") else ["interop"]

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Begun in the background of a shell: whoever the tests start would ignore Ctrl-C as well.
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    # Begun by nohup: the same.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# Hints print `hark` where it is on the PATH, and a path otherwise: here it is.
os.environ["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))

# The gate tries the same examples every time, so that it fails for what was changed, not by chance. Exploring goes on
# with other ones: `make unit ARGS=--hypothesis-profile=default`.
hypothesis.settings.register_profile("gate", derandomize=True)
hypothesis.settings.load_profile("gate")

# Settings and state of whoever runs the tests are not theirs: commands find empty folders.
_own_home = tempfile.TemporaryDirectory(prefix="hark-tests-")
for _folder in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
    os.environ[_folder] = str(Path(_own_home.name) / _folder)

_connect = socket.create_connection
_asked_for: list[str] = []
"""Hosts that a test tried to reach by HTTP, though they are not on this machine."""


def _connect_here(address: tuple[str, int], *more: Any, **options: Any) -> socket.socket:
    """A connection to this machine, and to no other: what is tested answers without the network."""
    host = address[0]
    if host != "localhost" and not host.startswith("127.") and host != "::1" and not host.endswith(".invalid"):
        _asked_for.append(host)
        raise OSError(f"tests do not reach {host}")
    return _connect(address, *more, **options)


socket.create_connection = _connect_here  # type: ignore[assignment]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    """Fail a test that tried to reach another machine, also where the code under test got over it."""
    _asked_for.clear()
    yield
    assert not _asked_for, f"the test tried to reach {sorted(set(_asked_for))}"


LIFECYCLE = frozenset(
    {
        topics.INTENT_MATCHED,
        topics.INTENT_UNMATCHED,
        topics.HANDLER_START,
        topics.HANDLER_COMPLETE,
        topics.HANDLER_ERROR,
    }
)


class WatchedAssistant(Assistant):
    """An assistant that fails its test when an utterance did not get exactly one end marker, after everything else."""

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await super().__aexit__(kind, error, trace)
        if error is None:
            self.check_markers()

    def check_markers(self) -> None:
        """Exactly one marker for each utterance, and nothing of its lifecycle after it."""
        entries = len(self.of(topics.UTTERANCE_HANDLE))
        markers = [message.utterance_id for message in self.of(topics.UTTERANCE_HANDLED)]
        assert len(markers) == len(set(markers)) == entries, f"{entries} utterances, markers {markers}"
        ended: set[str | None] = set()
        for message in self.messages:
            if message.type == topics.UTTERANCE_HANDLED:
                ended.add(message.utterance_id)
            elif message.type in LIFECYCLE or ":" in message.type:
                assert message.utterance_id not in ended, f"{message.type} after its end marker"


@pytest.fixture(autouse=True)
def _nobody_filters_the_log() -> Iterator[None]:
    """Commands hold some of the log back for the life of their process; in tests, that is until the next test."""
    yield
    hosting = logging.getLogger("hark.hosting")
    for held_back in list(hosting.filters):
        hosting.removeFilter(held_back)


BUSES: Mapping[str, type[LocalBus]] = {"local": LocalBus, "wire": WireBus, "websocket": WebSocketBus, "nats": NatsBus}
"""Each kind of bus there is."""

OVER_THE_NETWORK = ("unit/bus", "flow", "conformance")
"""Folders whose tests also run on a bus between processes, but for those that are marked `one_process`."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run what takes an assistant, or a `bus_type`, on each kind of bus; on NATS, an assistant's services are apart."""
    folder = metafunc.definition.path.parent.relative_to(Path(__file__).parent).as_posix()
    may_be_apart, may_be_two = (
        metafunc.definition.get_closest_marker(name) is None for name in ("one_process", "one_worker")
    )
    networked = may_be_apart and folder in OVER_THE_NETWORK
    kinds = [kind for kind in BUSES if networked or kind not in ("websocket", "nats")]
    if "assistant" in metafunc.fixturenames:
        on = [kind for kind in kinds if may_be_two or kind != "nats"]
        metafunc.parametrize("assistant", on, indirect=True)
    if "bus_type" in metafunc.fixturenames:
        metafunc.parametrize("bus_type", [BUSES[kind] for kind in kinds], ids=kinds, indirect=True)


@pytest.fixture
def bus_type(request: pytest.FixtureRequest) -> type[LocalBus]:
    """Each kind of bus there is."""
    kind: type[LocalBus] = request.param
    if kind is NatsBus:
        request.getfixturevalue("nats_bus")
    return kind


def check_listeners(caplog: pytest.LogCaptureFixture) -> None:
    """No listener failed unnoticed. A test in which one is to fail looks at the log, and then clears it."""
    failures = [
        r.getMessage() for r in caplog.get_records("call") if r.name == "hark.bus" and r.levelno >= logging.ERROR
    ]
    assert failures == []


@pytest.fixture
def assistant(request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture) -> Iterator[MakeAssistant]:
    """Makes assistants: `async with assistant(Plugin(), settings={...}) as hark: ...`.

    In one process on each kind of bus there is; on NATS with a connection for each service, and two that understand.
    """
    where: dict[str, Any] = {"bus": BUSES[request.param]}
    once, numbers = SaidOnce(), count(1)
    caplog.handler.addFilter(once)
    if request.param == "nats":
        where = {"layout": "services"}
        options = request.getfixturevalue("nats_options")

    def make(
        *plugins: Plugin, settings: Settings | Mapping[str, Any] | None = None, clock: Clock | None = None
    ) -> Assistant:
        if request.param == "nats":  # each assistant has its own broker, as it were
            own = msgspec.structs.replace(options, prefix=f"{options.prefix}{next(numbers)}.")
            where["carrier"] = lambda: QuietCarrier(NatsCarrier(own))
        # The template matcher alone: what is looked at here is the frame, and every matcher leaves a step in the trace.
        return WatchedAssistant(*plugins, settings=settings, clock=clock, matchers=(TemplateMatcher,), **where)

    yield make
    caplog.handler.removeFilter(once)
    check_listeners(caplog)


@pytest.fixture
async def bus(bus_type: type[LocalBus], caplog: pytest.LogCaptureFixture) -> AsyncIterator[LocalBus]:
    """A bus of each kind."""
    made = bus_type()
    await made.open()
    yield made
    await made.close()
    check_listeners(caplog)
