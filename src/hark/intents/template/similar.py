"""Finding the intent that an utterance is similar to, when it fits no sentence as written."""

from __future__ import annotations

from collections.abc import Container, Iterator
from operator import itemgetter
from typing import Final, NamedTuple

from hark.intents.registration import TemplateIntent
from hark.intents.template.features import STEM, content_stems
from hark.intents.template.pool import TemplateIndex
from hark.intents.template.profile import Profile
from hark.intents.template.query import Found, TemplateQuery
from hark.intents.template.scoring import CANDIDATES

_MIDDLE: Final = 0.38
"""The similarity that scores 0.5. It was chosen on training samples so that less than one in twenty sentences from
other sources is matched, and less than one in ten sentences of intents that were left out. See docs/matching.md."""
_RIVAL: Final = 0.35
_CLOSE: Final = 8
"""How much a second candidate takes from the score of the first, and how quickly that falls with their distance: an
utterance that is similar to two intents may mean either."""
_FEW: Final = 2
"""The number of words that the utterance and the intent have to share."""
_UNBACKED: Final = 0.3
"""The factor when the intent has none of the content words of the utterance; it rises to 1 with their share."""
_HALF: Final = 0.7
"""A further factor when it has half of them or fewer."""
_INCOMPLETE: Final = 0.55
"""A further factor when a word was not said that all of the intent's sentences have."""
_LEFT_OVER: Final = 0.15
_UNTAKEN: Final = 0.7
"""How much an unknown word that no slot took counts against an intent with slots: when the slots took others, and when
they took none. A sentence about the puppet maker and the television is no request to shuffle it."""
_TOO_LONG: Final = 64
"""Utterances with more words are only compared as written."""
_NAMED: Final = 4
"""The number of unknown words that a reason names."""


class Candidate(NamedTuple):
    """An intent that was considered."""

    score: float
    similarity: float
    clear: float
    """The similarity, lowered by that of the next candidate."""
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
    takes_part = with_denied or not (query.has_denials or any([index.similarity.gated for index in indexes]))
    barred = None if takes_part else query.bars
    found = [
        (similarity, profile, index)
        for index in indexes
        for similarity, profile in index.similarity.rank(said, least, barred)
    ]
    if len(query.tags) > 1:
        found = [one for one in found if not query.has_own_language(one[1].intent)]
    if len(indexes) > 1:
        found.sort(key=itemgetter(0), reverse=True)
    size = len(found)
    # The last of a full list may have rivals that were not compared.
    for place in range(size if size < CANDIDATES else size - 1):
        similarity, profile, index = found[place]
        rival = found[place + 1][0] / similarity if place + 1 < size else 0.0
        clear = similarity * (1.0 - _RIVAL * rival**_CLOSE)
        yield Candidate(clear / (clear + _MIDDLE), similarity, clear, profile, index)


def find_similar(query: TemplateQuery, floor: float) -> Found | str:
    """The best intent that scores at least `floor` and is not refused in this session, or the reason there is none."""
    if len(query.said) > _TOO_LONG:
        return f"no template has these words, and {len(query.said)} words are too many to compare"
    reason = ""
    for candidate in candidates(query, floor):
        if candidate.score >= floor:
            candidate = rescored(candidate, query.said)
        if candidate.score < floor:
            # The next candidates are less similar still.
            return reason or _too_different(query, candidate, floor)
        found = resolve(candidate, query, floor)
        if type(found) is Found:
            return found
        reason = reason or str(found)
    return reason or "too few of these words are in the sentences of any intent"


def rescored(candidate: Candidate, said: list[str], taken: Container[int] | None = None) -> Candidate:
    """The candidate, its score lowered by words of the utterance that its intent has not, and the other way round.

    One common word is never enough. The fewer of the content words the intent has, the lower the score, and half is too
    few: "turn on the radio" is similar to "turn on the light". A word that all of the intent's sentences have has to be
    said. Unknown words, and known values, are expected of an intent with slots, but less so those that the slots have
    not `taken`, once that is known.
    """
    similarity, profile = candidate.home.similarity, candidate.profile
    has = similarity.has
    own = backed = unknown = untaken = 0
    about = 0.0
    meant: list[str] = []
    for place, word in enumerate(said):
        tells = len(word) > 3 or not word.isascii()
        about += tells
        if has(profile, word) or (len(word) > STEM and has(profile, "^" + word[:STEM])):
            own += 1
            backed += tells
        elif tells and (slip := similarity.correction_of(profile, word)):
            own += 1
            backed += 1
            meant.append(slip)
        elif tells and profile.slots and (similarity.is_value(word) or not similarity.count(word)):
            about -= 1
            unknown += 1
            untaken += taken is not None and place not in taken
    if own < _FEW:
        return candidate.lowered(0.0)
    about += untaken * (_LEFT_OVER if untaken < unknown else _UNTAKEN)
    left = _UNBACKED + (1.0 - _UNBACKED) * backed / about if about > backed else 1.0
    if about and backed * 2 <= about:
        left *= _HALF
    if profile.core and not profile.core <= content_stems([*said, *meant]):
        left *= _INCOMPLETE
    return candidate.lowered(left)


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
        slots = query.text(intent, spans)
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


def _too_different(query: TemplateQuery, best: Candidate, floor: float) -> str:
    # Cheap on purpose: most matchers decline most of the time.
    words = best.home.similarity.unknown(query.said)
    unknown = f"; unknown: {', '.join(words[:_NAMED])}" if words else ""
    label = best.profile.intent.label
    return f"nothing is similar enough; nearest: {label} with {best.score:.2f}, {floor:.2f} needed{unknown}"
