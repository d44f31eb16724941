"""From a response to what is heard or read."""

from hark.speak.speaker import Render, Speaker, Spoken

__all__ = ["Render", "Speaker", "Spoken"]
