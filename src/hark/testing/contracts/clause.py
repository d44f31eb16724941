"""Clauses, and the test that is made of them."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import msgspec

from hark.plugins import PipelinePlugin, Transformer
from hark.plugins.engines import Engine
from hark.skills import Skill
from hark.testing.contracts.subject import Make, Subject

Check = Callable[[Subject], Awaitable[None]]


class Clause(msgspec.Struct, frozen=True):
    """One thing a plugin has to keep: a name that reads as a sentence, and how it is found out."""

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
        asyncio.run(_kept(clause, Subject(make, settings, options)))

    return test_contract


test_of.__test__ = False  # type: ignore[attr-defined]  # its name begins like that of a test


async def _kept(clause: Clause, subject: Subject) -> None:
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
