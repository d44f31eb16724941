"""Clauses, the test that is made of them, and the clauses of every kind of plugin."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from hark.hosting import InvalidPlugin
from hark.hosting.registry import main_method, settings_for
from hark.plugins import PipelinePlugin, Transformer
from hark.plugins.engines import Engine
from hark.skills import Skill
from hark.testing.contracts.subject import Make, Subject

Check = Callable[[Subject], Awaitable[None]]


class Clause(msgspec.Struct, frozen=True):
    """One thing a plugin has to keep: a name that reads as a sentence, and the check."""

    name: str
    check: Check

    def __str__(self) -> str:
        return self.name


def clause(check: Check) -> Clause:
    """Make a clause of an async function; its name says what is promised."""
    return Clause(check.__name__, check)


def test_of(clauses: Sequence[Clause], make: Make, settings: Mapping[str, Any], **options: Any) -> Callable[..., None]:
    """A test function, parametrised by clause, that holds the plugin to each of them."""
    import pytest

    @pytest.mark.parametrize("clause", clauses, ids=str)
    def test_contract(clause: Clause) -> None:
        """Runs on an event loop of its own, so that no plugin of pytest is needed."""
        asyncio.run(_check(clause, Subject(make, settings, options)))

    return test_contract


test_of.__test__ = False  # type: ignore[attr-defined]  # its name begins like that of a test


async def _check(clause: Clause, subject: Subject) -> None:
    await clause.check(subject)


def contract(make: Make, *, settings: Mapping[str, Any] | None = None, **options: Any) -> Callable[..., None]:
    """The contract of whatever kind of plugin `make` makes: `test_contract = contract(MyPlugin)`.

    `settings` are the plugin's own, where its defaults do not do. See the contract of each kind for its options.
    """
    from hark.testing.contracts.engines import engine_contract
    from hark.testing.contracts.matchers import matcher_contract
    from hark.testing.contracts.skills import skill_contract
    from hark.testing.contracts.transformers import transformer_contract

    kind = make if inspect.isclass(make) else type(make())
    if issubclass(kind, Transformer):
        return transformer_contract(make, settings=settings, **options)
    if issubclass(kind, PipelinePlugin):
        return matcher_contract(make, settings=settings, **options)
    if issubclass(kind, Skill):
        return skill_contract(make, settings=settings, **options)
    if issubclass(kind, Engine):
        return engine_contract(make, settings=settings, **options)
    raise TypeError(f"{kind.__qualname__} is no transformer, pipeline plugin, skill or engine")


@clause
async def it_is_accepted(subject: Subject) -> None:
    """Its id, its signature and everything else that is checked when it is loaded is in order."""
    plugin = subject.make()
    try:
        main_method(plugin)
    except InvalidPlugin as unfit:
        raise AssertionError(f"{unfit}; {unfit.remedy}") from None


@clause
async def its_settings_have_defaults(subject: Subject) -> None:
    """It can be loaded with an empty settings file, or with the settings the contract was given."""
    plugin = subject.make()
    try:
        settings_for(plugin, subject.settings)
    except InvalidPlugin as unfit:
        raise AssertionError(f"{unfit}; {unfit.remedy}") from None


@clause
async def it_can_be_made_twice(subject: Subject) -> None:
    """Two of them, in two assistants at once, do not disturb each other."""
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
    it_is_accepted,
    its_settings_have_defaults,
    it_can_be_made_twice,
    it_starts_and_stops_and_leaves_no_task_behind,
)
