"""A cache of what was computed from short texts: what clients send may be megabytes, and not worth keeping."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def cached_by_text(
    maxsize: int, longest: int = 100
) -> Callable[[Callable[Concatenate[str, P], T]], Callable[Concatenate[str, P], T]]:
    """`lru_cache` for functions of a text: those of more than `longest` characters are computed each time."""

    def decorate(function: Callable[Concatenate[str, P], T]) -> Callable[Concatenate[str, P], T]:
        cached: Any = lru_cache(maxsize=maxsize)(function)

        @wraps(function)
        def call(text: str, /, *args: P.args, **options: P.kwargs) -> T:
            compute = cached if len(text) <= longest else function
            result: T = compute(text, *args, **options)
            return result

        return call

    return decorate
