"""A second opinion by a sentence model on what the words alone leave unsure."""

from __future__ import annotations

from collections.abc import Iterable
from math import exp, sqrt
from typing import Final

from hark.intents.grammar import is_slot
from hark.intents.registration import TemplateIntent
from hark.intents.sentence_model import SentenceVectors
from hark.intents.template.profile import Profile
from hark.intents.template.query import Found, TemplateQuery
from hark.intents.template.similar import Candidate, candidates, is_turned, leaves_over, rescored, resolve

_WORDS: Final = 0.4
"""How much the score by words counts beside the closeness of the vectors."""
_SHARPNESS: Final = 10.0
_MIDDLE: Final = 0.6
"""The clearness that scores 0.5; like the other two numbers chosen on training samples. See docs/matching.md."""
_UNSURE: Final = 0.05
"""The least score by words with which the model is asked: what has next to nothing in common is not unsure."""
_SAMPLES: Final = 12
"""The number of an intent's sentences whose vectors are computed, spread over all of them."""


def find_by_meaning(query: TemplateQuery, vectors: SentenceVectors, floor: float) -> Found | str:
    """The intent that an utterance means by its vector and its words, or the reason there is none.

    What the rules about words exclude stays excluded: a word that denies or turns the meaning round, a statement, and
    for an intent whose sentences have few different words everything that it does not explain.
    """
    near = list(candidates(query))
    if not near or near[0].score < _UNSURE:
        return "too few of these words are in the sentences of any intent"
    by_words = {one.profile: rescored(one, query.said) for one in near}
    profiles = [
        (profile, index)
        for index in query.indexes()
        for profile in index.similarity.profiles()
        if (profile.is_broad or profile in by_words)
        and not query.has_own_language(profile.intent)
        and not query.bars(profile.intent)
    ]
    if not profiles:
        return "no intent is said in many ways, or has these words"
    (said,) = vectors.model.vectors([query.utterance])
    closeness = [
        float(vectors.middle(_texts(profile.intent)) @ said)
        + _WORDS * (by_words[profile].score if profile in by_words else 0.0)
        for profile, _ in profiles
    ]
    best = max(range(len(profiles)), key=closeness.__getitem__)
    profile, home = profiles[best]
    share = 1.0 / sum(exp(_SHARPNESS * (other - closeness[best])) for other in closeness)
    clear = max(0.0, closeness[best]) * sqrt(share)
    candidate = Candidate(clear / (clear + _MIDDLE), clear, clear, profile, home)
    label = profile.intent.label
    if _is_ruled_out(candidate, by_words.get(profile), query):
        return f"the sentence model suggests {label}, which the words rule out"
    if candidate.score < floor:
        return f"the sentence model suggests {label} with {candidate.score:.2f}, {floor:.2f} needed"
    found = resolve(candidate, query, 0.0)
    if isinstance(found, str):
        return found
    if not profile.is_broad and leaves_over(candidate, query.said, found.slots):
        return f"the sentence model suggests {label}, which leaves words over"
    return found._replace(score=min(candidate.score, 0.99))


def _is_ruled_out(candidate: Candidate, by_words: Candidate | None, query: TemplateQuery) -> bool:
    profile: Profile = candidate.profile
    if is_turned(candidate, query.said):
        return True
    return not profile.is_broad and (by_words is None or not by_words.score)


def _texts(intent: TemplateIntent) -> tuple[str, ...]:
    """Some of an intent's sentences as people would say them, with the names of slots in place of values."""
    samples = intent.samples
    step = max(1, len(samples) // _SAMPLES)
    return tuple(dict.fromkeys(_plain(sample) for sample in samples[::step][:_SAMPLES]))


def _plain(sample: Iterable[str]) -> str:
    return " ".join(term[1:-1].replace("_", " ") if is_slot(term) else term for term in sample)
