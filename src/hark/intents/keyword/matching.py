"""Finding the keyword intent that an utterance means, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, product
from math import prod
from typing import Final, NamedTuple

from hark.intents.gates import Now, fill, refusal
from hark.intents.keyword.definition import KeywordIntent
from hark.intents.keyword.index import KeywordPool, PhraseHits, PhraseIndex, Span
from hark.intents.pool import NOTHING, SessionScope
from hark.intents.text import spoken_words, words
from hark.model import Session
from hark.spec import DEFAULT_SESSION_ID

Occurrences = Sequence[Span]
"""Where one vocabulary occurs; never empty."""

TRIED: Final = 256
"""Ways that are compared; where there are more, each vocabulary in turn takes what suits best."""


class PhraseAssignment(NamedTuple):
    """One occurrence for each vocabulary, and how many words they explain together."""

    spans: Sequence[Span]
    explained: int
    twice: int
    """Words that stand for more than one vocabulary, counted once for each beyond the first."""


def best_assignment(vocabularies: Sequence[Occurrences]) -> PhraseAssignment:
    """The best way to take one occurrence of each vocabulary."""
    favourite = _measured([spans[0] if len(spans) == 1 else min(spans) for spans in vocabularies])
    # Every one has its longest and none is in the way of another: nothing can be better.
    if not favourite.twice:
        return favourite
    if prod(map(len, vocabularies)) > TRIED:
        return min(favourite, _in_turn(vocabularies), key=_worth)
    return min(map(_measured, product(*map(sorted, vocabularies))), key=_worth)


def _worth(reading: PhraseAssignment) -> tuple[int, int]:
    return reading.twice, -reading.explained


def _measured(spans: Sequence[Span]) -> PhraseAssignment:
    taken, total = 0, 0
    for length, start in spans:
        taken |= _bits(length, start)
        total -= length
    explained = taken.bit_count()
    return PhraseAssignment(spans, explained, total - explained)


def _in_turn(vocabularies: Sequence[Occurrences]) -> PhraseAssignment:
    """Whoever has the least choice goes first; each takes what is least taken, then what is longest and leftmost."""
    chosen: dict[int, Span] = {}
    taken: set[int] = set()
    for place in sorted(range(len(vocabularies)), key=lambda place: len(vocabularies[place])):
        spans = sorted(vocabularies[place])
        # The first that is free; what people repeat they may repeat very often, so the rest is not even looked at.
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
"""Keywords that are named in a reason."""

Keywords = SessionScope[KeywordIntent, PhraseIndex]
"""What one session id has."""


class Spotted(NamedTuple):
    """The intent an utterance means, and what it says for its vocabularies."""

    intent: KeywordIntent
    slots: dict[str, str]
    score: float
    """The share of the words that it explains, more than 0 and at most 1."""


class _Asked(NamedTuple):
    """One question: what was said, in which language and session, and what that session can reach."""

    utterance: str
    lang: str
    said: list[str]
    session: Session
    shared: Keywords
    own: Keywords
    now: Now
    floor: float


class _Fit(NamedTuple):
    """An intent that may be meant."""

    rank: tuple[int, int, int]
    """Smallest first: most words explained, fewest roles of which nothing was said, who registered first."""
    intent: KeywordIntent
    places: list[int]
    """Which of its vocabularies were said."""
    remembered: dict[str, str]
    """Those that were not, by name."""
    reading: PhraseAssignment
    """Where, in the order of `places`."""


class _Miss(NamedTuple):
    """An intent that is not meant."""

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
    whoever registered first. One that explains a smaller share of the words than `floor` is not meant. Languages are
    chosen as for templates.
    """
    tags = pool.tags(lang)
    if not tags:
        return f"no keywords in {lang}"
    shared = pool.scope(DEFAULT_SESSION_ID)
    own = NOTHING if session.is_default else pool.scope(session.session_id)
    asked = _Asked(utterance, lang, words(utterance, lang), session, shared, own, now, floor)
    exact = lang.lower()
    nearest: _Miss | None = None
    keywords: dict[str, None] = {}
    for tag in tags:
        best: _Fit | None = None
        alike: dict[tuple[object, ...], _Fit | _Miss] = {}
        for intent, heard in _candidates(asked, tag, keywords):
            if tag != exact and (shared.holds((intent.label, exact)) or own.holds((intent.label, exact))):
                continue
            if session.intent_context:  # what is remembered may be one skill's alone
                found = _judged(_weigh(intent, heard, asked), intent, asked)
            else:
                # Of intents that ask for the same of what was said, in the same roles, one is weighed.
                key = (id(heard), *map(intent.places.get, heard), *_roles(intent))
                weighed = alike.get(key)
                if weighed is None:
                    weighed = alike[key] = _weigh(intent, heard, asked)
                elif type(weighed) is _Miss and weighed.why != "faint":
                    continue  # as far off as the one that was weighed
                elif type(weighed) is _Fit and best is not None and best.rank < (*weighed.rank[:2], intent.order):
                    continue
                found = _judged(weighed, intent, asked)
            if type(found) is _Fit:
                best = found if best is None or found.rank < best.rank else best
            elif type(found) is _Miss and (nearest is None or found.closeness > nearest.closeness):
                nearest = found
        if best is not None:
            return _spotted(best, asked)
    return _reason(nearest, keywords)


def _reason(nearest: _Miss | None, keywords: dict[str, None]) -> str:
    if nearest is not None:
        return _WHY[nearest.why].format(label=nearest.intent.label, what=nearest.what)
    if not keywords:
        return "no keyword was said"
    return f"not enough for any intent: {', '.join(map(repr, islice(keywords, _TOLD)))}"


def _candidates(
    asked: _Asked, tag: str, keywords: dict[str, None]
) -> Iterator[tuple[KeywordIntent, dict[str, list[Span]]]]:
    """The intents that may be meant, each with all known phrases that were said, which `keywords` takes note of."""
    for scope in (asked.shared, asked.own):
        index: PhraseIndex | None = scope.roots.get(tag)
        if index is None:
            continue
        heard = index.hear(asked.said)
        keywords.update(dict.fromkeys(heard.phrases))
        if asked.session.intent_context:
            _add_remembered(index, heard, asked.session)
        for intent in heard.candidates:
            yield intent, heard.phrases


def _add_remembered(index: PhraseIndex, heard: PhraseHits, session: Session) -> None:
    """What hangs on a vocabulary that is remembered can be meant without a word of it (CONTEXT-1 §7)."""
    for key, entry in session.intent_context.items():
        if entry is None or entry.value is None:
            continue
        owner, colon, name = key.partition(":")
        for intent in index.named(name if colon else key):
            if not colon or intent.skill_id == owner:
                heard.candidates[intent] = None


def _weigh(intent: KeywordIntent, heard: dict[str, list[Span]], asked: _Asked) -> _Fit | _Miss:
    """What the intent comes to by what was said, or why it is not meant; the session's wishes aside."""
    session, vocabularies = asked.session, intent.vocabularies
    if not session.intent_context:  # nothing is remembered: what is not said is missing, and most candidates end here
        for place, vocabulary in enumerate(intent.required):
            if vocabulary.phrases.isdisjoint(heard):
                return _Miss((1, place), intent, "missing", vocabulary.name)
    said: dict[int, list[Span]] = {}
    for phrase, spans in heard.items():
        for place in intent.places.get(phrase, ()):
            said[place] = said[place] + spans if place in said else spans
    remembered: dict[str, str] = {}
    if session.intent_context:
        names = {vocabularies[place].name for place in said}
        there = dict.fromkeys(names, "")
        fill(there, intent, session.intent_context, asked.now())
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
    if reading.explained / len(asked.said) < asked.floor:
        return _Miss((2, len(said)), intent, "faint", f"{reading.explained} of {len(asked.said)} words")
    return _Fit((-reading.explained, _unused(intent, said), intent.order), intent, places, remembered, reading)


def _judged(weighed: _Fit | _Miss, intent: KeywordIntent, asked: _Asked) -> _Fit | _Miss:
    """What was found of an intent that asks for the same words, as of this one: the session may not want it."""
    if isinstance(weighed, _Miss) and weighed.why != "faint":
        return weighed
    refused = refusal(intent, asked.session, asked.shared, asked.own, asked.now)
    if refused:
        said = len(weighed.places) if isinstance(weighed, _Fit) else weighed.closeness[1]
        return _Miss((4, said), intent, "refused", refused)
    if isinstance(weighed, _Fit):
        return weighed._replace(rank=(*weighed.rank[:2], intent.order), intent=intent)
    return weighed._replace(intent=intent)


def _roles(intent: KeywordIntent) -> tuple[object, ...]:
    return len(intent.required), len(intent.optional), len(intent.slots), intent.groups


def _missing(intent: KeywordIntent, said: dict[int, list[Span]], remembered: dict[str, str]) -> str:
    """What has to be there and is not."""
    for place, vocabulary in enumerate(intent.required):
        if place not in said and vocabulary.name not in remembered:
            return vocabulary.name
    for group in intent.groups:
        if said.keys().isdisjoint(group):
            names = [intent.slots[place] for place in group]
            if remembered.keys().isdisjoint(names):
                return " or ".join(names)
    return ""


def _unused(intent: KeywordIntent, said: dict[int, list[Span]]) -> int:
    """Roles of which nothing was said: a vocabulary, or a whole group."""
    first = len(intent.slots) - len(intent.optional)
    alone = (*range(len(intent.required)), *range(first, len(intent.slots)))
    return sum([place not in said for place in alone]) + sum([said.keys().isdisjoint(g) for g in intent.groups])


def _spotted(fit: _Fit, asked: _Asked) -> Spotted:
    spoken = asked.said if asked.utterance.isascii() else spoken_words(asked.utterance, asked.lang)
    slots = {}
    for place, (length, start) in zip(fit.places, fit.reading.spans, strict=True):
        slots[fit.intent.slots[place]] = " ".join(spoken[start : start - length])
    return Spotted(fit.intent, slots | fit.remembered, fit.reading.explained / len(asked.said))
