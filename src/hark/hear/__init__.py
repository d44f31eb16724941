"""From what is said into a microphone to an utterance (AUDIO-IN-1)."""

from hark.hear.listener import Listener
from hark.hear.options import HearOptions
from hark.hear.signals import State

__all__ = ["Listener", "HearOptions", "State"]
