"""The one place that runs plugin code: with a time limit, and with failures caught, counted and logged by name."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from types import CoroutineType
from typing import Any, Final, TypeVar, cast

import msgspec

from hark.hosting.loaded import Loaded
from hark.hosting.threads import Job, WorkerThreads
from hark.model import Clock, Timer
from hark.plugins.engines import Unavailable

log = logging.getLogger("hark.hosting")
_pace = logging.getLogger("hark.hosting.pace")
"""What authors of plugins want to know; `hark run --dev` shows it."""

T = TypeVar("T")

QUICK_LIMIT: Final = 0.020
"""Seconds a call of a quick plugin may take."""

CANCEL_TIMEOUT: Final = 2.0
"""Seconds a cancelled task is given to clean up."""

_OWN_WORK: Final = 20.0
"""Seconds for Hark's own work off the event loop: a file may be on a disk that is asleep or gone."""

_LONGEST: Final = 2_000
"""Characters that are kept of a plugin's text; a trace keeps a thousand of them."""

_FRAMES: Final = 10
"""Frames of a stack that are logged, counted from where the exception was raised."""

_HARK: Final = f"{Path(__file__).parents[1]}{os.sep}"
_LIBRARY: Final = f"{Path(os.__file__).parent}{os.sep}"

_traceback_of: Final[Any] = BaseException.__dict__["__traceback__"].__get__
"""Reads the traceback although a subclass may have overridden the attribute."""

_RECHECK: Final = 0.1
"""Seconds until a thread that has not begun, or is between two plugins, is checked again."""


class Outcome(msgspec.Struct):
    """How a call ended: with a value or with an error."""

    value: Any
    error: BaseException | None
    seconds: float

    @property
    def late(self) -> bool:
        """Whether the plugin overran its limit."""
        return type(self.error) is Late  # not isinstance: a plugin's object may override __class__

    @property
    def unavailable(self) -> Unavailable | None:
        """The error where the plugin said that it cannot work here."""
        return cast("Unavailable", self.error) if issubclass(type(self.error), Unavailable) else None

    @property
    def failure(self) -> str:
        """The error as text, empty when there was none."""
        if self.late:
            return str(self.error)
        return "" if self.error is None else describe_error(self.error)


class Late(TimeoutError):
    """The plugin did not return within its limit; what it returns later is ignored."""


def sendable_text(text: str) -> str:
    """A plugin's text as a plain `str` that JSON can carry: of limited length, without lone surrogates."""
    plain = str.__str__(text)
    if len(plain) > _LONGEST:
        plain = f"{plain[:_LONGEST]}... ({len(plain)} characters)"
    return plain if plain.isascii() else plain.encode(errors="replace").decode()


def error_text(error: BaseException) -> str:
    """Type and message of an exception, as text that JSON can carry."""
    name = "an exception"
    try:
        name = type(error).__name__
        message = sendable_text(str(error))
    except BaseException:  # `__str__` is a plugin's code as well
        message = "its message could not be read"
    return sendable_text(f"{name}: {message}" if message else name)


def describe_error(error: BaseException) -> str:
    """As `error_text`, with a file and line: the last ones of the plugin, else where it was raised."""
    trace = _traceback_of(error)
    place, is_found = "", False
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if _is_of_plugin(file) or not is_found:
            place, is_found = f" ({file}:{trace.tb_lineno})", _is_of_plugin(file)
        trace = trace.tb_next
    return error_text(error) + (place if place.isascii() else place.encode(errors="replace").decode())


def _is_of_plugin(file: str) -> bool:
    """Whether code is neither Hark's own nor of Python's standard library."""
    return "-packages" in file.removeprefix(_HARK) or not file.startswith((_HARK, _LIBRARY, "<frozen"))


def error_stack(error: BaseException) -> str:
    """The stack of an exception, for the log.

    Not by `traceback`: that formats the exception, which runs its code, and before Python 3.11.9 two threads that use
    it at the same time can get a SystemError.
    """
    frames: list[str] = []
    trace = _traceback_of(error)
    while trace is not None:
        code = trace.tb_frame.f_code
        frames.append(f"  {code.co_filename}:{trace.tb_lineno} in {code.co_qualname}")
        trace = trace.tb_next
    return "\n".join(frames[-_FRAMES:])


class Runner:
    """Calls plugins: inline, on a worker thread or on the event loop, as `Loaded.mode` says."""

    def __init__(self, clock: Clock, threads: WorkerThreads | None = None) -> None:
        self.clock = clock
        self.threads = threads or WorkerThreads()
        self.inline_now: Loaded[Any] | None = None
        """The plugin that is running inline, for the watchdog."""
        self._tasks: set[asyncio.Task[Any]] = set()

    @property
    def busy(self) -> int:
        """How many calls are running, on threads or on the event loop."""
        return self.threads.busy + len(self._tasks)

    def call_now(self, entry: Loaded[Any], *args: Any) -> Outcome:
        """Call a quick plugin on this thread, and count a failure."""
        outer, self.inline_now = self.inline_now, entry
        outcome = self.attempt(entry, *args)
        self.inline_now = outer
        if outcome.error is not None:
            self.count_failure(entry, outcome)
        if (
            outcome.seconds > QUICK_LIMIT
            and entry.mode == "inline"
            and entry.overran(outcome.seconds, self.clock.monotonic())
        ):
            _pace.info(
                "%s is not quick: %s; it runs on a worker thread from now on%s", entry.id, entry.demoted, entry.stall
            )
        return outcome

    def attempt(self, entry: Loaded[Any], *args: Any) -> Outcome:
        """Call a plugin on this thread and catch its failure; the caller counts it."""
        monotonic = self.clock.monotonic
        began = monotonic()
        try:
            value = entry.call(*args)
            if type(value) is CoroutineType:
                # A plain method that returns a coroutine: the limit of a plain call cannot bound it.
                value.close()
                raise TypeError(f"{entry.id} returned a coroutine; declare it async def")
        except BaseException as error:
            return Outcome(None, error, monotonic() - began)
        seconds = monotonic() - began
        if entry.demoted and entry.returned(seconds <= QUICK_LIMIT):
            log.info("%s is quick again: it runs inline from now on", entry.id)
        return Outcome(value, None, seconds)

    def count_failure(self, entry: Loaded[Any], outcome: Outcome) -> None:
        """Log and count a call that failed. A success is counted by the caller, which checks the value first.

        One without a limit is a handler: it is never suspended, and its host reports how its turn ended.
        """
        if outcome.unavailable is not None:
            log.info("%s is not available: %s", entry.id, outcome.error)  # its refusal is what the user reads
        elif outcome.error is not None and entry.limit != float("inf"):
            self.record_failure(entry, outcome.failure, late=outcome.late)

    async def call(self, entry: Loaded[Any], *args: Any) -> Outcome:
        """Call a plugin where its mode says and wait for it, at most as long as its limit; count a failure."""
        if entry.mode == "inline":
            return self.call_now(entry, *args)
        if entry.mode == "loop":
            return await self._call_on_loop(entry, args)

        def work(job: Job) -> Outcome:
            job.enter(entry, self.clock.monotonic())
            outcome = self.attempt(entry, *args)
            if not job.keep(lambda: self.count_failure(entry, outcome)):
                entry.returned_late()
            return outcome

        unlimited = entry.limit == float("inf")
        return await self.on_worker(work, lambda late: Outcome(None, late, entry.limit), unlimited)

    async def on_worker(self, work: Callable[[Job], T], abandoned: Callable[[Late], T], unlimited: bool = False) -> T:
        """Run `work`, which may call several plugins in turn, on a worker thread.

        It names the plugin it is about to call by `job.enter`. When one exceeds its limit the job is abandoned and
        the result is `abandoned(late)`. `unlimited` work gets a thread beside the pool.
        """
        job = self.threads.submit(work, unlimited)
        timer: Timer | None = None

        def check_limit() -> None:
            nonlocal timer
            entry, began, call = job.current()
            left = _RECHECK if entry is None else began + entry.limit - self.clock.monotonic()
            if left > 0 or not job.abandon(call):
                timer = self.clock.after(left if left > 0 else _RECHECK, check_limit)
                return
            self.threads.abandoned(job)
            late = Late(f"took longer than {entry.limit:g} s")
            entry.was_abandoned()
            self.record_failure(entry, str(late), late=True)
            if not job.done.done():  # the waiting task may have been cancelled a moment ago
                job.done.set_result(abandoned(late))

        check_limit()
        try:
            result: T = await job.done
            return result
        except asyncio.CancelledError:
            if job.abandon():
                self.threads.abandoned(job)
                entry, _, _ = job.current()
                if entry is not None:
                    entry.was_abandoned()
            raise
        finally:
            if timer is not None:
                timer.cancel()

    async def off_loop(self, work: Callable[[], T]) -> T:
        """Run Hark's own blocking work on a worker thread. Raises what it does, or `TimeoutError` after 20 seconds."""
        job = self.threads.submit(lambda _job: work())
        try:
            async with self.clock.timeout(_OWN_WORK):
                result: T = await job.done
                return result
        finally:
            if job.abandon():
                self.threads.abandoned(job)

    async def guard(self, work: Coroutine[Any, Any, T], who: str) -> T | None:
        """Await plugin code without a limit; a failure is logged under `who`, and the result is None."""
        try:
            return await work
        except BaseException as error:  # also SystemExit: leaving a task it would end the loop
            task = asyncio.current_task()
            if type(error) is asyncio.CancelledError and task is not None and task.cancelling():
                raise
            log.error("%s failed: %s", who, describe_error(error))
            return None

    async def _call_on_loop(self, entry: Loaded[Any], args: tuple[Any, ...]) -> Outcome:
        task = asyncio.get_running_loop().create_task(self._awaited(entry, args), name=entry.id)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        done: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()

        def finished(ended: asyncio.Task[Outcome]) -> None:
            if not done.done():
                cancelled = ended.cancelled()
                done.set_result(Outcome(None, RuntimeError("cancelled itself"), 0.0) if cancelled else ended.result())

        task.add_done_callback(finished)

        def expired() -> None:
            if not done.done():
                done.set_result(Outcome(None, Late(f"took longer than {entry.limit:g} s"), entry.limit))

        timer = self.clock.after(entry.limit, expired)
        try:
            outcome = await done
        finally:
            timer.cancel()
            if not task.done():
                task.cancel()
        self.count_failure(entry, outcome)
        return outcome

    async def _awaited(self, entry: Loaded[Any], args: tuple[Any, ...]) -> Outcome:
        monotonic = self.clock.monotonic
        began = monotonic()
        try:
            value = await entry.call(*args)
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # also SystemExit: leaving a task it would end the loop
            return Outcome(None, error, monotonic() - began)
        return Outcome(value, None, monotonic() - began)

    def record_failure(self, entry: Loaded[Any], reason: str, *, late: bool = False) -> None:
        """Log and count a failure: the plugin raised, was late, or returned a value it may not return."""
        log.warning("%s failed: %s", entry.id, reason)
        if entry.failed(self.clock.monotonic(), late=late):
            log.error("%s failed %d times in a row and is disabled for a while", entry.id, entry.failures)
        if entry.unloaded:
            log.error("%s is unloaded: %s", entry.id, entry.unloaded)


async def cancel_all(tasks: Iterable[asyncio.Task[Any]], clock: Clock, timeout: float = CANCEL_TIMEOUT) -> None:
    """Cancel `tasks` and wait until they end, at most `timeout` seconds: a task can ignore its cancellation."""
    running = [task for task in tasks if not task.done()]
    for task in running:
        task.cancel()
    if not running:
        return
    try:
        async with clock.timeout(timeout):
            await asyncio.wait(running)
    except TimeoutError:
        for task in running:
            if not task.done():
                log.error("%s did not end when it was cancelled and is abandoned", task.get_name())


class Gate:
    """Turns enter and leave. While it is `closed()`, no turn is inside, and those that want to enter wait."""

    __slots__ = ("_closing", "_empty", "_inside", "_opened", "is_closed")

    def __init__(self) -> None:
        self._inside = 0
        self._opened = asyncio.Event()
        self._empty = asyncio.Event()
        self._closing = asyncio.Lock()
        self.is_closed = False
        """Whether `enter` waits."""

    async def enter(self) -> None:
        """Enter as soon as the gate is open."""
        while self.is_closed:
            await self._opened.wait()
        self._inside += 1

    def leave(self) -> None:
        """Leave; each `enter` has one `leave`."""
        self._inside -= 1
        if self.is_closed and not self._inside:
            self._empty.set()

    @asynccontextmanager
    async def closed(self) -> AsyncIterator[None]:
        """Close the gate and wait until it is empty; open it again at the end of the block."""
        async with self._closing:
            self._opened.clear()
            self.is_closed = True
            try:
                if self._inside:
                    self._empty.clear()
                    await self._empty.wait()
                yield
            finally:
                self.is_closed = False
                self._opened.set()
