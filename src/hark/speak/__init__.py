"""From a response to what is heard or read. `hark.speak.voice` and `hark.speak.options` are for who wants it heard."""

from hark.speak.speaker import Speaker
from hark.speak.wording import Render, Spoken

__all__ = ["Render", "Speaker", "Spoken"]
