"""The recogniser that is asked when no registered sentence fits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from hark.plugins.engines import Unavailable
from hark.plugins.plugin import Host


def fallback_engine(engine_id: str, settings: Mapping[str, Any], host: Host | None) -> Any:
    """Another recogniser that comes with Hark, loaded; raises `Unavailable`."""
    from hark.builtin.engines import ENGINES, engine_class  # which leads here

    known = [name for kind, name in ENGINES if kind == "stt" and name != "pocketsphinx"]
    if engine_id not in known:
        raise Unavailable(f"there is no recogniser {engine_id!r} to ask otherwise", f"there are: {', '.join(known)}")
    kind = engine_class("stt", engine_id)
    other: Any = kind()
    for name in settings:
        if name not in kind.Settings.__dataclass_fields__:
            raise Unavailable(f"{engine_id} has no setting {name!r}", "correct `otherwise_settings`")
    try:
        other.settings = msgspec.convert(dict(settings), kind.Settings, strict=False)
    except msgspec.ValidationError as error:
        raise Unavailable(f"the settings of {engine_id} are wrong: {error}", "correct `otherwise_settings`") from None
    if host is not None:
        other.host = host
    other.load()
    return other
