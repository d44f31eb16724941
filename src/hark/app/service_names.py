"""Which services there are, and which plugins run in each."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final, Literal

from hark.hosting import Refusal
from hark.plugins import AudioTap, PipelinePlugin, Plugin, Toolbox, Transformer
from hark.spec import TRANSFORMER_TYPES, TransformerType

ServiceName = Literal["understand", "act", "hear", "speak", "schedule"]
Kind = TransformerType | Literal["audio_tap", "pipeline", "skill", "toolbox"]
"""The kinds of plugins."""

ALL_SERVICES: Final[tuple[ServiceName, ...]] = ("schedule", "hear", "understand", "act", "speak")
"""In the order in which they are stopped, so that what is under way comes to its end."""

SERVICE_OF: Final[Mapping[Kind, ServiceName]] = {
    "audio": "hear",
    "audio_tap": "hear",
    "utterance": "understand",
    "metadata": "understand",
    "intent": "understand",
    "pipeline": "understand",
    "skill": "act",
    "toolbox": "act",
    "dialog": "speak",
    "tts": "speak",
}
"""A pipeline plugin's own handlers run where it matches; skills have a service of their own."""


def kind_of(plugin: Plugin | Refusal | type[Plugin]) -> Kind:
    """The kind of a plugin, or of one that could not be loaded."""
    if isinstance(plugin, Refusal):
        named = plugin.kind.removeprefix("hark.transformer.").removeprefix("hark.")
        if named in TRANSFORMER_TYPES:
            return named
        others: tuple[Kind, ...] = ("pipeline", "audio_tap", "toolbox")
        return next((kind for kind in others if kind == named), "skill")
    made = plugin if isinstance(plugin, type) else type(plugin)
    if issubclass(made, Transformer):
        named = getattr(plugin, "type", "metadata")
        return named if named in TRANSFORMER_TYPES else "skill"
    if issubclass(made, AudioTap):
        return "audio_tap"
    if issubclass(made, Toolbox):
        return "toolbox"
    return "pipeline" if issubclass(made, PipelinePlugin) else "skill"


def group_of(kind: Kind) -> str:
    """The entry-point group under which packages offer such plugins."""
    return f"hark.transformer.{kind}" if kind in TRANSFORMER_TYPES else f"hark.{kind}"


def kinds_in(services: Collection[ServiceName]) -> frozenset[Kind]:
    """The kinds of plugins that run in these services."""
    return frozenset(kind for kind, service in SERVICE_OF.items() if service in services)
