"""One language of a skill, parsed: its files, cycles between vocabularies, and the sentences of each file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from hark.intents.grammar import Malformed, Reference, TemplateError, Vocabularies
from hark.intents.locale import Line, Resource, Role
from hark.intents.text import words
from hark.tools.lint.locale_file import LocaleFile, check_with, read_locale_file
from hark.tools.lint.report import FIXES, LintCode, LintFinding
from hark.tools.lint.targets import Tongue

_Needs = dict[str, tuple[Line, int]]
"""What a vocabulary refers to, and where first."""


def find_cycles(vocabularies: dict[str, LocaleFile]) -> Iterator[LintFinding]:
    """Every circle once, at the reference that closes it."""
    needs = {name: _needs(sheet) for name, sheet in vocabularies.items()}
    done: set[str] = set()
    for start in sorted(needs):
        # Depth first, without recursion: the names on the way, each with those it still has to lead to.
        way = {start: iter(sorted(needs[start]))} if start not in done else {}
        while way:
            name = next(reversed(way))
            needed = next(way[name], None)
            if needed is None:
                done.add(name)
                del way[name]
            elif needed in way:
                names = [*way, needed]
                circle = " → ".join(f"<{step}>" for step in names[names.index(needed) :])
                line, position = needs[name][needed]
                message = f"the vocabulary <{needed}> needs itself: {circle}"
                mend = FIXES[Malformed.CYCLIC_VOCABULARY]
                yield vocabularies[name].finding(line, position, LintCode.CYCLIC_VOCABULARY, message, mend)
            elif needed in needs and needed not in done:
                way[needed] = iter(sorted(needs[needed]))


def _needs(sheet: LocaleFile) -> _Needs:
    found: _Needs = {}
    for entry in sheet.entries:
        if entry.template.references:
            for node in entry.template.nodes:
                if isinstance(node, Reference):
                    found.setdefault(node.name, (entry.line, node.position))
    return found


@dataclass(slots=True)
class ParsedLanguage:
    """A language with its files read."""

    tongue: Tongue
    sheets: dict[Resource, LocaleFile]
    vocabularies: Vocabularies
    wanted: set[str]
    """Vocabularies that some file refers to and nobody has."""

    def all(self, role: Role) -> dict[str, LocaleFile]:
        """The files of one role, by name."""
        return {resource.name: sheet for resource, sheet in self.sheets.items() if resource.role is role}

    def get(self, role: Role, name: str) -> LocaleFile | None:
        """One file."""
        return self.sheets.get(Resource(role, name))


def parse_language(tongue: Tongue, findings: list[LintFinding]) -> ParsedLanguage:
    """Read every file of a language and check its templates."""
    sheets = {
        resource: read_locale_file(resource, path, tongue.tag, findings)
        for resource, path in sorted_files(tongue.files)
    }

    def members(name: str) -> list[str] | None:
        sheet = sheets.get(Resource(Role.VOCABULARY, name))
        return None if sheet is None else [line.text for line in sheet.lines]

    spoken = ParsedLanguage(tongue, sheets, Vocabularies(members), set())
    known = spoken.all(Role.VOCABULARY)
    findings += find_cycles(known)
    for sheet in sheets.values():
        spoken.wanted.update(name for entry in sheet.entries for name in entry.template.references)
        check_with(spoken.vocabularies, sheet, findings)
    spoken.wanted -= known.keys()
    findings += _too_big(spoken, known)
    findings += _dialogs(spoken)
    return spoken


def sorted_files(files: dict[Resource, Path]) -> list[tuple[Resource, Path]]:
    """Files in the order of role and name."""
    return sorted(files.items(), key=lambda item: (item[0].role.value, item[0].name))


def _too_big(spoken: ParsedLanguage, known: dict[str, LocaleFile]) -> Iterator[LintFinding]:
    for name, sheet in known.items():
        try:
            spoken.vocabularies.members(name)
        except TemplateError as error:
            # A line that is too big by itself was found already.
            if error.kind is Malformed.TOO_MANY_SENTENCES and error.chain == (name,) and "members" in error.reason:
                mend = FIXES[error.kind]
                yield sheet.finding(sheet.lines[0], 0, LintCode.TOO_MANY_SENTENCES, error.reason, mend)


def _dialogs(spoken: ParsedLanguage) -> Iterator[LintFinding]:
    """Phrases of one dialog have the same slots (INTENT-2 §4.2)."""
    for sheet in spoken.all(Role.DIALOG).values():
        if not sheet.entries:
            continue
        first = sheet.entries[0]
        wanted = set(first.template.slots)
        for entry in sheet.entries[1:]:
            slots = set(entry.template.slots)
            if slots != wanted:
                differing = ", ".join(f"{{{slot}}}" for slot in sorted(slots ^ wanted))
                message = f"the phrases of a dialog have the same slots; this one and line {first.line.number} differ"
                mend = f"use {differing} in both, [optional] if need be, or in neither"
                yield sheet.finding(entry.line, 0, LintCode.DIALOG_SLOTS, message, mend)


_MOST: Final = 1_000
"""Sentences of one template that are compared with others."""
_PLAIN: Final = re.compile(r"(?:[a-z0-9]+|\{\w+\})(?: (?:[a-z0-9]+|\{\w+\}))*").fullmatch
"""What folding would leave as it is, and most sentences are."""


class Sentence(NamedTuple):
    """A sentence."""

    line: Line
    text: str
    key: str
    """The sentence as it is compared: folded, one space between words, slots as `{name}`."""

    @property
    def words(self) -> list[str]:
        """Its words; a slot is one."""
        return self.key.split()

    @property
    def has_slot(self) -> bool:
        """Whether some of it is not known before it is said."""
        return "{" in self.text

    def holds(self, phrase: list[str]) -> bool:
        """Whether these words occur in it side by side."""
        words, size = self.words, len(phrase)
        return bool(phrase) and any(words[start : start + size] == phrase for start in range(len(words) - size + 1))


def sentences_of(sheet: LocaleFile, spoken: ParsedLanguage) -> Iterator[Sentence]:
    """The sentences of a file that can be made, a bounded number for each line."""
    lang = spoken.tongue.tag
    for entry in sheet.entries:
        samples = entry.template.samples(spoken.vocabularies, limit=None)
        for sample in islice(samples, _MOST):
            yield Sentence(entry.line, sample, sample if _PLAIN(sample) else _folded(sample, lang))


def _folded(sample: str, lang: str) -> str:
    found: list[str] = []
    for number, part in enumerate(sample.replace("}", "{").split("{")):
        found += [f"{{{part}}}"] if number % 2 else words(part, lang)
    return " ".join(found)
