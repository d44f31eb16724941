"""Everything a skill registers on the bus, derived from its decorators and its locale folder (INTENT-3, INTENT-4)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final, Literal

from hark.intents import TemplateError
from hark.intents.grammar import REGISTERED_TYPES, Choice, Node, Slot, Template
from hark.intents.grammar import Sequence as Parts
from hark.intents.locale import Language, Locale, MalformedResource, Role, nearest
from hark.model.lang import canonical
from hark.skills.decorators import (
    Gates,
    IntentMark,
    KeywordsMark,
    KeywordVocabulary,
    MalformedIntent,
    MethodMarks,
    check_gates,
    check_required_slots,
    read_templates,
)
from hark.spec import is_skill_id, topics

Method = Literal["template", "keyword", "entity"]

_TOPICS: Final = {
    "template": topics.REGISTER_TEMPLATE,
    "keyword": topics.REGISTER_KEYWORD,
    "entity": topics.ENTITY_REGISTER,
}


@dataclass(frozen=True)
class SkillDefinition:
    """One registration: one language of one intent or entity. Registering the same again replaces it."""

    method: Method
    name: str
    """The name of the intent, or of the entity."""
    lang: str
    """The tag in its usual case."""
    fields: Mapping[str, Any]
    """The payload without skill, name and language."""

    @property
    def topic(self) -> str:
        """The topic it is registered on."""
        return _TOPICS[self.method]

    def payload(self, skill_id: str) -> dict[str, Any]:
        """The data of the registration message."""
        name = "entity_name" if self.method == "entity" else "intent_name"
        return {"skill_id": skill_id, name: self.name, "lang": self.lang, **self.fields}


Languages = Collection[str] | None
"""The languages to register in, and those near them; None for all."""


def definitions_of(
    intents: Mapping[str, MethodMarks], locale: Locale, own_lang: str, langs: Languages = None, *, check: bool = True
) -> tuple[SkillDefinition, ...]:
    """Everything a skill registers in `langs`, entities first.

    With `check`, all files of these languages are read and checked, else only those that are registered. Raises
    `MalformedIntent`, for a file with its line and column.
    """

    @cache
    def is_wanted(lang: str) -> bool:
        return langs is None or any(nearest(one, (lang,)) for one in langs)

    wanted = [lang for lang in locale.languages if is_wanted(lang)]
    found: list[SkillDefinition] = []
    try:
        if check:
            for lang in wanted:
                locale.language(lang).check()
        for lang in wanted:
            language = locale.language(lang)
            for name in language.names(Role.ENTITY):
                samples = list(language.inlined(Role.ENTITY, name))
                found.append(SkillDefinition("entity", name, lang, {"samples": samples}))
        for intent_name, marks in intents.items():
            about = marks.for_models()
            templates = template_definitions(intent_name, marks.intents, locale, own_lang, intents, is_wanted)
            for one in (*templates, *keyword_definitions(intent_name, marks.keywords, locale, own_lang, is_wanted)):
                found.append(replace(one, fields={**one.fields, **about}) if about else one)
    except MalformedResource as error:
        raise MalformedIntent(str(error)) from error
    for lang in wanted:
        locale.language(lang).forget()
    return tuple(found)


def template_definitions(
    intent_name: str,
    marks: Sequence[IntentMark],
    locale: Locale,
    own_lang: str,
    others: Collection[str],
    is_wanted: Callable[[str], bool] = bool,
) -> Iterator[SkillDefinition]:
    """One registration for each wanted language of a template intent; marks in the same language are joined.

    `others` are the skill's intents: a `.blacklist` with such a name is about that intent, not about a slot.
    """
    by_lang: dict[str, list[IntentMark]] = {}
    for mark in marks:
        for lang in _template_languages(mark, locale, own_lang, is_wanted):
            by_lang.setdefault(lang, []).append(mark)
    for lang, joined in by_lang.items():
        fields = _template_fields(intent_name, joined, locale.language(lang), others)
        yield SkillDefinition("template", intent_name, lang, fields)


def keyword_definitions(
    intent_name: str,
    marks: Sequence[KeywordsMark],
    locale: Locale,
    own_lang: str,
    is_wanted: Callable[[str], bool] = bool,
) -> Iterator[SkillDefinition]:
    """One registration for each wanted language of a keyword intent."""
    done: set[str] = set()
    for mark in marks:
        for lang in filter(is_wanted, _keyword_languages(mark, locale, own_lang)):
            if lang in done:
                raise MalformedIntent(f"{mark.where}: there is a @keywords for {lang} already; join the two")
            done.add(lang)
            yield SkillDefinition("keyword", intent_name, lang, _keyword_fields(mark, locale.language(lang)))


def entity_definition(slot: str, values: Sequence[str], language: Language) -> SkillDefinition:
    """The registration of values that were not read from a file; they may refer to vocabularies (INTENT-4 §7)."""
    where = f"register_entity({slot!r})"
    if not is_skill_id(slot):
        raise MalformedIntent(f"{where}: {slot!r} is no name of a slot")
    if not values:
        raise MalformedIntent(f"{where}: there is no value")
    return SkillDefinition("entity", slot, language.tag, {"samples": _phrases(where, values, language)})


def always_there(template: Template) -> frozenset[str]:
    """The slots every sentence of a template has (INTENT-3 §5.3)."""
    nothing: frozenset[str] = frozenset()
    if not template.slots:
        return nothing
    found: dict[Node, frozenset[str]] = {}
    for node in template.nodes:  # parts come before the whole
        if isinstance(node, Slot):
            found[node] = frozenset((node.name,))
        elif isinstance(node, Parts):
            found[node] = nothing.union(*(found[part] for part in node.parts))
        elif isinstance(node, Choice):
            found[node] = frozenset.intersection(*(found[branch] for branch in node.branches))
        else:
            found[node] = nothing
    return found[template.root]


def _template_languages(mark: IntentMark, locale: Locale, own_lang: str, is_wanted: Callable[[str], bool]) -> list[str]:
    if mark.file is None:
        return list(filter(is_wanted, (canonical(mark.lang or own_lang),)))
    langs = locale.languages if mark.lang is None else (canonical(mark.lang),)
    # The wanted ones first: the folders of the others are searched only when the file is in none of these.
    found = [lang for lang in langs if is_wanted(lang) and locale.language(lang).has(Role.INTENT, mark.file)]
    if not found and not any(locale.language(lang).has(Role.INTENT, mark.file) for lang in langs):
        in_lang = f" in {mark.lang}" if mark.lang else ""
        raise MalformedIntent(f"{mark.where}: there is no {mark.file}.intent{in_lang}; looked in {_place(locale)}")
    return found


def _keyword_languages(mark: KeywordsMark, locale: Locale, own_lang: str) -> list[str]:
    names = [one.name for one in mark.vocabularies if one.samples is None]
    if mark.lang is not None or len(names) < len(mark.vocabularies):
        langs: Sequence[str] = (canonical(mark.lang or own_lang),)
    else:
        langs = locale.languages
    # A language that lacks one of them is an unfinished translation: the others work.
    found = [lang for lang in langs if all(locale.language(lang).has(Role.VOCABULARY, name) for name in names)]
    if not found:
        missing = {
            name for name in names if not any(locale.language(lang).has(Role.VOCABULARY, name) for lang in langs)
        }
        reason = f"there is no {min(missing)}.voc" if missing else f"no language has all of {', '.join(names)}"
        raise MalformedIntent(f"{mark.where}: {reason}; looked in {_place(locale)}")
    return found


def _place(locale: Locale) -> str:
    return str(locale.skill or "no folder: the skill has no locale folder beside its module")


def _template_fields(
    intent_name: str, marks: Sequence[IntentMark], language: Language, others: Collection[str]
) -> dict[str, Any]:
    """The payload without empty fields."""
    templates = [template for mark in marks for template in _templates(mark, language)]
    slots = dict.fromkeys(slot for template in templates for slot in template.slots)
    for mark in marks:
        check_required_slots(mark.where, mark, slots)
    gates = Gates(_union(mark.gates.requires for mark in marks), _union(mark.gates.excludes for mark in marks))
    check_gates(marks[0].where, gates)
    always = set.intersection(*(set(always_there(template)) for template in templates))
    blacklist = [text for mark in marks for text in _phrases(mark.where, mark.blacklist, language)]
    fields: dict[str, Any] = {
        "samples": _union([language.inline(template.text)] for template in templates),
        "required_slots": _union([*(mark.required_slots for mark in marks), [s for s in slots if s in always]]),
        "blacklist": _union([blacklist, _optional_file(language, Role.BLACKLIST, intent_name)]),
        "required_keywords": _optional_file(language, Role.REQUIRED, intent_name),
        "slot_blacklist": {
            slot: list(barred)
            for slot in slots
            if slot not in others
            and not language.has(Role.INTENT, slot)
            and (barred := _optional_file(language, Role.BLACKLIST, slot))
        },
        "slot_types": {
            node.name: node.type
            for template in templates
            if template.slots
            for node in template.nodes
            if isinstance(node, Slot) and node.type in REGISTERED_TYPES
        },
        "requires_context": gates.requires,
        "excludes_context": gates.excludes,
    }
    return {key: value if isinstance(value, dict) else list(value) for key, value in fields.items() if value}


def _keyword_fields(mark: KeywordsMark, language: Language) -> dict[str, Any]:
    """The payload without empty fields."""

    def described(vocabularies: Sequence[KeywordVocabulary]) -> list[dict[str, Any]]:
        return [{"name": one.name, "samples": samples(one)} for one in vocabularies]

    def samples(vocabulary: KeywordVocabulary) -> list[str]:
        if vocabulary.samples is None:
            return list(language.inlined(Role.VOCABULARY, vocabulary.name))
        return _phrases(f"{mark.where}: {vocabulary.name!r}", vocabulary.samples, language)

    fields: dict[str, Any] = {
        "required": described(mark.required),
        "optional": described(mark.optional),
        "one_of": [described(group) for group in mark.one_of],
        "excluded": described(mark.excluded),
        "requires_context": list(mark.gates.requires),
        "excludes_context": list(mark.gates.excludes),
    }
    return {key: value for key, value in fields.items() if value}


def _optional_file(language: Language, role: Role, name: str) -> tuple[str, ...]:
    return language.inlined(role, name) if language.has(role, name) else ()


def _templates(mark: IntentMark, language: Language) -> Sequence[Template]:
    if mark.file is not None:
        return language.templates(Role.INTENT, mark.file)
    return _checked(mark.where, read_templates(mark.where, mark.samples), language)


def _phrases(where: str, texts: Sequence[str], language: Language) -> list[str]:
    """Templates without slots that an author wrote, with the vocabularies they refer to put in."""
    templates = _checked(where, read_templates(where, texts, slots=False), language)
    return [language.inline(template.text) for template in templates]


def _checked(where: str, templates: list[Template], language: Language) -> list[Template]:
    """The same templates, checked with the vocabularies of the language."""
    try:
        for template in templates:
            template.samples(language.vocabularies)  # checks; sentences are made only when they are iterated
    except TemplateError as error:
        raise MalformedIntent(f"{where}: {error}") from None
    return templates


def _union(lists: Any) -> tuple[Any, ...]:
    """All items, once, in order. They may be dicts, which cannot be in a set."""
    found: list[Any] = []
    for items in lists:
        found += [item for item in items if item not in found]
    return tuple(found)
