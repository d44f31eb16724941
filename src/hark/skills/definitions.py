"""Everything a skill registers, worked out from its marks and its locale folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hark.intents.locale import Locale, MalformedResource, Role
from hark.skills.definition import Definition
from hark.skills.errors import MalformedIntent
from hark.skills.marks import Marked
from hark.skills.templates import template_definitions
from hark.skills.vocabularies import keyword_definitions


def definitions_of(intents: Mapping[str, Marked], locale: Locale, own_lang: str) -> tuple[Definition, ...]:
    """The registrations, entities first; everything in the locale folder is read and checked on the way.

    Raises `MalformedIntent`, for a file with its line and column.
    """
    try:
        for lang in locale.languages:
            locale.language(lang).check()
        return (*_entities(locale), *_intents(intents, locale, own_lang))
    except MalformedResource as error:
        raise MalformedIntent(str(error)) from error


def _entities(locale: Locale) -> Iterator[Definition]:
    for lang in locale.languages:
        language = locale.language(lang)
        for name in language.names(Role.ENTITY):
            yield Definition("entity", name, lang, {"samples": list(language.inlined(Role.ENTITY, name))})


def _intents(intents: Mapping[str, Marked], locale: Locale, own_lang: str) -> Iterator[Definition]:
    for intent_name, marked in intents.items():
        yield from template_definitions(intent_name, marked.wordings, locale, own_lang, intents)
        yield from keyword_definitions(intent_name, marked.keywords, locale, own_lang)
