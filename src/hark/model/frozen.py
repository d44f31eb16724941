"""JSON that nobody can change: frozen once where it enters, shared ever after."""

from __future__ import annotations

from math import isfinite
from typing import Any, Final, NoReturn

from hark.model.errors import MalformedMessage

MAX_DEPTH: Final = 100
"""Deeper nesting than this is refused: no message needs it, and recursion must not be a weapon."""


class Frozen(dict[str, Any]):
    """A JSON object that refuses every write. Nested objects are `Frozen`, nested arrays are tuples."""

    __slots__ = ()

    def _refuse(self, *_args: object, **_kwargs: object) -> NoReturn:
        raise TypeError("this JSON object is frozen; thaw() gives a copy that can be changed")

    __setitem__ = __delitem__ = __ior__ = _refuse  # type: ignore[assignment]
    update = pop = popitem = clear = setdefault = _refuse  # type: ignore[assignment]

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __copy__(self) -> Frozen:
        return self

    def __deepcopy__(self, _memo: object) -> Frozen:
        return self

    def __reduce__(self) -> tuple[type[Frozen], tuple[dict[str, Any]]]:
        return Frozen, (dict(self),)


EMPTY: Final = Frozen()


def freeze(value: Any) -> Any:
    """`value` as frozen JSON; raises `MalformedMessage`, naming the place, for anything JSON cannot say."""
    return _freeze(value, 0)


def freeze_object(value: Any) -> Frozen:
    """As `freeze`, for what has to be a JSON object."""
    if type(value) is Frozen:
        return value
    if not isinstance(value, dict):
        raise MalformedMessage(f"expected a JSON object, got {type(value).__name__}")
    frozen: Frozen = _freeze(value, 0)
    return frozen


def thaw(value: Any) -> Any:
    """A copy of frozen JSON made of plain dicts and lists, free to be changed."""
    if isinstance(value, dict):
        return {key: thaw(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [thaw(item) for item in value]
    return value


def check_text(text: str) -> str:
    """`text`, unless it holds a lone surrogate, which UTF-8 cannot carry."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise MalformedMessage(f"text holds a lone surrogate: {text!r}") from None
    return text


def _freeze(value: Any, depth: int) -> Any:
    kind = type(value)
    if kind is str:
        return value if value.isascii() else check_text(value)
    if value is None or kind is bool or kind is int or kind is Frozen:
        return value
    if kind is float:
        if isfinite(value):
            return value
        raise MalformedMessage(f"JSON has no number {value!r}")
    if depth >= MAX_DEPTH:
        raise MalformedMessage(f"nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, dict):
        return Frozen(_items(value, depth + 1))
    if isinstance(value, (list, tuple)):
        return tuple([_freeze(item, depth + 1) for item in value])
    if isinstance(value, (str, int, float)):
        # Subclasses (an enum of strings, say) become the plain value they stand for.
        base = str if isinstance(value, str) else int if isinstance(value, int) else float
        return _freeze(base(value), depth)
    raise MalformedMessage(f"JSON cannot say a {kind.__name__}: {value!r:.80}")


def _items(value: dict[Any, Any], depth: int) -> dict[str, Any]:
    frozen = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise MalformedMessage(f"an object's key must be text, got {key!r:.80}")
        frozen[check_text(key)] = _freeze(item, depth)
    return frozen
