"""From the locale folder of one language to hassil's sentences."""

from __future__ import annotations

from typing import Any, Final

from hark.tools.convert.files import LanguageSource, lines_of, restored
from hark.tools.convert.lists import export_lists
from hark.tools.convert.report import ConversionReport, Verdict
from hark.tools.convert.responses import export_responses
from hark.tools.convert.template import UnreadableTemplate, read_hassil, slots_of
from hark.tools.convert.translation import HassilWriter

_UNSAYABLE: Final = {
    "blacklist": "phrases that rule an intent or a value out",
    "required": "words an intent has to contain",
    "prompt": "prompts for language models",
}


def to_hassil(folder: LanguageSource, report: ConversionReport) -> dict[str, Any]:
    """What the folder says, as one table of hassil's."""
    return _Export(folder, report).run()


class _Export:
    """One conversion under way."""

    def __init__(self, folder: LanguageSource, report: ConversionReport) -> None:
        self._folder = folder
        self._report = report
        self._kept: dict[str, Any] = folder.side.get("intents", {})
        self._rules: dict[str, Any] = folder.side.get("rules", {})
        self._slots: dict[str, str] = folder.side.get("slots", {})
        self._back = HassilWriter(self._rules, {}, self._slots)
        self._skip_words = folder.side.get("skip_words") or {"voc": "skip_words", "entries": []}
        self._used: dict[str, str] = {}
        """Slots that were met, and the type each has in Hark."""

    def run(self) -> dict[str, Any]:
        """Everything, in the order in which people write it."""
        folder, report = self._folder, self._report
        bases = list(dict.fromkeys((*self._kept, *folder.files("intent"))))
        names = {base: str(self._kept.get(base, {}).get("name", base)) for base in bases}
        intents = {names[base]: self._intent(base) for base in bases}
        shared = {
            "lists": export_lists(folder, self._used, self._back, report),
            "expansion_rules": self._all_rules(),
            "skip_words": self._restored_words(),
            "responses": export_responses(folder, names, report),
            **folder.side.get("rest", {}),
        }
        for role, what in _UNSAYABLE.items():
            for base in folder.files(role):
                report.add(Verdict.LOST, f"hassil has no {what}", f"{base}.{role}", f"file {base}.{role}")
        blocks = [block for intent in intents.values() for block in intent["data"]]
        report.counts = {
            "intents": len(intents),
            "blocks": len(blocks),
            "sentences": sum(len(block["sentences"]) for block in blocks),
            "lists": len(shared["lists"]),
            "rules": len(shared["expansion_rules"]),
        }
        language = folder.side.get("language", folder.lang)
        bare = folder.side.get("bare", ())
        said = {key: value for key, value in shared.items() if value or key in bare}
        return {"language": language, "intents": intents, **said}

    def _intent(self, base: str) -> dict[str, Any]:
        kept: dict[str, Any] = self._kept.get(base, {"lists": {}, "blocks": []})
        back = HassilWriter(self._rules, kept["lists"], self._slots)
        sentences: dict[str, str] = {}
        for line in self._folder.lines("intent", base):
            try:
                sentences[line] = back.sentence(line)
            except UnreadableTemplate as error:
                self._report.add(Verdict.LOST, str(error), line, f"intent {base}")
                continue
            for slot in slots_of(read_hassil(line)):
                self._used[slot.name] = self._used.get(slot.name) or slot.source
        blocks: list[dict[str, Any]] = []
        known: set[str] = set()
        for block in kept["blocks"]:
            known.update(line for one in block["sentences"] for line in lines_of(one))
            texts = restored(sentences, block["sentences"], sentences)
            if texts or not block["sentences"]:
                blocks.append({"sentences": texts, **block["data"]})
        fresh = [text for line, text in sentences.items() if line not in known]
        if fresh:
            blocks.append({"sentences": fresh})
        return {"data": blocks, **kept.get("more", {})}

    def _all_rules(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, rule in self._rules.items():
            present = self._folder.lines("voc", rule.get("voc", ""))
            if "voc" not in rule or present == rule["lines"]:
                found[name] = rule["was"]
            elif present:
                found[name] = self._body(rule["voc"], optional=bool(rule.get("optional")))
        lists = self._folder.side.get("lists", {}).values()
        local: dict[str, list[str]] = self._folder.side.get("local_rules", {})
        for base, lines in local.items():
            if self._folder.lines("voc", base) != lines:
                reason = "a change to the rule of a single block is not carried over"
                self._report.add(Verdict.LOST, reason, base, f"file {base}.voc")
        other = {kept["voc"] for kept in (*self._rules.values(), *lists) if "voc" in kept}
        other |= {self._skip_words["voc"], *local}
        for base in self._folder.files("voc"):
            if base not in other:
                found.setdefault(base, self._body(base))
        return found

    def _body(self, base: str, *, optional: bool = False) -> str:
        lines: list[str] = []
        for line in self._folder.lines("voc", base):
            try:
                lines.append(self._back.sentence(line))
            except UnreadableTemplate as error:
                self._report.add(Verdict.LOST, str(error), line, f"vocabulary {base}")
        body = "|".join(lines)
        if optional:
            return f"[{body}]"
        return f"({body})" if len(lines) > 1 else body

    def _restored_words(self) -> list[Any]:
        present = self._folder.lines("voc", self._skip_words["voc"])
        entries = self._skip_words["entries"]
        known = {line for one in entries for line in lines_of(one)}
        fresh = [line for line in present if line not in known]
        return restored(present, entries, {line: line for line in present}) + fresh
