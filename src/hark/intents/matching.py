"""Which intent an utterance means, or in words why none."""

from __future__ import annotations

from typing import NamedTuple

from hark.intents.definition import TemplateIntent
from hark.intents.gates import Now, fill, refusal, unfilled
from hark.intents.pool import NOTHING, Scope, TemplatePool
from hark.intents.slots import Score, Shape, Span, bind
from hark.intents.text import spoken_words, words
from hark.intents.trie import Claim, Node, by_rank
from hark.model import Session
from hark.spec import DEFAULT_SESSION_ID

Sentences = Scope[TemplateIntent, Node]
"""What one session id has."""


class Found(NamedTuple):
    """The intent an utterance means, and what it says for the slots."""

    intent: TemplateIntent
    slots: dict[str, str]


class _Asked(NamedTuple):
    """One question: what was said, in which language and session, and what that session can reach."""

    utterance: str
    lang: str
    said: list[str]
    session: Session
    shared: Sentences
    own: Sentences
    now: Now


def lookup(pool: TemplatePool, utterance: str, lang: str, session: Session, now: Now) -> Found | str:
    """The best intent of the session's effective pool, or the reason there is none.

    Best is the sentence with the most literal words, so one without slots before one with; among equals, whoever
    registered first. Each intent is looked up in the language that was asked for, or in another of the same primary
    language where it has no registration in that one.
    """
    tags = pool.tags(lang)
    if not tags:
        return f"no templates in {lang}"
    shared = pool.scope(DEFAULT_SESSION_ID)
    own = NOTHING if session.is_default else pool.scope(session.session_id)
    asked = _Asked(utterance, lang, words(utterance, lang), session, shared, own, now)
    exact = lang.lower()
    reason = ""
    nearest: Node | None = None
    for tag in tags:
        claims, furthest = _claims(shared, own, tag, asked.said)
        if furthest is not None and (nearest is None or furthest.literals > nearest.literals):
            nearest = furthest
        for claim in claims:
            if tag != exact and _has(claim.intent.label, exact, shared, own):
                continue
            found = _weigh(claim, asked)
            if type(found) is Found:
                return found
            reason = reason or str(found)
    return reason or _unknown(nearest)


def _has(label: str, tag: str, shared: Sentences, own: Sentences) -> bool:
    return shared.holds((label, tag)) or own.holds((label, tag))


def _claims(shared: Sentences, own: Sentences, tag: str, said: list[str]) -> tuple[list[Claim], Node | None]:
    root, own_root = shared.roots.get(tag), own.roots.get(tag)
    if own_root is None:
        return root.walk(said) if root is not None else ([], None)
    claims, furthest = own_root.walk(said)
    if root is not None:
        more, further = root.walk(said)
        claims = sorted([*claims, *more], key=by_rank)
        furthest = further if further.literals > furthest.literals else furthest
    return claims, furthest


def _unknown(nearest: Node | None) -> str:
    """Cheap on purpose: most matchers decline most of the time."""
    claim = nearest.example() if nearest is not None and nearest.literals else None
    if claim is None:
        return "no template begins like this"
    return f"no template has these words; nearest: {claim.intent.label} '{' '.join(claim.sentence)}'"


def _weigh(claim: Claim, asked: _Asked) -> Found | str:
    """What the claim comes to in this session, or why it does not count."""
    intent, session = claim.intent, asked.session
    barred = refusal(intent, session, asked.shared, asked.own, asked.now) or _barred_by_phrase(intent, asked.said)
    if barred:
        return barred
    slots = {} if claim.shape is None else _slots(intent, claim.shape, asked)
    if intent.slots and session.intent_context:
        fill(slots, intent, session.intent_context, asked.now())
    missing = unfilled(intent, slots) if intent.required_slots else None
    return missing or Found(intent, slots)


def _barred_by_phrase(intent: TemplateIntent, said: list[str]) -> str | None:
    if not intent.blacklist and not intent.required_keywords:
        return None
    text = f" {' '.join(said)} "
    for phrase in intent.blacklist:
        if f" {phrase} " in text:
            return f"{intent.label} fits but {phrase!r} rules it out"
    if intent.required_keywords and not any(f" {phrase} " in text for phrase in intent.required_keywords):
        return f"{intent.label} fits but none of its keywords was said"
    return None


def _slots(intent: TemplateIntent, shape: Shape, asked: _Asked) -> dict[str, str]:
    said = asked.said
    spans = bind(shape, said, _score(intent, asked))
    spoken = said if asked.utterance.isascii() else spoken_words(asked.utterance, asked.lang)
    return {
        name: " ".join(spoken[first:end])
        for name, (first, end) in spans.items()
        if intent.slot_blacklist is None or not intent.bars(name, " ".join(said[first:end]))
    }


def _score(intent: TemplateIntent, asked: _Asked) -> Score | None:
    """Known values attract, barred ones repel; None where nothing is known."""
    scopes = [scope for scope in (asked.shared, asked.own) if scope.entities]
    if intent.slot_blacklist is None and not scopes:
        return None
    known = {
        name: [values for scope in scopes if (values := scope.entities.get((intent.skill_id, name, intent.tag)))]
        for name in intent.slots
    }

    def score(name: str, span: Span) -> int:
        value = " ".join(asked.said[span[0] : span[1]])
        if intent.bars(name, value):
            return -1
        return 1 if any(value in values for values in known[name]) else 0

    return score
