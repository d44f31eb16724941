"""The form Hark compares: words in lower case, no signs around them, no needless groups."""

from __future__ import annotations

import unicodedata
from itertools import permutations
from typing import Final

from hark.intents.text import contractions
from hark.tools.convert.template import AltItem, Item, PermItem, RefItem, Seq, SlotItem, TextItem, options, render

# ruff: noqa: RUF001 - the sign that looks like another is meant

_SPACE: Final = Seq((TextItem(" "),))


def clean_text(text: str, lang: str = "") -> str:
    """`text` as it is spoken: contractions of `lang` are written out, and signs at the edge of a word become spaces.

    Signs inside a word and remaining apostrophes stay.
    """
    text = unicodedata.normalize("NFC", text).replace("’", "'").lower()
    pieces = [_clean_piece(piece) for piece in text.split()]
    if "'" in text and (table := contractions(lang)):
        pieces = [piece.replace(piece.strip(), table.get(piece.strip(), piece.strip())) for piece in pieces]
    joined = " ".join(" ".join(pieces).split())
    if not joined:
        return " " if text else ""
    lead = text[0].isspace() or pieces[0][0] == " "
    trail = text[-1].isspace() or pieces[-1][-1] == " "
    return f"{' ' if lead else ''}{joined}{' ' if trail else ''}"


def _clean_piece(piece: str) -> str:
    first = next((place for place, sign in enumerate(piece) if _belongs(sign)), None)
    if first is None:
        return " "
    last = max(place for place, sign in enumerate(piece) if _belongs(sign))
    return f"{' ' if first else ''}{piece[first : last + 1]}{' ' if last + 1 < len(piece) else ''}"


def _belongs(sign: str) -> bool:
    return sign.isalnum() or sign == "'" or unicodedata.category(sign)[0] == "M"


def write_out(perm: PermItem, spaced_before: bool, spaced_after: bool) -> AltItem:
    """A permutation as an alternative of all its orders, with spaces between and, where they are missing, around."""
    orders = []
    for order in permutations(perm.members):
        items: list[Item] = [] if spaced_before else [TextItem(" ")]
        for member in order:
            items += [*member.items, TextItem(" ")]
        orders.append(tidy(Seq(tuple(items[:-1] if spaced_after else items))))
    return AltItem(tuple(orders))


def tidy(seq: Seq) -> Seq:
    """The same sentences, written without needless text nodes, spaces and groups."""
    items: list[Item] = []
    for item in _flat(seq):
        if isinstance(item, TextItem) and items and isinstance(items[-1], TextItem):
            items[-1] = TextItem(_squeezed(items[-1].text + item.text))
        elif not isinstance(item, TextItem) or item.text:
            items.append(item)
    # Space at an edge of a group separates nothing that the space beside the group does not separate already.
    kept = [_without_doubled_space(item, items, place) for place, item in enumerate(items)]
    return Seq(tuple(item for item in kept if item != TextItem("")))


def trim(seq: Seq) -> Seq:
    """`tidy`, without spaces at the very beginning and end."""
    items = list(tidy(seq).items)
    if items and isinstance(items[0], TextItem):
        items[0] = TextItem(items[0].text.lstrip())
    if items and isinstance(items[-1], TextItem):
        items[-1] = TextItem(items[-1].text.rstrip())
    return Seq(tuple(item for item in items if item != TextItem("")))


def _flat(seq: Seq) -> list[Item]:
    found: list[Item] = []
    for item in seq.items:
        if isinstance(item, AltItem):
            item = _tidy_alt(item)
            if not item.branches:
                continue
            if len(item.branches) == 1 and not item.optional:
                found += item.branches[0].items
                continue
        found.append(item)
    return found


def _tidy_alt(alt: AltItem) -> AltItem:
    branches = {render(branch): branch for branch in map(tidy, options(alt))}
    nothing = branches.pop("", None) is not None
    return AltItem(tuple(branches.values()), optional=nothing)


def _without_doubled_space(item: Item, items: list[Item], place: int) -> Item:
    """`item`, or what is left of a group where a mere space among the branches changes nothing."""
    if not isinstance(item, AltItem) or not any(branch == _SPACE for branch in item.branches):
        return item
    before, after = items[place - 1] if place else None, items[place + 1] if place + 1 < len(items) else None
    if not (ends_open(before) or begins_open(after)):
        return item
    branches = tuple(branch for branch in item.branches if branch != _SPACE)
    return AltItem(branches, optional=True) if branches else TextItem("")


def ends_open(item: Item | None) -> bool:
    """Whether what follows `item` is set apart from it by space."""
    return item is None or (isinstance(item, TextItem) and item.text[-1:].isspace())


def begins_open(item: Item | None) -> bool:
    """Whether what precedes `item` is set apart from it by space."""
    return item is None or (isinstance(item, TextItem) and item.text[:1].isspace())


def _squeezed(text: str) -> str:
    if not text.strip():
        return text[:1]
    return f"{' ' if text[0].isspace() else ''}{' '.join(text.split())}{' ' if text[-1].isspace() else ''}"


def clean(seq: Seq, lang: str = "") -> Seq:
    """`seq` with clean text and permutations written out; references and slots as they are."""
    items: list[Item] = []
    for place, item in enumerate(seq.items):
        match item:
            case TextItem(text):
                items.append(TextItem(clean_text(text, lang)))
            case AltItem(branches, optional):
                items.append(AltItem(tuple(clean(branch, lang) for branch in branches), optional))
            case PermItem(members):
                before = seq.items[place - 1] if place else None
                after = seq.items[place + 1] if place + 1 < len(seq.items) else None
                perm = PermItem(tuple(clean(member, lang) for member in members))
                items.append(write_out(perm, ends_open(before), begins_open(after)))
            case RefItem() | SlotItem():
                items.append(item)
    return tidy(Seq(tuple(items)))


def without_space_choices(seq: Seq) -> Seq:
    """`seq` without alternatives of which one is a mere space: `day[ ]light` is `(day light|daylight)`.

    A branch that is only space does not exist in Hark, so the words around it are written twice.
    """
    items = [
        AltItem(tuple(map(without_space_choices, item.branches)), item.optional) if isinstance(item, AltItem) else item
        for item in seq.items
    ]
    for place, item in enumerate(items):
        if isinstance(item, AltItem) and _SPACE in item.branches:
            before, last = _cut(items[:place], -1)
            first, after = _cut(items[place + 1 :], 0)
            words = tuple(Seq((*last, *branch.items, *first)) for branch in options(item))
            return without_space_choices(tidy(Seq((*before, AltItem(words), *after))))
    return Seq(tuple(items))


def _cut(items: list[Item], end: int) -> tuple[list[Item], list[Item]]:
    """The items without the word at one end (-1 or 0), and that word; all of them where the end is no literal word."""
    edge = items[end] if items else None
    if not isinstance(edge, TextItem) or " " not in edge.text:
        return ([], items) if end else (items, [])
    if end:
        place = edge.text.rindex(" ") + 1
        return [*items[:-1], TextItem(edge.text[:place])], [TextItem(edge.text[place:])]
    place = edge.text.index(" ")
    return [TextItem(edge.text[:place])], [TextItem(edge.text[place:]), *items[1:]]
