"""Which rooms there are, and who lives in each."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final, Literal

from hark.hosting import Refusal
from hark.plugins import PipelinePlugin, Plugin, Transformer
from hark.spec import TRANSFORMER_TYPES, TransformerType

ServiceName = Literal["understand", "act", "hear", "speak"]
Kind = TransformerType | Literal["pipeline", "skill"]
"""What sort of plugin somebody is."""

ALL_SERVICES: Final[tuple[ServiceName, ...]] = ("hear", "understand", "act", "speak")
"""In the order in which they come to their end: what is under way gets to its own."""

SERVICE_OF: Final[Mapping[Kind, ServiceName]] = {
    "audio": "hear",
    "utterance": "understand",
    "metadata": "understand",
    "intent": "understand",
    "pipeline": "understand",
    "skill": "act",
    "dialog": "speak",
    "tts": "speak",
}
"""A pipeline plugin's own handlers run where it matches; skills have a room to themselves."""


def kind_of(plugin: Plugin | Refusal | type[Plugin]) -> Kind:
    """What sort of plugin this is, or was to be."""
    if isinstance(plugin, Refusal):
        named = plugin.kind.removeprefix("hark.transformer.").removeprefix("hark.")
        if named in TRANSFORMER_TYPES:
            return named
        return "pipeline" if named == "pipeline" else "skill"
    made = plugin if isinstance(plugin, type) else type(plugin)
    if issubclass(made, Transformer):
        named = getattr(plugin, "type", "metadata")
        return named if named in TRANSFORMER_TYPES else "skill"
    return "pipeline" if issubclass(made, PipelinePlugin) else "skill"


def group_of(kind: Kind) -> str:
    """The entry-point group under which packages offer such plugins."""
    return f"hark.transformer.{kind}" if kind in TRANSFORMER_TYPES else f"hark.{kind}"


def kinds_in(rooms: Collection[ServiceName]) -> frozenset[Kind]:
    """Everybody who lives in these rooms."""
    return frozenset(kind for kind, room in SERVICE_OF.items() if room in rooms)
