"""From a response to what is heard or read. `hark.speak.synthesis` and `hark.speak.options` are for who wants it heard."""

from hark.speak.response import Render, SpokenResponse
from hark.speak.speaker import Speaker

__all__ = ["Render", "Speaker", "SpokenResponse"]
