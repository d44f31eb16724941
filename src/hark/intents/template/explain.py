"""Explaining to users why an utterance found its intent, or none; and sentences that two skills both claim."""

from __future__ import annotations

from enum import Enum
from itertools import islice
from typing import Final, NamedTuple

from hark.intents.gates import Now
from hark.intents.grammar import is_slot
from hark.intents.template.features import STEM
from hark.intents.template.matching import NORMAL, lookup
from hark.intents.template.pool import TemplatePool
from hark.intents.template.query import Found, TemplateQuery
from hark.intents.template.similar import back, candidates, weigh
from hark.model import Session
from hark.spec import DEFAULT_SESSION_ID

_NEAREST: Final = 3


class Knowledge(Enum):
    """How a word of an utterance is known."""

    WORD = "word"
    """It is in some intent's sentences."""
    STEM = "stem"
    """A word that begins alike is."""
    VALUE = "value"
    """It is part of a known value of a slot."""
    NONE = "unknown"


class Word(NamedTuple):
    """A word that was said."""

    text: str
    knowledge: Knowledge
    intents: int
    """How many intents have it in their sentences: the fewer, the more it tells."""


class Nearest(NamedTuple):
    """An intent that came near."""

    label: str
    score: float
    own: tuple[str, ...]
    """The words that are in its sentences."""
    verdict: str
    """What kept it from being found; empty for the one that could be."""


class Explanation(NamedTuple):
    """What the engine made of an utterance."""

    words: tuple[Word, ...]
    nearest: tuple[Nearest, ...]
    """Best first; a sentence that fits as written has no need of it."""
    found: Found | None
    reason: str
    """One line for people."""

    def lines(self) -> list[str]:
        """The whole of it as text."""
        made = [self.reason]
        if self.words:
            made.append("words: " + ", ".join(_told(word) for word in self.words))
        for near in self.nearest:
            own = f"; has {', '.join(near.own)}" if near.own else ""
            made.append(f"{near.label} {near.score:.2f}{own}{f'; {near.verdict}' if near.verdict else ''}")
        return made


def explain(
    pool: TemplatePool, utterance: str, lang: str, session: Session, now: Now, floor: float = NORMAL
) -> Explanation:
    """What `lookup` answers to the same question, and what it weighed. Not cheap: for people who ask why."""
    answer = lookup(pool, utterance, lang, session, now, floor)
    asked = TemplateQuery.of(pool, utterance, lang, session, now)
    nearest = []
    for candidate in islice(candidates(asked), _NEAREST):
        backed = back(candidate, asked.said)
        verdict = weigh(backed, asked, floor) if backed.score >= floor else f"{floor:.2f} needed"
        likeness = backed.home.likeness
        own = tuple(word for word in asked.said if likeness.has(backed.profile, word))
        nearest.append(Nearest(backed.intent.label, backed.score, own, verdict if isinstance(verdict, str) else ""))
    words = tuple(_word(asked, word) for word in asked.said)
    if isinstance(answer, str):
        return Explanation(words, tuple(nearest), None, answer)
    how = "as written" if answer.score == 1.0 else f"resembled with {answer.score:.2f}"
    return Explanation(words, tuple(nearest), answer, f"{answer.intent.label}, {how}")


def _word(asked: TemplateQuery, text: str) -> Word:
    indexes = [index.likeness for index in asked.indexes()]
    count = sum(likeness.count(text) for likeness in indexes)
    if count:
        return Word(text, Knowledge.WORD, count)
    if any(likeness.is_value(text) for likeness in indexes):
        return Word(text, Knowledge.VALUE, 0)
    if len(text) > STEM:
        count = sum(likeness.count("^" + text[:STEM]) for likeness in indexes)
        if count:
            return Word(text, Knowledge.STEM, count)
    return Word(text, Knowledge.NONE, 0)


def _told(word: Word) -> str:
    if word.knowledge is Knowledge.NONE:
        return f"{word.text} (nobody's)"
    if word.knowledge is Knowledge.VALUE:
        return f"{word.text} (a value)"
    alike = " begins alike" if word.knowledge is Knowledge.STEM else ""
    return f"{word.text} ({word.intents} intent{'s' if word.intents > 1 else ''}{alike})"


_ANYTHING: Final = "\0"
"""Stands for what fills a slot: no sentence has it as a word."""


class Overlap(NamedTuple):
    """A sentence of one skill that fits a sentence of another."""

    sentence: str
    lang: str
    winner: str
    """The intent that gets it."""
    loser: str
    """The intent of another skill that would have it too."""


def overlaps(pool: TemplatePool, session_id: str = DEFAULT_SESSION_ID) -> list[Overlap]:
    """Every sentence that fits intents of two skills, one entry for each pair of intents, in the order of registration.

    A sentence with slots counts when the other fits it whatever fills them. Of an intent with very many sentences some
    are looked at. Context gates are not considered: two skills may take turns.
    """
    found: dict[frozenset[str], Overlap] = {}
    scopes = [pool.scope(scope_id) for scope_id in dict.fromkeys((DEFAULT_SESSION_ID, session_id))]
    for intent in pool.intents(session_id):
        for sentence in intent.samples:
            words = [_ANYTHING if is_slot(term) else term for term in sentence]
            claims = [
                claim
                for scope in scopes
                if (index := scope.roots.get(intent.tag)) is not None
                for claim in index.exact.claims(words)
            ]
            claims.sort(key=lambda claim: claim.rank)
            winner = claims[0].intent
            for claim in claims:
                labels = frozenset((winner.label, claim.intent.label))
                if claim.intent.skill_id != winner.skill_id and labels not in found:
                    found[labels] = Overlap(" ".join(sentence), intent.lang, winner.label, claim.intent.label)
    return list(found.values())
