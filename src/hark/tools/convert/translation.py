"""Names and sentences of hassil in Hark's form, and back."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from hark.tools.convert.division import Shapes, VocabularyLookup, divide, shapes_of
from hark.tools.convert.normal_form import begins_open, clean, ends_open, tidy, trim, without_space_choices
from hark.tools.convert.template import (
    AltItem,
    Item,
    PermItem,
    RefItem,
    Seq,
    SlotItem,
    TextItem,
    UnreadableTemplate,
    read_hassil,
    read_locale_line,
    render,
    size,
    walk,
)


class BaseNames:
    """Assigns every name of another format a base name of its own (INTENT-2 §2), the same each time."""

    def __init__(self) -> None:
        self._given: dict[str, str] = {}
        self._taken: set[str] = set()

    def of(self, name: str, key: str = "") -> str:
        """The base name for `name`; different things of one name have different `key`s."""
        known = self._given.get(f"{name}\0{key}")
        if known is not None:
            return known
        base = candidate = base_name(name)
        number = 2
        while candidate in self._taken:
            candidate = f"{base}_{number}"
            number += 1
        self._given[f"{name}\0{key}"] = candidate
        self._taken.add(candidate)
        return candidate


def base_name(name: str) -> str:
    """`name` in lower-case letters, digits and `_`, not beginning with a digit: `HassTurnOn` is `hass_turn_on`."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", plain).lower()
    base = re.sub(r"[^a-z0-9]+", "_", apart).strip("_") or "unnamed"
    return f"n_{base}" if base[0].isdigit() else base


class VocabularySet:
    """The vocabularies of one language, made of rules and lists."""

    def __init__(self, lang: str, limit: int) -> None:
        self.lang = lang
        self.limit = limit
        self._names = BaseNames()
        self._bodies: dict[str, Seq] = {}
        self._shapes: dict[str, Shapes] = {}
        self._sizes: dict[str, int] = {}
        self._spaced: dict[str, tuple[bool, bool]] = {}
        self.known = VocabularyLookup(self._bodies.__getitem__, self._shapes.__getitem__, self._sizes.__getitem__)
        """How templates look up the vocabularies they refer to."""

    def reserve(self, name: str) -> str:
        """The base name for a vocabulary that is not made of a rule."""
        return self._names.of(name, "reserved")

    def add(self, name: str, body: Seq) -> str:
        """The base name under which `<name>` stands for `body`; another body of the same name gets another."""
        base = self._names.of(name, render(body))
        if base not in self._bodies:
            shapes = shapes_of(body, self.known.shapes)
            # Phrases are trimmed, so none has space around it where it is put in.
            self._shapes[base] = frozenset(replace(shape, lead=False, trail=False) for shape in shapes)
            self._spaced[base] = (any(shape.lead for shape in shapes), any(shape.trail for shape in shapes))
            self._sizes[base] = size(body, self.known.size)
            self._bodies[base] = body
        return base

    def is_glued(self, base: str, *, before: bool, after: bool) -> bool:
        """Whether a phrase would touch its neighbours; `before` and `after`: whether there is space on that side."""
        lead, trail = self._spaced[base]
        return (lead and not before) or (trail and not after)

    def lines(self, base: str) -> list[str]:
        """The lines of the file."""
        return self.lines_of(self._bodies[base])

    def lines_of(self, body: Seq) -> list[str]:
        """A body as the lines of a vocabulary: an alternative at the top is one branch a line."""
        only = body.items[0] if len(body.items) == 1 else None
        branches = only.branches if isinstance(only, AltItem) and not only.optional else (body,)
        return list(
            dict.fromkeys(render(line) for branch in branches for line in divide(branch, self.known, self.limit).lines)
        )

    def bases(self) -> list[str]:
        """All base names, in the order of making."""
        return list(self._bodies)


NUMBER: Final = "number"
ANYTHING: Final = "text"
"""Types of slots in Hark."""

PERMUTED: Final = "a permutation is written out"
INLINED: Final = "a rule that is not a vocabulary is written out"
RESPELT: Final = "capitals and signs are left out"

_HASSIL_SIGNS: Final = re.compile(r"[\\()\[\]{}<>|;]")
"""Signs that hassil reads as words only behind a backslash."""
_RANGE: Final = re.compile(r"-?\d+\.\.-?\d+(?:,\d+)?")


class SentenceScope:
    """The rules and lists of a block of sentences: those of all blocks, and its own in front."""

    def __init__(
        self, rules: Mapping[str, Any], lists: Mapping[str, Any], vocabularies: VocabularySet, slot_names: BaseNames
    ) -> None:
        self._rules = rules
        self._lists = lists
        self._vocabularies = vocabularies
        self._slot_names = slot_names
        self._trees: dict[str, Seq] = {}
        self._made: dict[str, Item] = {}
        self._open: list[str] = []
        self.sources: dict[str, set[str]] = {}
        """By slot of hassil, the lists that fill it in any sentence."""
        self.kinds: set[str] = set()
        """The entities that are types of slots."""
        self.notes: set[str] = set()
        """What had to be rewritten, since it was last cleared."""

    def sentence(self, text: str) -> Seq:
        """The sentence in Hark's form; raises `UnreadableTemplate`."""
        tree = self._tree(text)
        if any(isinstance(item, PermItem) for item in walk(tree)):
            self.notes.add(PERMUTED)
        cleaned = clean(tree, self._vocabularies.lang)
        if PERMUTED not in self.notes and render(trim(cleaned)) != render(trim(tree)):
            self.notes.add(RESPELT)
        return without_space_choices(trim(self._resolved(cleaned)))

    def rule(self, name: str) -> Item:
        """What `<name>` becomes: a reference to a vocabulary, or the rule itself where it contains a slot."""
        if name not in self._made:
            if name not in self._rules:
                raise UnreadableTemplate(f"the rule <{name}> is not defined")
            if name in self._open:
                raise UnreadableTemplate(f"the rule <{name}> refers to itself")
            self._open.append(name)
            try:
                self._made[name] = self._make(name)
            finally:
                self._open.pop()
        return self._made[name]

    def inner(self, rules: Mapping[str, Any], lists: Mapping[str, Any]) -> SentenceScope:
        """This scope with the rules and lists of a single block in front."""
        scope = SentenceScope({**self._rules, **rules}, {**self._lists, **lists}, self._vocabularies, self._slot_names)
        scope._trees, scope.sources, scope.kinds = self._trees, self.sources, self.kinds
        return scope

    def _tree(self, text: str) -> Seq:
        tree = self._trees.get(text)
        if tree is None:
            tree = self._trees[text] = read_hassil(text)
        return tree

    def slots(self, text: str) -> list[SlotItem]:
        """The slots of a hassil sentence, those in its rules included, as hassil names them."""
        found: list[SlotItem] = []
        waiting, seen = [text], set[str]()
        while waiting:
            try:
                tree = self._tree(waiting.pop())
            except UnreadableTemplate:
                continue  # reported where it is converted
            for item in walk(tree):
                if isinstance(item, SlotItem):
                    found.append(item)
                elif isinstance(item, RefItem) and item.name not in seen:
                    seen.add(item.name)
                    waiting.append(str(self._rules.get(item.name, "")))
        return found

    def slot_name(self, name: str) -> str:
        """The name of a slot in Hark."""
        return self._slot_names.of(name)

    def is_number(self, list_name: str) -> bool:
        """Whether a list is a range of numbers."""
        definition = self._lists.get(list_name)
        return bool(_RANGE.fullmatch(list_name)) or (isinstance(definition, Mapping) and "range" in definition)

    def _kind(self, slot: SlotItem) -> str:
        """The type of a slot in Hark: a number, any text, or the entity that a list of another name becomes."""
        source = slot.source or slot.name
        if self.is_number(source):
            return NUMBER
        definition = self._lists.get(source)
        if source == slot.name or len(self.sources.get(slot.name, ())) < 2 or not isinstance(definition, Mapping):
            return ""
        if "values" not in definition:
            return ANYTHING
        kind = self._vocabularies.reserve(source)
        self.kinds.add(kind)
        return kind

    def _make(self, name: str) -> Item:
        body = self._rules[name]
        if not isinstance(body, str):
            raise UnreadableTemplate(f"the rule <{name}> is not text")
        seq = without_space_choices(trim(self._resolved(clean(self._tree(body), self._vocabularies.lang))))
        if self._is_vocabulary(seq):
            return RefItem(self._vocabularies.add(name, seq))
        only = seq.items[0] if len(seq.items) == 1 else None
        if isinstance(only, AltItem) and only.optional:
            full = trim(Seq((AltItem(only.branches),)))
            if self._is_vocabulary(full):
                # A vocabulary has no empty phrase, so the brackets go around the reference.
                return AltItem((Seq((RefItem(self._vocabularies.add(name, full)),)),), optional=True)
        return AltItem((seq,))

    def _is_vocabulary(self, seq: Seq) -> bool:
        """Whether the phrases can be a `.voc`: no slots, and none of them empty."""
        return all(shape.first and not shape.slots for shape in shapes_of(seq, self._vocabularies.known.shapes))

    def _resolved(self, seq: Seq, before: bool = True, after: bool = True) -> Seq:
        """`seq` with its names resolved; `before` and `after`: whether there is space on that side."""
        items: list[Item] = []
        for place, item in enumerate(seq.items):
            apart = (
                before if place == 0 else ends_open(seq.items[place - 1]),
                after if place + 1 == len(seq.items) else begins_open(seq.items[place + 1]),
            )
            match item:
                case RefItem(name):
                    items.append(self._referred(name, *apart))
                case SlotItem():
                    items.append(SlotItem(self.slot_name(item.name), self._kind(item)))
                case AltItem(branches, optional):
                    items.append(AltItem(tuple(self._resolved(branch, *apart) for branch in branches), optional))
                case TextItem() | PermItem():
                    items.append(item)
        return tidy(Seq(tuple(items)))

    def _referred(self, name: str, before: bool, after: bool) -> Item:
        made = self.rule(name)
        base = referred(made)
        if base is None:
            self.notes.add(INLINED)
        elif self._vocabularies.is_glued(base, before=before, after=after):
            # The phrases of a vocabulary have no space around them; here it would be missing.
            self.notes.add(INLINED)
            return AltItem((self._vocabularies.known.body(base),), optional=isinstance(made, AltItem))
        return made


def referred(item: Item) -> str | None:
    """The vocabulary that `<name>` or `[<name>]` refers to; None for anything else."""
    if isinstance(item, AltItem) and item.optional and len(item.branches) == 1 and len(item.branches[0].items) == 1:
        item = item.branches[0].items[0]
    return item.name if isinstance(item, RefItem) else None


def table(data: Mapping[str, Any], key: str) -> dict[str, Any]:
    """The table under a key; empty when there is none."""
    found = data.get(key)
    return dict(found) if isinstance(found, Mapping) else {}


class HassilWriter:
    """Converts templates of one intent back, with the names of rules, lists and slots as they were in hassil."""

    def __init__(
        self, rules: Mapping[str, Any], lists: Mapping[str, str], slots: Mapping[str, str] | None = None
    ) -> None:
        self._rules = {rule["voc"]: name for name, rule in rules.items() if "voc" in rule}
        self._bracketed = {rule["voc"] for rule in rules.values() if rule.get("optional")}
        self._lists = lists
        self._slots = slots or {}

    def line(self, line: str) -> str:
        """The sentence for a line; raises `UnreadableTemplate` when that is no template."""
        return self.sentence(read_locale_line(line))

    def sentence(self, seq: Seq) -> str:
        """The sentence for a template."""
        return render(self._back(seq))

    def _back(self, seq: Seq) -> Seq:
        return Seq(tuple(map(self._item, seq.items)))

    def _item(self, item: Item) -> Item:
        match item:
            case RefItem(name):
                return RefItem(self._rules.get(name, name))
            case SlotItem(name):
                original = self._slots.get(name, name)
                source = self._lists.get(name, original)
                return SlotItem(original, "" if source == original else source)
            case AltItem(branches, optional):
                only = branches[0].items if len(branches) == 1 else ()
                if optional and len(only) == 1 and isinstance(only[0], RefItem) and only[0].name in self._bracketed:
                    return self._item(only[0])  # the rule itself may be left out
                return AltItem(tuple(map(self._back, branches)), optional)
            case PermItem(members):
                return PermItem(tuple(map(self._back, members)))
            case TextItem(text):
                return TextItem(_HASSIL_SIGNS.sub(r"\\\g<0>", text))
