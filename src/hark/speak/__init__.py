"""From a response to what is heard or read. Sound: `hark.speak.synthesis`, with `hark.speak.options`."""

from hark.speak.response import Render, SpokenResponse
from hark.speak.speaker import Speaker

__all__ = ["Render", "Speaker", "SpokenResponse"]
