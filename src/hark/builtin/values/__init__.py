"""Typed values of slots: numbers, ordinals, durations, days and times, colours, yes and no."""

from hark.builtin.values.plugin import Values, read

__all__ = ["Values", "read"]
