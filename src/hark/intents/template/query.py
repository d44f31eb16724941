"""One query to a pool of templates: the utterance, the session, and the intents that session can reach."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from hark.intents.patterns import Span
from hark.intents.patterns.pattern import SlotKinds
from hark.intents.pool import NOTHING, Now, SessionScope, barred_by_context, fill, is_denied, refusal, unfilled
from hark.intents.registration import TemplateIntent
from hark.intents.template.pool import TemplateIndex, TemplatePool
from hark.intents.template.tagger import Known
from hark.intents.text import spoken_words, words
from hark.model import Session
from hark.spec import DEFAULT_SESSION_ID

NUMBER: Final = "number"
"""The type of a slot that takes numbers."""
ANYTHING: Final = "text"
"""The type of a slot that takes any words, whatever values are known for a slot of its name."""

Templates = SessionScope[TemplateIntent, TemplateIndex]
"""The template intents of one session id."""


class Found(NamedTuple):
    """The intent an utterance means, and the values of its slots."""

    intent: TemplateIntent
    slots: dict[str, str]
    score: float = 1.0
    """1 for a sentence as written, less the more unknown words its slots take; less for a similar sentence."""


class TemplateQuery(NamedTuple):
    """An utterance with its language and session, and the intents that session can reach."""

    utterance: str
    lang: str
    tags: tuple[str, ...]
    """The languages to search, best first."""
    said: list[str]
    session: Session
    shared: Templates
    own: Templates
    now: Now

    @classmethod
    def of(cls, pool: TemplatePool, utterance: str, lang: str, session: Session, now: Now) -> TemplateQuery:
        """A query to this pool."""
        shared = pool.scope(DEFAULT_SESSION_ID)
        own = NOTHING if session.is_default else pool.scope(session.session_id)
        return cls(utterance, lang, pool.tags(lang), words(utterance, lang), session, shared, own, now)

    def has_own_language(self, intent: TemplateIntent) -> bool:
        """Whether an intent of a related language is skipped, because it is registered in the requested one."""
        tag = self.lang.lower()
        if intent.tag == tag:
            return False
        return self.shared.holds((intent.label, tag)) or self.own.holds((intent.label, tag))

    def indexes(self) -> list[TemplateIndex]:
        """The indexes the session can reach, best language first."""
        if self.own is NOTHING:
            roots = self.shared.roots
            return [roots[tag] for tag in self.tags if tag in roots]
        scopes = (self.own, self.shared)
        return [index for tag in self.tags for scope in scopes if (index := scope.roots.get(tag)) is not None]

    @property
    def has_denials(self) -> bool:
        """Whether the session denies any skill or intent."""
        return bool(self.session.blacklisted_skills or self.session.blacklisted_intents)

    def denies(self, intent: TemplateIntent) -> bool:
        """Whether the session denies the intent or its skill."""
        return is_denied(intent, self.session)

    def refusal(self, intent: TemplateIntent) -> str | None:
        """Why an intent that fits is refused in this session or with these words; None if it is not."""
        return refusal(intent, self.session, self.shared, self.own, self.now) or _barred_by_phrase(intent, self.said)

    def shut(self, intent: TemplateIntent) -> str | None:
        """Why the context keeps an intent out; None if it does not. Such an intent does not take part."""
        if not intent.requires_context and not intent.excludes_context:
            return None
        return barred_by_context(intent, self.session.intent_context, self.now)

    def is_shut(self, intent: TemplateIntent) -> bool:
        """Whether the context keeps an intent out."""
        # Called for every candidate: most intents depend on no context.
        if not intent.requires_context and not intent.excludes_context:
            return False
        return barred_by_context(intent, self.session.intent_context, self.now) is not None

    def bars(self, intent: TemplateIntent) -> bool:
        """Whether an intent does not take part in this session: it is denied, or the context keeps it out."""
        return self.is_shut(intent) or is_denied(intent, self.session)

    def values(self, intent: TemplateIntent, kinds: SlotKinds) -> Known:
        """The known values of the intent's slots in a template where some have these types.

        A type that is the name of an entity of the skill stands for the values of that entity.
        """
        known = self.known(intent)
        if not kinds:
            return known
        of_kinds = dict(known)
        for name, types in kinds.items():
            if not name:
                continue
            if ANYTHING in types:
                of_kinds[name] = ()
                continue
            found = [values for kind in types if kind and kind != NUMBER for values in self._lists(intent, kind)]
            if found:
                of_kinds[name] = [*found, *known.get(name, ())] if "" in types else found
        return of_kinds

    def _lists(self, intent: TemplateIntent, entity: str) -> list[frozenset[str]]:
        key = intent.skill_id, entity, intent.tag
        return [values for scope in (self.shared, self.own) if (values := scope.entities.get(key))]

    def without(self, phrases: frozenset[str]) -> TemplateQuery | None:
        """The same query without words to skip; None where there are none in it, or nothing else."""
        text = f" {' '.join(self.said)} "
        if not any(f" {phrase} " in text for phrase in phrases):
            return None
        longest = max(phrase.count(" ") + 1 for phrase in phrases)
        left, here = [], 0
        while here < len(self.said):
            for size in range(min(longest, len(self.said) - here), 0, -1):
                if " ".join(self.said[here : here + size]) in phrases:
                    here += size
                    break
            else:
                left.append(here)
                here += 1
        if not left:
            return None
        spoken = spoken_words(self.utterance, self.lang)
        utterance = " ".join([spoken[place] for place in left])
        return self._replace(said=[self.said[place] for place in left], utterance=utterance)

    def known(self, intent: TemplateIntent) -> Known:
        """The known values of the intent's slots."""
        shared, own = self.shared.entities, self.own.entities
        skill_id, tag = intent.skill_id, intent.tag
        if not own:
            return {name: (values,) if (values := shared.get((skill_id, name, tag))) else () for name in intent.slots}
        both = (shared, own)
        return {
            name: [values for entities in both if (values := entities.get((skill_id, name, tag)))]
            for name in intent.slots
        }

    def text(self, intent: TemplateIntent, spans: Mapping[str, Span]) -> dict[str, str]:
        """The values of the slots, without those on their blacklists."""
        said = self.said
        spoken = said if self.utterance.isascii() else spoken_words(self.utterance, self.lang)
        return {
            name: " ".join(spoken[first:end])
            for name, (first, end) in spans.items()
            if intent.slot_blacklist is None or not intent.bars(name, " ".join(said[first:end]))
        }

    def complete(self, intent: TemplateIntent, slots: dict[str, str]) -> str | None:
        """Fill slots that were not said from the context; returns why the intent still does not count, if so."""
        if intent.slots and self.session.intent_context:
            fill(slots, intent, self.session.intent_context, self.now())
        return unfilled(intent, slots) if intent.required_slots else None


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
