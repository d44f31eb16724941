"""Taking an utterance in: its id, its session, its texts."""

from __future__ import annotations

import logging
import os
from itertools import count
from typing import Final

from hark.model import Frozen, Message, Session
from hark.spec.names import CANCEL_KEYS, UTTERANCE_ID
from hark.trace import TraceStore
from hark.understand.lifecycle import Lifecycle
from hark.understand.options import Options
from hark.understand.store import DefaultSession

log = logging.getLogger("hark.understand")

_CANCEL_KEYS: Final = frozenset(CANCEL_KEYS)

# Unique in the deployment by the process, in the process by a count: a random id for each turn costs more.
_PROCESS: Final = os.urandom(6).hex()
_numbers = count(1)


def take_in(
    entry: Message, options: Options, store: DefaultSession, traces: TraceStore, utterance_id: str = ""
) -> Lifecycle:
    """The lifecycle that an entry Message opens. Whatever is wrong with the Message, it gets one, and so its end."""
    utterance_id = utterance_id or f"{_PROCESS}-{next(_numbers)}"
    context = Frozen(entry.context, **{UTTERANCE_ID: utterance_id})
    if not _CANCEL_KEYS.isdisjoint(context):
        log.warning("an utterance arrived with keys of a cancellation, which only a transformer may cause")
        context = Frozen({key: value for key, value in context.items() if key not in _CANCEL_KEYS})
    session = entry.session or Session()
    is_applied = session.is_default and store.has_applied(utterance_id)
    if session.is_default and entry.malformed_session is None:
        session = store.current if is_applied else store.open(session)
    utterances = _texts(entry)
    trace = traces.begin(utterance_id, session.session_id, utterances)
    message = entry.within(context, None)
    life = Lifecycle(message, utterances, session, options.denials_for(session), trace)
    life.is_applied = is_applied
    return life


def _texts(entry: Message) -> tuple[str, ...]:
    texts = entry.data.get("utterances")
    if isinstance(texts, tuple) and all(isinstance(text, str) for text in texts):
        return texts
    log.warning("an utterance arrived whose utterances are no list of texts: %.80r", texts)
    return ()
