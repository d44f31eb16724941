"""Several commands in one utterance."""

from hark.builtin.several.plugin import Several

__all__ = ["Several"]
