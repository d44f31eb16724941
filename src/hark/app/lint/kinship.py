"""Files that belong to an intent or a slot: whether there is one, and whether they agree with it (INTENT-2 §4)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from hark.app.lint.finding import Code, Finding
from hark.app.lint.said import sayings
from hark.app.lint.sheets import Sheet
from hark.app.lint.tongues import Spoken
from hark.intents.locale import Role

_CODE_SLOT = re.compile(r"\{(?:\w+:)?(\w+)\}")


class PythonBeside:
    """The Python files beside a locale folder: samples may be written there as well."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @cached_property
    def slots(self) -> frozenset[str]:
        """Everything there that looks like a slot."""
        texts = [path.read_text("utf-8", "replace") for path in sorted(self._folder.parent.glob("*.py"))]
        return frozenset(slot for text in texts for slot in _CODE_SLOT.findall(text))


def kinship(spoken: Spoken, code: PythonBeside) -> Iterator[Finding]:
    """What is wrong between the files of one language."""
    intents = spoken.all(Role.INTENT)
    slots = {slot for sheet in (*intents.values(), *spoken.all(Role.DIALOG).values()) for slot in sheet.slots}
    yield from _entities(spoken, slots, code)
    for name, sheet in spoken.all(Role.REQUIRED).items():
        if name in intents:
            yield from _required(spoken, intents[name], sheet)
        elif sheet.is_named_rightly:
            message = f"there is no {name}.intent it could belong to"
            yield sheet.finding(
                None, 0, Code.REQUIRED_WITHOUT_INTENT, message, "rename one of them, or remove this file"
            )
    for name, sheet in spoken.all(Role.BLACKLIST).items():
        if name in intents:
            yield from _barred(spoken, intents[name], sheet)
        elif (entity := spoken.get(Role.ENTITY, name)) is not None:
            yield from _barred(spoken, entity, sheet)
        elif (
            sheet.is_named_rightly
            and name not in slots
            and spoken.get(Role.VOCABULARY, name) is None
            and name not in code.slots
        ):
            message = f"there is no intent, slot or vocabulary {name!r}, so this file has no effect"
            yield sheet.finding(None, 0, Code.BLACKLIST_OF_NOTHING, message, "name it after what it is to restrict")


def _entities(spoken: Spoken, slots: set[str], code: PythonBeside) -> Iterator[Finding]:
    for name, sheet in spoken.all(Role.ENTITY).items():
        if sheet.is_named_rightly and name not in slots and name not in code.slots:
            message = f"no template has the slot {{{name}}} these values are for"
            yield sheet.finding(None, 0, Code.ENTITY_WITHOUT_SLOT, message, "name it after a slot, or remove it")


def _required(spoken: Spoken, intent: Sheet, required: Sheet) -> Iterator[Finding]:
    """One of the required phrases has to be said, so sentences need one, and phrases need a sentence."""
    sentences = list(sayings(intent, spoken))
    keywords = list(sayings(required, spoken))
    slots = intent.slots
    used: set[str] = set()
    told: set[int] = set()
    for said in sentences:
        fitting = {keyword.key for keyword in keywords if said.holds(keyword.words)}
        used |= fitting
        if not fitting and not said.has_slot and said.line.number not in told and keywords:
            told.add(said.line.number)
            message = f"{said.text!r} has none of the phrases of {required.path.name}, so it is never matched"
            yield intent.finding(said.line, 0, Code.LACKS_REQUIRED, message, "add one of them to it, or it to them")
    told.clear()
    for keyword in keywords:
        if keyword.key in used or keyword.line.number in told:
            continue
        told.add(keyword.line.number)
        if keyword.text in slots:
            message = (
                f"{keyword.text!r} has to be said word for word; that {{{keyword.text}}} is filled is another matter"
            )
            mend = "slots that every template has are required without being listed"
            yield required.finding(keyword.line, 0, Code.REQUIRED_SLOT, message, mend)
        elif sentences and not slots:  # what no sentence has may be said within a slot
            message = f"no sentence of {intent.path.name} has {keyword.text!r}"
            yield required.finding(keyword.line, 0, Code.REQUIRED_NOWHERE, message, "correct it, or remove it")


def _barred(spoken: Spoken, sheet: Sheet, blacklist: Sheet) -> Iterator[Finding]:
    """Sentences, or values, that their own blacklist rules out. One finding for a line."""
    barred = list(sayings(blacklist, spoken))
    is_intent = sheet.resource.role is Role.INTENT
    told: set[int] = set()
    for said in sayings(sheet, spoken):
        if said.line.number in told:
            continue
        # A phrase rules an intent out wherever it occurs, a value only if it is all that was said.
        culprit = next((one for one in barred if (said.holds(one.words) if is_intent else said.key == one.key)), None)
        if culprit is not None:
            told.add(said.line.number)
            message = f"{said.text!r} is ruled out by line {culprit.line.number} of {blacklist.path.name}"
            yield sheet.finding(said.line, 0, Code.BARRED, message, "take one of the two out")
