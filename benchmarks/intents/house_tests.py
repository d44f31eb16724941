"""Home Assistant's own test sentences, put to Hark as its import registers them.

The sentences are not part of this repository. A checkout has them:

    git clone https://github.com/home-assistant/intents && git -C intents checkout COMMIT

Its `sentences/<lang>` are imported as `hark convert from-hassil` does it, its `tests/<lang>/_fixtures.yaml` are the
home, and every sentence of the other files in `tests/<lang>` is asked once.
"""

from __future__ import annotations

import json
import logging
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hark.intents import MAX_COMPARED, Found, Rejected, TemplatePool, expand, lookup, words
from hark.intents.locale import Locale, Role
from hark.model import Session
from hark.spec import DEFAULT_SESSION_ID, topics
from hark.tools.convert.files import read_folder, write
from hark.tools.convert.hassil_import import ConvertedLanguage, from_hassil

COMMIT = "aa550032a57b67c13995c032220bc4101521ead2"
"""The commit the figures in docs/ are of."""
SKILL = "home.skill"


@dataclass
class HouseTest:
    """One sentence, the intent it means, and the context it is said in."""

    text: str
    intent: str
    context: dict[str, Any]


@dataclass
class House:
    """What a test folder has: the sentences, and the things, areas and floors of its home."""

    tests: list[HouseTest] = field(default_factory=list)
    areas: list[str] = field(default_factory=list)
    floors: list[str] = field(default_factory=list)
    things: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    """Names, each with what hassil knows about the thing: its domain and attributes."""


def read_house(folder: Path, lang: str) -> House:
    """The tests of one language of a checkout."""
    import yaml

    house = House()
    there = folder / "tests" / lang
    known_bad: set[str] = set()
    for path in sorted(there.glob("*.yaml")):
        data = yaml.load(path.read_text(encoding="utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader)) or {}
        if path.name == "_test_failures.yaml":
            known_bad.update(data.get("sentences") or ())
        elif path.name == "_fixtures.yaml":
            house.areas = [name for one in data.get("areas") or () for name in _names(one["name"])]
            house.floors = [name for one in data.get("floors") or () for name in _names(one["name"])]
            house.things = [
                (name, {"domain": one["id"].partition(".")[0], **one.get("attributes", {})})
                for one in data.get("entities") or ()
                for name in _names(one["name"])
            ]
        else:
            for test in data.get("tests") or ():
                wanted = test["intent"]
                for text in test.get("sentences") or ():
                    house.tests.append(HouseTest(text, wanted["name"], dict(wanted.get("context") or {})))
    house.tests = [test for test in house.tests if test.text not in known_bad]
    return house


def _names(template: str) -> list[str]:
    return list(expand(template.strip())) if set("[(<|") & set(template) else [template.strip()]


class ImportedHouse:
    """The template engine with the imported sentences, and the home's things as values of their slots."""

    def __init__(self, folder: Path, lang: str, house: House) -> None:
        ((tag, data),) = read_folder(folder / "sentences" / lang, None).items()
        began = time.process_time()
        self.converted: ConvertedLanguage = from_hassil(tag, data, MAX_COMPARED)
        self.import_seconds = time.process_time() - began
        self.lang, self.data = tag, data
        self.side = json.loads(self.converted.files["hassil.json"])
        self._names = {base: kept["name"] for base, kept in self.side["intents"].items()}
        self._pool = TemplatePool()
        self._session = Session("benchmark")
        self.refused: list[str] = []
        with tempfile.TemporaryDirectory() as place:
            write(Path(place) / tag, self.converted.files, force=False)
            language = Locale(Path(place)).language(tag)
            began = time.process_time()
            for base in language.names(Role.INTENT):
                samples = language.inlined(Role.INTENT, base)
                self._register(topics.REGISTER_TEMPLATE, intent_name=base, samples=list(samples))
            for base in language.names(Role.ENTITY):
                values = list(language.inlined(Role.ENTITY, base))
                self._register(topics.ENTITY_REGISTER, entity_name=base, samples=values)
            self._register(topics.ENTITY_REGISTER, entity_name="area", samples=house.areas)
            self._register(topics.ENTITY_REGISTER, entity_name="floor", samples=house.floors)
            self._register(topics.ENTITY_REGISTER, entity_name="name", samples=[name for name, _ in house.things])
            for kind, wanted in self.side.get("kinds", {}).items():
                values = [name for name, has in house.things if is_wanted(has, wanted)]
                if values:
                    self._register(topics.ENTITY_REGISTER, entity_name=kind, samples=values)
            self.register_seconds = time.process_time() - began
        self._slot_names = {theirs: base for base, theirs in self.side["slots"].items()}

    def _register(self, topic: str, **fields: Any) -> None:
        try:
            skipped = self._pool.apply(topic, {"skill_id": SKILL, "lang": self.lang, **fields}, DEFAULT_SESSION_ID)
        except Rejected as error:
            self.refused.append(f"{fields}: {error}")
        else:
            self.refused += [f"{item}: {reason}" for item, reason in skipped]

    def ask(self, text: str) -> Found | str:
        """What the engine answers."""
        return lookup(self._pool, text, self.lang, self._session, time.time)

    def name_of(self, found: Found) -> str:
        """hassil's name of the intent."""
        return str(self._names[found.intent.intent_name])

    def has_slots(self, found: Found, wanted: Mapping[str, str]) -> bool:
        """Whether the slots hold the words that hassil found for them, and no slot holds others."""
        return {slot: " ".join(words(text, self.lang)) for slot, text in found.slots.items()} == {
            self._slot_names.get(slot, slot): " ".join(words(text, self.lang)) for slot, text in wanted.items()
        }


class HassilHouse:
    """Hassil with the same sentences and the same home."""

    def __init__(self, data: Mapping[str, Any], house: House) -> None:
        from hassil.intents import Intents, TextSlotList

        self._intents = Intents.from_dict(dict(data))
        self._lists = {
            "area": TextSlotList.from_strings(house.areas, name="area"),
            "floor": TextSlotList.from_strings(house.floors, name="floor"),
            "name": TextSlotList.from_tuples(((name, name, has) for name, has in house.things), name="name"),
        }

    def ask(self, test: HouseTest) -> tuple[str, dict[str, str]]:
        """The intent, and the words it found for each slot; a slot that was not said is left out."""
        from hassil.recognize import recognize_best

        found = recognize_best(
            test.text,
            self._intents,
            slot_lists=self._lists,
            intent_context=test.context,
            best_slot_name="name",
        )
        if found is None:
            return "", {}
        said = {entity.name: entity.text_clean.strip() for entity in found.entities.values() if entity.text.strip()}
        return found.intent.name, said


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def is_wanted(has: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether a thing is of a kind: it has what is required, and not what is excluded."""
    excluded = wanted.get("excludes_context")
    return is_of_kind(has, wanted.get("requires_context", {})) and not (excluded and is_of_kind(has, excluded))


def is_of_kind(has: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether a thing has what a block of sentences requires of it."""
    for key, value in wanted.items():
        if isinstance(value, Mapping):
            value = value.get("value")
            if value is None:
                continue
        if has.get(key) not in _listed(value):
            return False
    return True


@dataclass
class HouseResult:
    """How the sentences of one language came out."""

    lang: str
    sentences: int
    right: int
    wrong: int
    slots: int
    microseconds: float
    hassil_microseconds: float
    hassil_right: int
    import_seconds: float
    register_seconds: float
    misses: list[tuple[HouseTest, str, str]] = field(default_factory=list)


def measure(folder: Path, lang: str) -> HouseResult:
    """Ask every sentence of one language once."""
    house = read_house(folder, lang)
    imported = ImportedHouse(folder, lang, house)
    began = time.process_time()
    answers = [imported.ask(test.text) for test in house.tests]
    seconds = time.process_time() - began
    hassil = HassilHouse(imported.data, house)
    began = time.process_time()
    theirs = [hassil.ask(test) for test in house.tests]
    hassil_seconds = time.process_time() - began
    right = wrong = slots = 0
    misses = []
    for test, found, (_, said) in zip(house.tests, answers, theirs, strict=True):
        if isinstance(found, str):
            misses.append((test, "none", found))
        elif imported.name_of(found) != test.intent:
            wrong += 1
            misses.append((test, "wrong", f"{found.intent.intent_name} {found.slots} {found.score:.2f}"))
        else:
            right += 1
            if imported.has_slots(found, said):
                slots += 1
            else:
                misses.append((test, "slots", f"{found.slots} for {said}"))
    total = len(house.tests)
    return HouseResult(
        lang,
        total,
        right,
        wrong,
        slots,
        seconds / max(1, total) * 1e6,
        hassil_seconds / max(1, total) * 1e6,
        sum(name == test.intent for test, (name, _) in zip(house.tests, theirs, strict=True)),
        imported.import_seconds,
        imported.register_seconds,
        misses,
    )


def table(folder: Path | None, langs: list[str]) -> str:
    """A row for each language, or what is needed for them."""
    if folder is None or not (folder / "tests").is_dir():
        return (
            "Home Assistant's test sentences are missing: git clone https://github.com/home-assistant/intents, "
            f"git checkout {COMMIT}, and name the folder with --home"
        )
    lines = [
        "| language | sentences | right | wrong intent | none | slots too | µs | hassil right | hassil µs | import s |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for lang in langs:
        if not (folder / "tests" / lang).is_dir():
            lines.append(f"| {lang} | missing |")
            continue
        # The types of imported slots name entities, which are registered after the sentences.
        logging.disable(logging.WARNING)
        one = measure(folder, lang)
        logging.disable(logging.NOTSET)
        share = 100 / max(1, one.sentences)
        none = one.sentences - one.right - one.wrong
        lines.append(
            f"| {lang} | {one.sentences:,} | {one.right * share:.1f} | {one.wrong * share:.1f} | {none * share:.1f} "
            f"| {one.slots * share:.1f} | {one.microseconds:.0f} | {one.hassil_right * share:.1f} "
            f"| {one.hassil_microseconds:.0f} | {one.import_seconds:.1f} |"
        )
    return "\n".join(lines)
