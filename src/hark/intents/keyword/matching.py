"""Finding the keyword intent that an utterance means, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, product
from math import prod
from typing import Final, NamedTuple

from hark.intents.keyword.definition import KeywordIntent
from hark.intents.keyword.index import KeywordPool, PhraseHits, PhraseIndex, PhraseSpan
from hark.intents.pool import NOTHING, Now, SessionScope, fill, refusal
from hark.intents.text import spoken_words, words
from hark.model import Session
from hark.spec import DEFAULT_SESSION_ID

Occurrences = Sequence[PhraseSpan]
"""Where one vocabulary occurs; never empty."""

TRIED: Final = 256
"""The number of assignments that are compared; if there are more, each vocabulary in turn takes its best occurrence."""


class PhraseAssignment(NamedTuple):
    """One occurrence for each vocabulary, and how many words they explain together."""

    spans: Sequence[PhraseSpan]
    explained: int
    twice: int
    """Words that are taken by more than one vocabulary, counted once for each beyond the first."""


def best_assignment(vocabularies: Sequence[Occurrences]) -> PhraseAssignment:
    """The best way to take one occurrence of each vocabulary."""
    favourite = _measured([spans[0] if len(spans) == 1 else min(spans) for spans in vocabularies])
    # Each has its longest occurrence and none overlaps another: nothing can be better.
    if not favourite.twice:
        return favourite
    if prod(map(len, vocabularies)) > TRIED:
        return min(favourite, _in_turn(vocabularies), key=_worth)
    return min(map(_measured, product(*map(sorted, vocabularies))), key=_worth)


def _worth(reading: PhraseAssignment) -> tuple[int, int]:
    return reading.twice, -reading.explained


def _measured(spans: Sequence[PhraseSpan]) -> PhraseAssignment:
    taken, total = 0, 0
    for length, start in spans:
        taken |= _bits(length, start)
        total -= length
    explained = taken.bit_count()
    return PhraseAssignment(spans, explained, total - explained)


def _in_turn(vocabularies: Sequence[Occurrences]) -> PhraseAssignment:
    """The vocabulary with the fewest occurrences goes first; each takes the one that overlaps least, then the longest,
    then the leftmost."""
    chosen: dict[int, PhraseSpan] = {}
    taken: set[int] = set()
    for place in sorted(range(len(vocabularies)), key=lambda place: len(vocabularies[place])):
        spans = sorted(vocabularies[place])
        # The first free one; a word may be repeated very often, so the others are not compared.
        span = next((span for span in spans if taken.isdisjoint(_words(*span))), None)
        if span is None:
            span = min(spans, key=lambda span: len(taken.intersection(_words(*span))))
        chosen[place] = span
        taken.update(_words(*span))
    return _measured([chosen[place] for place in range(len(vocabularies))])


def _words(length: int, start: int) -> range:
    return range(start, start - length)


def _bits(length: int, start: int) -> int:
    """The words of a span as a set."""
    return ((1 << -length) - 1) << start


DEFAULT_FLOOR: Final = 0.2
"""The share of the words that has to be explained: one keyword in five words is enough, one in six is not."""

_TOLD: Final = 5
"""The number of keywords that a reason names."""

Keywords = SessionScope[KeywordIntent, PhraseIndex]
"""The keyword intents of one session id."""


class Spotted(NamedTuple):
    """The intent an utterance means, and the phrases said for its vocabularies."""

    intent: KeywordIntent
    slots: dict[str, str]
    score: float
    """The share of the words that it explains, more than 0 and at most 1."""


class _Query(NamedTuple):
    """An utterance with its language and session, and the intents that session can reach."""

    utterance: str
    lang: str
    said: list[str]
    session: Session
    shared: Keywords
    own: Keywords
    now: Now
    floor: float


class _Fit(NamedTuple):
    """An intent that fits."""

    rank: tuple[int, int, int]
    """Smallest first: most words explained, fewest roles of which nothing was said, order of registration."""
    intent: KeywordIntent
    places: list[int]
    """Which of its vocabularies were said."""
    remembered: dict[str, str]
    """The values of those that were filled from the context, by name."""
    reading: PhraseAssignment
    """Their occurrences, in the order of `places`."""


class _Miss(NamedTuple):
    """An intent that does not fit, and why."""

    closeness: tuple[int, int]
    intent: KeywordIntent
    why: str
    what: str = ""


_WHY: Final = {
    "missing": "{label} needs {what!r}, which was not said",
    "unsaid": "nothing of {label} was said",
    "excluded": "{label} fits but {what!r} was said, which rules it out",
    "faint": "{label} fits but explains only {what} of what was said",
    "refused": "{what}",
}


def lookup_keywords(
    pool: KeywordPool, utterance: str, lang: str, session: Session, now: Now, floor: float = DEFAULT_FLOOR
) -> Spotted | str:
    """The best intent of the session's effective pool, or the reason there is none.

    Best is the intent that explains the most words; then the one with the fewest roles of which nothing was said; then
    the one registered first. It has to explain at least the share `floor` of the words. Languages are chosen as for
    templates.
    """
    tags = pool.tags(lang)
    if not tags:
        return f"no keywords in {lang}"
    shared = pool.scope(DEFAULT_SESSION_ID)
    own = NOTHING if session.is_default else pool.scope(session.session_id)
    query = _Query(utterance, lang, words(utterance, lang), session, shared, own, now, floor)
    exact = lang.lower()
    nearest: _Miss | None = None
    keywords: dict[str, None] = {}
    for tag in tags:
        best: _Fit | None = None
        alike: dict[tuple[object, ...], _Fit | _Miss] = {}
        for intent, hits in _candidates(query, tag, keywords):
            if tag != exact and (shared.holds((intent.label, exact)) or own.holds((intent.label, exact))):
                continue
            if session.intent_context or intent.expressions:  # what is remembered may be one skill's alone
                found = _in_session(_evaluate(intent, hits, query), intent, query)
            else:
                # Of intents with the same phrases of the utterance in the same roles, one is evaluated.
                key = (id(hits), *map(intent.places.get, hits), *_roles(intent))
                evaluated = alike.get(key)
                if evaluated is None:
                    evaluated = alike[key] = _evaluate(intent, hits, query)
                elif type(evaluated) is _Miss and evaluated.why != "faint":
                    continue  # as far off as the one that was evaluated
                elif type(evaluated) is _Fit and best is not None and best.rank < (*evaluated.rank[:2], intent.order):
                    continue
                found = _in_session(evaluated, intent, query)
            if type(found) is _Fit:
                best = found if best is None or found.rank < best.rank else best
            elif type(found) is _Miss and (nearest is None or found.closeness > nearest.closeness):
                nearest = found
        if best is not None:
            return _spotted(best, query)
    return _reason(nearest, keywords)


def _reason(nearest: _Miss | None, keywords: dict[str, None]) -> str:
    if nearest is not None:
        return _WHY[nearest.why].format(label=nearest.intent.label, what=nearest.what)
    if not keywords:
        return "no keyword was said"
    return f"not enough for any intent: {', '.join(map(repr, islice(keywords, _TOLD)))}"


def _candidates(
    query: _Query, tag: str, keywords: dict[str, None]
) -> Iterator[tuple[KeywordIntent, dict[str, list[PhraseSpan]]]]:
    """The intents that may fit, each with all known phrases that were said; these are added to `keywords`."""
    for scope in (query.shared, query.own):
        index: PhraseIndex | None = scope.roots.get(tag)
        if index is None:
            continue
        hits = index.find(query.said)
        keywords.update(dict.fromkeys(hits.phrases))
        if query.session.intent_context:
            _add_remembered(index, hits, query.session)
        for intent in hits.candidates:
            yield intent, hits.phrases


def _add_remembered(index: PhraseIndex, hits: PhraseHits, session: Session) -> None:
    """Add the intents filed under a vocabulary that the context has a value for: it need not be said (CONTEXT-1 §7)."""
    for key, entry in session.intent_context.items():
        if entry is None or entry.value is None:
            continue
        owner, colon, name = key.partition(":")
        for intent in index.named(name if colon else key):
            if not colon or intent.skill_id == owner:
                hits.candidates[intent] = None


def _evaluate(intent: KeywordIntent, hits: dict[str, list[PhraseSpan]], query: _Query) -> _Fit | _Miss:
    """Whether the intent fits what was said, or why not. Refusals of the session are not considered."""
    session, vocabularies = query.session, intent.vocabularies
    if not session.intent_context:  # nothing is remembered: what is not said is missing, and most candidates end here
        for place, vocabulary in enumerate(intent.required):
            if vocabulary.phrases.isdisjoint(hits) and not vocabulary.expressions:
                return _Miss((1, place), intent, "missing", vocabulary.name)
    said = _occurrences(intent, hits, query)
    remembered: dict[str, str] = {}
    if session.intent_context:
        names = {vocabularies[place].name for place in said}
        there = dict.fromkeys(names, "")
        fill(there, intent, session.intent_context, query.now())
        remembered = {name: value for name, value in there.items() if name not in names}
    missing = _missing(intent, said, remembered)
    if missing:
        return _Miss((1, len(said)), intent, "missing", missing)
    if not said:
        return _Miss((0, 0), intent, "unsaid")
    if intent.excluded and max(said) >= len(intent.slots):
        return _Miss((3, len(said)), intent, "excluded", vocabularies[max(said)].name)
    places = sorted(said)
    reading = best_assignment([said[place] for place in places])
    if reading.explained / len(query.said) < query.floor:
        return _Miss((2, len(said)), intent, "faint", f"{reading.explained} of {len(query.said)} words")
    return _Fit((-reading.explained, _unused(intent, said), intent.order), intent, places, remembered, reading)


def _occurrences(
    intent: KeywordIntent, hits: dict[str, list[PhraseSpan]], query: _Query
) -> dict[int, list[PhraseSpan]]:
    """Where each of its vocabularies was said."""
    said: dict[int, list[PhraseSpan]] = {}
    for phrase, spans in hits.items():
        for place in intent.places.get(phrase, ()):
            said[place] = said[place] + spans if place in said else spans
    for place, expression in intent.expressions:
        found = list(expression.spans(query.said))
        if found:
            said[place] = said.get(place, []) + found
    return said


def _in_session(evaluated: _Fit | _Miss, intent: KeywordIntent, query: _Query) -> _Fit | _Miss:
    """The result for an intent with the same phrases, applied to this one, which the session may refuse."""
    if isinstance(evaluated, _Miss) and evaluated.why != "faint":
        return evaluated
    refused = refusal(intent, query.session, query.shared, query.own, query.now)
    if refused:
        said = len(evaluated.places) if isinstance(evaluated, _Fit) else evaluated.closeness[1]
        return _Miss((4, said), intent, "refused", refused)
    if isinstance(evaluated, _Fit):
        return evaluated._replace(rank=(*evaluated.rank[:2], intent.order), intent=intent)
    return evaluated._replace(intent=intent)


def _roles(intent: KeywordIntent) -> tuple[object, ...]:
    return len(intent.required), len(intent.optional), len(intent.slots), intent.groups


def _missing(intent: KeywordIntent, said: dict[int, list[PhraseSpan]], remembered: dict[str, str]) -> str:
    """The name of a required vocabulary, or group, of which nothing was said."""
    for place, vocabulary in enumerate(intent.required):
        if place not in said and vocabulary.name not in remembered:
            return vocabulary.name
    for group in intent.groups:
        if said.keys().isdisjoint(group):
            names = [intent.slots[place] for place in group]
            if remembered.keys().isdisjoint(names):
                return " or ".join(names)
    return ""


def _unused(intent: KeywordIntent, said: dict[int, list[PhraseSpan]]) -> int:
    """Roles of which nothing was said: a vocabulary, or a whole group."""
    first = len(intent.slots) - len(intent.optional)
    alone = (*range(len(intent.required)), *range(first, len(intent.slots)))
    return sum([place not in said for place in alone]) + sum([said.keys().isdisjoint(g) for g in intent.groups])


def _spotted(fit: _Fit, query: _Query) -> Spotted:
    spoken = query.said if query.utterance.isascii() else spoken_words(query.utterance, query.lang)
    slots = {}
    for place, (length, start) in zip(fit.places, fit.reading.spans, strict=True):
        slots[fit.intent.slots[place]] = " ".join(spoken[start : start - length])
    return Spotted(fit.intent, slots | fit.remembered, fit.reading.explained / len(query.said))
