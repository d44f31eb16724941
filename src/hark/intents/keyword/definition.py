"""Keyword intents as a matcher holds them, and reading them from registrations (INTENT-4 §5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from hark.intents.grammar import TemplateError, phrases
from hark.intents.keyword.expressions import MOST, Expression, compile_expression
from hark.intents.registration import IntentDefinition, Rejected, Skipped, read_lang, read_name


class Vocabulary(NamedTuple):
    """A name for what can be said in several ways."""

    name: str
    phrases: frozenset[str]
    """Every way to say it, as folded words with one space between them."""
    expressions: tuple[Expression, ...] = ()
    """Regular expressions that find further ways."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class KeywordIntent(IntentDefinition):
    """One registered keyword intent in one language, compiled (INTENT-4 §5). Its slots are its vocabularies."""

    required: tuple[Vocabulary, ...] = ()
    """Each of them has to be said."""
    one_of: tuple[tuple[Vocabulary, ...], ...] = ()
    """Of each group, at least one."""
    optional: tuple[Vocabulary, ...] = ()
    excluded: tuple[Vocabulary, ...] = ()
    """None of them may be said."""
    vocabularies: tuple[Vocabulary, ...]
    """All of them, each once: required, then one-of, then optional, which become slots; then the excluded ones."""
    places: Mapping[str, tuple[int, ...]]
    """For each phrase, which of `vocabularies` it belongs to."""
    groups: tuple[tuple[int, ...], ...] = ()
    """For each group of `one_of`, which of `vocabularies` it consists of."""
    expressions: tuple[tuple[int, Expression], ...] = ()
    """Regular expressions, each with which of `vocabularies` it belongs to."""

    def anchors(self) -> Iterator[tuple[Vocabulary, ...]]:
        """Sets of vocabularies, of each of which something has to be said: any of them is enough to find the intent
        by. None of them has regular expressions, by which nothing is found."""
        for vocabulary in self.required:
            if not vocabulary.expressions:
                yield (vocabulary,)
        for group in self.one_of:
            if not any(vocabulary.expressions for vocabulary in group):
                yield group


_ROLES: Final = ("required", "one_of", "optional", "excluded")


class _Named(NamedTuple):
    """A vocabulary of a payload: its name, its role, and its samples."""

    name: str
    role: str
    samples: tuple[Any, ...] | list[Any]
    patterns: tuple[Any, ...] | list[Any]


def read_keyword_intent(data: Mapping[str, Any], order: int) -> tuple[KeywordIntent, list[Skipped]]:
    """The intent a payload describes, and the samples that were left out; raises `Rejected`."""
    skill_id, intent_name = read_name(data, "skill_id"), read_name(data, "intent_name")
    lang = read_lang(data) or ""
    flat = {role: [_descriptor(role, item) for item in _array(data, role)] for role in _ROLES if role != "one_of"}
    groups = [_group(item) for item in _array(data, "one_of")]
    if not flat["required"] and not groups:
        raise Rejected("neither required nor one_of names a vocabulary: everything would match")
    descriptors = [*flat["required"], *(named for group in groups for named in group)]
    descriptors += [*flat["optional"], *flat["excluded"]]
    skipped: list[Skipped] = []
    found = _vocabularies(descriptors, lang, skipped)
    roles = _roles(descriptors)
    vocabularies = tuple(found.values())
    one_of = tuple(_chosen(group, found) for group in groups)
    intent = KeywordIntent(
        skill_id=skill_id,
        intent_name=intent_name,
        lang=lang,
        order=order,
        slots=tuple(name for name, role in roles.items() if role != "excluded"),
        requires_context=tuple(_array(data, "requires_context")),
        excludes_context=tuple(_array(data, "excludes_context")),
        payload=data,
        required=_chosen(flat["required"], found),
        one_of=one_of,
        optional=_chosen(flat["optional"], found),
        excluded=_chosen(flat["excluded"], found),
        vocabularies=vocabularies,
        places=_places(vocabularies),
        groups=tuple(tuple(vocabularies.index(vocabulary) for vocabulary in group) for group in one_of),
        expressions=tuple((place, one) for place, words in enumerate(vocabularies) for one in words.expressions),
    )
    return intent, skipped


def _vocabularies(descriptors: list[_Named], lang: str, skipped: list[Skipped]) -> dict[str, Vocabulary]:
    """One vocabulary for each name; descriptors that share their name are joined (INTENT-4 §5.3)."""
    said: dict[str, set[str]] = {}
    expressions: dict[str, dict[Expression, None]] = {}
    for named in descriptors:
        usable, found = set(_phrases(named, lang, skipped)), list(_expressions(named, skipped))
        if not usable and not found:
            raise Rejected(f"the vocabulary {named.name!r} in {named.role} has no usable sample")
        said.setdefault(named.name, set()).update(usable)
        expressions.setdefault(named.name, {}).update(dict.fromkeys(found))
    return {name: Vocabulary(name, frozenset(ways), tuple(expressions[name])) for name, ways in said.items()}


def _roles(descriptors: list[_Named]) -> dict[str, str]:
    roles: dict[str, str] = {}
    for name, role, *_ in descriptors:
        if roles.setdefault(name, role) != role:
            raise Rejected(f"the vocabulary {name!r} is both {roles[name]} and {role}")
    return roles


def _phrases(named: _Named, lang: str, skipped: list[Skipped]) -> Iterator[str]:
    for sample in named.samples:
        if not isinstance(sample, str):
            skipped.append(Skipped(repr(sample), f"{named.role} {named.name!r}: a sample is text"))
            continue
        try:
            yield from phrases(sample, lang)
        except TemplateError as error:
            skipped.append(Skipped(sample, f"{named.role} {named.name!r}: {error}"))


def _expressions(named: _Named, skipped: list[Skipped]) -> Iterator[Expression]:
    for number, pattern in enumerate(named.patterns):
        try:
            if number >= MOST:
                raise Rejected(f"a vocabulary has at most {MOST} patterns")
            yield compile_expression(pattern, named.name)
        except Rejected as error:
            skipped.append(Skipped(str(pattern), f"{named.role} {named.name!r}: {error}"))


def _places(vocabularies: tuple[Vocabulary, ...]) -> dict[str, tuple[int, ...]]:
    places: dict[str, tuple[int, ...]] = {}
    for place, vocabulary in enumerate(vocabularies):
        for phrase in vocabulary.phrases:
            places[phrase] = (*places.get(phrase, ()), place)
    return places


def _chosen(descriptors: list[_Named], found: Mapping[str, Vocabulary]) -> tuple[Vocabulary, ...]:
    return tuple(dict.fromkeys(found[named.name] for named in descriptors))


def _group(item: object) -> list[_Named]:
    if not isinstance(item, (tuple, list)) or not item:
        raise Rejected("a group of one_of is no array of vocabularies, or empty: nothing could satisfy it")
    return [_descriptor("one_of", inner) for inner in item]


def _descriptor(role: str, item: object) -> _Named:
    if not isinstance(item, Mapping):
        raise Rejected(f"{role} takes vocabularies: objects with a name and samples")
    name = item.get("name")
    if not isinstance(name, str) or not name:
        raise Rejected(f"a vocabulary in {role} has no name")
    return _Named(name, role, _array(item, "samples"), _array(item, "patterns"))


def _array(data: Mapping[str, Any], field: str) -> tuple[Any, ...] | list[Any]:
    value = data.get(field, ())
    if not isinstance(value, (tuple, list)):
        raise Rejected(f"{field} is no array")
    return value
