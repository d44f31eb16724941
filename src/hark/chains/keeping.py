"""What a trace keeps of an artifact."""

from __future__ import annotations

from typing import Any, Final

from hark.model import Audio, Match
from hark.model.audio_level import describe

_LONG: Final = 2_000
"""Characters up to which an artifact is kept as it is."""
_MANY: Final = 20


def worth_keeping(artifact: Any) -> Any:
    """The artifact itself, unless it is so big that a thousand of them would be felt: then what tells it.

    Sound is told in any case: nobody reads samples.
    """
    kind = type(artifact)
    if kind is str:
        return artifact if len(artifact) <= _LONG else f"{artifact[:_LONG]}... ({len(artifact)} characters)"
    if kind is tuple:
        if len(artifact) <= _MANY and all(len(text) <= _LONG for text in artifact):
            return artifact
        more = (f"... ({len(artifact)} in all)",) if len(artifact) > _MANY else ()
        return (*map(worth_keeping, artifact[:_MANY]), *more)
    if kind is Audio:
        return describe(artifact)
    if kind is Match and sum(map(len, artifact.slots.values())) > _LONG:
        return f"{artifact.topic} with {len(artifact.slots)} slots"
    return artifact
