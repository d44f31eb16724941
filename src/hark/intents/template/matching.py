"""Finding the template intent that an utterance means, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from operator import itemgetter
from typing import Final

from hark.intents.patterns import SentenceParts, Span
from hark.intents.patterns.pattern import divisions
from hark.intents.pool import Now
from hark.intents.registration import TemplateIntent
from hark.intents.template.exact import ExactMatch, by_rank
from hark.intents.template.pool import TemplatePool
from hark.intents.template.query import Found, TemplateQuery
from hark.intents.template.similar import candidates, find_similar, rescored, resolve
from hark.intents.template.tagger import LONGEST, Known
from hark.model import Session

__all__ = ["Score", "SentenceParts", "Span", "bind"]


Score = Callable[[str, Span], int]
"""How well a span suits a slot; 0 is neutral."""

_TRIED: Final = 64
"""The number of divisions that are compared at most: utterances have a handful."""


def bind(parts: SentenceParts, words: list[str], score: Score | None = None) -> dict[str, Span]:
    """The words each slot takes in a sentence that fits.

    The division with the best `score` is taken, else as many words as possible for the slots to the left: in "send go
    to bed to anna", "send {message} to {contact}" finds the message "go to bed".
    """
    names, chunks = parts.names, parts.chunks
    if len(names) == 1:
        return {names[0]: (len(chunks[0]), len(words) - len(chunks[1]))}
    if score is None:
        return dict(zip(names, next(divisions(chunks, words), ()), strict=False))
    best: dict[str, Span] = {}
    best_points = 0
    for spans in islice(divisions(chunks, words), _TRIED):
        bound = dict(zip(names, spans, strict=True))
        points = sum([score(name, span) for name, span in bound.items()])
        if not best or points > best_points:
            best, best_points = bound, points
    return best


STRICT: Final = 1.0
"""Sentences as written and nothing else."""
NORMAL: Final = 0.5
"""Every sentence as written scores at least this."""
LOOSE: Final = 0.35

_SWALLOWED: Final = 3
_FOREIGN: Final = 2
_MORE_SIMILAR: Final = 2.0


def lookup(
    pool: TemplatePool, utterance: str, lang: str, session: Session, now: Now, floor: float = NORMAL
) -> Found | str:
    """The best intent of the session's effective pool, or the reason there is none.

    A sentence as written comes first: the one with the most literal words, so one without slots before one with; among
    equals, the one registered first. Otherwise the intent whose sentences are most similar to the utterance. Either has
    to score at least `floor`; with `STRICT`, every sentence as written counts, and nothing else. Each intent is looked
    up in the requested language, or in another of the same primary language if it is not registered in that one.
    """
    query = TemplateQuery.of(pool, utterance, lang, session, now)
    if not query.tags:
        return f"no templates in {lang}"
    reason = denied = ""
    exact = lang.lower()
    for tag in query.tags:
        matches = _claims(query, tag)
        if matches and query.has_denials:
            matches, why = _allowed(matches, query)
            denied = denied or why
        if len(matches) > 1 and matches[1].literals == matches[0].literals and _has_values(query):
            matches = _by_values(matches, query)
        for match in matches:
            if tag != exact and query.has_own_language(match.intent):
                continue
            found = _resolve(match, query)
            if type(found) is Found:
                if floor < STRICT and match.parts is not None and _swallows(match, query):
                    found = _more_similar(match, query, floor) or found
                if found.score >= floor or floor == STRICT:
                    return found
                found = f"{match.intent.label} fits with {found.score:.2f}, {floor:.2f} needed: its slots take too much"
            reason = reason or str(found)
    if reason:
        return reason  # an utterance that fits as written is not guessed at when its intent is refused
    found = find_similar(query, floor) if floor < STRICT else _unknown(query)
    return (denied or _denied_instead(query, floor) or found) if type(found) is str else found


def _allowed(matches: list[ExactMatch], query: TemplateQuery) -> tuple[list[ExactMatch], str]:
    """The matches whose intents are not denied, and why the first of the others is refused."""
    allowed, why = [], ""
    for match in matches:
        if query.denies(match.intent):
            why = why or query.refusal(match.intent) or ""
        else:
            allowed.append(match)
    return allowed, why


def _denied_instead(query: TemplateQuery, floor: float) -> str:
    """That an intent would be similar enough, were it not denied; only to tell why nothing was found."""
    if not query.has_denials:
        return ""
    allowing = query._replace(session=query.session.without("blacklisted_skills", "blacklisted_intents"))
    found = find_similar(allowing, floor) if floor < STRICT else ""
    return f"{found.intent.label} fits but the session denies it" if type(found) is Found else ""


def _claims(query: TemplateQuery, tag: str) -> list[ExactMatch]:
    shared, own = query.shared.roots.get(tag), query.own.roots.get(tag)
    if own is None:
        return shared.exact.matches(query.said) if shared is not None else []
    matches = own.exact.matches(query.said)
    return sorted([*matches, *shared.exact.matches(query.said)], key=by_rank) if shared is not None else matches


def _has_values(query: TemplateQuery) -> bool:
    return bool(query.shared.entities or query.own.entities)


def _by_values(matches: list[ExactMatch], query: TemplateQuery) -> list[ExactMatch]:
    """The matches, those with the most literal words ordered by the known values of their slots.

    "turn off {room}" and "turn off {device}" both fit: first comes the one that knows the words as a value of its slot,
    then one whose slot has no list of values, then one whose list has other values.
    """

    def worth(match: ExactMatch) -> tuple[int, int]:
        if match.parts is None:
            return 0, 0
        known = query.known(match.intent)
        spans = _bound(match, query.said, known)
        lists = {name: known[name] for name in spans if known[name]}
        right = sum([_is_known(_text(query.said, spans[name]), lists[name]) for name in lists])
        return -right, len(lists) - right

    leading = [match for match in matches if match.literals == matches[0].literals]
    return [*sorted(leading, key=worth), *matches[len(leading) :]]


def _unknown(query: TemplateQuery) -> str:
    near = [found for index in query.indexes() if (found := index.similarity.nearest(query.said)) is not None]
    if not near:
        return "no template has any of these words"
    intent = max(near, key=itemgetter(0))[1]
    words = set(query.said)
    sentence = max(intent.samples, key=lambda sample: len(words.intersection(sample)))
    return f"no template has these words; nearest: {intent.label} '{' '.join(sentence)}'"


def _resolve(match: ExactMatch, query: TemplateQuery) -> Found | str:
    """The intent of a match with its slots filled, or why it does not count in this session."""
    intent, parts = match.intent, match.parts
    barred = query.refusal(intent)
    if barred:
        return barred
    if parts is None:
        slots: dict[str, str] = {}
        return query.complete(intent, slots) or Found(intent, slots)
    said = query.said
    known = query.known(intent) if _has_values(query) else None
    spans = _bound(match, said, known)
    sure = match.literals
    if known is not None:
        right = _known_words(spans, said, known)
        # A slot whose value is known cannot have taken words of another.
        if len(known) > 1 and sure + right < len(said):
            better = _reread(match, query, spans, known)
            if better is not spans:
                spans, right = better, _known_words(better, said, known)
        sure += right
    slots = query.text(intent, spans)
    return query.complete(intent, slots) or Found(intent, slots, _sureness(sure, len(said)))


def _bound(match: ExactMatch, said: list[str], known: Known | None) -> dict[str, Span]:
    """The words each slot takes."""
    parts, intent = match.parts, match.intent
    if parts is None:
        return {}
    has_choice = len(parts.names) > 1 and (known is not None or intent.slot_blacklist is not None)
    return bind(parts, said, _score(intent, said, known or {}) if has_choice else None)


def _reread(match: ExactMatch, query: TemplateQuery, spans: dict[str, Span], known: Known) -> dict[str, Span]:
    """The spans, or better ones where a slot would take a known value of another slot.

    "play {artist}" fits "play jazz on netflix", but not if another slot of the intent has the known value "netflix".
    """
    for name, (first, end) in spans.items():
        words = query.said[first:end]
        if not _is_known(" ".join(words), known[name]) and _has_others(name, words, known):
            break
    else:
        return spans
    for index in query.indexes():
        profile = index.similarity.profile(match.intent)
        if profile is not None:
            better = index.tagger(profile, known).prefers(query.said, known, spans) or {}
            needed = (*match.intent.required_slots, *profile.always)
            return better if better and all(slot in better for slot in needed) else spans
    return spans


def _has_others(name: str, words: list[str], known: Known) -> bool:
    """Whether the words for a slot contain a known value of another slot."""
    others = [values for other, lists in known.items() if other != name for values in lists]
    for begin in range(len(words)) if others else ():
        for end in range(begin + 1, min(begin + LONGEST, len(words)) + 1):
            if _is_known(" ".join(words[begin:end]), others):
                return True
    return False


def _known_words(spans: Mapping[str, Span], said: list[str], known: Known) -> int:
    """How many words are taken by slots whose whole value is known."""
    right = 0
    for name, (first, end) in spans.items():
        lists = known[name]
        if lists and _is_known(" ".join(said[first:end]), lists):
            right += end - first
    return right


def _sureness(sure: int, words: int) -> float:
    """The score of a sentence with slots: by the share of words that are literal or part of known values."""
    # Squared, so that it is comparable with the score of similar sentences.
    return NORMAL + (1.0 - NORMAL) * min(1.0, sure / words) ** 2


def _score(intent: TemplateIntent, said: list[str], known: Known) -> Score:
    """A score that prefers known values and avoids those on the blacklist."""

    def score(name: str, span: Span) -> int:
        value = _text(said, span)
        if intent.bars(name, value):
            return -1
        return 1 if _is_known(value, known.get(name, ())) else 0

    return score


def _text(said: list[str], span: Span) -> str:
    return " ".join(said[span[0] : span[1]])


def _is_known(value: str, lists: Sequence[frozenset[str]]) -> bool:
    for values in lists:  # noqa: SIM110 - called for most matches
        if value in values:
            return True
    return False


def _swallows(match: ExactMatch, query: TemplateQuery) -> bool:
    """Whether the slots of a sentence that fits take words of other intents' sentences.

    "find {title}" fits "find out when the next bus leaves" too. Cheap on purpose: it is called for most matches.
    """
    if len(query.said) - match.literals < _SWALLOWED:
        return False
    for index in query.indexes():
        profile = index.similarity.profile(match.intent)
        if profile is not None:
            return index.similarity.foreign(profile, query.said) >= _FOREIGN
    return False


def _more_similar(match: ExactMatch, query: TemplateQuery, floor: float) -> Found | None:
    """Another intent that is far more similar to the utterance, and has words that the slots would take."""
    ranked = list(candidates(query, floor))
    if not ranked or ranked[0].score < floor or ranked[0].intent is match.intent:
        return None
    best = rescored(ranked[0], query.said)
    if best.score < floor:
        return None
    mine = next((other for other in ranked if other.intent is match.intent), None)
    if mine is not None and best.similarity < _MORE_SIMILAR * mine.similarity:
        return None
    has = best.home.similarity.has
    patterns = match.intent.patterns
    foreign = [
        word for word in query.said if has(best.profile, word) and not any(pattern.has(word) for pattern in patterns)
    ]
    if len(foreign) < _FOREIGN:
        return None
    found = resolve(best, query, floor)
    return found if type(found) is Found else None
