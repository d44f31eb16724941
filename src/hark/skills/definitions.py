"""Everything a skill registers, worked out from its marks and its locale folder."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from hark.intents.locale import Locale, MalformedResource, Role, nearest
from hark.skills.definition import Definition
from hark.skills.errors import MalformedIntent
from hark.skills.marks import Marked
from hark.skills.templates import template_definitions
from hark.skills.vocabularies import keyword_definitions

Langs = Collection[str] | None
"""The languages that count, or all."""


def definitions_of(
    intents: Mapping[str, Marked], locale: Locale, own_lang: str, langs: Langs = None, *, check: bool = True
) -> tuple[Definition, ...]:
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


def _entities(locale: Locale, langs: Langs) -> Iterator[Definition]:
    for lang in (lang for lang in locale.languages if _counts(lang, langs)):
        language = locale.language(lang)
        for name in language.names(Role.ENTITY):
            yield Definition("entity", name, lang, {"samples": list(language.inlined(Role.ENTITY, name))})


def _intents(intents: Mapping[str, Marked], locale: Locale, own_lang: str, langs: Langs) -> Iterator[Definition]:
    def counts(lang: str) -> bool:
        return _counts(lang, langs)

    for intent_name, marked in intents.items():
        yield from template_definitions(intent_name, marked.wordings, locale, own_lang, intents, counts)
        yield from keyword_definitions(intent_name, marked.keywords, locale, own_lang, counts)
