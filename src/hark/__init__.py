"""Hark: a voice operating system. See `hark.plugins`, `hark.skills` and `hark.testing` for what authors use."""

__version__ = "0.1.0"
