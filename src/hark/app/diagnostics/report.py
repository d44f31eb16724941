"""The report of `hark doctor` as data."""

from __future__ import annotations

import msgspec


class PluginReport(msgspec.Struct, frozen=True, kw_only=True):
    """A loaded plugin."""

    id: str
    runs: str
    """Where its code runs: `inline`, `worker` or `loop`."""
    origin: str
    """File and line."""
    note: str = ""
    """Whether it was demoted, fails, or was unloaded."""
    priority: int | None = None
    essential: bool = False
    """Whether nothing passes that it has not accepted."""


class ChainReport(msgspec.Struct, frozen=True, kw_only=True):
    """One chain, in the order in which it runs for a session that does not choose its own."""

    kind: str
    order: str
    """The reason for this order."""
    members: list[PluginReport]
    left_out: list[str]
    """Loaded, but not listed in the settings."""


class PipelineReport(msgspec.Struct, frozen=True, kw_only=True):
    """An entry of the pipeline."""

    entry: str
    plugin: PluginReport | None
    """The plugin of this entry; None when it is not loaded."""


class SkillReport(msgspec.Struct, frozen=True, kw_only=True):
    """A loaded skill."""

    member: PluginReport
    intents: list[str]


class EngineReport(msgspec.Struct, frozen=True, kw_only=True):
    """An engine that is loaded."""

    kind: str
    member: PluginReport
    about: str
    """Its own description: model, version."""


class MissingPlugin(msgspec.Struct, frozen=True, kw_only=True):
    """A plugin that is not loaded."""

    kind: str
    name: str
    reason: str
    remedy: str
    where: str


class OvosPluginReport(msgspec.Struct, frozen=True, kw_only=True):
    """An installed plugin of OVOS's plugin manager."""

    kind: str
    id: str
    package: str
    state: str
    """"loaded", or what keeps it from being loaded."""


class ServiceReport(msgspec.Struct, frozen=True, kw_only=True):
    """A service that has a process to itself."""

    service: str
    process: str = ""
    """Which process has it; empty when none has."""
    is_ready: bool = False


class DoctorReport(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that `hark doctor` found."""

    version: str
    settings_file: str
    lang: str
    langs: list[str]
    chains: list[ChainReport]
    taps: list[PluginReport] = []
    """Audio taps, which hear the sound before any wake word."""
    pipeline: list[PipelineReport]
    never_asked: list[str]
    """Pipeline plugins that are loaded but not in the pipeline."""
    skills: list[SkillReport]
    toolboxes: list[PluginReport] = []
    """Toolboxes, whose tools personas and programs may call."""
    missing: list[MissingPlugin]
    overlaps: list[str] = []
    """Sentences that two skills claim, and which one gets them. It may be intended, so it is not a fault."""
    thefts: list[str] = []
    """Intents that get sentences which are registered for others, measured. It is no fault either."""
    own_overlaps: list[str] = []
    """The overlaps between two skills that come with Hark."""
    sentence_model: str = ""
    """Whether the sentence model is there and asked."""
    engines: list[EngineReport] = []
    """Engines in order of preference for each kind; none in an assistant without voice."""
    services: list[ServiceReport] = []
    """Where each service is, when they are not all in one process."""
    ovos: list[OvosPluginReport] = []
    """Installed plugins of OVOS, whether they are used or not."""
    advice: list[str]
    """Settings that have no effect or are probably mistakes."""

    @property
    def healthy(self) -> bool:
        """Whether nothing is missing and nothing needs attention."""
        members = [member for chain in self.chains for member in chain.members]
        members += [*self.taps, *self.toolboxes]
        members += [asked.plugin for asked in self.pipeline if asked.plugin is not None]
        members += [engine.member for engine in self.engines]
        if not all(service.is_ready for service in self.services):
            return False
        return not self.missing and not self.advice and not any(member.note for member in members)
