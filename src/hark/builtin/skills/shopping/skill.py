"""The shopping list skill."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Sequence
from typing import Final

from hark.builtin.skills.storage import StoredValue
from hark.intents.locale import Role
from hark.plugins import Turn
from hark.skills import Skill, intent


def as_said(text: str, utterance: str) -> str:
    """`text`, which a slot holds, in the user's own capitals and commas where they can be found."""
    found = re.search(r"\W+".join(map(re.escape, text.split())), utterance, re.IGNORECASE)
    return found[0] if found is not None else text


def items_of(text: str, joining: Sequence[str], leading: Sequence[str]) -> list[str]:
    """The things `text` names, each once.

    They stand between commas and the words in `joining` ("and"); those in `leading` ("some", "the") are dropped.
    """
    words = "|".join(re.escape(word) for word in sorted(joining, key=len, reverse=True))
    parts = re.split(rf"[,;]|\b(?:{words})\b" if words else "[,;]", text, flags=re.IGNORECASE)
    named = (_bare(part, leading) for part in parts)
    return list({item.casefold(): item for item in named if item}.values())


def _bare(text: str, leading: Sequence[str]) -> str:
    words = text.strip(" \t\n.!?").split()
    while len(words) > 1 and words[0].casefold() in leading:
        words = words[1:]
    bare = " ".join(words)
    for word in leading:  # "de l'eau"
        elided = f"""{word.rstrip("'")}'"""
        if bare.casefold().startswith(elided) and len(bare) > len(elided):
            bare = bare[len(elided) :]
    return bare


def without(items: Sequence[str], gone: Iterable[str]) -> tuple[list[str], list[str], list[str]]:
    """What is left of `items`, what was taken off, as it was written there, and what was not on the list."""
    left, taken, missing = list(items), [], []
    for wanted in gone:
        found = next((item for item in left if item.casefold() == wanted.casefold()), None)
        if found is None:
            missing.append(wanted)
        else:
            left.remove(found)
            taken.append(found)
    return left, taken, missing


_FOLLOWED: Final = 3
"""Turns for which "and butter" still is about the list."""


class ShoppingSkill(Skill):
    """Keeps one shopping list for all users; it survives a restart."""

    id = "shopping.skill"
    reads_late = True

    async def start(self) -> None:
        self._list = StoredValue(self.host, "list.json", list[str], [])

    @intent(file="add")
    def add(self, turn: Turn) -> None:
        """Put one or several things on the list."""
        named = self._items(turn, as_said(turn.slots["items"], turn.utterance))
        self._tell_added(turn, named, self._put(named))

    @intent(file="add_more", requires=("list",))
    def add_more(self, turn: Turn) -> None:
        """Put more on the list, once it is talked about."""
        self.add(turn)

    @intent(file="add_what")
    async def add_what(self, turn: Turn) -> None:
        """Ask what to put on the list."""
        answer = await turn.ask(turn.render("what"), retries=1)
        named = self._items(turn, answer) if answer is not None else []
        self._tell_added(turn, named, await asyncio.to_thread(self._put, named) if named else [])

    @intent(file="remove")
    def remove(self, turn: Turn) -> None:
        """Take things off the list."""
        named = self._items(turn, as_said(turn.slots["items"], turn.utterance))
        taken, missing = self._take(named)
        turn.remember("list", turns=_FOLLOWED)
        if taken:
            turn.say("removed", items=_joined(turn, taken))
        if missing or not named:
            turn.say("not_there", items=_joined(turn, missing or [turn.slots["items"]]))

    @intent(file="read")
    def read(self, turn: Turn) -> None:
        """Say what is on the list."""
        items = self._all()
        turn.remember("list", turns=_FOLLOWED)
        if items:
            turn.say("list", items=_joined(turn, items))
        else:
            turn.say("empty")

    @intent(file="clear")
    async def clear(self, turn: Turn) -> None:
        """Empty the list, if the user confirms it."""
        items = await asyncio.to_thread(self._all)
        if not items:
            turn.say("empty")
            return
        question = turn.render("sure_one") if len(items) == 1 else turn.render("sure", count=len(items))
        if await turn.ask_yes_no(question):
            # Not what another session added while the question was open.
            await asyncio.to_thread(self._take, items)
            turn.say("cleared")
        else:
            turn.say("kept")

    def _all(self) -> list[str]:
        with self._list.lock:
            return list(self._list.read())

    def _take(self, named: Sequence[str]) -> tuple[list[str], list[str]]:
        """Take things off the list; returns what was there, and what was not."""
        with self._list.lock:
            left, taken, missing = without(self._list.read(), named)
            if taken:
                self._list.write(left)
        return taken, missing

    def _put(self, named: Sequence[str]) -> list[str]:
        """Put on the list what is not there yet, and return that."""
        with self._list.lock:
            items = self._list.read()
            there = {item.casefold() for item in items}
            fresh = [item for item in named if item.casefold() not in there]
            if fresh:
                self._list.write([*items, *fresh])
        return fresh

    def _tell_added(self, turn: Turn, named: Sequence[str], fresh: Sequence[str]) -> None:
        turn.remember("list", turns=_FOLLOWED)
        if fresh:
            turn.say("added", items=_joined(turn, fresh))
        elif named:
            turn.say("already", items=_joined(turn, named))
        else:
            turn.say("nothing_added")

    def _items(self, turn: Turn, text: str) -> list[str]:
        return items_of(text, self._words("joining", turn), self._words("leading", turn))

    def _words(self, name: str, turn: Turn) -> Sequence[str]:
        return self.locale.find(Role.VOCABULARY, name, turn.lang).samples(Role.VOCABULARY, name)


def _joined(turn: Turn, items: Sequence[str]) -> str:
    """Things in a row, as they are said."""
    *others, last = items
    return turn.render("row", first=", ".join(others), last=last) if others else last
