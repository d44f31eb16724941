"""What was said in each session, and cutting an answer that is still being written into sentences."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from hark.model.sentences import MARKS, is_whole, sentences

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
        if not exchange:
            return
        key = persona, session_id
        kept = self._sessions.setdefault(key, [])
        self._sessions.move_to_end(key)
        kept.append(exchange)
        while kept and (len(kept) > self._turns or _size(kept) > self._characters):
            kept.pop(0)
        if len(self._sessions) > _SESSIONS:
            self._sessions.popitem(last=False)

    def forget(self, persona: str, session_id: str) -> None:
        """Forget what was said to a persona in a session."""
        self._sessions.pop((persona, session_id), None)


def as_text(messages: Sequence[Said]) -> list[Said]:
    """A conversation for a model that is offered no tools: not every one takes a message of a tool, or a call.

    What tools answered stands behind what the user said, so that user and model take turns, as many models want it.
    """
    turns: list[Said] = []
    names: dict[str, str] = {}
    for said in messages:
        if calls := said.get("tool_calls"):
            names = {call["id"]: call["function"]["name"] for call in calls}
        elif said["role"] == "tool":
            answer = f"[{names[said['tool_call_id']]}: {said['content']}]"
            turns[-1] = {**turns[-1], "content": f"{turns[-1]['content']}\n{answer}"}
        else:
            turns.append(said)
    return turns


def _size(exchanges: list[list[Said]]) -> int:
    return sum(len(str(said.get("content") or "")) for exchange in exchanges for said in exchange)


_MARKS: Final = MARKS | frozenset(" \t")
_CLOSING: Final = re.compile("(?:[.!?…\"'”’»›)\\]」』）*_`]|[ \u00a0\u202f][»›])+(?=\\s|$)")  # noqa: RUF001
"""What still belongs to a sentence that was given out already: further marks, and what closes it."""


class SentenceCutter:
    """Gives out the sentences of a text that comes in pieces, each as soon as it is complete."""

    def __init__(self, lang: str) -> None:
        self._lang = lang
        self._text = ""
        self._after_end = False
        """Whether nothing of the next sentence has come yet."""

    @property
    def pending(self) -> str:
        """What has come of the next sentence."""
        return self._text.strip()

    def add(self, piece: str) -> Iterator[str]:
        """The sentences that are complete with `piece`."""
        self._text += piece
        if self._after_end:
            if closing := _CLOSING.match(self._text):
                self._text = self._text[closing.end() :]
            self._after_end = not self._text.strip()
        if not _MARKS.intersection(piece):
            return
        found = list(sentences(self._text, self._lang, longest=len(self._text) + 1))
        # What was begun after a sentence shows that it is complete; the last one has to show it by itself.
        for sentence in found[:-1]:
            at = self._text.index(sentence) + len(sentence)
            self._text = self._text[at:].lstrip(" \t")
            yield sentence
        if found and is_whole(self._text, self._lang):
            text, self._text = self._text.strip(), ""
            self._after_end = True
            yield text

    def rest(self) -> str:
        """What is left when no more comes."""
        text, self._text = self._text.strip(), ""
        return text
