"""Which intent an utterance means, or in words why none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hark.intents.gates import Now
from hark.intents.template.asking import Asked, Found
from hark.intents.template.pool import TemplatePool
from hark.intents.template.resembling import back, candidates, resembling, weigh
from hark.intents.template.slots import Score, Span, bind
from hark.intents.template.trie import Claim, Node, by_rank
from hark.model import Session

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
    asked = Asked.of(pool, utterance, lang, session, now)
    if not asked.tags:
        return f"no templates in {lang}"
    reason = ""
    nearest: Node | None = None
    exact = lang.lower()
    for tag in asked.tags:
        claims, furthest = _claims(asked, tag)
        if furthest is not None and (nearest is None or furthest.literals > nearest.literals):
            nearest = furthest
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
    return resembling(asked, floor) if floor < STRICT else _unknown(nearest)


def _claims(asked: Asked, tag: str) -> tuple[list[Claim], Node | None]:
    shared, own = asked.shared.roots.get(tag), asked.own.roots.get(tag)
    if own is None:
        return shared.root.walk(asked.said) if shared is not None else ([], None)
    claims, furthest = own.root.walk(asked.said)
    if shared is not None:
        more, further = shared.root.walk(asked.said)
        claims = sorted([*claims, *more], key=by_rank)
        furthest = further if further.literals > furthest.literals else furthest
    return claims, furthest


def _unknown(nearest: Node | None) -> str:
    claim = nearest.example() if nearest is not None and nearest.literals else None
    if claim is None:
        return "no template begins like this"
    return f"no template has these words; nearest: {claim.intent.label} '{' '.join(claim.sentence)}'"


def _weigh(claim: Claim, asked: Asked) -> Found | str:
    """What the claim comes to in this session, or why it does not count."""
    intent = claim.intent
    barred = asked.refusal(intent)
    if barred:
        return barred
    if claim.shape is None:
        slots: dict[str, str] = {}
        return asked.complete(intent, slots) or Found(intent, slots)
    spans = bind(claim.shape, asked.said, _score(claim, asked))
    slots = asked.text(intent, spans)
    return asked.complete(intent, slots) or Found(intent, slots, _sureness(claim, asked, spans))


def _sureness(claim: Claim, asked: Asked, spans: Mapping[str, Span]) -> float:
    """How sure a sentence with slots is: by the share of what was said that it has itself, or knows as a value."""
    said = asked.said
    sure = claim.literals
    if asked.shared.entities or asked.own.entities:
        known = asked.known(claim.intent)
        for name, (first, end) in spans.items():
            value = " ".join(said[first:end])
            if any(value in values for values in known[name]):
                sure += end - first
    return NORMAL + (1.0 - NORMAL) * sure / len(said)


def _score(claim: Claim, asked: Asked) -> Score | None:
    """Known values attract, barred ones repel; None where nothing is known."""
    intent = claim.intent
    if intent.slot_blacklist is None and not asked.shared.entities and not asked.own.entities:
        return None
    known = asked.known(intent)

    def score(name: str, span: Span) -> int:
        value = " ".join(asked.said[span[0] : span[1]])
        if intent.bars(name, value):
            return -1
        return 1 if any(value in values for values in known[name]) else 0

    return score


def _swallows(claim: Claim, asked: Asked) -> bool:
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


def _liker(claim: Claim, asked: Asked, floor: float) -> Found | None:
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
    literals = {word for sentence in claim.intent.sentences for word in sentence}
    foreign = [word for word in asked.said if has(best.profile, word) and word not in literals]
    if len(foreign) < _FOREIGN:
        return None
    found = weigh(best, asked)
    return found if type(found) is Found else None
