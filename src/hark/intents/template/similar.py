"""Finding the intent that an utterance is similar to, when it fits no sentence as written."""

from __future__ import annotations

from collections.abc import Container, Iterator
from operator import itemgetter
from typing import Final, NamedTuple

from hark.intents.registration import TemplateIntent
from hark.intents.template.features import STEM, telling
from hark.intents.template.pool import TemplateIndex
from hark.intents.template.profile import Profile
from hark.intents.template.query import Found, TemplateQuery
from hark.intents.template.scoring import CANDIDATES

_MIDDLE: Final = 0.38
"""The likeness that scores 0.5: chosen on training samples, so that of sentences from elsewhere less than one in twenty
is claimed, and of sentences of intents that were held back less than one in ten. See docs/matching.md."""
_RIVAL: Final = 0.35
_CLOSE: Final = 8
"""How much a second candidate takes from the first, and how close it has to come: what is like two means neither
for sure."""
_FEW: Final = 2
"""Words of the utterance that have to be the intent's."""
_UNBACKED: Final = 0.3
"""What is left of the likeness when none of the telling words is the intent's; the more are, the more is left."""
_HALF: Final = 0.7
"""What is left of that when half of them or fewer are."""
_INCOMPLETE: Final = 0.55
"""What is left of it when a word was not said that all of the intent's sentences have."""
_LEFT_OVER: Final = 0.15
_UNTAKEN: Final = 0.7
"""How much a word that nobody knows speaks against an intent with slots when they did not take it, and when they took
none such: who tells of the puppet maker and the television does not want it shuffled."""
_TOO_LONG: Final = 64
"""Words of an utterance that fits nothing as written and is not looked at further."""
_NAMED: Final = 4
"""Unknown words that are named in a reason."""


class Candidate(NamedTuple):
    """An intent that was considered."""

    score: float
    likeness: float
    clear: float
    """What is left of the likeness beside the next one's."""
    profile: Profile
    home: TemplateIndex
    """The index it is in."""

    @property
    def intent(self) -> TemplateIntent:
        """The intent."""
        return self.profile.intent

    def left(self, share: float) -> Candidate:
        """The candidate, when so much is left of its likeness."""
        clear = share * self.clear
        return Candidate(clear / (clear + _MIDDLE), *self[1:])


def candidates(asked: TemplateQuery, floor: float = 0.0) -> Iterator[Candidate]:
    """The intents the utterance resembles, best first, with their scores: 0 is nothing, 1 would be as written.

    None at all when nobody can score `floor`.
    """
    said, least = asked.said, _MIDDLE * floor / (1.0 - floor)
    indexes = asked.indexes()
    found = [(likeness, profile, index) for index in indexes for likeness, profile in index.likeness.rank(said, least)]
    if len(asked.tags) > 1:
        found = [one for one in found if not asked.is_elsewhere(one[1].intent)]
    if len(indexes) > 1:
        found.sort(key=itemgetter(0), reverse=True)
    size = len(found)
    # Whoever comes last of a full list may have rivals that were not looked at.
    for place in range(size if size < CANDIDATES else size - 1):
        likeness, profile, index = found[place]
        rival = found[place + 1][0] / likeness if place + 1 < size else 0.0
        clear = likeness * (1.0 - _RIVAL * rival**_CLOSE)
        yield Candidate(clear / (clear + _MIDDLE), likeness, clear, profile, index)


def find_similar(asked: TemplateQuery, floor: float) -> Found | str:
    """The best intent that scores `floor` at least and that the session may have, or the reason there is none."""
    if len(asked.said) > _TOO_LONG:
        return f"no template has these words, and {len(asked.said)} words are too many to compare"
    reason = ""
    for candidate in candidates(asked, floor):
        if candidate.score >= floor:
            candidate = back(candidate, asked.said)
        if candidate.score < floor:
            # Whoever comes after is less like it still.
            return reason or _unlike(asked, candidate, floor)
        found = weigh(candidate, asked, floor)
        if type(found) is Found:
            return found
        reason = reason or str(found)
    return reason or "too few of these words are in anybody's sentences"


def back(candidate: Candidate, said: list[str], taken: Container[int] | None = None) -> Candidate:
    """The candidate with a score that heeds how many of the words are its own, and whether its own were said.

    One word is never enough. The fewer of the telling words are its own, the weaker, and half is too few: "turn on the
    radio" is much like "turn on the light". So is a sentence without a word all of the intent's sentences have. What
    nobody knows, or knows as a value, is expected of an intent that has slots; less so what these have not `taken`,
    once it is known what they take.
    """
    likeness, profile = candidate.home.likeness, candidate.profile
    has = likeness.has
    own = backed = strange = untaken = 0
    about = 0.0
    meant: list[str] = []
    for place, word in enumerate(said):
        tells = len(word) > 3 or not word.isascii()
        about += tells
        if has(profile, word) or (len(word) > STEM and has(profile, "^" + word[:STEM])):
            own += 1
            backed += tells
        elif tells and (slip := likeness.slip_of(profile, word)):
            own += 1
            backed += 1
            meant.append(slip)
        elif tells and profile.slots and (likeness.is_value(word) or not likeness.count(word)):
            about -= 1
            strange += 1
            untaken += taken is not None and place not in taken
    if own < _FEW:
        return candidate.left(0.0)
    about += untaken * (_LEFT_OVER if untaken < strange else _UNTAKEN)
    left = _UNBACKED + (1.0 - _UNBACKED) * backed / about if about > backed else 1.0
    if about and backed * 2 <= about:
        left *= _HALF
    if profile.core and not profile.core <= telling([*said, *meant]):
        left *= _INCOMPLETE
    return candidate.left(left)


def weigh(candidate: Candidate, asked: TemplateQuery, floor: float) -> Found | str:
    """What the candidate comes to in this session, or why it does not count."""
    intent = candidate.intent
    barred = asked.refusal(intent)
    if barred:
        return barred
    slots: dict[str, str] = {}
    if intent.slots:
        known = asked.known(intent)
        tagger = candidate.home.tagger(candidate.profile, known)
        spans = tagger.tag(asked.said, known)
        for name in (*intent.required_slots, *candidate.profile.always):
            if name not in spans:
                spans = tagger.tag(asked.said, known, wanted=name)
        slots = asked.text(intent, spans)
        candidate = back(candidate, asked.said, {place for span in spans.values() for place in range(*span)})
        if candidate.score < floor:
            return (
                f"{intent.label} is like it with {candidate.score:.2f}, {floor:.2f} needed; its slots leave words over"
            )
    missing = asked.complete(intent, slots)
    if missing:
        return missing
    for name in candidate.profile.always:
        if name not in slots:
            return f"{intent.label} is like it but its slot {name!r} was not said"
    return Found(intent, slots, candidate.score)


def _unlike(asked: TemplateQuery, best: Candidate, floor: float) -> str:
    """Cheap on purpose: most matchers decline most of the time."""
    strange = best.home.likeness.unknown(asked.said)
    unknown = f"; nobody has: {', '.join(strange[:_NAMED])}" if strange else ""
    label = best.profile.intent.label
    return f"nothing is like this; nearest: {label} with {best.score:.2f}, {floor:.2f} needed{unknown}"
