"""What one of several workers notes of its turns, for its next life, and what its former one has left."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, Protocol

from hark.model import Frozen, Message
from hark.spec import split_dispatch, topics
from hark.spec.topics import is_dispatch_topic
from hark.understand.journal import Journal
from hark.understand.ledger import Open

_KEY: Final = "hark_key"
"""In the context of a note: what tells the utterance from others."""


class WorkersJournal(Journal, Protocol):
    """One that is shared with the next life of a worker."""

    @property
    def lost(self) -> list[Message]:
        """What the former life had open, each turn by the last that is known of it."""

    @property
    def stood_in(self) -> Mapping[str, None]:
        """The turns of others that were ended in their place, as far as is noted."""

    def note_stood_in(self, utterance_id: str) -> None:
        """So was this one."""


class Notes:
    """See `Journal` for what it promises. Without a journal nothing outlives the process.

    A turn that others end in this worker's place stays noted until it is known that they have.
    """

    def __init__(self, journal: WorkersJournal | None) -> None:
        self._journal = journal
        stood_in = journal.stood_in if journal is not None else {}
        lost = journal.lost if journal is not None else []
        self.left = {last.utterance_id or "": last for last in lost if last.utterance_id not in stood_in}
        """What the former life left open, as long as nobody is known to have ended it."""
        self._keys: dict[str, str] = {}
        """Of our own open turns."""
        self._given_up: set[str] = set()

    def taking(self, utterance_id: str, key: str) -> None:
        """An utterance is about to be taken in under this id."""
        self._keys[utterance_id] = key

    def opened(self, entry: Message) -> None:
        """As promised by `Journal`."""
        self._note(entry, lambda journal, note: journal.opened(note))

    def dispatched(self, dispatch: Message) -> None:
        """As promised by `Journal`."""
        self._note(dispatch, lambda journal, note: journal.dispatched(note))

    def ended(self, utterance_id: str) -> None:
        """As promised by `Journal`."""
        self._keys.pop(utterance_id, None)
        if self._journal is not None and utterance_id not in self._given_up:
            self._journal.ended(utterance_id)

    def give_up(self) -> None:
        """Others end our open turns, or have."""
        if self._journal is not None:
            self._given_up.update(self._keys)

    def over(self, utterance_id: str) -> None:
        """Somebody has ended a turn of this life or of the former one."""
        known = self.left.pop(utterance_id, None) is not None or utterance_id in self._given_up
        self._given_up.discard(utterance_id)
        if known and self._journal is not None:
            self._journal.ended(utterance_id)

    def tell(self) -> Iterator[Message]:
        """What to say of the turns that were left, to whoever may know what became of them."""
        for utterance_id, last in self.left.items():
            data = Frozen(utterance_id=utterance_id, key=str(last.context.get(_KEY) or ""))
            if is_dispatch_topic(last.type):
                skill_id, intent_name = split_dispatch(last.type)
                data = Frozen(data, skill_id=skill_id, intent_name=intent_name)
            yield last.carrying(**{_KEY: None}).forward(topics.WORKER_LEFT, data)

    def _note(self, message: Message, how: Callable[[WorkersJournal, Message], None]) -> None:
        if self._journal is not None:
            how(self._journal, message.carrying(**{_KEY: self._keys.get(message.utterance_id or "")}))


def left_open(message: Message) -> tuple[str, Open] | None:
    """What another worker told of a turn that its former life left open; None if it makes no sense."""
    data = message.data
    utterance_id, key, skill_id = data.get("utterance_id"), data.get("key"), data.get("skill_id")
    if not isinstance(utterance_id, str) or not isinstance(key, str):
        return None
    start = None
    if isinstance(skill_id, str):
        handler = Frozen(skill_id=skill_id, intent_name=str(data.get("intent_name")))
        start = message.forward(topics.HANDLER_START, handler)
    return utterance_id, Open(utterance_id.rpartition("-")[0], 0, key, message, start)
