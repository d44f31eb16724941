"""From hassil's sentences to the locale folder of one language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from hark.tools.convert.division import ADJACENT, Division, divide
from hark.tools.convert.files import SIDECAR, Entry, entry, lines_of, sidecar_text
from hark.tools.convert.lists import ListImport
from hark.tools.convert.report import ConversionReport, Verdict
from hark.tools.convert.responses import import_responses
from hark.tools.convert.template import (
    AltItem,
    Item,
    RefItem,
    Seq,
    SlotItem,
    UnreadableTemplate,
    read_locale_line,
    render,
    size,
    slots_of,
)
from hark.tools.convert.translation import (
    ANYTHING,
    NUMBER,
    BaseNames,
    HassilWriter,
    SentenceScope,
    VocabularySet,
    referred,
    table,
)

DIVIDED: Final = "it is divided into several lines"
OTHER_LIST: Final = "which of several lists fills the slot is not expressed"
_BESIDE: Final = "beside_"
_WRITTEN_OUT: Final = 40
"""The most values that are written out where two slots meet."""
SKIP_WORDS: Final = "skip_words"
THINGS: Final = "name"
"""Home Assistant's list of things: the one whose values are of a kind, such as a light or a lock."""
_NO: Final = {"requires_context": "", "excludes_context": "no"}
_GATES: Final = {
    "slots": "slots with a fixed value are not filled in",
    "requires_context": "a required context is not checked",
    "excludes_context": "an excluded context is not checked",
    "response": "its response is not selected",
    "metadata": "metadata are not passed on",
    "required_keywords": "required keywords are not checked",
}


class IntentImport:
    def __init__(
        self,
        scope: SentenceScope,
        vocabularies: VocabularySet,
        lists: ListImport,
        report: ConversionReport,
        rules: dict[str, Any],
    ) -> None:
        self._scope = scope
        self._vocabularies = vocabularies
        self._lists = lists
        self._report = report
        self._rules = rules
        self.names = BaseNames()
        """Base names of intents."""
        self.files: dict[str, list[str]] = {}
        """The lines of each file."""
        self.sidecar: dict[str, dict[str, Any]] = {}
        """What the files cannot express, by base name."""
        self.slots: dict[str, str] = {}
        """Slots that have another name in hassil."""
        self.kinds: dict[str, dict[str, Any]] = {}
        """By the type of a slot, what is required of the things it takes."""
        self.runtime: dict[str, None] = {}
        """Lists that are not defined here: the program that uses the sentences provides them."""

    def add(self, name: str, intent: Any) -> None:
        base = self.names.of(name)
        blocks = intent.get("data") if isinstance(intent, Mapping) else None
        if not isinstance(blocks, list):
            self._report.add(Verdict.LOST, "an intent has no data", name, f"intent {name}")
            return
        kept: dict[str, Any] = {"name": name, "lists": {}, "blocks": []}
        more = {key: value for key, value in intent.items() if key != "data"}
        if more:
            kept["more"] = more
        self.sidecar[base] = kept
        self._report.expansions[base] = 0
        lines: dict[str, None] = {}
        written: list[str] = []
        for number, block in enumerate(blocks, 1):
            if not isinstance(block, Mapping):
                self._report.add(Verdict.LOST, "a block is not a table", str(block), f"intent {name}")
                continue
            entries = self._block(base, block, kept["lists"], number)
            data = {key: value for key, value in block.items() if key != "sentences"}
            kept["blocks"].append({"data": data, "sentences": entries})
            added = [line for one in entries for line in lines_of(one) if line not in lines]
            lines.update(dict.fromkeys(added))
            written += [f"# block {number}{_comment(data)}", *dict.fromkeys(added)] if added else []
        if written:
            self.files[f"{base}.intent"] = written

    def _block(self, base: str, block: Mapping[str, Any], of_slots: dict[str, str], number: int) -> list[Entry]:
        where = f"intent {self.sidecar[base]['name']}"
        kind = self._kind(block)
        has_things = kind and any(
            slot.name == THINGS
            for text in block.get("sentences") or ()
            for slot in (self._scope.slots(text) if isinstance(text, str) else ())
        )
        for part, reason in _GATES.items():
            if block.get(part) and not (has_things and part in _NO):
                self._report.add(Verdict.KEPT, reason, str(block[part]), where)
        own, key = table(block, "lists"), f"{base}/{number}"
        scope = self._scope
        if own or block.get("expansion_rules"):
            scope = scope.inner(table(block, "expansion_rules"), own)
            for name, definition in own.items():
                self._lists.add(name, definition, scope, f"{name}@{key}")
        entries: list[Entry] = []
        for text in block.get("sentences") or ():
            slots = scope.slots(text) if isinstance(text, str) else []
            self._feed(slots, scope, own, key)
            for slot in slots:
                of_slots.setdefault(scope.slot_name(slot.name), slot.source or slot.name)
            entries.append(self._sentence(base, text, scope, of_slots, slots, kind))
        return entries

    def _divided(self, seq: Seq, sources: Mapping[str, str]) -> Division:
        """The lines of a template. Where two slots meet, the values of one are written out beside the other."""
        division = divide(seq, self._vocabularies.known, self._vocabularies.limit)
        refused, division.refused = division.refused, []
        for part, reasons in refused:
            written = self._written_out(part, sources) if ADJACENT in reasons else None
            if written is None:
                division.refused.append((part, reasons))
                continue
            more = divide(written, self._vocabularies.known, self._vocabularies.limit)
            division.lines += more.lines
            division.refused += more.refused
        return division

    def _written_out(self, seq: Seq, sources: Mapping[str, str]) -> Seq | None:
        """A template with the values of a list in place of its slot; None where no slot has a list of values."""
        named = {slot.name: slot.source for slot in slots_of(seq)}
        for slot, kind in named.items():
            values = self._lists.lines(sources.get(slot, slot)) if kind not in (NUMBER, ANYTHING) else []
            if 0 < len(values) <= _WRITTEN_OUT and len(named) > 1:
                branches = tuple(read_locale_line(line) for line in values)
                return _without_slot(seq, slot, AltItem(branches))
        return None

    def _kind(self, block: Mapping[str, Any]) -> str:
        """The entity with the things that a block of sentences is about: a light, a door that is no sensor."""
        wanted = {
            gate: {key: value for key, value in table(block, gate).items() if not _is_filled(value)}
            for gate in ("requires_context", "excludes_context")
        }
        parts = [text for gate, keys in wanted.items() if keys for text in (_NO[gate], *map(_values_of, keys.values()))]
        if not parts:
            return ""
        kind = self._vocabularies.reserve("_".join([THINGS, *filter(None, parts)]))
        self.kinds[kind] = {gate: keys for gate, keys in wanted.items() if keys}
        return kind

    def _sentence(
        self, base: str, text: Any, scope: SentenceScope, of_slots: dict[str, str], slots: list[SlotItem], kind: str
    ) -> Entry:
        where = f"intent {self.sidecar[base]['name']}"
        scope.notes.clear()
        try:
            if not isinstance(text, str):
                raise UnreadableTemplate("a sentence is not text")
            made_of = _of_kind(scope.sentence(text), scope.slot_name(THINGS), kind) if kind else scope.sentence(text)
            sources = {scope.slot_name(slot.name): slot.source or slot.name for slot in slots}
            division = self._divided(made_of, sources)
        except (UnreadableTemplate, RecursionError) as error:
            self._report.add(Verdict.REFUSED, str(error), text, where)
            return {"was": text, "lines": []}
        for _part, reasons in division.refused:
            self._report.add(Verdict.REFUSED, ", ".join(reasons), text, where)
        self._report.expansions[base] += sum(size(line, self._vocabularies.known.size) for line in division.lines)
        lines = [render(line) for line in division.lines]
        if division.refused or len(lines) != 1:
            made = entry(str(text), lines, None)
        else:
            originals = {scope.slot_name(slot.name): slot.name for slot in slots}
            made = entry(str(text), lines, HassilWriter(self._rules, of_slots, originals).sentence(division.lines[0]))
            if not isinstance(made, str) and not scope.notes:
                scope.notes.add(OTHER_LIST)
        if len(lines) > 1:
            scope.notes.add(DIVIDED)
        for note in () if isinstance(made, str) else sorted(scope.notes):
            self._report.add(Verdict.REWRITTEN, note, text, where)
        return made

    def _feed(self, slots: list[SlotItem], scope: SentenceScope, own: Mapping[str, Any], key: str) -> None:
        """Record where slots take their values from."""
        for slot in slots:
            base, source = scope.slot_name(slot.name), slot.source or slot.name
            if base != slot.name:
                self.slots[base] = slot.name
            if source in own:
                self._lists.feed(base, f"{source}@{key}")
            elif self._lists.has(source):
                self._lists.feed(base, source)
            elif not scope.is_number(source):
                self.runtime[source] = None


def _is_filled(value: Any) -> bool:
    """Whether a required context only fills a slot, as the area of the speaker does."""
    return isinstance(value, Mapping) and bool(value.get("slot")) and "value" not in value


def _values_of(value: Any) -> str:
    if isinstance(value, Mapping):
        value = value.get("value", "")
    return "_".join(map(str, value)) if isinstance(value, list) else str(value)


def _of_kind(seq: Seq, slot: str, kind: str) -> Seq:
    """The template with a type for every slot of this name that has none."""
    items: list[Item] = []
    for item in seq.items:
        match item:
            case SlotItem(name, "") if name == slot:
                items.append(SlotItem(name, kind))
            case AltItem(branches, optional):
                items.append(AltItem(tuple(_of_kind(branch, slot, kind) for branch in branches), optional))
            case _:
                items.append(item)
    return Seq(tuple(items))


def _without_slot(seq: Seq, slot: str, values: AltItem) -> Seq:
    """The template with a slot written out, which the types of the other slots say."""
    items: list[Item] = []
    for item in seq.items:
        match item:
            case SlotItem(name, _) if name == slot:
                items.append(values)
            case SlotItem(name, kind):
                items.append(SlotItem(name, f"{kind}_{_BESIDE}{slot}" if kind else f"{_BESIDE}{slot}"))
            case AltItem(branches, optional):
                items.append(AltItem(tuple(_without_slot(branch, slot, values) for branch in branches), optional))
            case _:
                items.append(item)
    return Seq(tuple(items))


def _comment(data: Mapping[str, Any]) -> str:
    """What a block is for, as a comment in the file."""
    parts = [
        f"{key} {name}={value}"
        for key in ("slots", "requires_context", "excludes_context")
        for name, value in table(data, key).items()
    ]
    return ": " + "; ".join(" ".join(text.split()) for text in parts) if parts else ""


_KNOWN: Final = ("language", "intents", "lists", "expansion_rules", "skip_words", "responses")


@dataclass(slots=True)
class ConvertedLanguage:
    """The files of one language, by name, and a report of what they cannot express."""

    lang: str
    report: ConversionReport
    files: dict[str, str] = field(default_factory=dict)


def from_hassil(lang: str, data: Mapping[str, Any], limit: int) -> ConvertedLanguage:
    """The locale folder for hassil's sentences in a language; no template stands for more than `limit` sentences."""
    return _Import(lang, data, limit).run()


class _Import:
    def __init__(self, lang: str, data: Mapping[str, Any], limit: int) -> None:
        self._data = data
        self._report = ConversionReport(lang)
        self._vocabularies = VocabularySet(lang, limit)
        self._rules = table(data, "expansion_rules")
        self._rule_sidecar: dict[str, dict[str, Any]] = {}
        self._scope = SentenceScope(self._rules, table(data, "lists"), self._vocabularies, BaseNames())
        self._lists = ListImport(self._vocabularies, self._report)
        self._intents = IntentImport(self._scope, self._vocabularies, self._lists, self._report, self._rule_sidecar)
        self._files: dict[str, list[str]] = {}

    def run(self) -> ConvertedLanguage:
        # What is referred to comes first.
        self._survey()
        self._import_rules()
        for name, definition in table(self._data, "lists").items():
            self._lists.add(name, definition, self._scope)
        for name, intent in table(self._data, "intents").items():
            self._intents.add(name, intent)
        self._lists.finish(self._scope.kinds)
        skip_words = self._import_skip_words()
        dialogs, responses = import_responses(self._data.get("responses"), self._intents.names, self._report)
        rest = {key: value for key, value in self._data.items() if key not in _KNOWN}
        bare = [key for key in _KNOWN if key in self._data and not self._data[key]]
        for key in rest:
            self._report.add(Verdict.KEPT, f"{key} have no equivalent", str(rest[key]))
        for base in self._vocabularies.bases():
            self._files[f"{base}.voc"] = self._vocabularies.lines(base)
        self._files |= {**self._lists.files, **self._intents.files, **dialogs}
        side = {
            "language": self._report.lang,
            "intents": self._intents.sidecar,
            "slots": self._intents.slots,
            "kinds": self._intents.kinds,
            "rules": self._rule_sidecar,
            "local_rules": self._local_rules(),
            "lists": self._lists.sidecar,
            "runtime_lists": list(self._intents.runtime),
            "skip_words": skip_words,
            "responses": responses,
            "rest": rest,
            "bare": bare,
        }
        self._count()
        files = {name: "\n".join(lines) + "\n" for name, lines in self._files.items() if lines}
        return ConvertedLanguage(self._report.lang, self._report, {**files, SIDECAR: sidecar_text(side)})

    def _survey(self) -> None:
        """Find out which lists fill each slot."""
        for intent in table(self._data, "intents").values():
            blocks = intent.get("data") if isinstance(intent, Mapping) else None
            for block in blocks if isinstance(blocks, list) else ():
                if isinstance(block, Mapping):
                    scope = self._scope.inner(table(block, "expansion_rules"), {})
                    for text in block.get("sentences") or ():
                        for slot in scope.slots(text) if isinstance(text, str) else ():
                            self._scope.sources.setdefault(slot.name, set()).add(slot.source or slot.name)

    def _import_rules(self) -> None:
        for name, body in self._rules.items():
            kept = self._rule_sidecar[name] = {"was": body}
            try:
                made = self._scope.rule(name)
            except (UnreadableTemplate, RecursionError) as error:
                self._report.add(Verdict.REFUSED, str(error), body, f"rule {name}")
                continue
            base = referred(made)
            if base is not None:
                kept |= {"voc": base, "lines": self._vocabularies.lines(base)}
                if not isinstance(made, RefItem):
                    kept["optional"] = True

    def _local_rules(self) -> dict[str, list[str]]:
        """The vocabularies made of rules of single blocks; the rules themselves are in the data of their blocks."""
        shared = {kept.get("voc") for kept in self._rule_sidecar.values()}
        return {base: self._vocabularies.lines(base) for base in self._vocabularies.bases() if base not in shared}

    def _import_skip_words(self) -> dict[str, Any]:
        words = self._data.get("skip_words")
        if not isinstance(words, list) or not words:
            return {}
        base = self._vocabularies.reserve(SKIP_WORDS)
        entries: list[Entry] = []
        for word in map(str, words):
            try:
                division = divide(self._scope.sentence(word), self._vocabularies.known, self._vocabularies.limit)
            except UnreadableTemplate:
                division = Division()
            lines = [render(line) for line in division.lines]
            if not lines:
                self._report.add(Verdict.REFUSED, "a word to skip is not a word", word)
            entries.append(entry(word, lines, lines[0] if lines else None))
        self._files[f"{base}.voc"] = list(dict.fromkeys(line for one in entries for line in lines_of(one)))
        self._files[f"{SKIP_WORDS}.entity"] = [f"<{base}>"]
        return {"voc": base, "entries": entries}

    def _count(self) -> None:
        kinds = [name.rpartition(".")[2] for name in self._files]
        sentences = [
            text
            for intent in self._intents.sidecar.values()
            for block in intent["blocks"]
            for text in block["sentences"]
        ]
        templates = [line for lines in self._intents.files.values() for line in lines if not line.startswith("#")]
        self._report.counts = {
            "intents": len(self._intents.sidecar),
            "sentences": len(sentences),
            "unchanged": sum(isinstance(text, str) for text in sentences),
            "without a line": sum(not lines_of(text) for text in sentences),
            "templates": len(templates),
            "vocabularies": kinds.count("voc"),
            "entities": kinds.count("entity"),
            "dialogs": kinds.count("dialog"),
            "expanded sentences": sum(self._report.expansions.values()),
        }
