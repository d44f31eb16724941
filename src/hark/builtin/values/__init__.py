"""Typed values of slots: numbers, ordinals, durations, days and times, colours, yes and no."""

from hark.builtin.values.plugin import Values
from hark.builtin.values.reading import read

__all__ = ["Values", "read"]
