"""Running one handler to its end, whatever kind of function it is."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Callable
from functools import partial
from typing import Any

from hark.act.polls import Polls
from hark.hosting import Loaded, Outcome, Runner, error_stack
from hark.plugins import Plugin, Turn

log = logging.getLogger("hark.act")


class Running:
    """Calls handlers, and says what they return."""

    def __init__(self, runner: Runner, polls: Polls) -> None:
        self._runner = runner
        self._polls = polls

    def entry(self, plugin: Plugin, method: Callable[..., Any]) -> Loaded[Any]:
        """A handler, ready to be run. It may take all the time it wants."""
        if inspect.isasyncgenfunction(method):
            method = partial(_speak_each, method)
        return Loaded(plugin, method, limit=float("inf"))

    async def run(self, entry: Loaded[Any], turn: Turn, topic: str) -> str:
        """Run a handler to its end; what went wrong, in words, or nothing."""
        if entry.mode == "loop":
            outcome = await _guarded(entry.call(turn))
        else:
            outcome = await self._runner.call(entry, turn)
        if outcome.error is not None:
            log.error("handler %s failed: %s\n%s", topic, outcome.failure, error_stack(outcome.error))
            return outcome.failure
        if outcome.value is None:
            return ""
        if not issubclass(type(outcome.value), str):  # not isinstance: it believes what an object says about itself
            return f"TypeError: the handler returned a {type(outcome.value).__name__}; it returns text or None"
        await turn.speak(outcome.value)
        return ""

    async def fall_back(self, plugin: Plugin, turn: Turn) -> Any:
        """The handler for an utterance that a plugin said it can take when nobody else does."""
        name = await self._polls.fallback_for(plugin, turn.message)
        if name is None:
            raise LookupError(f"no fallback of {plugin.id} wants this any more")
        method = getattr(plugin, name)
        if inspect.isasyncgenfunction(method):
            return await _speak_each(method, turn)
        outcome = await self._runner.call(Loaded(plugin, method, limit=float("inf")), turn)
        if outcome.error is not None:
            raise outcome.error
        return outcome.value


async def _speak_each(method: Callable[..., Any], turn: Turn) -> None:
    async for text in method(turn):
        await turn.speak(text)


async def _guarded(work: Any) -> Outcome:
    try:
        return Outcome(await work, None, 0.0)
    except asyncio.CancelledError as cancelled:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        return Outcome(None, cancelled, 0.0)  # the handler's own doing: nobody stopped it
    except BaseException as error:  # noqa: BLE001 - a SystemExit that leaves a task ends the loop
        return Outcome(None, error, 0.0)
