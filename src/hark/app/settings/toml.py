"""Values as they are written in a TOML file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

_LONG = 60


def written(value: Any) -> str:
    """`value` in TOML; raises `TypeError` for what TOML cannot say."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return msgspec.json.encode(value).decode()
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(written, value))}]"
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{written(str(key))} = {written(item)}" for key, item in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    raise TypeError(f"TOML has no {type(value).__name__}")


def shown(value: Any) -> str:
    """`value` for an error message: as it would be written, if that is possible, and not too long."""
    try:
        text = written(value)
    except TypeError:
        text = str(value)
    return text if len(text) <= _LONG else text[: _LONG - 3] + "..."
