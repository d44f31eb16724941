"""Why an utterance found the intent it found, or none, for people."""

from __future__ import annotations

from enum import Enum
from itertools import islice
from typing import Final, NamedTuple

from hark.intents.gates import Now
from hark.intents.template.asking import Asked, Found
from hark.intents.template.features import STEM
from hark.intents.template.matching import NORMAL, lookup
from hark.intents.template.pool import TemplatePool
from hark.intents.template.resembling import back, candidates, weigh
from hark.model import Session

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
    asked = Asked.of(pool, utterance, lang, session, now)
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


def _word(asked: Asked, text: str) -> Word:
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
