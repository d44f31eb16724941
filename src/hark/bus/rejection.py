"""What becomes of a Message whose session is no object."""

from __future__ import annotations

import logging
from collections.abc import Callable

from hark.model import Message
from hark.model.frozen import Frozen
from hark.spec import topics

log = logging.getLogger("hark.bus")


def rejection_of(message: Message, tell: Callable[..., None] = log.warning) -> Message | None:
    """What is emitted in place of `message` when its session is malformed; None when it may pass (SESSION-1 §2.5).

    An utterance passes all the same: it gets its end marker. Whoever takes a Message onto the bus asks this, once;
    those who receive it do not. `tell` logs what was dropped.
    """
    if message.malformed_session is None or message.type == topics.UTTERANCE_HANDLE:
        return None
    tell("bus: dropped %s: its session is a %s", message.type, message.malformed_session)
    kept = {"utterance_id": message.utterance_id} if message.utterance_id else {}
    return Message(topics.SESSION_REJECTED, Frozen(msg_type=message.type, reason="malformed_carrier"), kept)
