"""Saying what a skill understands by words that have to occur: the `@keywords` mark on its methods."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from hark.skills.errors import MalformedIntent
from hark.skills.intent import read_templates
from hark.skills.marks import F, Gate, Keywords, Marked, Vocabulary, check_lang, mark, read_gates, where_of

Vocabularies = Sequence[str | Mapping[str, Sequence[str]]] | Mapping[str, Sequence[str]]
"""Names of `.voc` files, or names with their samples: `["light"]`, `{"light": ["light", "lamp"]}`."""

_NAME: Final = re.compile(r"[a-z0-9_]+")


def keywords(
    *,
    required: Vocabularies = (),
    optional: Vocabularies = (),
    one_of: Sequence[Vocabularies] = (),
    excluded: Vocabularies = (),
    lang: str | None = None,
    name: str | None = None,
    requires: Sequence[Gate] = (),
    excludes: Sequence[Gate] = (),
) -> Callable[[F], F]:
    """Make a method of a `Skill` the handler of utterances in which certain words occur, in whatever order.

    Of every `required` vocabulary a phrase has to occur, of every group in `one_of` a phrase of one of its
    vocabularies, of `excluded` ones none. Those that occurred are slots by the vocabulary's name; `optional` ones too.
    A name stands for `name.voc` in the skill's locale folder, in every language that has all of them;
    `{"light": ["light", "lamp"]}` writes a vocabulary inline, in `lang` or the skill's own language. Mistakes raise
    `MalformedIntent` when the class is made.
    """

    def marked(method: F) -> F:
        read = read_keywords(where_of(method), required, optional, one_of, excluded, lang, requires, excludes)
        return mark(method, Marked(name or method.__name__, name is not None, keywords=(read,)))

    return marked


def read_keywords(
    where: str,
    required: Vocabularies = (),
    optional: Vocabularies = (),
    one_of: Sequence[Vocabularies] = (),
    excluded: Vocabularies = (),
    lang: str | None = None,
    requires: Sequence[Gate] = (),
    excludes: Sequence[Gate] = (),
) -> Keywords:
    """What an author wrote, checked as far as that can be done without the locale folder (INTENT-3 §4.2)."""
    if isinstance(one_of, Mapping) or any(isinstance(group, str) for group in one_of):
        raise MalformedIntent(f"{where}: one_of takes groups: write one_of=[{one_of!r}]")
    found = Keywords(
        where,
        _vocabularies(where, "required", required),
        _vocabularies(where, "optional", optional),
        tuple(_vocabularies(where, "one_of", group) for group in one_of),
        _vocabularies(where, "excluded", excluded),
        lang,
        read_gates(where, requires, excludes),
    )
    check_lang(where, lang)
    if not found.required and not found.one_of:
        raise MalformedIntent(f"{where}: @keywords needs something in required or one_of, or anything would match")
    if not all(found.one_of):
        raise MalformedIntent(f"{where}: a group of one_of is empty, so nothing could match")
    _check_roles(found)
    return found


def _vocabularies(where: str, role: str, given: Any) -> tuple[Vocabulary, ...]:
    if isinstance(given, str):
        raise MalformedIntent(f"{where}: {role} takes several: write {role}=[{given!r}]")
    items = [given] if isinstance(given, Mapping) else list(given)
    return tuple(vocabulary for item in items for vocabulary in _item(where, role, item))


def _item(where: str, role: str, item: Any) -> list[Vocabulary]:
    pairs = item.items() if isinstance(item, Mapping) else [(item, None)]
    found = []
    for name, samples in pairs:
        if not isinstance(name, str) or _NAME.fullmatch(name) is None:
            raise MalformedIntent(
                f"{where}: {name!r} in {role} is no name of a vocabulary: lower-case letters, digits and '_'"
            )
        if isinstance(samples, str) or (samples is not None and not samples):
            raise MalformedIntent(f"{where}: {name!r} in {role} takes several phrases, at least one, in a list")
        if samples is not None:
            read_templates(f"{where}: {name!r} in {role}", samples, slots=False)
        found.append(Vocabulary(name, None if samples is None else tuple(samples)))
    return found


def _check_roles(found: Keywords) -> None:
    roles = {
        "required": found.required,
        "optional": found.optional,
        "one_of": tuple(one for group in found.one_of for one in group),
        "excluded": found.excluded,
    }
    role_of: dict[str, str] = {}
    for role, vocabularies in roles.items():
        for vocabulary in vocabularies:
            other = role_of.setdefault(vocabulary.name, role)
            if other != role:
                raise MalformedIntent(f"{found.where}: {vocabulary.name!r} is in {other} and in {role}; choose one")
