"""Finding the template intent that an utterance means, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from operator import itemgetter
from typing import Final

from hark.intents.gates import Now
from hark.intents.patterns import SentenceParts, Span
from hark.intents.patterns.pattern import divisions
from hark.intents.registration import TemplateIntent
from hark.intents.template.exact import ExactMatch, by_rank
from hark.intents.template.pool import TemplatePool
from hark.intents.template.query import Found, TemplateQuery
from hark.intents.template.similar import back, candidates, find_similar, weigh
from hark.intents.template.tagger import LONGEST, Known
from hark.model import Session

__all__ = ["Score", "SentenceParts", "Span", "bind"]


Score = Callable[[str, Span], int]
"""How well a span suits a slot: 0 is neutral."""

_TRIED: Final = 64
"""Divisions that are compared before the best of them is taken: what people say has a handful."""


def bind(shape: SentenceParts, words: list[str], score: Score | None = None) -> dict[str, Span]:
    """The words each slot takes in a sentence that fits.

    Those `score` likes best, else as many as possible for the slots to the left: "send {message} to {contact}" reads
    "send go to bed to anna" as a person would.
    """
    names, chunks = shape.names, shape.chunks
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
"""Takes every sentence as written: those score at least this."""
LOOSE: Final = 0.35

_SWALLOWED: Final = 3
_FOREIGN: Final = 2
_LIKER: Final = 2.0


def lookup(
    pool: TemplatePool, utterance: str, lang: str, session: Session, now: Now, floor: float = NORMAL
) -> Found | str:
    """The best intent of the session's effective pool, or the reason there is none.

    A sentence as written comes first: the one with the most literal words, so one without slots before one with; among
    equals, whoever registered first. Otherwise the intent whose sentences are most like what was said. Either has to
    score `floor` at least; with `STRICT`, whatever is as written counts, and nothing else. Each intent is looked up in
    the language that was asked for, or in another of the same primary language where it is not registered in that one.
    """
    asked = TemplateQuery.of(pool, utterance, lang, session, now)
    if not asked.tags:
        return f"no templates in {lang}"
    reason = ""
    exact = lang.lower()
    for tag in asked.tags:
        claims = _claims(asked, tag)
        if len(claims) > 1 and claims[1].literals == claims[0].literals and _has_values(asked):
            claims = _by_values(claims, asked)
        for claim in claims:
            if tag != exact and asked.is_elsewhere(claim.intent):
                continue
            found = _weigh(claim, asked)
            if type(found) is Found:
                if floor < STRICT and claim.shape is not None and _swallows(claim, asked):
                    found = _liker(claim, asked, floor) or found
                if found.score >= floor or floor == STRICT:
                    return found
                found = f"{claim.intent.label} fits with {found.score:.2f}, {floor:.2f} needed: its slots take too much"
            reason = reason or str(found)
    if reason:
        return reason  # what fits as written and is ruled out is not guessed at
    return find_similar(asked, floor) if floor < STRICT else _unknown(asked)


def _claims(asked: TemplateQuery, tag: str) -> list[ExactMatch]:
    shared, own = asked.shared.roots.get(tag), asked.own.roots.get(tag)
    if own is None:
        return shared.exact.claims(asked.said) if shared is not None else []
    claims = own.exact.claims(asked.said)
    return sorted([*claims, *shared.exact.claims(asked.said)], key=by_rank) if shared is not None else claims


def _has_values(asked: TemplateQuery) -> bool:
    return bool(asked.shared.entities or asked.own.entities)


def _by_values(claims: list[ExactMatch], asked: TemplateQuery) -> list[ExactMatch]:
    """The claims with the known values of their slots considered, among those that lead with as many literal words.

    "turn off {room}" and "turn off {device}" both fit: whichever knows what was said as a value of its slot comes
    first, then one whose slot has no list of values, then one whose list has other values.
    """

    def worth(claim: ExactMatch) -> tuple[int, int]:
        if claim.shape is None:
            return 0, 0
        known = asked.known(claim.intent)
        spans = _bound(claim, asked.said, known)
        lists = {name: known[name] for name in spans if known[name]}
        right = sum([_is_known(_text(asked.said, spans[name]), lists[name]) for name in lists])
        return -right, len(lists) - right

    leading = [claim for claim in claims if claim.literals == claims[0].literals]
    return [*sorted(leading, key=worth), *claims[len(leading) :]]


def _unknown(asked: TemplateQuery) -> str:
    near = [found for index in asked.indexes() if (found := index.likeness.nearest(asked.said)) is not None]
    if not near:
        return "no template begins like this"
    intent = max(near, key=itemgetter(0))[1]
    words = set(asked.said)
    sentence = max(intent.samples, key=lambda sample: len(words.intersection(sample)))
    return f"no template has these words; nearest: {intent.label} '{' '.join(sentence)}'"


def _weigh(claim: ExactMatch, asked: TemplateQuery) -> Found | str:
    """What the claim comes to in this session, or why it does not count."""
    intent, shape = claim.intent, claim.shape
    barred = asked.refusal(intent)
    if barred:
        return barred
    if shape is None:
        slots: dict[str, str] = {}
        return asked.complete(intent, slots) or Found(intent, slots)
    said = asked.said
    known = asked.known(intent) if _has_values(asked) else None
    spans = _bound(claim, said, known)
    sure = claim.literals
    if known is not None:
        right = _known_words(spans, said, known)
        # A slot that knows its words cannot have taken another's.
        if len(known) > 1 and sure + right < len(said):
            better = _reread(claim, asked, spans, known)
            if better is not spans:
                spans, right = better, _known_words(better, said, known)
        sure += right
    slots = asked.text(intent, spans)
    return asked.complete(intent, slots) or Found(intent, slots, _sureness(sure, len(said)))


def _bound(claim: ExactMatch, said: list[str], known: Known | None) -> dict[str, Span]:
    """The words each slot takes."""
    shape, intent = claim.shape, claim.intent
    if shape is None:
        return {}
    has_choice = len(shape.names) > 1 and (known is not None or intent.slot_blacklist is not None)
    return bind(shape, said, _score(intent, said, known or {}) if has_choice else None)


def _reread(claim: ExactMatch, asked: TemplateQuery, spans: dict[str, Span], known: Known) -> dict[str, Span]:
    """The spans, or better ones where a slot would take what is known as a value of another slot.

    "play {artist}" fits "play jazz on netflix", but not when the intent has a slot that knows netflix.
    """
    for name, (first, end) in spans.items():
        words = asked.said[first:end]
        if not _is_known(" ".join(words), known[name]) and _has_others(name, words, known):
            break
    else:
        return spans
    for index in asked.indexes():
        profile = index.likeness.profile(claim.intent)
        if profile is not None:
            better = index.tagger(profile, known).prefers(asked.said, known, spans) or {}
            needed = (*claim.intent.required_slots, *profile.always)
            return better if better and all(slot in better for slot in needed) else spans
    return spans


def _has_others(name: str, words: list[str], known: Known) -> bool:
    """Whether words for a slot have a known value of another slot in them."""
    others = [values for other, lists in known.items() if other != name for values in lists]
    for begin in range(len(words)) if others else ():
        for end in range(begin + 1, min(begin + LONGEST, len(words)) + 1):
            if _is_known(" ".join(words[begin:end]), others):
                return True
    return False


def _known_words(spans: Mapping[str, Span], said: list[str], known: Known) -> int:
    """How many of the words for slots are known values as a whole."""
    right = 0
    for name, (first, end) in spans.items():
        lists = known[name]
        if lists and _is_known(" ".join(said[first:end]), lists):
            right += end - first
    return right


def _sureness(sure: int, words: int) -> float:
    """How sure a sentence with slots is: by the share of what was said that it has itself, or knows as a value."""
    # Squared, so that it can be held beside the score of what is only like something.
    return NORMAL + (1.0 - NORMAL) * min(1.0, sure / words) ** 2


def _score(intent: TemplateIntent, said: list[str], known: Known) -> Score:
    """Known values attract, barred ones repel."""

    def score(name: str, span: Span) -> int:
        value = _text(said, span)
        if intent.bars(name, value):
            return -1
        return 1 if _is_known(value, known.get(name, ())) else 0

    return score


def _text(said: list[str], span: Span) -> str:
    return " ".join(said[span[0] : span[1]])


def _is_known(value: str, lists: Sequence[frozenset[str]]) -> bool:
    for values in lists:  # noqa: SIM110 - asked for with most matches
        if value in values:
            return True
    return False


def _swallows(claim: ExactMatch, asked: TemplateQuery) -> bool:
    """Whether the slots of a sentence that fits take words that other intents' sentences are made of.

    "find {title}" fits "find out when the next bus leaves" too. Cheap on purpose: it is asked of most matches.
    """
    if len(asked.said) - claim.literals < _SWALLOWED:
        return False
    for index in asked.indexes():
        profile = index.likeness.profile(claim.intent)
        if profile is not None:
            return index.likeness.foreign(profile, asked.said) >= _FOREIGN
    return False


def _liker(claim: ExactMatch, asked: TemplateQuery, floor: float) -> Found | None:
    """Another intent the utterance is far more like, and which has words the slots would have to take."""
    ranked = list(candidates(asked, floor))
    if not ranked or ranked[0].score < floor or ranked[0].intent is claim.intent:
        return None
    best = back(ranked[0], asked.said)
    if best.score < floor:
        return None
    mine = next((other for other in ranked if other.intent is claim.intent), None)
    if mine is not None and best.likeness < _LIKER * mine.likeness:
        return None
    has = best.home.likeness.has
    patterns = claim.intent.patterns
    foreign = [
        word for word in asked.said if has(best.profile, word) and not any(pattern.has(word) for pattern in patterns)
    ]
    if len(foreign) < _FOREIGN:
        return None
    found = weigh(best, asked, floor)
    return found if type(found) is Found else None
