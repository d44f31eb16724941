"""Finding the intent that an utterance is similar to, when it fits no sentence as written."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from math import exp
from operator import itemgetter
from typing import Final, NamedTuple

from hark.intents.numerals import can_be_number
from hark.intents.patterns import Span
from hark.intents.registration import TemplateIntent
from hark.intents.template.claims import cut_elisions, is_value
from hark.intents.template.features import (
    NO_FILLERS,
    START,
    STEM,
    asking,
    content_stems,
    is_light,
    others,
    stating,
    tells_of_speaker,
    turning,
)
from hark.intents.template.pool import TemplateIndex
from hark.intents.template.profile import Profile
from hark.intents.template.query import Found, TemplateQuery
from hark.intents.template.scoring import Barred
from hark.intents.template.tagger import Known, Tagger
from hark.intents.text import words

_MIDDLE: Final = 0.13
"""The clearness that scores 0.5. It was chosen on training samples so that one in twenty strangers is claimed. See
docs/matching.md."""
_SHARPNESS: Final = 5.0
"""How quickly another candidate's share falls with its distance: an utterance that is similar to two intents may mean
either."""
_FEW: Final = 2
"""The number of words that the utterance and the intent have to share."""
_ENOUGH: Final = 4
"""The number of shared words that is enough where one of them is telling."""
_SURE: Final = 0.5
"""The least score of a candidate once a more similar one was ruled out, however low the floor is."""
_MOST_OUT: Final = 0.9
"""Candidates with such a share of the likelihood may be ruled out; what is left after that is no candidate."""
_INCOMPLETE: Final = 0.85
"""A factor when a word was not said that all of the intent's sentences have."""
_NARROW: Final = 0.76
"""A factor for an intent that is said in few ways."""
_STATES: Final = 0.5
"""A factor for an intent that is said in many ways and states nothing when the utterance states something."""
_LEFT: Final = 1
"""The number of telling words that templates with choices may leave over."""
_TOO_LONG: Final = 64
"""Utterances with more words are only compared as written."""
_NAMED: Final = 4
"""The number of unknown words that a reason names."""


class Candidate(NamedTuple):
    """An intent that was considered."""

    score: float
    similarity: float
    clear: float
    """The similarity, times its share among the similarities of all candidates."""
    profile: Profile
    home: TemplateIndex
    """The index it is in."""

    @property
    def intent(self) -> TemplateIntent:
        """The intent."""
        return self.profile.intent

    def lowered(self, factor: float) -> Candidate:
        """The candidate with its similarity lowered by a factor."""
        clear = factor * self.clear
        return Candidate(clear / (clear + _MIDDLE), *self[1:])


def candidates(query: TemplateQuery, floor: float = 0.0, *, with_denied: bool = False) -> Iterator[Candidate]:
    """The intents the utterance is similar to, best first. Scores go from 0 to 1, which would be a sentence as written.

    There are none when no intent can score `floor`.
    """
    said, least = query.said, _MIDDLE * floor / (1.0 - floor)
    indexes = query.indexes()
    # What is denied, or kept out by the context, is no rival either.
    barred: Barred = None
    if not with_denied:
        if query.has_denials:
            barred = query.bars
        elif any(index.similarity.gated for index in indexes):
            barred = query.is_shut
    found = [
        (similarity, profile, index)
        for index in indexes
        for similarity, profile in index.similarity.rank(said, least, barred)
    ]
    if len(query.tags) > 1:
        found = [one for one in found if not query.has_own_language(one[1].intent)]
    if len(indexes) > 1:
        found.sort(key=itemgetter(0), reverse=True)
    if not found:
        return
    most = found[0][0]
    odds = [exp(_SHARPNESS * (similarity - most)) for similarity, _, _ in found]
    total = sum(odds)
    for (similarity, profile, index), share in zip(found, odds, strict=True):
        clear = similarity * share / total
        yield Candidate(clear / (clear + _MIDDLE), similarity, clear, profile, index)


def find_similar(query: TemplateQuery, floor: float) -> Found | str:
    """The best intent that scores at least `floor` and is not refused in this session, or the reason there is none."""
    if len(query.said) > _TOO_LONG:
        return f"no template has these words, and {len(query.said)} words are too many to compare"
    reason, out = "", 0.0
    nearest: Candidate | None = None
    for candidate in candidates(query, floor):
        share = candidate.clear / candidate.similarity
        if out:
            candidate = candidate.lowered(1.0 / (1.0 - out))  # it is a rival of those that are left
        if candidate.score >= floor:
            candidate = rescored(candidate, query.said)
        nearest = nearest or candidate
        if not candidate.score and out + share < _MOST_OUT:
            # What it does not explain rules it out; another may.
            out += share
            continue
        if candidate.score < (max(floor, _SURE) if out else floor):
            break  # the next candidates are less similar still
        found = resolve(candidate, query, floor)
        if type(found) is Found:
            return found
        reason = reason or str(found)
    if nearest is not None and not reason:
        found = resolve(nearest, query, floor) if nearest.score >= floor else ""
        return found if type(found) is Found else _too_different(query, nearest, floor)
    return reason or "too few of these words are in the sentences of any intent"


class _Account:
    """What an intent explains of what was said."""

    __slots__ = ("denied", "explained", "is_foreign", "meant", "own", "telling")

    def __init__(self, candidate: Candidate, said: list[str], taken: Container[int] | None) -> None:
        self.own = 0
        """How many words its sentences have."""
        self.telling = 0
        """How many words tell what was meant."""
        self.explained = 0
        """How many of those are its own, or part of known values."""
        self.denied = False
        """Whether a word that is not its own turns the meaning round."""
        self.is_foreign = False
        """Whether a telling word is of no sentence of any intent, or for another person than these sentences are."""
        self.meant: list[str] = []
        """Words of its sentences that were nearly said."""
        lang = candidate.profile.intent.lang
        turning, persons = candidate.profile.turning, others(lang)
        for place, word in enumerate(said):
            if candidate.home.similarity.has(candidate.profile, word):
                self.own += 1
                if not is_light(word, lang):
                    self._count(True)
            elif taken is not None and place in taken:
                if candidate.home.similarity.is_value(word):
                    self._count(True)
            elif word in turning:
                self.denied = True
                return
            elif word in persons:
                self._count(False)
                self.is_foreign = True
            elif not is_light(word, lang):
                self._strange(candidate, word, taken is None)

    def _strange(self, candidate: Candidate, word: str, is_open: bool) -> None:
        """Count a telling word that its sentences do not have; `is_open` while slots may still take it."""
        similarity, profile = candidate.home.similarity, candidate.profile
        stem = word[:STEM]
        # "turning" has the beginning of "turns", and "turn" is one.
        if len(word) > STEM and (similarity.has(profile, "^" + stem) or similarity.has(profile, stem)):
            self.own += 1
            self._count(True)
        elif slip := similarity.correction_of(profile, word):
            self.own += 1
            self._count(True)
            self.meant.append(slip)
        elif is_open and profile.slots and similarity.is_value(word):
            self._count(True)
        elif similarity.count(word):
            self._count(False)
        elif not (is_open and profile.slots):
            self._count(False)
            self.is_foreign = True

    def _count(self, is_explained: bool) -> None:
        self.telling += 1
        self.explained += is_explained


def leaves_over(candidate: Candidate, said: list[str], slots: Mapping[str, str]) -> bool:
    """Whether a telling word is neither the intent's own nor in one of these slots."""
    filled = {word for value in slots.values() for word in words(value, candidate.profile.intent.lang)}
    account = _Account(candidate, said, {place for place, word in enumerate(said) if word in filled})
    return account.explained < account.telling


def is_turned(candidate: Candidate, said: list[str]) -> bool:
    """Whether a word that denies, or how the utterance begins, tells that the intent is not meant.

    That is, a word that turns the meaning round is not its own, or the utterance begins as statements do and none of
    its sentences does.
    """
    profile = candidate.profile
    lang = profile.intent.lang
    return _Account(candidate, said, None).denied or (not profile.states and said[0] in stating(lang))


def rescored(candidate: Candidate, said: list[str], taken: Container[int] | None = None) -> Candidate:
    """The candidate, its score lowered by words of the utterance that its intent does not explain.

    One common word is never enough. The fewer of the telling words are the intent's own, the lower the score, and the
    more so the fewer different words its sentences have. What its slots have `taken` is explained; until that is known,
    unknown words and known values are expected of an intent with slots. A word that denies, and the word that a
    question begins with, have to be the intent's own: "is the light off" switches nothing off. What begins as a
    statement ("the weather turned") has to be explained whole, unless the intent has sentences that begin so.
    """
    profile = candidate.profile
    account = _Account(candidate, said, taken)
    own, telling, explained = account.own, account.telling, account.explained
    if account.denied or own < _FEW or (telling and not explained):
        return candidate.lowered(0.0)
    if not telling:
        explained, telling = own, len(said)
    if profile.has_choices and (account.is_foreign or telling - explained > _LEFT):
        return candidate.lowered(0.0)
    is_complete = not profile.core or profile.core <= content_stems([*said, *account.meant])
    if not (is_complete or profile.is_broad) and explained < telling:
        return candidate.lowered(0.0)  # another word was said in place of one that it always has
    left = explained / telling
    states = left < 1.0 and not profile.states and said[0] in stating(profile.intent.lang)
    if not profile.asks and said[0] in asking(profile.intent.lang) and not _begins(candidate, said[0]):
        return candidate.lowered(0.0)
    tells = _only_tells(candidate, said)
    if not profile.is_broad:
        if explained * 2 <= telling or states or tells:
            return candidate.lowered(0.0)
        left *= profile.covered([*said, *account.meant])
        if explained == 1 and own < _ENOUGH:
            left *= own / len(said)  # one telling word, and what stands around it
    left **= profile.caution
    if not profile.is_broad:
        left *= _NARROW
    elif states or tells:
        left *= _STATES
    if not is_complete:
        left *= _INCOMPLETE
    return candidate.lowered(left)


def _begins(candidate: Candidate, word: str) -> bool:
    return candidate.home.similarity.has(candidate.profile, f"{START} {word}")


def _only_tells(candidate: Candidate, said: list[str]) -> bool:
    """Whether the speaker tells something, as none of the intent's sentences does; an intent that is said in few ways
    has to have the same two words."""
    profile = candidate.profile
    if not tells_of_speaker(said, profile.intent.lang):
        return False
    if not profile.tells:
        return True
    return not profile.is_broad and not candidate.home.similarity.has(profile, f"{said[0]} {said[1]}")


def resolve(candidate: Candidate, query: TemplateQuery, floor: float) -> Found | str:
    """The candidate's intent with its slots filled, or why it does not count in this session."""
    intent = candidate.intent
    barred = query.refusal(intent)
    if barred:
        return barred
    slots: dict[str, str] = {}
    if intent.slots:
        known = query.known(intent)
        tagger = candidate.home.tagger(candidate.profile, known)
        spans = tagger.tag(query.said, known)
        for name in (*intent.required_slots, *candidate.profile.always):
            if name not in spans:
                spans = tagger.tag(query.said, known, wanted=name)
        spans = {
            name: span for name, span in spans.items() if _suits(name, span, query, known, candidate.profile, tagger)
        }
        slots = query.text(intent, spans)
        cut_elisions(slots, known, intent.lang)
        candidate = rescored(candidate, query.said, {place for span in spans.values() for place in range(*span)})
        if candidate.score < floor:
            return (
                f"{intent.label} is similar with {candidate.score:.2f}, {floor:.2f} needed; its slots leave words over"
            )
    missing = query.complete(intent, slots)
    if missing:
        return missing
    for name in candidate.profile.always:
        if name not in slots:
            return f"{intent.label} is similar but its slot {name!r} was not said"
    return Found(intent, slots, candidate.score)


def _suits(name: str, span: Span, query: TemplateQuery, known: Known, profile: Profile, tagger: Tagger) -> bool:
    """Whether a slot may take these words: a number where it takes numbers; a known value; or words in the place where
    the sentences have the slot, if values are not known or the intent is said in many ways."""
    words = query.said[span[0] : span[1]]
    if name in profile.numbers:
        return can_be_number(words, profile.intent.lang)
    lists = known.get(name, ())
    if is_value(" ".join(words), lists, profile.intent.lang):
        return True
    if not tagger.has_place(name, query.said, span):
        return False
    if not lists or name in profile.open:
        return True
    turned = turning(NO_FILLERS, profile.intent.lang, is_broad=False)
    if any(word in turned and not tagger.has_literal(word) for word in words):
        return False  # "off", or a word that denies, is no part of an unknown thing
    if profile.is_broad:
        return True
    # Strange words where there are more than twice as many telling ones.
    lang = profile.intent.lang
    telling = [word for word in query.said if not is_light(word, lang) and tagger.has_literal(word)]
    return len(telling) > 2 * sum([not is_light(word, lang) for word in words])


def _too_different(query: TemplateQuery, best: Candidate, floor: float) -> str:
    # Cheap on purpose: most matchers decline most of the time.
    words = best.home.similarity.unknown(query.said)
    unknown = f"; unknown: {', '.join(words[:_NAMED])}" if words else ""
    label = best.profile.intent.label
    return f"nothing is similar enough; nearest: {label} with {best.score:.2f}, {floor:.2f} needed{unknown}"
