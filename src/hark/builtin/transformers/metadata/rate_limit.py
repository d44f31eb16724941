"""Limiting how often each source may speak to the assistant."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Annotated, Final

from msgspec import Meta

from hark.plugins import Ctx, MetadataTransformer

_MOST: Final = 10_000
"""Sources that are remembered; the one that was quiet longest is forgotten first."""


class RateLimit(MetadataTransformer):
    """Cancels turns of a source, or of a session, that speaks too often. Others do not notice."""

    id = "rate-limit"
    priority = 10
    quick = True

    @dataclass(frozen=True)
    class Settings:
        """How often is too often."""

        per_minute: Annotated[float, Meta(gt=0)] = 60.0
        """Turns a minute, over time."""
        burst: Annotated[int, Meta(ge=1)] = 20
        """Turns at once before that."""
        exempt: tuple[str, ...] = ()
        """Sessions and sources that are not limited, such as "default"."""

    settings: Settings

    def __init__(self) -> None:
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def transform(self, ctx: Ctx) -> None:
        source, session_id = ctx.get("source"), ctx.session.session_id
        exempt = self.settings.exempt
        if session_id in exempt or source in exempt:
            return
        # A client may invent sessions, so where the source is named it counts.
        if not self._takes(f"source {source}" if isinstance(source, str) and source else f"session {session_id}"):
            ctx.set("rate-limit.per_minute", self.settings.per_minute)
            ctx.cancel("policy_block")

    def _takes(self, name: str) -> bool:
        now, burst = self.host.clock.monotonic(), float(self.settings.burst)
        tokens, at = self._buckets.pop(name, (burst, now))
        tokens = min(burst, tokens + (now - at) * self.settings.per_minute / 60.0)
        allowed = tokens >= 1.0
        self._buckets[name] = (tokens - 1.0 if allowed else tokens, now)
        if len(self._buckets) > _MOST:
            self._buckets.popitem(last=False)
        return allowed
