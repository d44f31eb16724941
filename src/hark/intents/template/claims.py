"""What the sentences that fit as written explain of what was said, and which of them explains most."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from operator import attrgetter
from typing import Final

from hark.intents.numerals import can_be_number, without_unit
from hark.intents.patterns import SentenceParts, Span
from hark.intents.patterns.pattern import SlotKinds, divisions
from hark.intents.registration import TemplateIntent
from hark.intents.template.exact import ExactMatch
from hark.intents.template.features import asking, clause_words, denies, fillers, stating, tells_of_speaker
from hark.intents.template.query import NUMBER, Found, TemplateQuery
from hark.intents.template.tagger import LONGEST, Known
from hark.intents.text import without_elision

STRICT: Final = 1.0
"""Sentences as written and nothing else."""
NORMAL: Final = 0.5
"""Every sentence as written scores at least this."""

Score = Callable[[str, Span], int]
"""How well a span suits a slot; 0 is neutral."""

_TRIED: Final = 64
"""The number of divisions that are compared at most: utterances have a handful."""
_COMPARED: Final = 128
"""The number of sentences that fit one utterance and are compared, those with most literal words."""


def bind(parts: SentenceParts, words: list[str], score: Score | None = None) -> dict[str, Span]:
    """The words each slot takes in a sentence that fits.

    The division with the best `score` is taken, else as many words as possible for the slots to the left: in "send go
    to bed to anna", "send {message} to {contact}" finds the message "go to bed".
    """
    names, chunks = parts.names, parts.chunks
    if len(names) == 1:
        return {names[0]: (len(chunks[0]), len(words) - len(chunks[1]))}
    if score is None:
        return dict(zip(names, next(divisions(chunks, words), ()), strict=False))
    best: dict[str, Span] = {}
    best_points = 0
    ways = list(islice(divisions(chunks, words), _TRIED))
    if len(ways) == 1:
        return dict(zip(names, ways[0], strict=True))
    for spans in ways:
        bound = dict(zip(names, spans, strict=True))
        points = sum([score(name, span) for name, span in bound.items()])
        if not best or points > best_points:
            best, best_points = bound, points
    return best


class Claim:
    """A sentence that fits, with its slots filled.

    Every word of the utterance is a word of the sentence, part of a known value (or a number, where one belongs), in a
    slot that takes anything, or strange: in a slot that has other values.
    """

    __slots__ = ("intent", "known", "longest", "match", "rank", "said", "spans", "strange", "sure", "wrong")

    def __init__(self, match: ExactMatch, query: TemplateQuery, known: Known | None, kinds: SlotKinds) -> None:
        self.match = match
        self.intent = match.intent
        self.said = query.said
        self.known = known
        """The values that are known for the slots of this sentence; None where no values are known at all."""
        self.spans: dict[str, Span] = {}
        self.sure = match.literals
        """How many words are literal, or part of known values, or a number."""
        self.strange = 0
        """How many words are in a slot that has values, but not these."""
        self.longest = 0
        """How many words the longest known value has, if it is more than one."""
        self.wrong = ""
        """A slot that takes numbers and got none."""
        if match.parts is not None:
            self._fill(match.parts, known, kinds)
        self.rank = (bool(self.wrong), self.strange, -self.sure, -self.longest, match.rank)
        """Smallest first: nothing strange, most words explained, the longest known value, most literal words, the order
        of registration."""

    def _fill(self, parts: SentenceParts, known: Known | None, kinds: SlotKinds) -> None:
        said, intent = self.said, self.intent
        has_choice = len(parts.names) > 1 and (known is not None or kinds or intent.slot_blacklist is not None)
        self.spans = bind(parts, said, _score(intent, said, known or {}, kinds) if has_choice else None)
        if known is None and not kinds:
            return
        for name, (first, end) in list(self.spans.items()):
            lists = known[name] if known is not None else ()
            words = said[first:end]
            if lists and (is_value(" ".join(words), lists, intent.lang) or self._divide(name, first, end)):
                self.sure += end - first
                if end - first > max(1, self.longest):
                    self.longest = end - first
            elif lists and (narrow := self._narrowed(first, end, lists)):
                self.spans[name] = narrow
                self.sure += narrow[1] - narrow[0]
            elif NUMBER in kinds.get(name, ()):
                if can_be_number(words, intent.lang):
                    self.sure += end - first
                elif "" not in kinds[name] or lists:
                    self.wrong = name
            elif lists:
                self.strange += end - first
        if known is not None and "" in kinds:
            self._adopt(kinds[""], known)

    def _narrowed(self, first: int, end: int, lists: Sequence[frozenset[str]]) -> Span | None:
        """The known value in these words where light ones are before it, or end the utterance: "the lamp please"."""
        said, little = self.said, fillers(self.intent.lang)
        is_last = end == len(said)
        if said[first] not in little and not (is_last and said[end - 1] in little):
            return None  # as it is for most
        begin = first
        while begin < end:
            until = end
            while until > begin:
                if is_value(" ".join(said[begin:until]), lists, self.intent.lang):
                    return begin, until
                until -= 1
                if not is_last or said[until] not in little:
                    break
            if said[begin] not in little:
                break
            begin += 1
        return None

    def _divide(self, name: str, first: int, end: int) -> bool:
        """Let two slots share words that are a known value of each: "kitchen ceiling lamp" is an area and a name.

        Templates cannot have two neighbouring slots (INTENT-1); users say both.
        """
        known = self.known or {}
        others = [(more, lists) for more, lists in known.items() if lists and more not in self.spans]
        if not others:
            return False
        for middle in range(first + 1, end):
            for own, other in (((first, middle), (middle, end)), ((middle, end), (first, middle))):
                if not _is_known(_text(self.said, own), known[name]):
                    continue
                for more, lists in others:
                    if _is_known(_text(self.said, other), lists):
                        self.spans[name], self.spans[more] = own, other
                        return True
        return False

    def _adopt(self, names: Collection[str], known: Known) -> None:
        """Fill slots with words of the sentence itself that stand beside another slot and are a known value."""
        taken = sorted(self.spans.values())
        edges = [(0, 0), *taken, (len(self.said), 0)]
        for (_, begin), (end, _) in pairwise(edges):
            for there in _edges((begin, end), bool(begin), end < len(self.said)):
                for name in names:
                    if name not in self.spans and _is_known(_text(self.said, there), known.get(name, ())):
                        self.spans[name] = there

    def unexplained(self, strictly: bool) -> str:
        """Why the sentence does not explain what was said, though it fits; empty if it does.

        Strange words are accepted where the sentence itself says more: "play {song} in the kitchen" with an unknown
        song. With `strictly` they are not.
        """
        if self.wrong:
            return f"{self.intent.label} fits but its slot {self.wrong!r} takes a number"
        for name, (first, end) in self.spans.items():
            if self.known and self.known[name]:
                continue
            if self._is_no_value(self.said[:end]) if not first else self._is_clause(self.said[first:end]):
                return f"{self.intent.label} fits but what its slot {name!r} takes denies, asks or states something"
        if not self.strange:
            return ""
        if not strictly:
            little = fillers(self.intent.lang)
            telling = sum([not word.startswith("{") and word not in little for word in self.match.sentence])
            words = self._strange_words()
            strange = sum([word not in little for word in words])
            if telling > max(1, strange) and not denies(words, self.intent.lang):
                return ""
        return f"{self.intent.label} fits but {' '.join(self._strange_words())!r} is none of its values"

    def _is_no_value(self, words: list[str]) -> bool:
        """Whether words that an utterance begins with are no value of a slot, though none are known.

        "{duration} timer" is no way to say "do not set a timer", nor to ask "is there time left on the timer", nor to
        state "i bought a timer" or "ten more minutes on the timer".
        """
        lang = self.intent.lang
        little = fillers(lang)
        if denies(words, lang) or words[-1] in little:
            return True
        if len(words) == 1:
            return False
        begins = words[0] in asking(lang) or (words[0] in stating(lang) and words[0] not in little)
        return begins or tells_of_speaker(words, lang)

    def _is_clause(self, words: list[str]) -> bool:
        """Whether a sentence in which the speaker tells something would take more than a thing.

        "i bought {items}" is no way to say "i bought her a scarf" or "i bought milk there is plenty".
        """
        lang = self.intent.lang
        return not clause_words(lang).isdisjoint(words) and tells_of_speaker(self.match.sentence, lang)

    def _strange_words(self) -> list[str]:
        return [
            word
            for name, (first, end) in self.spans.items()
            if self.known is not None
            and self.known[name]
            and not is_value(" ".join(self.said[first:end]), self.known[name], self.intent.lang)
            for word in self.said[first:end]
        ]


_by_rank = attrgetter("rank")


def best_first(matches: list[ExactMatch], query: TemplateQuery) -> list[Claim]:
    """The claims of all matches, best first."""
    has_values = bool(query.shared.entities or query.own.entities)
    claims = []
    intent, kinds, known = None, None, None
    for match in matches[:_COMPARED]:
        if match.parts is None or not has_values:
            claims.append(Claim(match, query, None, match.kinds))
            continue
        if match.intent is not intent or match.kinds is not kinds:
            # As for the match before, for sentences of one template.
            intent, kinds = match.intent, match.kinds
            known = query.values(intent, kinds)
        claims.append(Claim(match, query, known, kinds))
    if len(claims) > 1:
        claims.sort(key=_by_rank)
    return claims


def complete(claim: Claim, query: TemplateQuery) -> Found | str:
    """The intent of a claim with its slots filled, or why it does not count in this session."""
    intent = claim.intent
    barred = query.refusal(intent)
    if barred:
        return barred
    if claim.match.parts is None:
        slots: dict[str, str] = {}
        return query.complete(intent, slots) or Found(intent, slots)
    said, spans, sure, known = query.said, claim.spans, claim.sure, claim.known
    # A slot whose value is known cannot have taken words of another.
    if known is not None and len(known) > 1 and sure < len(said):
        better = _reread(claim, query, known)
        if better is not spans:
            spans = better
            sure = claim.match.literals + _known_words(better, said, known)
    slots = query.text(intent, spans)
    for name, types in claim.match.kinds.items():
        if NUMBER in types and name in slots:
            slots[name] = without_unit(slots[name])
    if known is not None:
        cut_elisions(slots, known, intent.lang)
    return query.complete(intent, slots) or Found(intent, slots, _sureness(sure, len(said)))


def _reread(claim: Claim, query: TemplateQuery, known: Known) -> dict[str, Span]:
    """The spans, or better ones where a slot would take a known value of another slot.

    "play {artist}" fits "play jazz on netflix", but not if another slot of the intent has the known value "netflix".
    """
    spans = claim.spans
    for name, (first, end) in spans.items():
        words = query.said[first:end]
        if not _is_known(" ".join(words), known[name]) and _has_others(name, words, known):
            break
    else:
        return spans
    for index in query.indexes():
        profile = index.similarity.profile(claim.intent)
        if profile is not None:
            better = index.tagger(profile, known).prefers(query.said, known, spans) or {}
            needed = (*claim.intent.required_slots, *profile.always)
            return better if better and all(slot in better for slot in needed) else spans
    return spans


def _has_others(name: str, words: list[str], known: Known) -> bool:
    """Whether the words for a slot contain a known value of another slot."""
    others = [values for other, lists in known.items() if other != name for values in lists]
    for begin in range(len(words)) if others else ():
        for end in range(begin + 1, min(begin + LONGEST, len(words)) + 1):
            if _is_known(" ".join(words[begin:end]), others):
                return True
    return False


def _known_words(spans: Mapping[str, Span], said: list[str], known: Known) -> int:
    """How many words are taken by slots whose whole value is known."""
    right = 0
    for name, (first, end) in spans.items():
        lists = known[name]
        if lists and _is_known(" ".join(said[first:end]), lists):
            right += end - first
    return right


def _sureness(sure: int, words: int) -> float:
    """The score of a sentence with slots: by the share of words that are literal or part of known values."""
    # Squared, so that it is comparable with the score of similar sentences.
    return NORMAL + (1.0 - NORMAL) * min(1.0, sure / words) ** 2


def _score(intent: TemplateIntent, said: list[str], known: Known, kinds: SlotKinds) -> Score:
    """A score that prefers known values, and numbers where they belong, and avoids those on the blacklist."""

    def score(name: str, span: Span) -> int:
        words = said[span[0] : span[1]]
        value = " ".join(words)
        if intent.bars(name, value):
            return -1
        if is_value(value, known.get(name, ()), intent.lang):
            return 2
        if NUMBER in kinds.get(name, ()):
            return 2 if can_be_number(words, intent.lang) else -1
        return 0

    return score


def _text(said: list[str], span: Span) -> str:
    return " ".join(said[span[0] : span[1]])


def _edges(span: Span, after_slot: bool, before_slot: bool) -> Iterator[Span]:
    """The parts of a span of literal words that touch a slot, longest first."""
    begin, end = span
    for size in range(end - begin, 0, -1):
        if after_slot:
            yield begin, begin + size
        if before_slot:
            yield end - size, end


def is_value(value: str, lists: Sequence[frozenset[str]], lang: str) -> bool:
    """Whether it is a known value, or one with an elided article: "l'écran"."""
    if _is_known(value, lists):
        return True
    return "'" in value and bool(bare := without_elision(value, lang)) and _is_known(bare, lists)


def cut_elisions(slots: dict[str, str], known: Known, lang: str) -> None:
    """Leave out what is joined by an apostrophe to known values."""
    for name, value in slots.items():
        lists = known.get(name, ())
        if "'" in value and lists and not _is_known(value.casefold(), lists):
            bare = without_elision(value, lang)
            if bare and _is_known(bare.casefold(), lists):
                slots[name] = bare


def _is_known(value: str, lists: Sequence[frozenset[str]]) -> bool:
    for values in lists:  # noqa: SIM110 - called for most matches
        if value in values:
            return True
    return False
