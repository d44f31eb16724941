"""From `@intent` marks and locale files to template registrations (INTENT-3 §5, INTENT-4 §6)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from hark.intents import TemplateError
from hark.intents.grammar import REGISTERED_TYPES, Choice, Node, Slot, Template
from hark.intents.grammar import Sequence as Parts
from hark.intents.locale import Language, Locale, Role
from hark.model.lang import canonical
from hark.skills.definition import Definition
from hark.skills.errors import MalformedIntent
from hark.skills.intent import check_required_slots, read_templates
from hark.skills.marks import Gates, Wording, check_gates


def template_definitions(
    intent_name: str,
    wordings: Sequence[Wording],
    locale: Locale,
    own_lang: str,
    others: Collection[str],
    counts: Callable[[str], bool] = bool,
) -> Iterator[Definition]:
    """One registration for each language of an intent that `counts`; marks in the same language are joined.

    `others` are the skill's intents: a `.blacklist` with such a name is about that intent, not about a slot.
    """
    by_lang: dict[str, list[Wording]] = {}
    for wording in wordings:
        for lang in _languages(wording, locale, own_lang, counts):
            by_lang.setdefault(lang, []).append(wording)
    for lang, joined in by_lang.items():
        fields = _fields(intent_name, joined, locale.language(lang), others)
        yield Definition("template", intent_name, lang, fields)


def _languages(wording: Wording, locale: Locale, own_lang: str, counts: Callable[[str], bool]) -> list[str]:
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
    intent_name: str, wordings: Sequence[Wording], language: Language, others: Collection[str]
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


def _templates(wording: Wording, language: Language) -> Sequence[Template]:
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


def _inline(wording: Wording, texts: Sequence[str], language: Language, *, slots: bool) -> list[str]:
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
