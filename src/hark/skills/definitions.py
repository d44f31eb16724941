"""Everything a skill registers on the bus, derived from its decorators and its locale folder (INTENT-3, INTENT-4)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
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
    """One registration. The same name, language and method again replaces it."""

    method: Method
    name: str
    """Of the intent, or of the entity."""
    lang: str
    """The tag in its usual case."""
    fields: Mapping[str, Any]
    """The payload, without what identifies it."""

    @property
    def topic(self) -> str:
        """The topic it is registered on."""
        return _TOPICS[self.method]

    def payload(self, skill_id: str) -> dict[str, Any]:
        """What is sent."""
        name = "entity_name" if self.method == "entity" else "intent_name"
        return {"skill_id": skill_id, name: self.name, "lang": self.lang, **self.fields}


def template_definitions(
    intent_name: str,
    wordings: Sequence[IntentMark],
    locale: Locale,
    own_lang: str,
    others: Collection[str],
    counts: Callable[[str], bool] = bool,
) -> Iterator[SkillDefinition]:
    """One registration for each language of an intent that `counts`; marks in the same language are joined.

    `others` are the skill's intents: a `.blacklist` with such a name is about that intent, not about a slot.
    """
    by_lang: dict[str, list[IntentMark]] = {}
    for wording in wordings:
        for lang in _languages(wording, locale, own_lang, counts):
            by_lang.setdefault(lang, []).append(wording)
    for lang, joined in by_lang.items():
        fields = _fields(intent_name, joined, locale.language(lang), others)
        yield SkillDefinition("template", intent_name, lang, fields)


def _languages(wording: IntentMark, locale: Locale, own_lang: str, counts: Callable[[str], bool]) -> list[str]:
    if wording.file is None:
        return list(filter(counts, (canonical(wording.lang or own_lang),)))
    wanted = locale.languages if wording.lang is None else (canonical(wording.lang),)
    # Those that count first: the others need not even be looked through, unless the file is in none of these.
    found = [lang for lang in wanted if counts(lang) and locale.language(lang).has(Role.INTENT, wording.file)]
    if not found and not any(locale.language(lang).has(Role.INTENT, wording.file) for lang in wanted):
        looked = locale.skill or "no folder: the skill has no locale folder beside its module"
        language = f" in {wording.lang}" if wording.lang else ""
        raise MalformedIntent(f"{wording.where}: there is no {wording.file}.intent{language}; looked in {looked}")
    return found


def _fields(
    intent_name: str, wordings: Sequence[IntentMark], language: Language, others: Collection[str]
) -> dict[str, Any]:
    """The payload; what is empty is left out."""
    templates = [template for wording in wordings for template in _templates(wording, language)]
    slots = dict.fromkeys(slot for template in templates for slot in template.slots)
    for wording in wordings:
        check_required_slots(wording.where, wording, slots)
    gates = Gates(
        _union(wording.gates.requires for wording in wordings), _union(wording.gates.excludes for wording in wordings)
    )
    check_gates(wordings[0].where, gates)
    always = set.intersection(*(set(always_there(template)) for template in templates))
    blacklist = [text for wording in wordings for text in _inline(wording, wording.blacklist, language, slots=False)]
    fields: dict[str, Any] = {
        "samples": _union([language.inline(template.text)] for template in templates),
        "required_slots": _union(
            [*(wording.required_slots for wording in wordings), [s for s in slots if s in always]]
        ),
        "blacklist": _union([blacklist, rider(language, Role.BLACKLIST, intent_name)]),
        "required_keywords": rider(language, Role.REQUIRED, intent_name),
        "slot_blacklist": {
            slot: list(barred)
            for slot in slots
            if slot not in others
            and not language.has(Role.INTENT, slot)
            and (barred := rider(language, Role.BLACKLIST, slot))
        },
        "slot_types": _types(templates),
        "requires_context": gates.requires,
        "excludes_context": gates.excludes,
    }
    return {key: value if isinstance(value, dict) else list(value) for key, value in fields.items() if value}


def rider(language: Language, role: Role, name: str) -> tuple[str, ...]:
    """What a file that need not be there holds, as a registration carries it."""
    return language.inlined(role, name) if language.has(role, name) else ()


def always_there(template: Template) -> frozenset[str]:
    """The slots every sentence of a template has (INTENT-3 §5.3)."""
    nothing: frozenset[str] = frozenset()
    found: dict[Node, frozenset[str]] = {}
    for node in template.nodes:  # parts come ahead of the whole
        if isinstance(node, Slot):
            found[node] = frozenset((node.name,))
        elif isinstance(node, Parts):
            found[node] = nothing.union(*(found[part] for part in node.parts))
        elif isinstance(node, Choice):
            found[node] = frozenset.intersection(*(found[branch] for branch in node.branches))
        else:
            found[node] = nothing
    return found[template.root]


def _templates(wording: IntentMark, language: Language) -> Sequence[Template]:
    if wording.file is not None:
        return language.templates(Role.INTENT, wording.file)
    return check_templates(wording.where, read_templates(wording.where, wording.samples), language)


def check_templates(where: str, templates: list[Template], language: Language) -> list[Template]:
    """The same templates, once they were looked at with the vocabularies of the language."""
    try:
        for template in templates:
            template.samples(language.vocabularies)  # checks; expands only when somebody goes through them
    except TemplateError as error:
        raise MalformedIntent(f"{where}: {error}") from None
    return templates


def _inline(wording: IntentMark, texts: Sequence[str], language: Language, *, slots: bool) -> list[str]:
    templates = check_templates(wording.where, read_templates(wording.where, texts, slots=slots), language)
    return [language.inline(template.text) for template in templates]


def _types(templates: Sequence[Template]) -> dict[str, str]:
    return {
        node.name: node.type
        for template in templates
        for node in template.nodes
        if isinstance(node, Slot) and node.type in REGISTERED_TYPES
    }


def _union(lists: Any) -> tuple[Any, ...]:
    """All items, once, in order. They may be dicts, which no set takes."""
    found: list[Any] = []
    for items in lists:
        found += [item for item in items if item not in found]
    return tuple(found)


def keyword_definitions(
    intent_name: str, marks: Sequence[KeywordsMark], locale: Locale, own_lang: str, counts: Callable[[str], bool] = bool
) -> Iterator[SkillDefinition]:
    """One registration for each language of an intent that `counts`."""
    done: set[str] = set()
    for keywords in marks:
        for lang in filter(counts, _vocabularies_languages(keywords, locale, own_lang)):
            if lang in done:
                raise MalformedIntent(f"{keywords.where}: there is a @keywords for {lang} already; join the two")
            done.add(lang)
            yield SkillDefinition("keyword", intent_name, lang, _vocabularies_fields(keywords, locale.language(lang)))


def _vocabularies_languages(keywords: KeywordsMark, locale: Locale, own_lang: str) -> list[str]:
    names = [one.name for one in keywords.vocabularies if one.samples is None]
    if keywords.lang is not None or len(names) < len(keywords.vocabularies):
        wanted: Sequence[str] = (canonical(keywords.lang or own_lang),)
    else:
        wanted = locale.languages
    # A language that lacks one of them is a translation that is not finished: the others work.
    found = [lang for lang in wanted if all(locale.language(lang).has(Role.VOCABULARY, name) for name in names)]
    if not found:
        missing = {
            name for name in names if not any(locale.language(lang).has(Role.VOCABULARY, name) for lang in wanted)
        }
        told = f"there is no {min(missing)}.voc" if missing else f"no language has all of {', '.join(names)}"
        looked = locale.skill or "no folder: the skill has no locale folder beside its module"
        raise MalformedIntent(f"{keywords.where}: {told}; looked in {looked}")
    return found


def _vocabularies_fields(keywords: KeywordsMark, language: Language) -> dict[str, Any]:
    """The payload; what is empty is left out."""

    def described(vocabularies: Sequence[KeywordVocabulary]) -> list[dict[str, Any]]:
        return [{"name": one.name, "samples": _samples(keywords, one, language)} for one in vocabularies]

    fields: dict[str, Any] = {
        "required": described(keywords.required),
        "optional": described(keywords.optional),
        "one_of": [described(group) for group in keywords.one_of],
        "excluded": described(keywords.excluded),
        "requires_context": list(keywords.gates.requires),
        "excludes_context": list(keywords.gates.excludes),
    }
    return {key: value for key, value in fields.items() if value}


def _samples(keywords: KeywordsMark, vocabulary: KeywordVocabulary, language: Language) -> list[str]:
    if vocabulary.samples is None:
        return list(language.inlined(Role.VOCABULARY, vocabulary.name))
    where = f"{keywords.where}: {vocabulary.name!r}"
    templates = check_templates(where, read_templates(where, vocabulary.samples, slots=False), language)
    return [language.inline(template.text) for template in templates]


def entity_definition(slot: str, values: Sequence[str], language: Language) -> SkillDefinition:
    """The registration of values that were not read from a file; they may refer to vocabularies."""
    where = f"register_entity({slot!r})"
    if not is_skill_id(slot):
        raise MalformedIntent(f"{where}: {slot!r} is no name of a slot")
    if not values:
        raise MalformedIntent(f"{where}: there is no value")
    templates = check_templates(where, read_templates(where, values, slots=False), language)
    samples = [language.inline(template.text) for template in templates]
    return SkillDefinition("entity", slot, language.tag, {"samples": samples})


Langs = Collection[str] | None
"""The languages that count, or all."""


def definitions_of(
    intents: Mapping[str, MethodMarks], locale: Locale, own_lang: str, langs: Langs = None, *, check: bool = True
) -> tuple[SkillDefinition, ...]:
    """The registrations, entities first; everything in the locale folder is read and checked on the way.

    With `langs`, that is done in those languages and in what is near them. Without `check`, only what is registered is
    read. Raises `MalformedIntent`, for a file with its line and column.
    """
    try:
        for lang in locale.languages if check else ():
            if _counts(lang, langs):
                locale.language(lang).check()
        return (*_entities(locale, langs), *_intents(intents, locale, own_lang, langs))
    except MalformedResource as error:
        raise MalformedIntent(str(error)) from error


def _counts(lang: str, langs: Langs) -> bool:
    return langs is None or any(nearest(spoken, (lang,)) for spoken in langs)


def _entities(locale: Locale, langs: Langs) -> Iterator[SkillDefinition]:
    for lang in (lang for lang in locale.languages if _counts(lang, langs)):
        language = locale.language(lang)
        for name in language.names(Role.ENTITY):
            yield SkillDefinition("entity", name, lang, {"samples": list(language.inlined(Role.ENTITY, name))})


def _intents(
    intents: Mapping[str, MethodMarks], locale: Locale, own_lang: str, langs: Langs
) -> Iterator[SkillDefinition]:
    def counts(lang: str) -> bool:
        return _counts(lang, langs)

    for intent_name, marked in intents.items():
        yield from template_definitions(intent_name, marked.wordings, locale, own_lang, intents, counts)
        yield from keyword_definitions(intent_name, marked.keywords, locale, own_lang, counts)
