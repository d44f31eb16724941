"""The kinds of values that settings have, and how each is described to users."""

from __future__ import annotations

import types
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from msgspec import Meta

from hark.model.lang import is_tag
from hark.plugins.home import zone_named

Flag = Annotated[bool, Meta(description="true or false")]
Count = Annotated[int, Meta(ge=1, le=2**31 - 1, description="a whole number, 1 or more")]
Seconds = Annotated[float, Meta(gt=0, description="a number of seconds above 0", examples=[20.0])]
SessionSize = Annotated[int, Meta(ge=4_096, le=1_048_576, description="a whole number from 4096 to 1048576")]
Pause = Annotated[float, Meta(ge=0, description="a number of seconds, 0 or more")]
Place = Annotated[int, Meta(description="a whole number")]
Share = Annotated[float, Meta(ge=0, le=1, description="a number from 0 to 1", examples=[0.5])]
Lang = Annotated[str, Meta(description='a language tag such as "en-US"', extra={"fits": is_tag})]
Langs = Annotated[tuple[Lang, ...], Meta(description='a list of language tags such as ["de-DE", "fr"]')]
Degrees90 = Annotated[float, Meta(ge=-90, le=90, description="a number from -90 to 90", examples=[42.36])]
Degrees180 = Annotated[float, Meta(ge=-180, le=180, description="a number from -180 to 180", examples=[-71.06])]


def is_zone(name: str) -> bool:
    """Whether this machine knows the time zone `name`; one that knows no zones at all takes every name."""
    for known in (name, "UTC"):
        try:
            zone_named(known)
        except LookupError:
            continue
        return known == name
    return True


Zone = Annotated[
    str, Meta(description='a time zone such as "Europe/Lisbon"', examples=["Europe/Lisbon"], extra={"fits": is_zone})
]
UnitSystem = Annotated[Literal["metric", "imperial"], Meta(description='"metric" or "imperial"', examples=["metric"])]
HourClock = Annotated[Literal[12, 24], Meta(description="12 or 24", examples=[24])]
Name = Annotated[str, Meta(min_length=1, description="an id in quotes")]
Names = Annotated[
    tuple[Name, ...], Meta(description='a list of ids such as ["one", "another"]', examples=[["one", "another"]])
]
File = Annotated[str, Meta(min_length=1, description="a path in quotes")]
Files = Annotated[tuple[File, ...], Meta(description='a list of paths such as ["weather.py"]')]
_PLAIN: Final = r"^[^\x00-\x20\x7f]+$"
Address = Annotated[str, Meta(pattern=_PLAIN, description='a host name or an address such as "127.0.0.1"')]
Addresses = Annotated[tuple[Address, ...], Meta(description='a list of host names such as ["hub.local"]')]
Origins = Annotated[tuple[Address, ...], Meta(description='a list of web sites such as ["https://panel.example"]')]
Port = Annotated[int, Meta(ge=0, le=65_535, description="a number up to 65535")]
UrlPath = Annotated[str, Meta(pattern=_PLAIN, description='the path of an address such as "/core"')]
Url = Annotated[
    str,
    Meta(pattern=r"^wss?://[^\x00-\x20\x7f]+$", description='the address of a bus such as "ws://127.0.0.1:8181/core"'),
]
Rate = Annotated[float, Meta(ge=0, description="a number a second, 0 for no limit")]
ById = Annotated[dict[str, Seconds], Meta(description="a table of seconds by plugin id such as { template = 20.0 }")]


def meta_of(kind: Any) -> Meta | None:
    """The description of a kind of value."""
    kind = _set(kind)
    return get_args(kind)[1] if get_origin(kind) is Annotated else None


def item_of(kind: Any) -> Any:
    """The kind of the items, for a list; else None."""
    plain = _plain(kind)
    return get_args(plain)[0] if get_origin(plain) is tuple else None


def value_of(kind: Any) -> Any:
    """The kind of the values, for a table with names chosen by the user; else None."""
    plain = _plain(kind)
    return get_args(plain)[1] if get_origin(plain) is dict else None


def _plain(kind: Any) -> Any:
    kind = _set(kind)
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


def _set(kind: Any) -> Any:
    """The kind without `| None`, which TOML does not have."""
    if get_origin(kind) in (Union, types.UnionType):
        return next(part for part in get_args(kind) if part is not type(None))
    return kind
