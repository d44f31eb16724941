"""From the locale folder of one language to hassil's sentences."""

from __future__ import annotations

from typing import Any, Final

from hark.intents.locale import Role
from hark.tools.convert.files import LanguageSource, lines_of, restore
from hark.tools.convert.lists import export_lists
from hark.tools.convert.report import ConversionReport, Verdict
from hark.tools.convert.responses import export_responses
from hark.tools.convert.template import UnreadableTemplate, read_locale_line, slots_of
from hark.tools.convert.translation import HassilWriter

_NO_EQUIVALENT: Final = {
    Role.BLACKLIST: "phrases that exclude an intent or a value",
    Role.REQUIRED: "words an intent has to contain",
    Role.PROMPT: "prompts for language models",
}


def to_hassil(folder: LanguageSource, report: ConversionReport) -> dict[str, Any]:
    """The sentences of a language as one table of hassil."""
    return _Export(folder, report).run()


class _Export:
    def __init__(self, folder: LanguageSource, report: ConversionReport) -> None:
        self._folder = folder
        self._report = report
        self._kept: dict[str, Any] = folder.sidecar.get("intents", {})
        self._rules: dict[str, Any] = folder.sidecar.get("rules", {})
        self._slots: dict[str, str] = folder.sidecar.get("slots", {})
        self._writer = HassilWriter(self._rules, {}, self._slots)
        self._skip_words = folder.sidecar.get("skip_words") or {"voc": "skip_words", "entries": []}
        self._used: dict[str, str] = {}
        """Slots of the templates so far, with the type each has in Hark."""

    def run(self) -> dict[str, Any]:
        folder, report = self._folder, self._report
        bases = list(dict.fromkeys((*self._kept, *folder.files(Role.INTENT))))
        names = {base: str(self._kept.get(base, {}).get("name", base)) for base in bases}
        intents = {names[base]: self._intent(base) for base in bases}
        shared = {
            "lists": export_lists(folder, self._used, self._writer, report),
            "expansion_rules": self._all_rules(),
            "skip_words": self._all_skip_words(),
            "responses": export_responses(folder, names, report),
            **folder.sidecar.get("rest", {}),
        }
        for role, what in _NO_EQUIVALENT.items():
            for base in folder.files(role):
                report.add(Verdict.LOST, f"hassil has no {what}", f"{base}{role.value}", f"file {base}{role.value}")
        blocks = [block for intent in intents.values() for block in intent["data"]]
        report.counts = {
            "intents": len(intents),
            "blocks": len(blocks),
            "sentences": sum(len(block["sentences"]) for block in blocks),
            "lists": len(shared["lists"]),
            "rules": len(shared["expansion_rules"]),
        }
        language = folder.sidecar.get("language", folder.lang)
        bare = folder.sidecar.get("bare", ())
        filled = {key: value for key, value in shared.items() if value or key in bare}
        return {"language": language, "intents": intents, **filled}

    def _intent(self, base: str) -> dict[str, Any]:
        kept: dict[str, Any] = self._kept.get(base, {"lists": {}, "blocks": []})
        writer = HassilWriter(self._rules, kept["lists"], self._slots)
        sentences: dict[str, str] = {}
        for line in self._folder.lines(Role.INTENT, base):
            try:
                tree = read_locale_line(line)
                sentences[line] = writer.sentence(tree)
            except UnreadableTemplate as error:
                self._report.add(Verdict.LOST, str(error), line, f"intent {base}")
                continue
            for slot in slots_of(tree):
                self._used[slot.name] = self._used.get(slot.name) or slot.source
        blocks: list[dict[str, Any]] = []
        known: set[str] = set()
        for block in kept["blocks"]:
            known.update(line for one in block["sentences"] for line in lines_of(one))
            texts = restore(sentences, block["sentences"], sentences)
            if texts or not block["sentences"]:
                blocks.append({"sentences": texts, **block["data"]})
        added = [text for line, text in sentences.items() if line not in known]
        if added:
            blocks.append({"sentences": added})
        return {"data": blocks, **kept.get("more", {})}

    def _all_rules(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, rule in self._rules.items():
            present = self._folder.lines(Role.VOCABULARY, rule.get("voc", ""))
            if "voc" not in rule or present == rule["lines"]:
                found[name] = rule["was"]
            elif present:
                found[name] = self._body(rule["voc"], optional=bool(rule.get("optional")))
        lists = self._folder.sidecar.get("lists", {}).values()
        local: dict[str, list[str]] = self._folder.sidecar.get("local_rules", {})
        for base, lines in local.items():
            if self._folder.lines(Role.VOCABULARY, base) != lines:
                reason = "a change to the rule of a single block is lost"
                self._report.add(Verdict.LOST, reason, base, f"file {base}.voc")
        other = {kept["voc"] for kept in (*self._rules.values(), *lists) if "voc" in kept}
        other |= {self._skip_words["voc"], *local}
        for base in self._folder.files(Role.VOCABULARY):
            if base not in other:
                found.setdefault(base, self._body(base))
        return found

    def _body(self, base: str, *, optional: bool = False) -> str:
        lines: list[str] = []
        for line in self._folder.lines(Role.VOCABULARY, base):
            try:
                lines.append(self._writer.line(line))
            except UnreadableTemplate as error:
                self._report.add(Verdict.LOST, str(error), line, f"vocabulary {base}")
        body = "|".join(lines)
        if optional:
            return f"[{body}]"
        return f"({body})" if len(lines) > 1 else body

    def _all_skip_words(self) -> list[Any]:
        present = self._folder.lines(Role.VOCABULARY, self._skip_words["voc"])
        entries = self._skip_words["entries"]
        known = {line for one in entries for line in lines_of(one)}
        added = [line for line in present if line not in known]
        return restore(present, entries, {line: line for line in present}) + added
