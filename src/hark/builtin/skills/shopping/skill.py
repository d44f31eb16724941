"""The lists skill: a shopping list, a to-do list, and lists with names of the user's own."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Final

from hark.builtin.skills.storage import StoredValue
from hark.builtin.skills.tables import Table, plain, table
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


def _apart(item: str, goods: AbstractSet[str], compounds: AbstractSet[str]) -> list[str]:
    """The goods of an enumeration without commas: in "milk bread and eggs", "milk bread" is two things."""
    words = item.split()
    are_goods = len(words) > 1 and all(word.casefold() in goods for word in words)
    return words if are_goods and item.casefold() not in compounds else [item]


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
_SHOPPING: Final = "shopping"
_STANDING: Final = (_SHOPPING, "to do")
"""The lists that need not be made."""
_NAMES: Final = Path(__file__).parent / "names"


class ShoppingSkill(Skill):
    """Keeps lists for all users: shopping, to do, and others by the names users give them. They survive a restart."""

    id = "shopping.skill"
    reads_late = True

    async def start(self) -> None:
        self._lists = StoredValue(self.host, "lists.json", dict[str, list[str]], {})
        self._old = StoredValue(self.host, "list.json", list[str], [])
        """The one list there was before there were several."""

    @intent(file="add")
    def add(self, turn: Turn) -> None:
        """Put one or several things on a list."""
        key, named = self._named(turn), self._items(turn, as_said(turn.slots["items"], turn.utterance))
        self._tell_added(turn, key, named, self._put(key, named))

    @intent(file="need")
    def need(self, turn: Turn) -> None:
        """Put something on the shopping list that the user says is needed."""
        named = self._items(turn, as_said(turn.slots["items"], turn.utterance))
        self._tell_added(turn, _SHOPPING, named, self._put(_SHOPPING, named))

    @intent(file="add_more", requires=("talked_about",))
    def add_more(self, turn: Turn) -> None:
        """Put more on the list, once it is talked about."""
        said, key = self._items_and_list(turn, turn.slots["items"])
        named = self._items(turn, as_said(said, turn.utterance))
        self._tell_added(turn, key, named, self._put(key, named))

    @intent(file="add_what")
    async def add_what(self, turn: Turn) -> None:
        """Ask what to put on the list."""
        answer = await turn.ask(turn.render("what"), retries=1)
        named = self._items(turn, answer) if answer is not None else []
        key = self._named(turn)
        put = await asyncio.to_thread(self._put, key, named) if named else ([], False)
        self._tell_added(turn, key, named, put)

    @intent(file="remove")
    def remove(self, turn: Turn) -> None:
        """Take things off a list."""
        key = self._named(turn)
        named = self._items(turn, as_said(turn.slots["items"], turn.utterance))
        taken, missing = self._take(key, named)
        turn.remember("talked_about", key, turns=_FOLLOWED)
        if taken:
            turn.say("removed", items=_joined(turn, taken), list=_spoken(key, turn.lang))
        if missing or not named:
            self._say_of(turn, "not_there", missing or [turn.slots["items"]], key)

    @intent(file="remove_more", requires=("talked_about",))
    def remove_more(self, turn: Turn) -> None:
        """Take more off the list, once it is talked about."""
        self.remove(turn)

    @intent(file="bought")
    def bought(self, turn: Turn) -> None:
        """Take off the shopping list what the user has bought."""
        self.remove(turn)

    @intent(file="count")
    def count(self, turn: Turn) -> None:
        """Say how many things are on a list."""
        key = self._named(turn)
        items = self._all().get(key, ())
        turn.remember("talked_about", key, turns=_FOLLOWED)
        if items:
            turn.say("count_one" if len(items) == 1 else "count", count=len(items), list=_spoken(key, turn.lang))
        else:
            turn.say("empty", list=_spoken(key, turn.lang))

    @intent(file="read")
    def read(self, turn: Turn) -> None:
        """Say what is on a list."""
        key = self._named(turn)
        items = self._all().get(key, ())
        turn.remember("talked_about", key, turns=_FOLLOWED)
        if items:
            turn.say("list", items=_joined(turn, items), list=_spoken(key, turn.lang))
        else:
            turn.say("empty", list=_spoken(key, turn.lang))

    @intent(file="is_on")
    def is_on(self, turn: Turn) -> None:
        """Whether something is on a list."""
        key = self._named(turn)
        turn.remember("talked_about", key, turns=_FOLLOWED)
        asked = self._items(turn, as_said(turn.slots["items"], turn.utterance)) or [turn.slots["items"]]
        _, found, missing = without(self._all().get(key, ()), asked)
        if found:
            turn.say("is_on", items=_joined(turn, found), list=_spoken(key, turn.lang))
        if missing:
            self._say_of(turn, "not_there", missing, key)

    @intent(file="clear")
    async def clear(self, turn: Turn) -> None:
        """Empty a list, if the user confirms it; a list with a name of the user's own goes with it."""
        key = self._named(turn)
        lists = await asyncio.to_thread(self._all)
        items, spoken = lists.get(key, ()), _spoken(key, turn.lang)
        if not items:
            if key in lists and key not in _STANDING:
                await asyncio.to_thread(self._drop, key)
                turn.say("cleared", list=spoken)
            else:
                turn.say("empty", list=spoken)
            return
        question = "sure_one" if len(items) == 1 else "sure"
        if await turn.ask_yes_no(turn.render(question, count=len(items), list=spoken)):
            # Not what another session added while the question was open.
            await asyncio.to_thread(self._take, key, items)
            turn.say("cleared", list=spoken)
        else:
            turn.say("kept")

    @intent(file="create")
    def create(self, turn: Turn) -> None:
        """Begin a list."""
        key = self._named(turn)
        turn.remember("talked_about", key, turns=_FOLLOWED)
        with self._lists.lock:
            lists = self._read()
            is_new = key not in lists
            if is_new:
                self._lists.write({**lists, key: []})
        turn.say("created" if is_new else "exists", list=_spoken(key, turn.lang))

    @intent(file="rename")
    def rename(self, turn: Turn) -> None:
        """Give a list another name."""
        old, new = self._named(turn), _key(turn.slots["name"], turn.lang)
        with self._lists.lock:
            lists = self._read()
            is_possible = old in lists and new not in lists and old not in _STANDING
            if is_possible:
                self._lists.write({new if name == old else name: items for name, items in lists.items()})
        if not is_possible:
            turn.say("exists" if new in lists else "kept", list=_spoken(new, turn.lang))
            return
        turn.remember("talked_about", new, turns=_FOLLOWED)
        turn.say("renamed", old=_spoken(old, turn.lang), list=_spoken(new, turn.lang))

    @intent(file="move")
    def move(self, turn: Turn) -> None:
        """Take things off one list and put them on another."""
        key, other = self._named(turn), _key(turn.slots["other"], turn.lang)
        named = self._items(turn, as_said(turn.slots["items"], turn.utterance))
        taken, missing = self._take(key, named)
        turn.remember("talked_about", other, turns=_FOLLOWED)
        if taken:
            self._put(other, taken)
            turn.say("moved", items=_joined(turn, taken), list=_spoken(other, turn.lang))
        if missing or not named:
            self._say_of(turn, "not_there", missing or [turn.slots["items"]], key)

    @intent(file="which")
    def which(self, turn: Turn) -> None:
        """Say which lists there are."""
        lists = self._all()
        if lists:
            turn.say("lists", lists=_joined(turn, [_spoken(key, turn.lang) for key in lists]))
        else:
            turn.say("no_lists")

    def _tell_added(self, turn: Turn, key: str, named: Sequence[str], put: tuple[list[str], bool]) -> None:
        fresh, is_new = put
        turn.remember("talked_about", key, turns=_FOLLOWED)
        if fresh:
            dialog = "added_new" if is_new and key not in _STANDING else "added"
            turn.say(dialog, items=_joined(turn, fresh), list=_spoken(key, turn.lang))
        elif named:
            self._say_of(turn, "already", named, key)
        else:
            turn.say("nothing_added")

    def _say_of(self, turn: Turn, dialog: str, items: Sequence[str], key: str) -> None:
        """Say a dialog of which there is one for a single thing: "is", "are"."""
        said = _joined(turn, items)
        is_plural = len(items) > 1
        if turn.lang.startswith("en"):  # elsewhere the items stand in the middle of the sentence, and no verb is theirs
            # "Eggs are", though it is one entry of the list.
            is_plural = is_plural or (said.endswith("s") and not said.endswith("ss"))
            said = said[:1].upper() + said[1:]
        turn.say(dialog if is_plural else f"{dialog}_one", items=said, list=_spoken(key, turn.lang))

    def _named(self, turn: Turn) -> str:
        """The key of the list that is meant: the one named, else the one talked about, else that for shopping."""
        if "list" in turn.slots:
            return _key(turn.slots["list"], turn.lang)
        said = f" {plain(turn.utterance)} "
        for key, forms in _known(turn.lang).items():
            if any(f" {plain(form)} " in said for form in forms):
                return key
        entry = turn.session.intent_context.get(f"{self.id}:talked_about")
        return entry.value if entry is not None and entry.value else _SHOPPING

    def _items_and_list(self, turn: Turn, said: str) -> tuple[str, str]:
        """What is named, and the list: one with a name of the user's own may be named without the word "list"."""
        folded = said.casefold()
        for key in self._all():
            for word in self._words("onto", turn):
                before, _, rest = folded.rpartition(f" {word} ")
                if before and plain(rest) in (key, *(f"{lead} {key}" for lead in self._words("leading", turn))):
                    return said[: len(before)], key
        return said, self._named(turn)

    def _all(self) -> dict[str, list[str]]:
        with self._lists.lock:
            return dict(self._read())

    def _read(self) -> dict[str, list[str]]:
        lists = self._lists.read()
        if not lists and (before := self._old.read()):
            return {_SHOPPING: list(before)}
        return lists

    def _drop(self, key: str) -> None:
        with self._lists.lock:
            self._lists.write({name: items for name, items in self._read().items() if name != key})

    def _take(self, key: str, named: Sequence[str]) -> tuple[list[str], list[str]]:
        """Take things off a list; returns what was there, and what was not."""
        with self._lists.lock:
            lists = self._read()
            left, taken, missing = without(lists.get(key, ()), named)
            if taken:
                self._lists.write({**lists, key: left})
        return taken, missing

    def _put(self, key: str, named: Sequence[str]) -> tuple[list[str], bool]:
        """Put on a list what is not there yet; returns that, and whether the list is new."""
        with self._lists.lock:
            lists = self._read()
            items = lists.get(key, [])
            there = {item.casefold() for item in items}
            fresh = [item for item in named if item.casefold() not in there]
            if fresh:
                self._lists.write({**lists, key: [*items, *fresh]})
        return fresh, key not in lists

    def _items(self, turn: Turn, text: str) -> list[str]:
        items = items_of(text, self._words("joining", turn), self._words("leading", turn))
        if len(items) < 2:
            return items
        goods, compounds = (set(self._words(name, turn)) for name in ("goods", "compound"))
        return [part for item in items for part in _apart(item, goods, compounds)]

    def _words(self, name: str, turn: Turn) -> Sequence[str]:
        return self.locale.find(Role.VOCABULARY, name, turn.lang).samples(Role.VOCABULARY, name)


def _key(said: str, lang: str) -> str:
    """The key under which a list is kept: that of a list every language knows, else the name as it was said."""
    name = plain(said)
    words = _known(lang)
    for key, forms in words.items():
        if name in map(plain, forms):
            return key
    return name


def _spoken(key: str, lang: str) -> str:
    """A list as it is called in a sentence."""
    names = table(_NAMES, "lists", lang)
    if key in names:
        return names[key][0]
    own = names.get("_own", ("{name}",))[0]
    ends = names.get("_ends", ())
    return key.capitalize() if any(key.endswith(end) for end in ends) else own.format(name=key)


def _known(lang: str) -> Table:
    return {key: forms for key, forms in table(_NAMES, "lists", lang).items() if not key.startswith("_")}


def _joined(turn: Turn, items: Sequence[str]) -> str:
    """Things in a row, as they are said."""
    *others, last = items
    return turn.render("row", first=", ".join(others), last=last) if others else last
