"""Checks across files: within a language (INTENT-2 §4), between intents, and between languages (INTENT-2 §2.3)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from hark.intents.locale import Line, Resource, Role
from hark.tools.lint.locale_file import LocaleFile
from hark.tools.lint.parsed_language import ParsedLanguage, SampleSentence, sentences_of
from hark.tools.lint.report import LintCode, LintFinding

_CODE_SLOT = re.compile(r"\{(?:\w+:)?(\w+)\}")
_SLOT = re.compile(r"\{\w+\}")
_Owners = dict[str, tuple[LocaleFile, Line]]
"""The first file and line of each sentence."""


class PythonSlots:
    """The slots in Python files beside a locale folder, where templates may be written as well."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @cached_property
    def names(self) -> frozenset[str]:
        """Everything there that looks like a slot."""
        files = sorted(path for path in self._folder.parent.glob("*.py") if path.is_file())
        texts = [path.read_text("utf-8", "replace") for path in files]
        return frozenset(slot for text in texts for slot in _CODE_SLOT.findall(text))


# Files of one language.


def check_related_files(language: ParsedLanguage, code: PythonSlots) -> Iterator[LintFinding]:
    """Check `.entity`, `.required` and `.blacklist` files against the intents, slots and values they are for."""
    intents = language.all(Role.INTENT)
    slots = {slot for file in (*intents.values(), *language.all(Role.DIALOG).values()) for slot in file.slots}
    yield from _entities(language, slots, code)
    for name, file in language.all(Role.REQUIRED).items():
        if name in intents:
            yield from _required(language, intents[name], file)
        elif file.has_valid_name:
            message, fix = f"there is no {name}.intent", "rename one of them, or remove this file"
            yield file.finding(None, 0, LintCode.REQUIRED_WITHOUT_INTENT, message, fix)
    for name, file in language.all(Role.BLACKLIST).items():
        if name in intents:
            yield from _blacklisted(language, intents[name], file)
        elif (entity := language.get(Role.ENTITY, name)) is not None:
            yield from _blacklisted(language, entity, file)
        elif (
            file.has_valid_name
            and name not in slots
            and language.get(Role.VOCABULARY, name) is None
            and name not in code.names
        ):
            message = f"there is no intent, slot or vocabulary {name!r}, so this file has no effect"
            yield file.finding(None, 0, LintCode.BLACKLIST_OF_NOTHING, message, "name it after what it is to restrict")


def _entities(language: ParsedLanguage, slots: set[str], code: PythonSlots) -> Iterator[LintFinding]:
    for name, file in language.all(Role.ENTITY).items():
        if file.has_valid_name and name not in slots and name not in code.names:
            message = f"no template has the slot {{{name}}} that these values are for"
            yield file.finding(None, 0, LintCode.ENTITY_WITHOUT_SLOT, message, "name it after a slot, or remove it")


def _required(language: ParsedLanguage, intent: LocaleFile, required: LocaleFile) -> Iterator[LintFinding]:
    """Each sentence needs one of the required phrases, and each phrase a sentence."""
    sentences = list(sentences_of(intent, language))
    phrases = list(sentences_of(required, language))
    slots = intent.slots
    used: set[str] = set()
    reported: set[int] = set()
    for sentence in sentences:
        contained = {phrase.key for phrase in phrases if sentence.contains(phrase.words)}
        used |= contained
        # What fills a slot may contain the phrase.
        if not contained and not sentence.has_slot and sentence.line.number not in reported and phrases:
            reported.add(sentence.line.number)
            message = f"{sentence.text!r} has none of the phrases of {required.path.name}, so it is never matched"
            yield intent.finding(
                sentence.line, 0, LintCode.LACKS_REQUIRED, message, "add one of them, or add it to them"
            )
    reported.clear()
    for phrase in phrases:
        if phrase.key in used or phrase.line.number in reported:
            continue
        reported.add(phrase.line.number)
        if phrase.text in slots:
            message = f"{phrase.text!r} is required as a word; this does not require a value for {{{phrase.text}}}"
            fix = "remove it: slots that every template has are required without being listed"
            yield required.finding(phrase.line, 0, LintCode.REQUIRED_SLOT, message, fix)
        elif sentences and not slots:  # what fills a slot may contain the phrase
            message = f"no sentence of {intent.path.name} has {phrase.text!r}"
            yield required.finding(phrase.line, 0, LintCode.REQUIRED_NOWHERE, message, "correct it, or remove it")


def _blacklisted(language: ParsedLanguage, file: LocaleFile, blacklist: LocaleFile) -> Iterator[LintFinding]:
    """Sentences, or values, that their own blacklist excludes: one finding for each line."""
    excluded = list(sentences_of(blacklist, language))
    is_intent = file.resource.role is Role.INTENT
    reported: set[int] = set()
    for sentence in sentences_of(file, language):
        if sentence.line.number in reported:
            continue
        # A phrase excludes an intent wherever it occurs, a value only if it is all that was said.
        cause = next(
            (one for one in excluded if (sentence.contains(one.words) if is_intent else sentence.key == one.key)), None
        )
        if cause is not None:
            reported.add(sentence.line.number)
            message = f"{sentence.text!r} is excluded by line {cause.line.number} of {blacklist.path.name}"
            yield file.finding(sentence.line, 0, LintCode.BARRED, message, "remove one of the two")


# Sentences that exist twice.


def check_duplicates(language: ParsedLanguage) -> Iterator[LintFinding]:
    """Each pair of lines with a common sentence once: within a file, and between intents."""
    owners: _Owners = {}
    for file in language.files.values():
        role = file.resource.role
        if role is Role.DIALOG:
            yield from _same_phrases(file)
        elif role.has_lines:
            sentences = list(sentences_of(file, language))
            yield from _within_file(file, sentences)
            if role is Role.INTENT:
                yield from _between_intents(file, sentences, owners)


def _same_phrases(file: LocaleFile) -> Iterator[LintFinding]:
    first: dict[str, Line] = {}
    for line in file.lines:
        other = first.setdefault(line.text, line)
        if other is not line:
            message = f"line {other.number} is the same"
            yield file.finding(line, 0, LintCode.SAID_TWICE, message, "remove one of the two")


def _within_file(file: LocaleFile, sentences: list[SampleSentence]) -> Iterator[LintFinding]:
    first: dict[str, Line] = {}
    reported: set[tuple[int, int]] = set()
    for sentence in sentences:
        other = first.setdefault(sentence.key, sentence.line)
        pair = (other.number, sentence.line.number)
        if other is not sentence.line and pair not in reported:
            reported.add(pair)
            message = f"{sentence.text!r} is in line {other.number} already"
            yield file.finding(sentence.line, 0, LintCode.SAID_TWICE, message, "remove it from one of the two")


def _between_intents(file: LocaleFile, sentences: list[SampleSentence], owners: _Owners) -> Iterator[LintFinding]:
    reported: set[tuple[int, LocaleFile, int]] = set()
    for sentence in sentences:
        shape = _SLOT.sub("{}", sentence.key)  # slots of other names match the same utterances
        other, line = owners.setdefault(shape, (file, sentence.line))
        pair = (sentence.line.number, other, line.number)
        if other is not file and pair not in reported:
            reported.add(pair)
            message = f"{sentence.text!r} is in {other.path.name}, line {line.number}, as well"
            yield file.finding(sentence.line, 0, LintCode.SAID_BY_TWO, message, "remove it from one of the two intents")


# Languages of one skill.


def check_parity(languages: list[ParsedLanguage]) -> Iterator[LintFinding]:
    """Files that one language has and another lacks, and slots of intents that differ. All languages count alike."""
    yield from _missing_files(languages)
    yield from _missing_slots(languages)


def _missing_files(languages: list[ParsedLanguage]) -> Iterator[LintFinding]:
    owners: dict[Resource, list[str]] = {}
    for language in languages:
        for resource in language.files:
            if resource.role.needs_parity:
                owners.setdefault(resource, []).append(language.tag)
    for language in languages:
        for resource, tags in owners.items():
            if language.tag in tags:
                continue
            if resource.role is Role.VOCABULARY and resource.name in language.undefined:
                continue  # reported at the reference to it
            message = f"{resource} is missing; it exists in {', '.join(tags)}"
            fix = "translate it, or repeat it where nothing needs translating"
            yield LintFinding(language.path, 0, 0, LintCode.MISSING_FILE, message, fix)


def _missing_slots(languages: list[ParsedLanguage]) -> Iterator[LintFinding]:
    names = {name for language in languages for name in language.all(Role.INTENT)}
    for name in sorted(names):
        # With a line that cannot be parsed, the slots of a file are not known.
        files = {
            language.tag: file
            for language in languages
            if (file := language.get(Role.INTENT, name)) is not None and len(file.parsed) == len(file.lines) > 0
        }
        owners: dict[str, list[str]] = {}
        for tag, file in files.items():
            for slot in file.slots:
                owners.setdefault(slot, []).append(tag)
        for tag, file in files.items():
            missing = [slot for slot in sorted(owners) if tag not in owners[slot]]
            if missing:
                others = dict.fromkeys(owner for slot in missing for owner in owners[slot])
                listed = ", ".join(f"{{{slot}}}" for slot in missing)
                message = f"the intent {name!r} lacks {listed} here, which it has in {', '.join(others)}"
                fix = "use the same slot names in every language; names are not translated"
                yield file.finding(None, 0, LintCode.MISSING_SLOT, message, fix)
