"""The normaliser of utterances."""

from hark.builtin.normalize.plugin import Normalize

__all__ = ["Normalize"]
