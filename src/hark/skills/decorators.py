"""The `@intent` and `@keywords` decorators: what a skill understands, as its author writes it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import getdoc
from typing import Any, Final, TypeVar

from hark.intents import TemplateError
from hark.intents.grammar import Template, parse
from hark.model.lang import is_tag
from hark.plugins import handles
from hark.spec import RESERVED_INTENT_NAMES, is_intent_name


class MalformedIntent(ValueError):
    """A declaration of a skill cannot be registered. The text names the method, or file and line, and the reason."""


F = TypeVar("F", bound=Callable[..., Any])

Gate = str | Mapping[str, str]
"""A key of the skill's own context, or `{"key": ..., "scope": "shared"}` (CONTEXT-1 §6)."""

Vocabularies = Sequence[str | Mapping[str, Sequence[str]]] | Mapping[str, Sequence[str]]
"""Names of `.voc` files, or names with their samples: `["light"]`, `{"light": ["light", "lamp"]}`."""


def intent(
    *samples: str,
    file: str | None = None,
    lang: str | None = None,
    name: str | None = None,
    required_slots: Sequence[str] = (),
    blacklist: Sequence[str] = (),
    requires: Sequence[Gate] = (),
    excludes: Sequence[Gate] = (),
    dangerous: bool = False,
) -> Callable[[F], F]:
    """Make a method of a `Skill` the handler of these sample sentences, or of those in a file.

    Samples are templates: `"turn (on|off) [the] {room} light"`; `<name>` stands for the phrases in `name.voc` of the
    skill's locale folder. The intent has the name of the method unless `name` is given. Stack decorators for several
    languages; without `lang`, samples are in the skill's own. `file="time_in"` takes the samples from
    `locale/<lang>/time_in.intent` in every language there is, and the intent has the name of the file.

    Slots that are in every sentence, and `required_slots`, have to be filled; a phrase of `blacklist` keeps the intent
    from matching; `requires` and `excludes` name context keys that have to be set, or must not be. A persona that uses
    the intent as a tool asks the user first when it is `dangerous`; its docstring describes it to a model. Mistakes
    raise `MalformedIntent` when the class is created.
    """

    def marked(method: F) -> F:
        where = _where(method)
        read = read_intent_mark(where, samples, file, lang, required_slots, blacklist, requires, excludes)
        if file is not None and name not in (None, file):
            raise MalformedIntent(f"{where}: the intent has the name of its file, {file!r}; leave out name=")
        marks = MethodMarks(name or file or method.__name__, bool(name or file), (read,), dangerous=dangerous)
        return _add(method, marks)

    return marked


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
    dangerous: bool = False,
) -> Callable[[F], F]:
    """Make a method of a `Skill` the handler of utterances in which certain words occur, in any order.

    A phrase of every `required` vocabulary has to occur, and one of every group in `one_of`; no phrase of an `excluded`
    vocabulary may. The phrases that occurred, also of `optional` vocabularies, are slots named by their vocabulary.
    A name stands for `name.voc` in the skill's locale folder, in every language that has all of them;
    `{"light": ["light", "lamp"]}` writes a vocabulary inline, in `lang` or the skill's own language. Mistakes raise
    `MalformedIntent` when the class is created.
    """

    def marked(method: F) -> F:
        read = read_keywords_mark(_where(method), required, optional, one_of, excluded, lang, requires, excludes)
        marks = MethodMarks(name or method.__name__, name is not None, keywords=(read,), dangerous=dangerous)
        return _add(method, marks)

    return marked


@dataclass(frozen=True)
class Gates:
    """The context keys that have to be set, and those that must not be, for an intent to match."""

    requires: tuple[Gate, ...] = ()
    excludes: tuple[Gate, ...] = ()


@dataclass(frozen=True)
class IntentMark:
    """One `@intent` on a method: samples in one language, or a file in every language, and their options."""

    where: str
    """The method, as messages name it."""
    samples: tuple[str, ...]
    file: str | None
    lang: str | None
    """None for the skill's own language or, with a file, for every language."""
    required_slots: tuple[str, ...]
    blacklist: tuple[str, ...]
    gates: Gates


@dataclass(frozen=True)
class KeywordVocabulary:
    """A vocabulary of a keyword intent."""

    name: str
    samples: tuple[str, ...] | None
    """None for a `.voc` file of that name."""


@dataclass(frozen=True)
class KeywordsMark:
    """One `@keywords` on a method."""

    where: str
    required: tuple[KeywordVocabulary, ...]
    optional: tuple[KeywordVocabulary, ...]
    one_of: tuple[tuple[KeywordVocabulary, ...], ...]
    excluded: tuple[KeywordVocabulary, ...]
    lang: str | None
    """None for every language that has all the files, or for the skill's own when samples are written inline."""
    gates: Gates

    @property
    def vocabularies(self) -> tuple[KeywordVocabulary, ...]:
        """The vocabularies of all roles."""
        return (*self.required, *self.optional, *(one for group in self.one_of for one in group), *self.excluded)


@dataclass(frozen=True)
class MethodMarks:
    """All marks of one method."""

    intent_name: str
    is_named: bool
    """Whether the author gave the name; else it is the method's."""
    intents: tuple[IntentMark, ...] = ()
    keywords: tuple[KeywordsMark, ...] = ()
    description: str = ""
    """The first paragraph of the docstring: what a model reads about the intent."""
    dangerous: bool = False
    """Whether the user is asked before a model's call of it runs."""

    def for_models(self) -> dict[str, Any]:
        """What its registrations say beside what the matchers need."""
        said: dict[str, Any] = {"description": self.description} if self.description else {}
        return {**said, "dangerous": True} if self.dangerous else said


_MARK: Final = "__hark_intents__"

_NAME: Final = re.compile(r"[a-z0-9_]+")


def _add(method: F, added: MethodMarks) -> F:
    """Add a mark to a method, which becomes the handler of the intent."""
    where = _where(method)
    about = " ".join((getdoc(method) or "").partition("\n\n")[0].split())
    marked = replace(_joined(where, getattr(method, _MARK, None), added), description=about)
    if not is_intent_name(marked.intent_name):
        why = "reserved" if marked.intent_name in RESERVED_INTENT_NAMES else "not letters, digits, '_', '-' and '.'"
        raise MalformedIntent(f"{where}: the intent name {marked.intent_name!r} is {why}; choose one with name=")
    setattr(method, _MARK, marked)
    return handles(marked.intent_name, dangerous=marked.dangerous)(method)


def intents_of(skill: type) -> dict[str, MethodMarks]:
    """The marks of a class and its bases, by intent name; raises `MalformedIntent` when two methods share a name."""
    by_method: dict[str, MethodMarks] = {}
    for owner in reversed(skill.__mro__):
        for attribute, member in vars(owner).items():
            marked = getattr(member, _MARK, None)
            if isinstance(marked, MethodMarks):
                by_method[attribute] = marked
    found: dict[str, MethodMarks] = {}
    for attribute, marked in by_method.items():
        if marked.intent_name in found:
            raise MalformedIntent(
                f"{skill.__qualname__}.{attribute}: another method has {marked.intent_name!r} already"
            )
        found[marked.intent_name] = marked
    return found


def _where(method: Callable[..., Any]) -> str:
    """A method, as messages name it."""
    return getattr(method, "__qualname__", repr(method))


def _joined(where: str, before: MethodMarks | None, added: MethodMarks) -> MethodMarks:
    """The marks so far and one more. A name the author gave takes precedence over the method's."""
    if before is None:
        return added
    if before.is_named and added.is_named and before.intent_name != added.intent_name:
        raise MalformedIntent(
            f"{where}: one method has one intent, not {before.intent_name!r} and {added.intent_name!r}"
        )
    named = added if added.is_named else before
    return MethodMarks(
        named.intent_name,
        named.is_named,
        before.intents + added.intents,
        before.keywords + added.keywords,
        dangerous=before.dangerous or added.dangerous,
    )


def read_intent_mark(
    where: str,
    samples: Sequence[str] = (),
    file: str | None = None,
    lang: str | None = None,
    required_slots: Sequence[str] = (),
    blacklist: Sequence[str] = (),
    requires: Sequence[Gate] = (),
    excludes: Sequence[Gate] = (),
) -> IntentMark:
    """The arguments of `@intent`, checked as far as possible without the locale folder."""
    found = IntentMark(
        where,
        tuple(samples),
        file,
        lang,
        _as_tuple(where, "required_slots", required_slots),
        _as_tuple(where, "blacklist", blacklist),
        _read_gates(where, requires, excludes),
    )
    _check_lang(where, lang)
    if file is not None and found.samples:
        raise MalformedIntent(f"{where}: samples or a file, not both; use two @intent decorators")
    if file is None and not found.samples:
        raise MalformedIntent(f"{where}: @intent needs at least one sample sentence, or a file")
    for sample in found.samples:
        if isinstance(sample, str) and sample.endswith(".intent"):
            raise MalformedIntent(
                f"{where}: {sample!r} names a file; write @intent(file={sample.removesuffix('.intent')!r})"
            )
    slots = {slot for template in read_templates(where, found.samples) for slot in template.slots}
    read_templates(where, found.blacklist, slots=False)
    if file is None:
        check_required_slots(where, found, slots)
    return found


def check_required_slots(where: str, found: IntentMark, slots: Any) -> None:
    """Raise `MalformedIntent` for a required slot that no sample has."""
    for name in found.required_slots:
        if name not in slots:
            raise MalformedIntent(f"{where}: required_slots names {name!r}, which no sample has")


def read_templates(where: str, texts: Sequence[str], *, slots: bool = True) -> list[Template]:
    """Parse the templates an author wrote; raises `MalformedIntent`. The vocabularies they refer to are not checked."""
    try:
        return [parse(text, slots=slots) for text in texts]
    except TemplateError as error:
        raise MalformedIntent(f"{where}: {error}") from None
    except TypeError:
        raise MalformedIntent(f"{where}: samples and blacklist are text") from None


def read_keywords_mark(
    where: str,
    required: Vocabularies = (),
    optional: Vocabularies = (),
    one_of: Sequence[Vocabularies] = (),
    excluded: Vocabularies = (),
    lang: str | None = None,
    requires: Sequence[Gate] = (),
    excludes: Sequence[Gate] = (),
) -> KeywordsMark:
    """The arguments of `@keywords`, checked as far as possible without the locale folder (INTENT-3 §4.2)."""
    if isinstance(one_of, Mapping) or any(isinstance(group, str) for group in one_of):
        raise MalformedIntent(f"{where}: one_of takes groups: write one_of=[{one_of!r}]")
    found = KeywordsMark(
        where,
        _vocabularies(where, "required", required),
        _vocabularies(where, "optional", optional),
        tuple(_vocabularies(where, "one_of", group) for group in one_of),
        _vocabularies(where, "excluded", excluded),
        lang,
        _read_gates(where, requires, excludes),
    )
    _check_lang(where, lang)
    if not found.required and not found.one_of:
        raise MalformedIntent(f"{where}: @keywords needs something in required or one_of, or everything would match")
    if not all(found.one_of):
        raise MalformedIntent(f"{where}: a group of one_of is empty, so nothing could match")
    _check_roles(found)
    return found


def _vocabularies(where: str, role: str, given: Any) -> tuple[KeywordVocabulary, ...]:
    if isinstance(given, str):
        raise MalformedIntent(f"{where}: {role} takes several: write {role}=[{given!r}]")
    items = [given] if isinstance(given, Mapping) else list(given)
    return tuple(vocabulary for item in items for vocabulary in _item(where, role, item))


def _item(where: str, role: str, item: Any) -> list[KeywordVocabulary]:
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
        found.append(KeywordVocabulary(name, None if samples is None else tuple(samples)))
    return found


def _check_roles(found: KeywordsMark) -> None:
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


def _read_gates(where: str, requires: Any, excludes: Any) -> Gates:
    """The context gates an author gave; raises `MalformedIntent`."""
    gates = Gates(
        tuple(_gate(where, gate) for gate in _as_tuple(where, "requires", requires)),
        tuple(_gate(where, gate) for gate in _as_tuple(where, "excludes", excludes)),
    )
    check_gates(where, gates)
    return gates


def check_gates(where: str, gates: Gates) -> None:
    """Raise `MalformedIntent` for a key that is both required and excluded."""
    both = {_key(gate) for gate in gates.requires} & {_key(gate) for gate in gates.excludes}
    if both:
        key, _ = min(both)
        raise MalformedIntent(f"{where}: {key!r} is in requires and in excludes, so the intent could never match")


def _gate(where: str, gate: Any) -> Gate:
    key, scope = _key(gate)
    if not isinstance(key, str) or not key or ":" in key or scope not in ("private", "shared"):
        raise MalformedIntent(
            f"{where}: {gate!r} is no context key; write 'key' or {{'key': 'key', 'scope': 'shared'}}"
        )
    return gate if isinstance(gate, str) else dict(gate)


def _key(gate: Any) -> tuple[Any, Any]:
    return (gate.get("key"), gate.get("scope", "private")) if isinstance(gate, Mapping) else (gate, "private")


def _check_lang(where: str, lang: str | None) -> None:
    if lang is not None and not is_tag(lang):
        raise MalformedIntent(f"{where}: lang {lang!r} is no language tag such as 'en-US'")


def _as_tuple(where: str, option: str, values: Any) -> tuple[Any, ...]:
    if isinstance(values, (str, Mapping)):
        raise MalformedIntent(f"{where}: {option} takes several: write {option}=[{values!r}]")
    return tuple(values)
