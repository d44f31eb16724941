"""Measure what becomes of Home Assistant's sentences in Hark.

    python benchmarks/home_assistant.py [--lang en] [--each 5] [--at-most 5000] [--json FILE]

Imports the sentences of the `home-assistant-intents` package, draws sentences from every one of them, and looks how
many find their own intent again: in hassil, which they were written for, and in Hark's template engine, which gets the
imported locale folder as a skill would register it. Three kinds of sentences are drawn: from hassil's templates as they
are (`source`), the same with spaces for hyphens (`spoken`), and from the imported `.intent` files (`line`). A sentence
that two intents both have goes to the one registered first in Hark; those are counted. Times are processor time.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hark.intents import MAX_SENTENCES, Found, Rejected, TemplatePool, lookup, words
from hark.intents.locale import Locale, Role
from hark.model import Session
from hark.spec import DEFAULT_SESSION_ID, topics
from hark.tools.convert.files import read_package, write
from hark.tools.convert.hassil_import import ConvertedLanguage, from_hassil
from hark.tools.convert.template import (
    AltItem,
    Item,
    PermItem,
    RefItem,
    Seq,
    SlotItem,
    TextItem,
    UnreadableTemplate,
    options,
    read_hassil,
    slots_of,
)

SKILL = "home.skill"
AREAS = ("kitchen", "living room", "bedroom", "attic")
FLOORS = ("ground", "first", "upper")
NAMES = ("kestrel", "blue heron", "old oak", "marble arch")
"""Names that no template has a word of."""
FREE = ("buy more tea", "yesterday", "seven swans")


@dataclass
class Drawn:
    """A sentence, where it comes from, and what was put into its slots."""

    text: str
    intent: str
    domain: str
    slots: dict[str, str] = field(default_factory=dict)


class Draw:
    """Draws sentences from templates of either format, each alternative as likely as the others."""

    def __init__(self, rules: dict[str, str], lists: dict[str, Any], seed: int) -> None:
        self._rules = rules
        self._lists = lists
        self._random = random.Random(seed)
        self._trees: dict[str, Seq] = {}

    def sentence(self, template: str, slots: dict[str, str], of_slots: dict[str, str] | None = None) -> str:
        """One sentence; what was put into each slot is left in `slots`."""
        return " ".join(self._text(self._tree(template), slots, of_slots or {}).split())

    def _tree(self, template: str) -> Seq:
        if template not in self._trees:
            self._trees[template] = read_hassil(template)
        return self._trees[template]

    def _text(self, node: Seq | Item, slots: dict[str, str], of_slots: dict[str, str]) -> str:
        match node:
            case TextItem(text):
                return text
            case Seq(items):
                return "".join(self._text(item, slots, of_slots) for item in items)
            case AltItem():
                return self._text(self._random.choice(options(node)), slots, of_slots)
            case PermItem(members):
                order = self._random.sample(members, len(members))
                return " " + " ".join(self._text(member, slots, of_slots) for member in order) + " "
            case RefItem(name):
                return self._text(self._tree(self._rules[name]), slots, of_slots)
            case SlotItem(name, source):
                value = self._value(of_slots.get(name) or source or name)
                slots[name] = value
                return value

    def _value(self, name: str) -> str:
        definition = self._lists.get(name, {})
        if "values" in definition:
            value = self._random.choice(definition["values"])
            text = value["in"] if isinstance(value, dict) else value
            return " ".join(self._text(self._tree(text), {}, {}).split())
        if "range" in definition:
            bounds = definition["range"]
            return str(self._random.randrange(bounds["from"], bounds["to"] + 1, bounds.get("step", 1)))
        return self._random.choice({"area": AREAS, "floor": FLOORS, "name": NAMES}.get(name, FREE))


def from_sources(data: dict[str, Any], each: int, seed: int) -> Iterator[Drawn]:
    """Sentences of hassil's templates."""
    draw = Draw(data["expansion_rules"], data["lists"], seed)
    for intent, content in data["intents"].items():
        for block in content["data"]:
            for template in block["sentences"]:
                for _ in range(each):
                    slots: dict[str, str] = {}
                    yield Drawn(draw.sentence(template, slots), intent, _domain(block), slots)


def from_lines(converted: ConvertedLanguage, data: dict[str, Any], each: int, seed: int) -> Iterator[Drawn]:
    """Sentences of the imported lines, with values of the lists that hassil has for their slots."""
    side = json.loads(converted.files["hassil.json"])
    rules = {
        name.removesuffix(".voc"): "|".join(_lines(text)) for name, text in converted.files.items() if ".voc" in name
    }
    draw = Draw(rules, data["lists"], seed)
    for kept in side["intents"].values():
        for block in kept["blocks"]:
            for entry in block["sentences"]:
                for line in [entry] if isinstance(entry, str) else entry["lines"]:
                    lists = kept["lists"] if isinstance(entry, str) else {**kept["lists"], **_lists(entry["was"])}
                    for _ in range(each):
                        slots: dict[str, str] = {}
                        text = draw.sentence(line, slots, lists)
                        yield Drawn(text, kept["name"], _domain(block["data"]), slots)


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith("#")]


def _lists(sentence: str) -> dict[str, str]:
    """The list that hassil's sentence names for each slot."""
    return {slot.name: slot.source or slot.name for slot in slots_of(read_hassil(sentence))}


def _domain(block: dict[str, Any]) -> str:
    wanted = block.get("requires_context", {}).get("domain", "light")
    return str(wanted if isinstance(wanted, str) else wanted[0])


class Hassil:
    """Hassil's matcher, in a home with a few things of every kind."""

    def __init__(self, data: dict[str, Any]) -> None:
        from hassil.intents import Intents, TextSlotList

        began = time.process_time()
        self._intents = Intents.from_dict(data)
        self.seconds = time.process_time() - began
        self._list = TextSlotList

    def knows(self, drawn: Drawn) -> str | None:
        """The intent it finds."""
        from hassil.intents import SlotList
        from hassil.recognize import recognize_best

        names = self._list.from_tuples((name, name, {"domain": drawn.domain}) for name in NAMES)
        lists: dict[str, SlotList] = {
            "name": names,
            "area": self._list.from_strings(AREAS),
            "floor": self._list.from_strings(FLOORS),
        }
        context = {"area": AREAS[0]}
        found = recognize_best(
            drawn.text, self._intents, slot_lists=lists, intent_context=context, best_slot_name="name"
        )
        return found.intent.name if found is not None else None


class Hark:
    """The template engine, with the imported folder registered as a skill registers its own."""

    def __init__(self, converted: ConvertedLanguage, lang: str) -> None:
        self._lang = lang
        self._pool = TemplatePool()
        self._session = Session("benchmark")
        side = json.loads(converted.files["hassil.json"])
        self._names = {base: kept["name"] for base, kept in side["intents"].items()}
        self.refused = 0
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder) / lang, converted.files, force=False)
            language = Locale(Path(folder)).language(lang)
            began = time.process_time()
            for base in language.names(Role.INTENT):
                samples = language.inlined(Role.INTENT, base)
                self._register(topics.REGISTER_TEMPLATE, intent_name=base, samples=list(samples))
            for base in language.names(Role.ENTITY):
                self._register(
                    topics.ENTITY_REGISTER, entity_name=base, samples=list(language.inlined(Role.ENTITY, base))
                )
            for name, values in (("area", AREAS), ("floor", FLOORS), ("name", NAMES)):
                self._register(topics.ENTITY_REGISTER, entity_name=name, samples=list(values))
            self.seconds = time.process_time() - began
        self.megabytes = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024

    def _register(self, topic: str, **fields: Any) -> None:
        try:
            skipped = self._pool.apply(topic, {"skill_id": SKILL, "lang": self._lang, **fields}, DEFAULT_SESSION_ID)
        except Rejected as error:
            print(f"rejected: {fields.get('intent_name') or fields.get('entity_name')}: {error}", file=sys.stderr)
            self.refused += 1
        else:
            self.refused += len(skipped)

    def knows(self, drawn: Drawn) -> str | None:
        """The intent it finds."""
        found = self.finds(drawn)
        return self._names[found.intent.intent_name] if found is not None else None

    def shares(self, drawn: Drawn) -> bool:
        """Whether the intent a sentence was drawn from has it as written, even if another one gets it."""
        index = self._pool.scope(DEFAULT_SESSION_ID).roots[self._lang.lower()]
        matches = index.exact.matches(words(drawn.text, self._lang))
        return drawn.intent in {self._names[match.intent.intent_name] for match in matches}

    def finds(self, drawn: Drawn) -> Found | None:
        """The intent with its slots."""
        found = lookup(self._pool, drawn.text, self._lang, self._session, time.time)
        return found if isinstance(found, Found) else None


def measure(engine: Hassil | Hark, drawn: list[Drawn]) -> dict[str, Any]:
    """How many sentences find their own intent, another one, or none, and how long that takes."""
    right = other = slots_right = shared = 0
    began = time.process_time()
    answers = [engine.knows(one) for one in drawn]
    seconds = time.process_time() - began
    for one, answer in zip(drawn, answers, strict=True):
        right += answer == one.intent
        other += answer not in (None, one.intent)
    if isinstance(engine, Hark):
        for one, answer in zip(drawn, answers, strict=True):
            found = engine.finds(one) if answer == one.intent else None
            slots_right += found is not None and found.slots == {
                name: value.lower() for name, value in one.slots.items()
            }
            shared += answer not in (None, one.intent) and engine.shares(one)
    total = len(drawn) or 1
    result = {
        "sentences": len(drawn),
        "own intent": right,
        "own intent, %": round(100 * right / total, 2),
        "another intent": other,
        "none": len(drawn) - right - other,
        "microseconds each": round(seconds / total * 1e6, 1),
    }
    return result | (
        {"own intent and slots, %": round(100 * slots_right / total, 2), "another intent that has it too": shared}
        if isinstance(engine, Hark)
        else {}
    )


def main(arguments: Iterable[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lang", default="en")
    parser.add_argument("--each", type=int, default=5, help="sentences drawn from each template")
    parser.add_argument("--at-most", type=int, default=5_000, help="sentences of each kind, drawn from those")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", metavar="FILE", help="write the result there as well")
    options_ = parser.parse_args(list(arguments) if arguments is not None else None)
    ((lang, data),) = read_package(options_.lang)
    began = time.process_time()
    converted = from_hassil(lang, data, MAX_SENTENCES)
    result: dict[str, Any] = {
        "import": {"seconds": round(time.process_time() - began, 2), **converted.report.counts},
        "verdicts": [(verdict.value, number, reason) for verdict, reason, number in converted.report.by_reason()],
        "expanded sentences": dict(sorted(converted.report.expansions.items(), key=lambda one: -one[1])),
    }
    hark = Hark(converted, lang)
    result["registration in hark"] = {
        "seconds": round(hark.seconds, 2),
        "megabytes": round(hark.megabytes),
        "refused templates": hark.refused,
    }
    hassil = Hassil(data)
    result["loading in hassil"] = {"seconds": round(hassil.seconds, 2)}
    source = list(from_sources(data, options_.each, options_.seed))
    kinds = {
        "source": iter(source),
        "spoken": (replace(one, text=one.text.replace("-", " ")) for one in source),
        "line": from_lines(converted, data, options_.each, options_.seed),
    }
    for kind, drawing in kinds.items():
        drawn = list(_readable(drawing))
        if len(drawn) > options_.at_most:
            drawn = random.Random(options_.seed).sample(drawn, options_.at_most)
        result[f"hark, {kind}"] = measure(hark, drawn)
        result[f"hassil, {kind}"] = measure(hassil, drawn)
    text = json.dumps(result, indent=1, ensure_ascii=False)
    print(text)
    if options_.json:
        Path(options_.json).write_text(f"{text}\n", encoding="utf-8")
    return 0


def _readable(drawing: Iterator[Drawn]) -> Iterator[Drawn]:
    try:
        yield from drawing
    except UnreadableTemplate as error:
        print(f"stopped at a template that cannot be read: {error}", file=sys.stderr)


if __name__ == "__main__":
    raise SystemExit(main())
