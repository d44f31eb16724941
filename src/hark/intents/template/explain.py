"""Explaining to users why an utterance found its intent, or none; and intents that get each other's sentences."""

from __future__ import annotations

from collections.abc import Generator
from enum import Enum
from itertools import islice
from typing import Final, NamedTuple, TypeVar

from hark.intents.grammar import is_slot
from hark.intents.pool import Now
from hark.intents.template.claims import NORMAL
from hark.intents.template.features import STEM, is_light
from hark.intents.template.matching import lookup
from hark.intents.template.pool import TemplatePool
from hark.intents.template.query import Found, TemplateQuery
from hark.intents.template.similar import candidates, rescored, resolve
from hark.model import Session
from hark.spec import DEFAULT_SESSION_ID

_NEAREST: Final = 5

T = TypeVar("T")
Steps = Generator[None, None, T]
"""Work that can be left and gone on with after each intent: with thousands of them it takes seconds."""


class Knowledge(Enum):
    """What is known about a word of an utterance."""

    WORD = "word"
    """Some intent has it in its sentences."""
    STEM = "stem"
    """Some intent has a word with the same beginning."""
    VALUE = "value"
    """A known value of a slot has it."""
    NONE = "unknown"


class Word(NamedTuple):
    """A word of an utterance."""

    text: str
    knowledge: Knowledge
    intents: int
    """How many intents have it in their sentences: the fewer, the more it counts."""


class Nearest(NamedTuple):
    """An intent that the utterance is similar to."""

    label: str
    score: float
    own: tuple[str, ...]
    """The words of the utterance that its sentences have."""
    strange: tuple[str, ...]
    """Those that it leaves over: neither its own, nor fillers, nor values it knows."""
    verdict: str
    """Why it was not found; empty for the one that could be."""


class Explanation(NamedTuple):
    """How an utterance was matched."""

    words: tuple[Word, ...]
    nearest: tuple[Nearest, ...]
    """The most similar intents, best first."""
    found: Found | None
    reason: str
    """The result in one line."""

    def lines(self) -> list[str]:
        """The explanation as lines of text."""
        made = [self.reason]
        if self.words:
            made.append("words: " + ", ".join(_described(word) for word in self.words))
        for near in self.nearest:
            own = f"; has {', '.join(near.own)}" if near.own else ""
            strange = f"; leaves over {', '.join(near.strange)}" if near.strange else ""
            made.append(f"{near.label} {near.score:.2f}{own}{strange}{f'; {near.verdict}' if near.verdict else ''}")
        return made


def explain(
    pool: TemplatePool, utterance: str, lang: str, session: Session, now: Now, floor: float = NORMAL
) -> Explanation:
    """The answer of `lookup` to the same query, and what it was based on. Slower than `lookup`: for diagnosis."""
    answer = lookup(pool, utterance, lang, session, now, floor)
    query = TemplateQuery.of(pool, utterance, lang, session, now)
    nearest = []
    for candidate in islice(candidates(query, with_denied=True), _NEAREST):
        backed = rescored(candidate, query.said)
        verdict = resolve(backed, query, floor) if backed.score >= floor else f"{floor:.2f} needed"
        similarity = backed.home.similarity
        own = tuple(word for word in query.said if similarity.has(backed.profile, word))
        values = similarity.is_value
        strange = tuple(
            word for word in query.said if word not in own and not is_light(word, lang) and not values(word)
        )
        why = verdict if isinstance(verdict, str) else ""
        nearest.append(Nearest(backed.intent.label, backed.score, own, strange, why))
    words = tuple(_word(query, word) for word in query.said)
    if isinstance(answer, str):
        return Explanation(words, tuple(nearest), None, answer)
    how = "as written" if answer.score == 1.0 else f"similar with {answer.score:.2f}"
    return Explanation(words, tuple(nearest), answer, f"{answer.intent.label}, {how}")


def _word(query: TemplateQuery, text: str) -> Word:
    indexes = [index.similarity for index in query.indexes()]
    count = sum(similarity.count(text) for similarity in indexes)
    if count:
        return Word(text, Knowledge.WORD, count)
    if any(similarity.is_value(text) for similarity in indexes):
        return Word(text, Knowledge.VALUE, 0)
    if len(text) > STEM:
        count = sum(similarity.count("^" + text[:STEM]) for similarity in indexes)
        if count:
            return Word(text, Knowledge.STEM, count)
    return Word(text, Knowledge.NONE, 0)


def _described(word: Word) -> str:
    if word.knowledge is Knowledge.NONE:
        return f"{word.text} (unknown)"
    if word.knowledge is Knowledge.VALUE:
        return f"{word.text} (a value)"
    alike = " by its beginning" if word.knowledge is Knowledge.STEM else ""
    return f"{word.text} ({word.intents} intent{'s' if word.intents > 1 else ''}{alike})"


_ANYTHING: Final = "\0"
"""Stands for the value of a slot: no sentence has it as a word."""


_UNKNOWN: Final = "xylograph"
"""Stands for the value of a slot that has no known ones."""


class Overlap(NamedTuple):
    """A sentence of one skill that fits a sentence of another."""

    sentence: str
    lang: str
    winner: str
    """The intent that gets it."""
    loser: str
    """The intent of another skill that it fits as well."""


def overlaps(pool: TemplatePool, session_id: str = DEFAULT_SESSION_ID) -> list[Overlap]:
    """Every sentence that fits intents of two skills, one entry for each pair of intents, in the order of registration.

    A sentence with slots counts when the other fits it with any values. Of an intent with very many sentences only some
    are compared. Context gates are not considered: two skills may take turns.
    """
    return _done(overlap_steps(pool, session_id))


def overlap_steps(pool: TemplatePool, session_id: str = DEFAULT_SESSION_ID) -> Steps[list[Overlap]]:
    """`overlaps`, in steps; what is registered meanwhile may be left out."""
    found: dict[frozenset[str], Overlap] = {}
    scopes = [pool.scope(scope_id) for scope_id in dict.fromkeys((DEFAULT_SESSION_ID, session_id))]
    for intent in list(pool.intents(session_id)):
        yield
        for sentence in intent.samples:
            words = [_ANYTHING if is_slot(term) else term for term in sentence]
            matches = [
                match
                for scope in scopes
                if (index := scope.roots.get(intent.tag)) is not None
                for match in index.exact.matches(words)
            ]
            if not matches:  # it was deregistered meanwhile
                continue
            matches.sort(key=lambda match: match.rank)
            winner = matches[0].intent
            for match in matches:
                labels = frozenset((winner.label, match.intent.label))
                if match.intent.skill_id != winner.skill_id and labels not in found:
                    found[labels] = Overlap(" ".join(sentence), intent.lang, winner.label, match.intent.label)
    return list(found.values())


class Theft(NamedTuple):
    """Sentences of one intent that another intent gets."""

    thief: str
    owner: str
    lang: str
    sentence: str
    """The first of them."""
    stolen: int
    asked: int
    """How many of the owner's sentences were asked."""


def thefts(pool: TemplatePool, now: Now, session_id: str = DEFAULT_SESSION_ID, most: int = 12) -> list[Theft]:
    """Every pair of intents of which one gets sentences that are registered for the other, as the engine ships.

    At most `most` sentences of each intent are asked, spread over all of them. A slot is filled with one of its known
    values, or with an unknown word. Intents that wait for a context are not asked: their sentences may belong
    to another intent at other times.
    """
    return _done(theft_steps(pool, now, session_id, most))


def theft_steps(
    pool: TemplatePool, now: Now, session_id: str = DEFAULT_SESSION_ID, most: int = 12
) -> Steps[list[Theft]]:
    """`thefts`, in steps; what is registered meanwhile may be left out."""
    session = Session(session_id)
    found: dict[tuple[str, str, str], list[str]] = {}
    asked: dict[tuple[str, str], int] = {}
    for intent in list(pool.intents(session_id)):
        yield
        query = TemplateQuery.of(pool, "", intent.lang, session, now)
        if query.bars(intent):
            continue
        values = {name: min(lists[0], default="") for name, lists in query.known(intent).items() if lists}
        samples = intent.samples[:: max(1, len(intent.samples) // most)][:most]
        asked[intent.label, intent.lang] = len(samples)
        for sample in samples:
            text = " ".join(values.get(term[1:-1]) or _UNKNOWN if is_slot(term) else term for term in sample)
            answer = lookup(pool, text, intent.lang, session, now)
            if isinstance(answer, Found) and answer.intent.label != intent.label:
                found.setdefault((answer.intent.label, intent.label, intent.lang), []).append(text)
    return [
        Theft(thief, owner, lang, texts[0], len(texts), asked[owner, lang])
        for (thief, owner, lang), texts in found.items()
    ]


def _done(steps: Steps[T]) -> T:
    while True:
        try:
            next(steps)
        except StopIteration as over:
            result: T = over.value
            return result
