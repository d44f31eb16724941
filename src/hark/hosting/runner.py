"""The one place that runs plugin code: with a time limit, failures caught, recorded and named."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable
from types import CoroutineType
from typing import Any, Final, TypeVar

import msgspec

from hark.hosting.loaded import Loaded
from hark.hosting.threads import Job, WorkerThreads
from hark.model import Clock, Timer

log = logging.getLogger("hark.hosting")

T = TypeVar("T")

QUICK_LIMIT: Final = 0.020
"""Seconds a quick plugin may take before it is moved to a worker."""

_LONGEST: Final = 2_000
"""Characters of what a plugin says went wrong; a trace keeps a thousand of them."""

_FRAMES: Final = 10
"""Frames of a stack that are worth a log entry, counted from where it happened."""

_traceback_of: Final[Any] = BaseException.__dict__["__traceback__"].__get__
"""Reads the traceback itself, whatever a subclass has made of looking at it."""

_UNSEEN: Final = 0.1
"""Seconds until the next look at a worker that has not begun, or is between two plugins."""


class Outcome(msgspec.Struct):
    """How a call went: a value, or an error; never both."""

    value: Any
    error: BaseException | None
    seconds: float

    @property
    def late(self) -> bool:
        """Whether the plugin overran its limit."""
        return type(self.error) is Late  # not isinstance: it believes what an object says about itself

    @property
    def failure(self) -> str:
        """The error in words, empty when there was none."""
        if self.late:
            return str(self.error)
        return "" if self.error is None else describe_error(self.error)


class Late(TimeoutError):
    """The plugin did not return within its limit; whatever it returns later is ignored."""


def sendable_text(text: str) -> str:
    """What a plugin wrote, as plain text that can be sent and kept: not for ever, and without half characters."""
    plain = str.__str__(text)
    if len(plain) > _LONGEST:
        plain = f"{plain[:_LONGEST]}... ({len(plain)} characters)"
    return plain if plain.isascii() else plain.encode(errors="replace").decode()


def error_text(error: BaseException) -> str:
    """An exception in one line, as text that can be sent."""
    name = "an exception"
    try:
        name = type(error).__name__
        said = sendable_text(str(error))
    except BaseException:  # its words are somebody's code as well
        said = "it cannot say what went wrong"
    return sendable_text(f"{name}: {said}" if said else name)


def describe_error(error: BaseException) -> str:
    """As `error_text`, with the place it was raised at."""
    trace = _traceback_of(error)
    place = ""
    while trace is not None:
        place = f" ({trace.tb_frame.f_code.co_filename}:{trace.tb_lineno})"
        trace = trace.tb_next
    return error_text(error) + (place if place.isascii() else place.encode(errors="replace").decode())


def error_stack(error: BaseException) -> str:
    """Where an exception came from, for the log.

    Made by hand: `traceback` asks the exception for its words, which runs its code, and before Python 3.11.9 two
    threads that use it at once can get each other a SystemError.
    """
    frames: list[str] = []
    trace = _traceback_of(error)
    while trace is not None:
        code = trace.tb_frame.f_code
        frames.append(f"  {code.co_filename}:{trace.tb_lineno} in {code.co_qualname}")
        trace = trace.tb_next
    return "\n".join(frames[-_FRAMES:])


class Runner:
    """Calls plugins: inline, on a worker or on the loop, as `Loaded.mode` says."""

    def __init__(self, clock: Clock, workers: WorkerThreads | None = None) -> None:
        self.clock = clock
        self.workers = workers or WorkerThreads()
        self.inline_now: Loaded[Any] | None = None
        """The plugin that runs inline at this moment, for the watchdog."""
        self._tasks: set[asyncio.Task[Any]] = set()

    @property
    def busy(self) -> int:
        """How many calls are under way, on workers or on the loop."""
        return self.workers.busy + len(self._tasks)

    def call_now(self, entry: Loaded[Any], *args: Any) -> Outcome:
        """Call a quick plugin on the spot."""
        around, self.inline_now = self.inline_now, entry
        outcome = self.attempt(entry, *args)
        self.inline_now = around
        if outcome.error is not None:
            self.count_failure(entry, outcome)
        if outcome.seconds > QUICK_LIMIT and entry.mode == "inline" and entry.overran(outcome.seconds):
            log.warning("%s is not quick: %s; it runs on a worker from now on%s", entry.id, entry.demoted, entry.stall)
        return outcome

    def attempt(self, entry: Loaded[Any], *args: Any) -> Outcome:
        """Call a plugin on the present thread and keep its failure from spreading; to count it is the caller's."""
        monotonic = self.clock.monotonic
        began = monotonic()
        try:
            value = entry.call(*args)
            if type(value) is CoroutineType:
                # A plain method that returns a coroutine: nobody runs it, or knows how long it would take.
                value.close()
                raise TypeError(f"{entry.id} returned a coroutine; declare it async def")
        except BaseException as error:
            return Outcome(None, error, monotonic() - began)
        return Outcome(value, None, monotonic() - began)

    def count_failure(self, entry: Loaded[Any], outcome: Outcome) -> None:
        """Log and count a call that went wrong. Whether one went well says who looks at its result."""
        if outcome.error is not None:
            self._note_failure(entry, outcome.failure)

    async def call(self, entry: Loaded[Any], *args: Any) -> Outcome:
        """Call a plugin wherever it belongs and wait for it, at most as long as its limit."""
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

        patient = entry.limit == float("inf")
        return await self.on_worker(work, lambda late: Outcome(None, late, entry.limit), patient)

    async def on_worker(self, work: Callable[[Job], T], given_up: Callable[[Late], T], patient: bool = False) -> T:
        """Do `work`, which may call several plugins one after the other, on a worker.

        It says which plugin it calls by `job.enter`. When one overruns its limit the job is abandoned and the
        result is `given_up(late)`. What has no limit is `patient`: it must not keep the others from a thread.
        """
        job = self.workers.submit(work, patient)
        timer: Timer | None = None

        def look() -> None:
            nonlocal timer
            entry, began, call = job.current()
            left = _UNSEEN if entry is None else began + entry.limit - self.clock.monotonic()
            if left > 0 or not job.abandon(call):
                timer = self.clock.after(left if left > 0 else _UNSEEN, look)
                return
            self.workers.abandoned(job)
            late = Late(f"took longer than {entry.limit:g} s")
            entry.was_abandoned()
            self._note_failure(entry, str(late))
            if not job.done.done():  # whoever waited may have been cancelled a moment ago
                job.done.set_result(given_up(late))

        look()
        try:
            result: T = await job.done
            return result
        except asyncio.CancelledError:
            if job.abandon():
                self.workers.abandoned(job)
                entry, _, _ = job.current()
                if entry is not None:
                    entry.was_abandoned()
            raise
        finally:
            if timer is not None:
                timer.cancel()

    async def guard(self, work: Coroutine[Any, Any, T], who: str) -> T | None:
        """Await plugin code that has no limit; its failure is logged under `who`, and None comes back."""
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
                gone = ended.cancelled()
                done.set_result(Outcome(None, RuntimeError("cancelled itself"), 0.0) if gone else ended.result())

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

    def note_misshape(self, entry: Loaded[Any], what: str) -> None:
        """A plugin returned what it may not: log it and count it, as if it had raised."""
        self._note_failure(entry, what)

    def _note_failure(self, entry: Loaded[Any], what: str) -> None:
        log.warning("%s failed: %s", entry.id, what)
        if entry.failed(self.clock.monotonic()):
            log.error("%s failed %d times in a row and is disabled for a while", entry.id, entry.failures)
        if entry.unloaded:
            log.error("%s is unloaded: %s", entry.id, entry.unloaded)


CANCEL_TIMEOUT: Final = 2.0
"""Seconds a task is given to clean up after itself."""


async def cancel_all(tasks: Iterable[asyncio.Task[Any]], clock: Clock, patience: float = CANCEL_TIMEOUT) -> None:
    """Cancel `tasks` and wait for their end, but not for ever: a task can refuse, and nothing can force it."""
    ending = [task for task in tasks if not task.done()]
    for task in ending:
        task.cancel()
    if not ending:
        return
    try:
        async with clock.timeout(patience):
            await asyncio.wait(ending)
    except TimeoutError:
        for task in ending:
            if not task.done():
                log.error("%s did not end when it was cancelled and is abandoned", task.get_name())
