"""Immutable JSON: frozen once where it enters the process, then shared."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any, Final, NoReturn

import msgspec

from hark.model.errors import MalformedMessage

MAX_DEPTH: Final = 100
"""How deep a Message may nest, its envelope included: a limit against messages that exhaust the stack."""

# Python and msgspec do not read integers of more than 4300 digits.
_HUGE: Final = 10**4300


class Sealed(dict[str, Any]):
    """A mapping that refuses every write; its values may be mutable."""

    __slots__ = ()

    def _refuse(self, *_args: object, **_kwargs: object) -> NoReturn:
        raise TypeError("this object is frozen; thaw() gives a copy that can be changed")

    __setitem__ = __delitem__ = __ior__ = _refuse
    update = pop = popitem = clear = setdefault = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __copy__(self) -> Sealed:
        return self

    def __deepcopy__(self, _memo: object) -> Sealed:
        return self

    def __reduce__(self) -> tuple[type[Sealed], tuple[dict[str, Any]]]:
        return type(self), (dict(self),)


class Frozen(Sealed):
    """A JSON object that refuses every write: nested objects are `Frozen`, nested arrays are tuples.

    `freeze` converts any JSON value; the constructor is for values that are frozen already.
    """

    __slots__ = ()


EMPTY: Final = Frozen()


def freeze(value: Any, depth: int = 1) -> Any:
    """`value` as frozen JSON; raises `MalformedMessage` for anything JSON cannot represent.

    `depth` is the number of objects and arrays around the value; data and context are inside the envelope.
    """
    return _freeze(value, depth)


def freeze_object(value: Any) -> Frozen:
    """As `freeze`, for a JSON object."""
    if type(value) is Frozen:
        return value
    if not isinstance(value, (dict, Mapping)):
        raise MalformedMessage(f"expected a JSON object, got {type(value).__name__}")
    return _freeze_mapping(value, 1)


def adopt(value: Any) -> Any:
    """As `freeze`, without checks, for the fresh result of a JSON decoder."""
    kind = type(value)
    if kind is dict:
        return Frozen({key: item if type(item) in _LEAVES else adopt(item) for key, item in value.items()})
    if kind is list:
        return tuple([item if type(item) in _LEAVES else adopt(item) for item in value])
    return value


def thaw(value: Any) -> Any:
    """A mutable copy of frozen JSON, made of plain dicts and lists."""
    if isinstance(value, dict):
        return {key: thaw(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [thaw(item) for item in value]
    return value


def check_text(text: str) -> str:
    """`text`; raises `MalformedMessage` if it has a lone surrogate, which UTF-8 cannot encode."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise MalformedMessage(f"text holds a lone surrogate: {text[:80]!r}") from None
    return text


_LEAVES: Final = frozenset({str, int, float, bool, type(None)})


def _freeze(value: Any, depth: int) -> Any:
    kind = type(value)
    if kind is str:
        return check_text(value)
    if kind in _LEAVES:
        return _check_number(value, kind)
    if depth >= MAX_DEPTH:
        raise MalformedMessage(f"nested deeper than {MAX_DEPTH} levels")
    if kind is Frozen and _is_frozen_json(value, depth):
        return value
    if isinstance(value, dict):
        return _freeze_mapping(value, depth)
    if isinstance(value, (list, tuple)):
        below = depth + 1
        return tuple([item if type(item) is str and item.isascii() else _freeze(item, below) for item in value])
    return _freeze_other(value, depth)


def _check_number(value: Any, kind: type) -> Any:
    if kind is float and not isfinite(value):
        raise MalformedMessage(f"JSON has no number {value!r}")
    if kind is int and not -_HUGE < value < _HUGE:
        raise MalformedMessage("an integer of more than 4300 digits")
    return value


def _freeze_mapping(value: Mapping[Any, Any], depth: int) -> Frozen:
    frozen: dict[str, Any] = {}
    below = depth + 1
    for key, item in value.items():
        text = key if type(key) is str and key.isascii() else _text_key(key)
        frozen[text] = item if type(item) is str and item.isascii() else _freeze(item, below)
    return Frozen(frozen)


def _text_key(key: object) -> str:
    if not isinstance(key, str):
        raise MalformedMessage(f"an object's key must be text, not {type(key).__name__}")
    return check_text(str.__str__(key))


def _is_frozen_json(value: Any, depth: int) -> bool:
    """Whether a frozen value can be shared at this depth: it is JSON and not nested too deep."""
    if depth >= MAX_DEPTH:
        return False
    for item in value.values() if type(value) is Frozen else value:
        kind = type(item)
        if kind is Frozen or kind is tuple:
            if not _is_frozen_json(item, depth + 1):
                return False
        elif kind not in _LEAVES:
            return False
    return True


def _freeze_other(value: Any, depth: int) -> Any:
    # A subclass, such as an enum of strings, becomes its plain value, whatever its str() or int() return.
    if isinstance(value, str):
        return check_text(str.__str__(value))
    if isinstance(value, int):
        return _check_number(int.__int__(value), int)
    if isinstance(value, float):
        return _check_number(float.__float__(value), float)
    if isinstance(value, msgspec.Struct):
        try:
            return _freeze(msgspec.to_builtins(value), depth)
        except (TypeError, ValueError) as error:
            raise MalformedMessage(f"JSON cannot represent this {type(value).__name__}: {error}") from None
    if isinstance(value, Mapping):
        return _freeze_mapping(value, depth)
    raise MalformedMessage(f"JSON cannot represent a {type(value).__name__}")
