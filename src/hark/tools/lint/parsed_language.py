"""One language of a skill, parsed: its files, cycles between vocabularies, and the sentences of each file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from hark.intents.grammar import Malformed, Reference, TemplateError, Vocabularies
from hark.intents.locale import LanguageFolder, Line, Resource, Role
from hark.intents.text import words
from hark.tools.lint.locale_file import LocaleFile, check_expansion, read_locale_file
from hark.tools.lint.report import FIXES, LintCode, LintFinding
from hark.tools.lint.targets import resources_of

_COMPARED: Final = 1_000
"""Sentences of one template that are compared with others."""
_IS_FOLDED: Final = re.compile(r"(?:[a-z0-9]+|\{\w+\})(?: (?:[a-z0-9]+|\{\w+\}))*").fullmatch
"""Matches sentences that folding does not change, as most are."""
_References = dict[str, tuple[Line, int]]
"""The vocabularies that a vocabulary refers to, each with its first line and position."""


@dataclass(slots=True)
class ParsedLanguage:
    tag: str
    path: Path
    files: dict[Resource, LocaleFile]
    vocabularies: Vocabularies
    undefined: set[str]
    """Vocabularies that some file refers to and that do not exist."""

    def all(self, role: Role) -> dict[str, LocaleFile]:
        """The files of one role, by name."""
        return {resource.name: file for resource, file in self.files.items() if resource.role is role}

    def get(self, role: Role, name: str) -> LocaleFile | None:
        return self.files.get(Resource(role, name))


def parse_language(folder: LanguageFolder, findings: list[LintFinding]) -> ParsedLanguage:
    """Read every file of a language and check its templates."""
    files = {
        resource: read_locale_file(resource, path, folder.tag, findings)
        for resource, path in resources_of(folder, findings).items()
    }

    def members(name: str) -> list[str] | None:
        file = files.get(Resource(Role.VOCABULARY, name))
        return None if file is None else [line.text for line in file.lines]

    language = ParsedLanguage(folder.tag, folder.path, files, Vocabularies(members), set())
    known = language.all(Role.VOCABULARY)
    findings += _find_cycles(known)
    for file in files.values():
        language.undefined.update(name for entry in file.parsed for name in entry.template.references)
        check_expansion(language.vocabularies, file, findings)
    language.undefined -= known.keys()
    findings += _check_sizes(language, known)
    findings += _check_dialogs(language)
    return language


def _find_cycles(vocabularies: dict[str, LocaleFile]) -> Iterator[LintFinding]:
    """Each cycle of references once, at the reference that closes it."""
    references = {name: _references(file) for name, file in vocabularies.items()}
    done: set[str] = set()
    for start in sorted(references):
        # Depth first, without recursion: the names on the path, each with the references still to follow.
        path = {start: iter(sorted(references[start]))} if start not in done else {}
        while path:
            name = next(reversed(path))
            target = next(path[name], None)
            if target is None:
                done.add(name)
                del path[name]
            elif target in path:
                names = [*path, target]
                cycle = " → ".join(f"<{step}>" for step in names[names.index(target) :])
                line, position = references[name][target]
                message = f"the vocabulary <{target}> refers to itself: {cycle}"
                fix = FIXES[Malformed.CYCLIC_VOCABULARY]
                yield vocabularies[name].finding(line, position, LintCode.CYCLIC_VOCABULARY, message, fix)
            elif target in references and target not in done:
                path[target] = iter(sorted(references[target]))


def _references(file: LocaleFile) -> _References:
    found: _References = {}
    for entry in file.parsed:
        if entry.template.references:
            for node in entry.template.nodes:
                if isinstance(node, Reference):
                    found.setdefault(node.name, (entry.line, node.position))
    return found


def _check_sizes(language: ParsedLanguage, vocabularies: dict[str, LocaleFile]) -> Iterator[LintFinding]:
    for name, file in vocabularies.items():
        try:
            language.vocabularies.members(name)
        except TemplateError as error:
            # A line that is too large by itself was found already.
            if error.kind is Malformed.TOO_MANY_SENTENCES and error.chain == (name,) and "members" in error.reason:
                yield file.finding(file.lines[0], 0, LintCode.TOO_MANY_SENTENCES, error.reason, FIXES[error.kind])


def _check_dialogs(language: ParsedLanguage) -> Iterator[LintFinding]:
    """The phrases of one dialog have the same slots (INTENT-2 §4.2)."""
    for file in language.all(Role.DIALOG).values():
        if not file.parsed:
            continue
        first = file.parsed[0]
        expected = set(first.template.slots)
        for entry in file.parsed[1:]:
            slots = set(entry.template.slots)
            if slots != expected:
                differing = ", ".join(f"{{{slot}}}" for slot in sorted(slots ^ expected))
                message = (
                    f"the slots differ from those of line {first.line.number}; all phrases of a dialog have the same"
                )
                fix = f"use {differing} in both, [optional] if need be, or in neither"
                yield file.finding(entry.line, 0, LintCode.DIALOG_SLOTS, message, fix)


class SampleSentence(NamedTuple):
    """A sentence that a line of a file stands for."""

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
        return "{" in self.text

    def contains(self, phrase: list[str]) -> bool:
        """Whether these words occur in it side by side."""
        words, size = self.words, len(phrase)
        return bool(phrase) and any(words[start : start + size] == phrase for start in range(len(words) - size + 1))


def sentences_of(file: LocaleFile, language: ParsedLanguage) -> Iterator[SampleSentence]:
    """The sentences of a file, at most 1,000 for each line."""
    for entry in file.parsed:
        samples = entry.template.samples(language.vocabularies, limit=None)
        for sample in islice(samples, _COMPARED):
            yield SampleSentence(entry.line, sample, sample if _IS_FOLDED(sample) else _folded(sample, language.tag))


def _folded(sample: str, lang: str) -> str:
    found: list[str] = []
    for number, part in enumerate(sample.replace("}", "{").split("{")):
        found += [f"{{{part}}}"] if number % 2 else words(part, lang)
    return " ".join(found)
