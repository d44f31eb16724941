"""From what is said into a microphone to an utterance (AUDIO-IN-1)."""

from hark.hear.listener import Listener, ListenerState
from hark.hear.options import HearOptions

__all__ = ["HearOptions", "Listener", "ListenerState"]
