"""Taking an utterance in: its id, its session, its texts."""

from __future__ import annotations

import logging
from uuid import uuid4

from hark.model import Frozen, Message, Session
from hark.model.merge import Denials
from hark.spec.names import CANCEL_KEYS, UTTERANCE_ID
from hark.trace import TraceStore
from hark.understand.lifecycle import Lifecycle
from hark.understand.options import Options
from hark.understand.store import DefaultSession

log = logging.getLogger("hark.understand")


def take_in(entry: Message, options: Options, store: DefaultSession, traces: TraceStore) -> Lifecycle:
    """The lifecycle that an entry Message opens. Whatever is wrong with the Message, it gets one, and so its end."""
    utterance_id = uuid4().hex
    context = {**entry.context, UTTERANCE_ID: utterance_id}
    for key in CANCEL_KEYS:
        if context.pop(key, None) is not None:
            log.warning("an utterance arrived with context key %r, which only a transformer may cause", key)
    carrier = entry.session or Session()
    session = store.open(carrier) if carrier.is_default else carrier
    utterances = _texts(entry)
    trace = traces.begin(utterance_id, session.session_id, utterances)
    message = entry.within(Frozen(context), None)
    return Lifecycle(message, utterances, session, Denials(options.denied_to(session)), trace)


def _texts(entry: Message) -> tuple[str, ...]:
    texts = entry.data.get("utterances")
    if isinstance(texts, tuple) and all(isinstance(text, str) for text in texts):
        return texts
    log.warning("an utterance arrived whose utterances are no list of texts: %.80r", texts)
    return ()
