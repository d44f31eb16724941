"""From hassil's sentences to a locale folder of one language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from hark.app.convert.dictionary import Dictionary
from hark.app.convert.intents_in import Intents
from hark.app.convert.lists import Lists
from hark.app.convert.names import Names
from hark.app.convert.reading import Unreadable
from hark.app.convert.report import Report, Verdict
from hark.app.convert.responses_in import import_responses
from hark.app.convert.scope import Scope, referred, table
from hark.app.convert.side import NAME, Entry, entry, lines_of, write_side
from hark.app.convert.splitting import Division, divide
from hark.app.convert.tree import Ref, render

_KNOWN: Final = ("language", "intents", "lists", "expansion_rules", "skip_words", "responses")


@dataclass(slots=True)
class Converted:
    """The files of one language, by name, and what could not be said in them."""

    lang: str
    report: Report
    files: dict[str, str] = field(default_factory=dict)


def from_hassil(lang: str, data: Mapping[str, Any], limit: int) -> Converted:
    """The locale folder for what hassil says in a language; no template stands for more than `limit` sentences."""
    return _Import(lang, data, limit).run()


class _Import:
    """One conversion under way."""

    def __init__(self, lang: str, data: Mapping[str, Any], limit: int) -> None:
        self._data = data
        self._report = Report(lang)
        self._dictionary = Dictionary(lang, limit)
        self._rules = table(data, "expansion_rules")
        self._side_of_rules: dict[str, dict[str, Any]] = {}
        self._scope = Scope(self._rules, table(data, "lists"), self._dictionary, Names())
        self._lists = Lists(self._dictionary, self._report)
        self._intents = Intents(self._scope, self._dictionary, self._lists, self._report, self._side_of_rules)
        self._files: dict[str, list[str]] = {}

    def run(self) -> Converted:
        """Everything, in an order in which what is referred to comes first."""
        self._import_rules()
        for name, definition in table(self._data, "lists").items():
            self._lists.add(name, definition, self._scope)
        for name, intent in table(self._data, "intents").items():
            self._intents.add(name, intent)
        self._lists.finish()
        skip_words = self._import_skip_words()
        dialogs, responses = import_responses(self._data.get("responses"), self._intents.names, self._report)
        rest = {key: value for key, value in self._data.items() if key not in _KNOWN}
        bare = [key for key in _KNOWN if key in self._data and not self._data[key]]
        for key in rest:
            self._report.add(Verdict.KEPT, f"{key} mean nothing here", str(rest[key]))
        for base in self._dictionary.bases():
            self._files[f"{base}.voc"] = self._dictionary.lines(base)
        self._files |= {**self._lists.files, **self._intents.files, **dialogs}
        side = {
            "language": self._report.lang,
            "intents": self._intents.side,
            "slots": self._intents.slots,
            "rules": self._side_of_rules,
            "local_rules": self._local_rules(),
            "lists": self._lists.side,
            "runtime_lists": list(self._intents.runtime),
            "skip_words": skip_words,
            "responses": responses,
            "rest": rest,
            "bare": bare,
        }
        self._count()
        files = {name: "\n".join(lines) + "\n" for name, lines in self._files.items() if lines}
        return Converted(self._report.lang, self._report, {**files, NAME: write_side(side)})

    def _import_rules(self) -> None:
        for name, body in self._rules.items():
            kept = self._side_of_rules[name] = {"was": body}
            try:
                made = self._scope.rule(name)
            except (Unreadable, RecursionError) as error:
                self._report.add(Verdict.REFUSED, str(error), body, f"rule {name}")
                continue
            base = referred(made)
            if base is not None:
                kept |= {"voc": base, "lines": self._dictionary.lines(base)}
                if not isinstance(made, Ref):
                    kept["optional"] = True

    def _local_rules(self) -> dict[str, list[str]]:
        """The vocabularies that rules of single blocks became; those rules stand in the data of their blocks."""
        shared = {kept.get("voc") for kept in self._side_of_rules.values()}
        return {base: self._dictionary.lines(base) for base in self._dictionary.bases() if base not in shared}

    def _import_skip_words(self) -> dict[str, Any]:
        words = self._data.get("skip_words")
        if not isinstance(words, list) or not words:
            return {}
        base = self._dictionary.reserve("skip_words")
        entries: list[Entry] = []
        for word in map(str, words):
            try:
                division = divide(self._scope.sentence(word), self._dictionary.known, self._dictionary.limit)
            except Unreadable:
                division = Division()
            lines = [render(line) for line in division.lines]
            if not lines:
                self._report.add(Verdict.REFUSED, "a word to skip is none", word)
            entries.append(entry(word, lines, lines[0] if lines else None))
        self._files[f"{base}.voc"] = list(dict.fromkeys(line for one in entries for line in lines_of(one)))
        self._report.add(Verdict.KEPT, "words to skip are not left out of what was said", ", ".join(map(str, words)))
        return {"voc": base, "entries": entries}

    def _count(self) -> None:
        kinds = [name.rpartition(".")[2] for name in self._files]
        sentences = [
            text for intent in self._intents.side.values() for block in intent["blocks"] for text in block["sentences"]
        ]
        templates = [line for lines in self._intents.files.values() for line in lines if not line.startswith("#")]
        self._report.counts = {
            "intents": len(self._intents.side),
            "sentences": len(sentences),
            "unchanged": sum(isinstance(text, str) for text in sentences),
            "without a line": sum(not lines_of(text) for text in sentences),
            "templates": len(templates),
            "vocabularies": kinds.count("voc"),
            "entities": kinds.count("entity"),
            "dialogs": kinds.count("dialog"),
            "expanded sentences": sum(self._report.expansions.values()),
        }
