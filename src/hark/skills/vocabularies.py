"""From `@keywords` marks and `.voc` files to keyword registrations (INTENT-3 §4, INTENT-4 §5)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from hark.intents.locale import Language, Locale, Role
from hark.model.lang import canonical
from hark.skills.definition import Definition
from hark.skills.errors import MalformedIntent
from hark.skills.intent import read_templates
from hark.skills.marks import Keywords, Vocabulary
from hark.skills.templates import check_templates


def keyword_definitions(
    intent_name: str, marks: Sequence[Keywords], locale: Locale, own_lang: str, counts: Callable[[str], bool] = bool
) -> Iterator[Definition]:
    """One registration for each language of an intent that `counts`."""
    done: set[str] = set()
    for keywords in marks:
        for lang in filter(counts, _languages(keywords, locale, own_lang)):
            if lang in done:
                raise MalformedIntent(f"{keywords.where}: there is a @keywords for {lang} already; join the two")
            done.add(lang)
            yield Definition("keyword", intent_name, lang, _fields(keywords, locale.language(lang)))


def _languages(keywords: Keywords, locale: Locale, own_lang: str) -> list[str]:
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


def _fields(keywords: Keywords, language: Language) -> dict[str, Any]:
    """The payload; what is empty is left out."""

    def described(vocabularies: Sequence[Vocabulary]) -> list[dict[str, Any]]:
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


def _samples(keywords: Keywords, vocabulary: Vocabulary, language: Language) -> list[str]:
    if vocabulary.samples is None:
        return list(language.inlined(Role.VOCABULARY, vocabulary.name))
    where = f"{keywords.where}: {vocabulary.name!r}"
    templates = check_templates(where, read_templates(where, vocabulary.samples, slots=False), language)
    return [language.inline(template.text) for template in templates]
