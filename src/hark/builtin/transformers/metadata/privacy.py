"""What traces may keep of a turn, by device and time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from hark.builtin.transformers.conditions import Conditions
from hark.plugins import Audio, AudioTransformer, Ctx, Host, MetadataTransformer
from hark.spec.names import TRACE_KEEP


@dataclass(frozen=True)
class PrivacyRule(Conditions):
    """What may be kept, where its conditions are true."""

    keep: Literal["all", "no-text", "none"] = "no-text"
    """`all`; `no-text`: who acted and how long it took, without words; `none`: the trace is dropped with the turn."""


@dataclass(frozen=True)
class PrivacySettings:
    """What traces may keep. Both halves have the same settings."""

    rules: tuple[PrivacyRule, ...] = field(default=())
    """The rules, as [[plugins.privacy.rules]]; the first one whose conditions are true decides."""
    otherwise: Literal["all", "no-text", "none"] = "no-text"
    """What may be kept where no rule applies."""


def _decide(settings: PrivacySettings, ctx: Ctx, host: Host) -> None:
    keep = next((rule.keep for rule in settings.rules if rule.fits(ctx, host)), settings.otherwise)
    if keep != "all":
        ctx.set(TRACE_KEEP, keep)


class TurnPrivacy(MetadataTransformer):
    """Says what the trace of a turn may keep; every service that writes traces goes by it."""

    id = "privacy"
    priority = 5
    quick = True

    @dataclass(frozen=True)
    class Settings(PrivacySettings):
        """Those of both halves."""

    settings: Settings

    def transform(self, ctx: Ctx) -> None:
        _decide(self.settings, ctx, self.host)


class SoundPrivacy(AudioTransformer):
    """The same before speech is recognised, so that the trace of the recording has no words either."""

    id = "privacy"
    priority = 5
    quick = True
    chunked = True

    @dataclass(frozen=True)
    class Settings(PrivacySettings):
        """Those of both halves."""

    settings: Settings

    def transform(self, audio: Audio, ctx: Ctx) -> Audio:
        _decide(self.settings, ctx, self.host)
        return audio
