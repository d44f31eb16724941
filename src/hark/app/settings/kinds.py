"""What a setting can be. Each kind says in words what it expects, for whoever wrote something else."""

from __future__ import annotations

import types
from typing import Annotated, Any, Union, get_args, get_origin

from msgspec import Meta

from hark.model.lang import is_tag

Flag = Annotated[bool, Meta(description="true or false")]
Count = Annotated[int, Meta(ge=1, le=2**31 - 1, description="a whole number, 1 or more")]
Seconds = Annotated[float, Meta(gt=0, description="a number of seconds above 0", examples=[20.0])]
Pause = Annotated[float, Meta(ge=0, description="a number of seconds, 0 or more")]
Share = Annotated[float, Meta(ge=0, le=1, description="a number from 0 to 1", examples=[0.5])]
Lang = Annotated[str, Meta(description='a language tag such as "en-US"', extra={"fits": is_tag})]
Langs = Annotated[tuple[Lang, ...], Meta(description='a list of language tags such as ["de-DE", "fr"]')]
Name = Annotated[str, Meta(min_length=1, description="an id in quotes")]
Names = Annotated[
    tuple[Name, ...], Meta(description='a list of ids such as ["one", "another"]', examples=[["one", "another"]])
]
File = Annotated[str, Meta(min_length=1, description="a path in quotes")]
Files = Annotated[tuple[File, ...], Meta(description='a list of paths such as ["weather.py"]')]
Address = Annotated[str, Meta(min_length=1, description='a host name or an address such as "127.0.0.1"')]
Addresses = Annotated[tuple[Address, ...], Meta(description='a list of host names such as ["hub.local"]')]
Origins = Annotated[tuple[Address, ...], Meta(description='a list of web sites such as ["https://panel.example"]')]
Port = Annotated[int, Meta(ge=0, le=65_535, description="a number up to 65535")]
UrlPath = Annotated[str, Meta(min_length=1, description='the path of an address such as "/core"')]
Url = Annotated[str, Meta(min_length=1, description='an address such as "ws://127.0.0.1:8181/core"')]
Rate = Annotated[float, Meta(ge=0, description="a number a second, 0 for no limit")]
ById = Annotated[dict[str, Seconds], Meta(description="a table of seconds by plugin id such as { template = 20.0 }")]


def meta_of(kind: Any) -> Meta | None:
    """What a kind says about itself."""
    kind = _set(kind)
    return get_args(kind)[1] if get_origin(kind) is Annotated else None


def item_of(kind: Any) -> Any:
    """The kind of the items, for a list; else None."""
    plain = _plain(kind)
    return get_args(plain)[0] if get_origin(plain) is tuple else None


def value_of(kind: Any) -> Any:
    """The kind of the values, for a table with names of the deployer's choice; else None."""
    plain = _plain(kind)
    return get_args(plain)[1] if get_origin(plain) is dict else None


def _plain(kind: Any) -> Any:
    kind = _set(kind)
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


def _set(kind: Any) -> Any:
    """The kind without `| None`, which no file can say."""
    if get_origin(kind) in (Union, types.UnionType):
        return next(part for part in get_args(kind) if part is not type(None))
    return kind
