"""What was said in each session, and cutting an answer that is still being written into sentences."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any, Final

from hark.model.sentences import sentences

Said = Mapping[str, Any]
"""A message of a chat, as endpoints take it."""

_SESSIONS: Final = 1_000
"""Sessions that are remembered."""


class Memory:
    """What was said, by persona and session. The oldest is forgotten first: whole exchanges, then whole sessions."""

    def __init__(self, turns: int, characters: int) -> None:
        self._turns = turns
        self._characters = characters
        self._sessions: OrderedDict[tuple[str, str], list[list[Said]]] = OrderedDict()

    def recall(self, persona: str, session_id: str) -> list[Said]:
        """What was said before, oldest first."""
        return [said for exchange in self._sessions.get((persona, session_id), ()) for said in exchange]

    def keep(self, persona: str, session_id: str, exchange: list[Said]) -> None:
        """Remember an exchange: what the user said, and what came of it."""
        key = persona, session_id
        kept = self._sessions.setdefault(key, [])
        self._sessions.move_to_end(key)
        kept.append(exchange)
        while len(kept) > self._turns or (len(kept) > 1 and _size(kept) > self._characters):
            kept.pop(0)
        if len(self._sessions) > _SESSIONS:
            self._sessions.popitem(last=False)

    def forget(self, session_id: str) -> None:
        """Forget what was said in a session."""
        for key in [key for key in self._sessions if key[1] == session_id]:
            del self._sessions[key]


def _size(exchanges: list[list[Said]]) -> int:
    return sum(len(str(said.get("content") or "")) for exchange in exchanges for said in exchange)


class SentenceCutter:
    """Gives out the sentences of a text that comes in pieces, each as soon as it is complete."""

    def __init__(self, lang: str) -> None:
        self._lang = lang
        self._text = ""

    def add(self, piece: str) -> Iterator[str]:
        """The sentences that `piece` completes."""
        self._text += piece
        if not piece or not any(mark in piece for mark in ".!?…。！？؟।\n \t"):  # noqa: RUF001 - marks of many scripts
            return
        found = list(sentences(self._text, self._lang, longest=len(self._text) + 1))
        # The last may go on; a sentence is complete when another has begun.
        for sentence in found[:-1]:
            at = self._text.index(sentence) + len(sentence)
            self._text = self._text[at:].lstrip(" \t")
            yield sentence

    def rest(self) -> str:
        """What is left when no more comes."""
        text, self._text = self._text.strip(), ""
        return text
