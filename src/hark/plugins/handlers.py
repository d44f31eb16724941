"""Marking the methods that handle intents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

_MARK: Final = "__hark_handles__"


def handles(intent_name: str) -> Callable[[F], F]:
    """Make a method the handler of `<plugin id>:<intent_name>`.

    It takes a `Turn` and may be `def`, `async def` or an async generator; text it returns or yields is spoken.
    """

    def mark(method: F) -> F:
        setattr(method, _MARK, intent_name)
        return method

    return mark


def handlers_of(plugin: object) -> dict[str, Callable[..., Any]]:
    """The handlers a plugin declares, by intent name."""
    found: dict[str, Callable[..., Any]] = {}
    for owner in reversed(type(plugin).__mro__):
        for name, member in vars(owner).items():
            intent_name = getattr(member, _MARK, None)
            if intent_name is not None:
                found[intent_name] = getattr(plugin, name)
    return found
