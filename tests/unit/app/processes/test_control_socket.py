"""The control socket that several processes share: one has it at a time, and always one that lives."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from deployment import deployed

from hark.app.control import client
from hark.app.control.client import connect
from hark.app.control.protocol import (
    NAME,
    Ended,
    Examine,
    Examined,
    Explained,
    Request,
    RequestRefused,
    Say,
    SpokenText,
    Why,
)
from hark.app.control.server import PART, RETRY, ControlSocket
from hark.app.processes.remote_view import REACH, RemoteView
from hark.app.state.directory import Locked, take_part
from hark.builtin import ParrotSkill, TemplateMatcher
from hark.testing import FakeClock, settle

PLUGINS = (TemplateMatcher, ParrotSkill)


def test_it_is_taken_once_and_left_for_the_next_one(tmp_path: Path) -> None:
    first, second = ControlSocket(tmp_path), ControlSocket(tmp_path)
    first.take()
    assert (tmp_path / NAME).exists()
    with pytest.raises(Locked, match=f"in use by the assistant with process id {os.getpid()}"):
        second.take()
    first.leave()
    assert not (tmp_path / NAME).exists()
    second.take()
    first.leave()  # it is not the first one's any more
    assert (tmp_path / NAME).exists()
    second.leave()


async def test_whoever_waits_for_it_has_it_when_the_other_is_gone(tmp_path: Path) -> None:
    async with deployed() as deployment:
        doors = {}
        for service in ("understand", "act", "speak"):
            doors[service] = ControlSocket(tmp_path)
            await deployment.start(service, door=doors[service])  # type: ignore[arg-type]
        await settle()
        assert [service for service, door in doors.items() if door.is_served] == ["understand"]
        await deployment.leave(deployment.processes[0])
        await deployment.clock.advance(RETRY)
        await settle()
        [second] = [service for service, door in doors.items() if door.is_served]
        assert second in ("act", "speak")
        assert await _asked(tmp_path, Why()) == [RequestRefused("this assistant has had no turn yet")]


async def test_all_rooms_are_asked_as_one_through_the_door_of_any_of_them(tmp_path: Path) -> None:
    async with deployed() as deployment:
        await deployment.start("speak", door=ControlSocket(tmp_path))
        for service in ("understand", "act"):
            await deployment.start(service, plugins=[plugin() for plugin in PLUGINS])  # type: ignore[arg-type]
        await settle()
        _, spoken, ended = await _asked(tmp_path, Say("say hello"))
        assert spoken == SpokenText("hello")
        assert isinstance(ended, Ended)
        assert ended.outcome == "complete"
        [told] = await _asked(tmp_path, Why(ended.utterance_id))
        assert isinstance(told, Explained)
        assert "rendered" in told.text
        [looked] = await _asked(tmp_path, Examine())
        assert isinstance(looked, Examined)
        assert [(one.service, one.is_ready) for one in looked.report.services] == [
            ("understand", True),
            ("act", True),
            ("speak", True),
        ]
        bus = deployment.processes[0].runtime.bus
        assert "ovos.utterance.handled" not in {topic for topic, _ in bus._followed}, "only while somebody asks"  # type: ignore[attr-defined]


async def test_a_service_that_no_process_has_is_named_in_time(tmp_path: Path) -> None:
    async with deployed() as deployment:
        await deployment.start("speak", door=ControlSocket(tmp_path))
        asking = asyncio.ensure_future(_asked(tmp_path, Say("say hello")))
        while not asking.done():
            await deployment.clock.advance(REACH)
        [refused] = await asking
        assert refused == RequestRefused(
            "no process on this bus has the service understand, act; "
            "start what is missing with: hark run --service understand --service act"
        )


async def test_no_client_waits_for_an_answer_of_a_process_that_is_gone_for_good() -> None:
    async with deployed() as deployment:
        await deployment.start("speak", "act", plugins=[ParrotSkill()])
        understand = await deployment.start("understand", plugins=[TemplateMatcher()])
        view = RemoteView(await deployment.bus(), deployment.clock, deployment.members, deployment.settings)
        async with view.open_client() as talk:
            await deployment.die(understand)
            asking = asyncio.ensure_future(talk.ask("say hello", deployment.aside.append, session_id="x"))
            await settle()
            assert not asking.done()
            for _ in range(10):
                await deployment.clock.advance(REACH)
            asked = await asking
        assert (asked.outcome, asked.detail) == ("broken", "no process on this bus has the service understand any more")


def test_whoever_asks_between_two_waits_for_the_next_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    door, pauses = ControlSocket(tmp_path), []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            door.take()

    monkeypatch.setattr(client, "sleep", pause)
    assert connect(tmp_path) is None
    assert pauses == [], "nobody is there, so nobody will answer"
    held = take_part(tmp_path, "act")
    connection = connect(tmp_path)
    assert connection is not None
    with connection:
        assert len(pauses) == 3
    door.leave()
    os.close(held)


def test_a_room_that_is_gone_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "act.lock").write_text("the assistant with process id 999999999\n")
    (tmp_path / "speak.lock").write_text("")
    (tmp_path / f"{PART}.lock").write_text("nobody\n")
    monkeypatch.setattr(client, "sleep", lambda _seconds: pytest.fail("it waits"))
    assert connect(tmp_path) is None


async def test_a_door_that_cannot_be_made_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / f"{NAME}.new").mkdir()
    (tmp_path / f"{NAME}.new" / "in the way").touch()
    door = ControlSocket(tmp_path)
    door.serve_when_free(None, FakeClock())  # type: ignore[arg-type]
    await settle()
    assert "this process cannot be asked anything: the control socket" in caplog.text
    await door.close()


async def _asked(directory: Path, request: Request) -> list[object]:
    """What the client of the command line gets."""

    def ask() -> list[object]:
        connection = connect(directory)
        assert connection is not None
        with connection:
            return list(connection.ask(request))

    return await asyncio.to_thread(ask)
