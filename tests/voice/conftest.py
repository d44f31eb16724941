"""Real engines, loaded once for all tests of this folder."""

from voice_engines import ensemble, real, world

__all__ = ["ensemble", "real", "world"]
