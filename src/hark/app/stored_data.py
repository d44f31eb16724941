"""What one process keeps of people, in memory and on disk, and how it is shown and deleted."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Final

from hark.app.control.protocol import Forget
from hark.app.runtime import Runtime
from hark.app.state.store import State
from hark.app.state.trace_file import forget
from hark.app.state.turns_file import TurnsFile
from hark.model import Session
from hark.trace import TraceRecord, TurnTrace

_SCHEDULES: Final = "-schedules"
"""The end of the name of the stream that the scheduler keeps at the broker."""


def device_session(runtime: Runtime, *, reset: bool) -> Session:
    """The session of the device as a process with `understand` has it, made empty first if wanted."""
    if reset:
        runtime.store.reset()
    return runtime.store.current


async def forget_turns(
    what: Forget, runtime: Runtime, state: State | None, ids: Collection[str] | None = None
) -> list[str]:
    """Delete what this process has of the turns that are meant, or of those with these ids; their ids."""

    def is_meant(turn: TurnTrace | TraceRecord) -> bool:
        return turn.utterance_id in ids if ids is not None else what.covers(turn)

    found = dict.fromkeys(runtime.traces.forget(is_meant))
    if state is not None:
        found |= dict.fromkeys(await asyncio.to_thread(state.writer.forget, is_meant))
    if what.empties_session and ids is None and "understand" in runtime.services:
        runtime.store.reset()
        if state is not None:
            _forget_broken(state.directory)
    return list(found)


def forget_stored(what: Forget, state: State) -> int:
    """Delete what is kept in a state directory whose assistant does not run; the number of turns."""
    found = forget(state.directory, what.covers)
    if what.empties_session:
        state.save(Session())
        turns = TurnsFile(state.directory, private=True)  # which turns were open is kept: they still have to end
        turns.forget_session()
        turns.close()
        _forget_broken(state.directory)
        for stream in (state.directory / "nats").glob("jetstream/*/streams/*"):
            if not stream.name.endswith(_SCHEDULES):  # alarms and timers are what skills store
                shutil.rmtree(stream, ignore_errors=True)
    return len(found)


def _forget_broken(directory: Path) -> None:
    with suppress(OSError):
        (directory / "session.json.broken").unlink(missing_ok=True)
