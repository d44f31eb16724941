"""Finding the template intent that an utterance means, or the reason why there is none."""

from __future__ import annotations

from operator import itemgetter
from typing import Final

from hark.intents.pool import Now
from hark.intents.sentence_model import SentenceVectors
from hark.intents.template.claims import NORMAL, STRICT, Claim, best_first, complete
from hark.intents.template.exact import ExactMatch, by_rank
from hark.intents.template.pool import TemplatePool
from hark.intents.template.query import Found, TemplateQuery
from hark.intents.template.second_opinion import find_by_meaning
from hark.intents.template.similar import candidates, find_similar, rescored, resolve
from hark.model import Session

LOOSE: Final = 0.42
ALONE: Final = 0.75
"""The score by words that is not doubted where a sentence model can be asked."""

_SWALLOWED: Final = 3
_FOREIGN: Final = 2
_MORE_SIMILAR: Final = 2.0


def lookup(
    pool: TemplatePool,
    utterance: str,
    lang: str,
    session: Session,
    now: Now,
    floor: float = NORMAL,
    *,
    alone: float = 0.0,
    vectors: SentenceVectors | None = None,
) -> Found | str:
    """The best intent of the session's effective pool, or the reason there is none.

    A sentence as written comes first: the one that explains most of what was said by its words and the known values of
    its slots. Otherwise the intent whose sentences are most similar to the utterance. Either has to score at least
    `floor`; with `STRICT`, every sentence as written counts that explains everything, and nothing else. Each intent is
    looked up in the requested language, or in another of the same primary language if it is not registered in that one.

    What is similar has to score `alone`, if that is more; more than 1 says that only sentences as written count. With
    `vectors`, a sentence model is asked about the rest.
    """
    query = TemplateQuery.of(pool, utterance, lang, session, now)
    if not query.tags:
        return f"no templates in {lang}"
    why = _Reasons()
    found = _as_written(query, floor, why, strictly=True) or _without_skip_words(query, floor, why)
    if found is None and why.unexplained and floor < STRICT:
        found = _as_written(query, floor, why, strictly=False)
    if found is not None:
        return found
    if why.refused:
        return why.refused  # an utterance that fits as written is not guessed at when its intent is refused
    similar = find_similar(query, max(floor, alone)) if floor < STRICT and alone <= 1 else _unknown(query)
    if type(similar) is not Found and vectors is not None and floor < STRICT:
        similar = find_by_meaning(query, vectors, floor)
    if type(similar) is Found:
        return similar
    return why.denied or why.shut or _denied_instead(query, floor) or why.unexplained or similar


class _Reasons:
    """Why sentences that fit as written do not count: the first reason of each sort."""

    __slots__ = ("denied", "refused", "shut", "unexplained")

    def __init__(self) -> None:
        self.refused = ""
        """What is refused is not guessed at."""
        self.denied = ""
        """What the session denies does not take part."""
        self.shut = ""
        """Nor does what the context keeps out."""
        self.unexplained = ""
        """The slots took words that are none of their values."""


def _as_written(
    query: TemplateQuery, floor: float, why: _Reasons, *, strictly: bool, skill_id: str = ""
) -> Found | None:
    """The best intent with a sentence that fits as written; of one skill, if it is given.

    With `strictly`, slots that have values take no others.
    """
    exact = query.lang.lower()
    for tag in query.tags:
        matches = _matches(query, tag)
        if skill_id:
            matches = [match for match in matches if match.intent.skill_id == skill_id]
        if not matches:
            continue
        if query.has_denials:
            matches = _allowed(matches, query, why)
        for claim in best_first(matches, query):
            intent = claim.intent
            if tag != exact and query.has_own_language(intent):
                continue
            shut = query.shut(intent)
            if shut is not None:
                why.shut = why.shut or shut
                # What was said word for word means that and nothing else, now or not.
                why.refused = why.refused or (shut if claim.match.parts is None else "")
                continue
            odd = claim.unexplained(strictly)
            if odd:
                why.unexplained = why.unexplained or odd
                continue
            found = complete(claim, query)
            if type(found) is Found:
                if floor < STRICT and claim.match.parts is not None and _swallows(claim, query):
                    found = _more_similar(claim.match, query, floor) or found
                if found.score >= floor or floor == STRICT:
                    return found
                found = f"{intent.label} fits with {found.score:.2f}, {floor:.2f} needed: its slots take too much"
            why.refused = why.refused or str(found)
    return None


def _without_skip_words(query: TemplateQuery, floor: float, why: _Reasons) -> Found | None:
    """The best intent of a skill with words to skip, once they are left out."""
    if why.refused:
        return None
    for index in query.indexes():
        for skill_id, phrases in index.skips.items():
            shorter = query.without(phrases)
            found = _as_written(shorter, floor, why, strictly=True, skill_id=skill_id) if shorter is not None else None
            if found is not None:
                return found
    return None


def _allowed(matches: list[ExactMatch], query: TemplateQuery, why: _Reasons) -> list[ExactMatch]:
    """The matches whose intents are not denied."""
    allowed = []
    for match in matches:
        if query.denies(match.intent):
            why.denied = why.denied or query.refusal(match.intent) or ""
        else:
            allowed.append(match)
    return allowed


def _denied_instead(query: TemplateQuery, floor: float) -> str:
    """That an intent would be similar enough, were it not denied; only to tell why nothing was found."""
    if not query.has_denials:
        return ""
    allowing = query._replace(session=query.session.without("blacklisted_skills", "blacklisted_intents"))
    found = find_similar(allowing, floor) if floor < STRICT else ""
    return f"{found.intent.label} fits but the session denies it" if type(found) is Found else ""


def _matches(query: TemplateQuery, tag: str) -> list[ExactMatch]:
    shared, own = query.shared.roots.get(tag), query.own.roots.get(tag)
    if own is None:
        return shared.exact.matches(query.said) if shared is not None else []
    matches = own.exact.matches(query.said)
    return sorted([*matches, *shared.exact.matches(query.said)], key=by_rank) if shared is not None else matches


def _unknown(query: TemplateQuery) -> str:
    near = [found for index in query.indexes() if (found := index.similarity.nearest(query.said)) is not None]
    if not near:
        return "no template has any of these words"
    intent = max(near, key=itemgetter(0))[1]
    words = set(query.said)
    sentence = max(intent.samples, key=lambda sample: len(words.intersection(sample)))
    return f"no template has these words; nearest: {intent.label} '{' '.join(sentence)}'"


def _swallows(claim: Claim, query: TemplateQuery) -> bool:
    """Whether the slots of a sentence that fits take words of other intents' sentences.

    "find {title}" fits "find out when the next bus leaves" too. Cheap on purpose: it is called for most matches.
    """
    if len(query.said) - claim.match.literals < _SWALLOWED:
        return False
    for index in query.indexes():
        profile = index.similarity.profile(claim.intent)
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
