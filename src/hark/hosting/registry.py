"""The loaded plugins of one kind, and why the others are not loaded."""

from __future__ import annotations

import inspect
import logging
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import FunctionType
from typing import Any, Generic, TypeVar

import msgspec

from hark.hosting.checks import Unfit, main_method, settings_for
from hark.hosting.loaded import Loaded
from hark.hosting.runner import in_words
from hark.plugins import Plugin

log = logging.getLogger("hark.hosting")

P = TypeVar("P", bound=Plugin)


class Refusal(msgspec.Struct, frozen=True):
    """A plugin that was not let in: what it is, why not, where it is, and what to do."""

    kind: str
    name: str
    reason: str
    remedy: str = ""
    where: str = ""

    def __str__(self) -> str:
        parts = (f"{self.kind} {self.name} is not loaded: {self.reason}", self.where, self.remedy)
        return " · ".join(part for part in parts if part)


class Limits(msgspec.Struct, frozen=True):
    """What a kind of plugin is allowed."""

    seconds: float = 10.0
    failures_allowed: int = 5
    retry_after: float = 60.0


class Registry(Generic[P]):
    """The plugins of one kind. Adding never raises: what does not fit is kept as a `Refusal`."""

    def __init__(self, kind: str, limits: Limits | None = None) -> None:
        self.kind = kind
        self.refusals: list[Refusal] = []
        self.version = 0
        """Counts changes, so that whoever composed something from here knows when to do it again."""
        self._limits = limits or Limits()
        self._loaded: dict[str, Loaded[P]] = {}

    def add(self, plugin: P, settings: dict[str, Any] | None = None, *, limit: float | None = None) -> Loaded[P] | None:
        """Check a plugin and let it in; None when it was refused."""
        entry = self.judge(plugin, settings, limit=limit)
        if isinstance(entry, Refusal):
            self.refuse(entry)
            return None
        self.put(entry)
        return entry

    def judge(
        self,
        plugin: P,
        settings: dict[str, Any] | None = None,
        *,
        limit: float | None = None,
        leaving: Collection[str] = (),
    ) -> Loaded[P] | Refusal:
        """Check a plugin without letting it in. The ids of those who are `leaving` count as free."""
        name = type(plugin).__qualname__
        try:
            name = str(getattr(plugin, "id", None) or name)
            call = main_method(plugin)
            if plugin.id in self._loaded and plugin.id not in leaving:
                other = self._loaded[plugin.id].origin
                raise Unfit(f"another {self.kind} has the id {plugin.id!r} already: {other}", "rename one of the two")
            plugin.settings = settings_for(plugin, settings or {})
            plugin.host = None  # type: ignore[assignment]  # until it starts; one that refuses it is found out now
        except BaseException as error:  # whatever is looked at, a plugin may have made it raise
            unfit = error if isinstance(error, Unfit) else Unfit(f"looking at it failed: {in_words(error)}", "")
            return Refusal(self.kind, name, str(unfit), unfit.remedy, line_of(type(plugin)))
        limits = self._limits
        return Loaded(
            plugin,
            call,
            origin=where_is(type(plugin)),
            limit=limits.seconds if limit is None else limit,
            failures_allowed=limits.failures_allowed,
            retry_after=limits.retry_after,
        )

    def put(self, entry: Loaded[P]) -> None:
        """Let in what `judge` found nothing against."""
        self._loaded[entry.id] = entry
        self.version += 1

    def arrange(self, ids: Sequence[str]) -> None:
        """Put those that are loaded into this order; what is not named comes last."""
        known = {plugin_id: self._loaded[plugin_id] for plugin_id in ids if plugin_id in self._loaded}
        self._loaded = known | self._loaded
        self.version += 1

    def allow(self, limits: Limits, single: Mapping[str, float]) -> None:
        """Set other limits, for those that are loaded and those to come; `single` are the seconds of some of them."""
        self._limits = limits
        for entry in self:
            entry.allow(single.get(entry.id, limits.seconds), limits.failures_allowed, limits.retry_after)

    def refuse(self, refusal: Refusal) -> None:
        """Keep the reason why something is not here."""
        self.refusals.append(refusal)
        log.warning("%s", refusal)

    def remove(self, plugin_id: str) -> None:
        """Forget a plugin."""
        if self._loaded.pop(plugin_id, None) is not None:
            self.version += 1

    def get(self, plugin_id: str) -> Loaded[P] | None:
        """The plugin with this id."""
        return self._loaded.get(plugin_id)

    def __contains__(self, plugin_id: object) -> bool:
        return plugin_id in self._loaded

    def __iter__(self) -> Iterator[Loaded[P]]:
        return iter(self._loaded.values())

    def __len__(self) -> int:
        return len(self._loaded)


def where_is(cls: type) -> str:
    """File and line of a class, as far as its methods tell; reading its source would cost every start."""
    codes = [member.__code__ for member in vars(cls).values() if isinstance(member, FunctionType)]
    if not codes:
        return str(getattr(sys.modules.get(cls.__module__), "__file__", cls.__module__))
    first = min(codes, key=lambda code: code.co_firstlineno)
    return f"{first.co_filename}:{first.co_firstlineno}"


def line_of(cls: type) -> str:
    """File and line of a class exactly, for somebody who has to mend it."""
    try:
        return f"{inspect.getsourcefile(cls)}:{inspect.getsourcelines(cls)[1]}"
    except Exception:  # reading somebody's source can go wrong in many ways, none of them worth a start
        return where_is(cls)
