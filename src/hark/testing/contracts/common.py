"""Clauses for every kind of plugin."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from hark.hosting import InvalidPlugin
from hark.hosting.registry import main_method, settings_for
from hark.testing.contracts.clause import clause
from hark.testing.contracts.subject import Subject


@clause
async def it_is_let_in(subject: Subject) -> None:
    """Its id, its signature and everything else that is looked at when it is loaded is in order."""
    plugin = subject.make()
    try:
        main_method(plugin)
    except InvalidPlugin as unfit:
        raise AssertionError(f"{unfit}; {unfit.remedy}") from None


@clause
async def its_settings_have_defaults(subject: Subject) -> None:
    """It can be loaded without a word in the settings file, or with the settings the contract was given."""
    plugin = subject.make()
    try:
        settings_for(plugin, subject.settings)
    except InvalidPlugin as unfit:
        raise AssertionError(f"{unfit}; {unfit.remedy}") from None


@clause
async def it_can_be_made_twice(subject: Subject) -> None:
    """Two of them, in two houses at once, do not get in each other's way."""
    assert subject.make() is not subject.make(), "making it gives the same object again"
    async with subject.runtime(), subject.runtime():
        pass


@clause
async def it_starts_and_stops_and_leaves_no_task_behind(subject: Subject) -> None:
    """Whatever it started with `start` has ended after `stop`."""
    before = asyncio.all_tasks()
    async with subject.runtime():
        pass
    await asyncio.sleep(0)
    left = [task for task in asyncio.all_tasks() - before if not task.done()]
    assert not left, f"still running after stop: {[_described(task) for task in left]}"


def _described(task: asyncio.Task[Any]) -> str:
    return f"{task.get_name()} ({getattr(task.get_coro(), '__qualname__', '?')})"


COMMON: Final = (
    it_is_let_in,
    its_settings_have_defaults,
    it_can_be_made_twice,
    it_starts_and_stops_and_leaves_no_task_behind,
)
