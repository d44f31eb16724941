"""Checks across files: within a language (INTENT-2 §4), between intents, and between languages (INTENT-2 §2.3)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from hark.intents.locale import Line, Resource, Role
from hark.tools.lint.locale_file import LocaleFile
from hark.tools.lint.parsed_language import ParsedLanguage, Sentence, sentences_of
from hark.tools.lint.report import LintCode, LintFinding

_CODE_SLOT = re.compile(r"\{(?:\w+:)?(\w+)\}")


class PythonSlots:
    """The Python files beside a locale folder: samples may be written there as well."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @cached_property
    def slots(self) -> frozenset[str]:
        """Everything there that looks like a slot."""
        texts = [path.read_text("utf-8", "replace") for path in sorted(self._folder.parent.glob("*.py"))]
        return frozenset(slot for text in texts for slot in _CODE_SLOT.findall(text))


def check_related_files(spoken: ParsedLanguage, code: PythonSlots) -> Iterator[LintFinding]:
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
                None, 0, LintCode.REQUIRED_WITHOUT_INTENT, message, "rename one of them, or remove this file"
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
            yield sheet.finding(None, 0, LintCode.BLACKLIST_OF_NOTHING, message, "name it after what it is to restrict")


def _entities(spoken: ParsedLanguage, slots: set[str], code: PythonSlots) -> Iterator[LintFinding]:
    for name, sheet in spoken.all(Role.ENTITY).items():
        if sheet.is_named_rightly and name not in slots and name not in code.slots:
            message = f"no template has the slot {{{name}}} these values are for"
            yield sheet.finding(None, 0, LintCode.ENTITY_WITHOUT_SLOT, message, "name it after a slot, or remove it")


def _required(spoken: ParsedLanguage, intent: LocaleFile, required: LocaleFile) -> Iterator[LintFinding]:
    """One of the required phrases has to be said, so sentences need one, and phrases need a sentence."""
    sentences = list(sentences_of(intent, spoken))
    keywords = list(sentences_of(required, spoken))
    slots = intent.slots
    used: set[str] = set()
    told: set[int] = set()
    for said in sentences:
        fitting = {keyword.key for keyword in keywords if said.holds(keyword.words)}
        used |= fitting
        if not fitting and not said.has_slot and said.line.number not in told and keywords:
            told.add(said.line.number)
            message = f"{said.text!r} has none of the phrases of {required.path.name}, so it is never matched"
            yield intent.finding(said.line, 0, LintCode.LACKS_REQUIRED, message, "add one of them to it, or it to them")
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
            yield required.finding(keyword.line, 0, LintCode.REQUIRED_SLOT, message, mend)
        elif sentences and not slots:  # what no sentence has may be said within a slot
            message = f"no sentence of {intent.path.name} has {keyword.text!r}"
            yield required.finding(keyword.line, 0, LintCode.REQUIRED_NOWHERE, message, "correct it, or remove it")


def _barred(spoken: ParsedLanguage, sheet: LocaleFile, blacklist: LocaleFile) -> Iterator[LintFinding]:
    """Sentences, or values, that their own blacklist rules out. One finding for a line."""
    barred = list(sentences_of(blacklist, spoken))
    is_intent = sheet.resource.role is Role.INTENT
    told: set[int] = set()
    for said in sentences_of(sheet, spoken):
        if said.line.number in told:
            continue
        # A phrase rules an intent out wherever it occurs, a value only if it is all that was said.
        culprit = next((one for one in barred if (said.holds(one.words) if is_intent else said.key == one.key)), None)
        if culprit is not None:
            told.add(said.line.number)
            message = f"{said.text!r} is ruled out by line {culprit.line.number} of {blacklist.path.name}"
            yield sheet.finding(said.line, 0, LintCode.BARRED, message, "take one of the two out")


_SLOT = re.compile(r"\{\w+\}")
_Claims = dict[str, tuple[LocaleFile, Line]]
"""Who has a sentence first."""


def check_duplicates(spoken: ParsedLanguage) -> Iterator[LintFinding]:
    """Each pair of lines once, with an example of what they share."""
    claims: _Claims = {}
    for sheet in spoken.sheets.values():
        role = sheet.resource.role
        if role is Role.DIALOG:
            yield from _same_phrases(sheet)
        elif role.has_lines:
            said = list(sentences_of(sheet, spoken))
            yield from _within(sheet, said)
            if role is Role.INTENT:
                yield from _between(sheet, said, claims)


def _same_phrases(sheet: LocaleFile) -> Iterator[LintFinding]:
    first: dict[str, Line] = {}
    for line in sheet.lines:
        other = first.setdefault(line.text, line)
        if other is not line:
            message = f"line {other.number} is the same"
            yield sheet.finding(line, 0, LintCode.SAID_TWICE, message, "remove one of the two")


def _within(sheet: LocaleFile, sentences: list[Sentence]) -> Iterator[LintFinding]:
    first: dict[str, Line] = {}
    told: set[tuple[int, int]] = set()
    for said in sentences:
        other = first.setdefault(said.key, said.line)
        pair = (other.number, said.line.number)
        if other is not said.line and pair not in told:
            told.add(pair)
            message = f"{said.text!r} is in line {other.number} already"
            yield sheet.finding(said.line, 0, LintCode.SAID_TWICE, message, "take it out of one of the two")


def _between(sheet: LocaleFile, sentences: list[Sentence], claims: _Claims) -> Iterator[LintFinding]:
    told: set[tuple[int, LocaleFile, int]] = set()
    for said in sentences:
        shape = _SLOT.sub("{}", said.key)  # whatever its slots are called, the same can be said
        rival, line = claims.setdefault(shape, (sheet, said.line))
        pair = (said.line.number, rival, line.number)
        if rival is not sheet and pair not in told:
            told.add(pair)
            message = f"{said.text!r} is in {rival.path.name}, line {line.number}, as well"
            yield sheet.finding(said.line, 0, LintCode.SAID_BY_TWO, message, "leave it to one of the two intents")


def check_parity(languages: list[ParsedLanguage]) -> Iterator[LintFinding]:
    """Files that one language has and another has not, and slots of intents that differ."""
    yield from _files(languages)
    yield from _slots(languages)


def _files(languages: list[ParsedLanguage]) -> Iterator[LintFinding]:
    owners: dict[Resource, list[str]] = {}
    for spoken in languages:
        for resource in spoken.tongue.files:
            if resource.role.needs_parity:
                owners.setdefault(resource, []).append(spoken.tongue.tag)
    for spoken in languages:
        for resource, tags in owners.items():
            if spoken.tongue.tag in tags:
                continue
            if resource.role is Role.VOCABULARY and resource.name in spoken.wanted:
                continue  # told where somebody refers to it
            message = f"{resource} is missing; it is there in {', '.join(tags)}"
            mend = "translate it, or repeat it where nothing needs translating"
            yield LintFinding(spoken.tongue.path, 0, 0, LintCode.MISSING_FILE, message, mend)


def _slots(languages: list[ParsedLanguage]) -> Iterator[LintFinding]:
    names = {name for spoken in languages for name in spoken.all(Role.INTENT)}
    for name in sorted(names):
        sheets = {
            spoken.tongue.tag: sheet
            for spoken in languages
            if (sheet := spoken.get(Role.INTENT, name)) is not None and len(sheet.entries) == len(sheet.lines) > 0
        }  # with a line that cannot be read, nobody knows the slots
        owners: dict[str, list[str]] = {}
        for tag, sheet in sheets.items():
            for slot in sheet.slots:
                owners.setdefault(slot, []).append(tag)
        for tag, sheet in sheets.items():
            missing = [slot for slot in sorted(owners) if tag not in owners[slot]]
            if missing:
                there = dict.fromkeys(owner for slot in missing for owner in owners[slot])
                told = ", ".join(f"{{{slot}}}" for slot in missing)
                message = f"the intent {name!r} lacks {told} here, which it has in {', '.join(there)}"
                mend = "use the same slot names in every language; names are not translated"
                yield sheet.finding(None, 0, LintCode.MISSING_SLOT, message, mend)
