"""What a plugin may not put on the bus: the words of the frame."""

from __future__ import annotations

from typing import Final

from hark.spec import is_dispatch_topic, topics

FRAME_TOPICS: Final = frozenset(
    {
        topics.UTTERANCE_HANDLED,
        topics.UTTERANCE_CANCELLED,
        topics.INTENT_MATCHED,
        topics.INTENT_UNMATCHED,
        topics.HANDLER_START,
        topics.HANDLER_COMPLETE,
        topics.HANDLER_ERROR,
        topics.HANDLER_ACCEPTED,
        topics.HANDLER_DONE,
        topics.HANDLER_WAITING,
        topics.HOST_ALIVE,
        topics.SPEECH_RENDERED,
    }
)
"""Topics that say how a turn goes. Whoever could emit them could end somebody else's."""


def is_for_plugins(topic: str) -> bool:
    """Whether a plugin may emit `topic`: not what the frame says about turns, and no dispatch, which is a claim's."""
    return topic not in FRAME_TOPICS and not is_dispatch_topic(topic)


def let_out(topic: str, plugin_id: str) -> None:
    """Raise `PermissionError` when `topic` is the frame's to emit."""
    if not is_for_plugins(topic):
        raise PermissionError(f"{plugin_id} may not emit {topic}: only the frame says how a turn goes")
