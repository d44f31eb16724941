"""One query to the pool, and what is the same for every way of answering it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from hark.intents.gates import Now, fill, refusal, unfilled
from hark.intents.pool import NOTHING, SessionScope
from hark.intents.registration import TemplateIntent
from hark.intents.template.matching import Span
from hark.intents.template.pool import TemplateIndex, TemplatePool
from hark.intents.template.tagger import Known
from hark.intents.text import spoken_words, words
from hark.model import Session
from hark.spec import DEFAULT_SESSION_ID

Templates = SessionScope[TemplateIntent, TemplateIndex]
"""What one session id has."""


class Found(NamedTuple):
    """The intent an utterance means, and what it says for the slots."""

    intent: TemplateIntent
    slots: dict[str, str]
    score: float = 1.0
    """1 for a sentence as written, less the more of it slots take that is not known; less for one that is like them."""


class TemplateQuery(NamedTuple):
    """What was said, in which language and session, and what that session can reach."""

    utterance: str
    lang: str
    tags: tuple[str, ...]
    """The languages to look in, best first."""
    said: list[str]
    session: Session
    shared: Templates
    own: Templates
    now: Now

    @classmethod
    def of(cls, pool: TemplatePool, utterance: str, lang: str, session: Session, now: Now) -> TemplateQuery:
        """A question to this pool."""
        shared = pool.scope(DEFAULT_SESSION_ID)
        own = NOTHING if session.is_default else pool.scope(session.session_id)
        return cls(utterance, lang, pool.tags(lang), words(utterance, lang), session, shared, own, now)

    def is_elsewhere(self, intent: TemplateIntent) -> bool:
        """Whether an intent of a related language is passed over, because it is there in the very one asked for."""
        tag = self.lang.lower()
        if intent.tag == tag:
            return False
        return self.shared.holds((intent.label, tag)) or self.own.holds((intent.label, tag))

    def indexes(self) -> list[TemplateIndex]:
        """Everything the session can reach, best language first."""
        if self.own is NOTHING:
            roots = self.shared.roots
            return [roots[tag] for tag in self.tags if tag in roots]
        scopes = (self.own, self.shared)
        return [index for tag in self.tags for scope in scopes if (index := scope.roots.get(tag)) is not None]

    def refusal(self, intent: TemplateIntent) -> str | None:
        """Why an intent that fits does not count in this session or with these words."""
        return refusal(intent, self.session, self.shared, self.own, self.now) or _barred_by_phrase(intent, self.said)

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
        """What was said for the slots, without the values they cannot take."""
        said = self.said
        spoken = said if self.utterance.isascii() else spoken_words(self.utterance, self.lang)
        return {
            name: " ".join(spoken[first:end])
            for name, (first, end) in spans.items()
            if intent.slot_blacklist is None or not intent.bars(name, " ".join(said[first:end]))
        }

    def complete(self, intent: TemplateIntent, slots: dict[str, str]) -> str | None:
        """Fill from the context what was not said; returns why the intent does not count with what there is then."""
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
