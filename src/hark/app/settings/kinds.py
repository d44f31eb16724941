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
Lang = Annotated[str, Meta(description='a language tag such as "en-US"', extra={"fits": is_tag})]
Langs = Annotated[tuple[Lang, ...], Meta(description='a list of language tags such as ["de-DE", "fr"]')]
Name = Annotated[str, Meta(min_length=1, description="an id in quotes")]
Names = Annotated[
    tuple[Name, ...], Meta(description='a list of ids such as ["one", "another"]', examples=[["one", "another"]])
]
File = Annotated[str, Meta(min_length=1, description="a path in quotes")]
Files = Annotated[tuple[File, ...], Meta(description='a list of paths such as ["weather.py"]')]
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
