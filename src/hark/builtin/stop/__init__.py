"""Stop, ahead of everything."""

from hark.builtin.stop.plugin import Stop

__all__ = ["Stop"]
