"""OVOS clients, skills and tools of both lines in use, unmodified."""

from hark.bridges.ovos.bridge import OvosBridge

__all__ = ["OvosBridge"]
