"""The template matcher: claims what fits a sentence some skill registered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final

from hark.intents import Rejected, TemplatePool, lookup
from hark.model.lang import canonical, is_tag
from hark.plugins import Declined, Match, Message, PipelinePlugin, Session
from hark.spec import topics

_TOLD: Final = ("skill_id", "intent_name", "entity_name", "lang")


class TemplateMatcher(PipelinePlugin):
    """Consumes template registrations (INTENT-4) and matches utterances against them, word for word.

    It claims only what fits a template as written; it does not guess.
    """

    id = "template"
    quick = True

    @dataclass(frozen=True)
    class Settings:
        """What a deployer may set."""

        protect_skills: bool = True
        """Whether a skill may be deregistered by nobody but itself."""

    settings: Settings

    def __init__(self) -> None:
        self._pool = TemplatePool()
        # Registrations are applied inline as a rule, but one that takes long may be moved to a worker thread.
        self._writing = Lock()

    async def start(self) -> None:
        """Listen for registrations, and for those who ask what there is to match."""
        self.host.on(self._pool.consumed, self._registration)
        self.host.on(topics.pipeline_intents_list(self.id), self._list)

    def match(self, utterances: Sequence[str], lang: str, session: Session) -> Match | Declined:
        """As promised by `PipelinePlugin`: the first candidate that fits something the session can reach."""
        reason = ""
        for utterance in utterances:
            found = lookup(self._pool, utterance, lang, session, self.host.clock.wall)
            if not isinstance(found, str):
                intent = found.intent
                return Match(intent.skill_id, intent.intent_name, intent.lang, utterance, found.slots)
            reason = reason or found
        return Declined(reason)

    def _registration(self, message: Message) -> None:
        if not self._is_allowed(message):
            return
        try:
            with self._writing:
                skipped = self._pool.apply(message.type, message.data, message.session_id)
        except Rejected as error:
            self._warn(message, str(error))
        else:
            for item, reason in skipped:
                self._warn(message, reason, item)

    def _is_allowed(self, message: Message) -> bool:
        """The payload names the target; only the removal of a whole skill is reserved to itself (ruling R12)."""
        source, target = message.context.get("skill_id"), message.data.get("skill_id")
        if source is None or source == target:
            return True
        if message.type == topics.SKILL_DEREGISTER and self.settings.protect_skills:
            self.host.log.warning("%s: %r may not remove the skill %r", message.type, source, target)
            return False
        self.host.log.debug("%s: sent by %r for %r", message.type, source, target)
        return True

    def _warn(self, message: Message, reason: str, item: str | None = None) -> None:
        """One line per rejection or skipped item, its parts as fields too (INTENT-4 §5.3)."""
        fields: dict[str, Any] = {name: message.data[name] for name in _TOLD if name in message.data}
        fields |= {"topic": message.type, "reason": reason} | ({} if item is None else {"item": item})
        told = ", ".join(f"{name} {value!r}" for name, value in fields.items() if name not in ("topic", "reason"))
        verdict = "rejected" if item is None else "skipped an item"
        self.host.log.warning("%s: %s (%s): %s", message.type, verdict, told, reason, extra=fields)

    def _list(self, message: Message) -> None:
        """Answer what can be matched, for the session that asks (PIPELINE-1 §10)."""
        skill_id, lang = message.data.get("skill_id"), message.data.get("lang")
        intents = [
            {"skill_id": intent.skill_id, "intent_name": intent.intent_name, "lang": intent.lang}
            for intent in self._pool.intents(message.session_id)
            if skill_id in (None, intent.skill_id)
            and (lang is None or (is_tag(lang) and canonical(lang) == intent.lang))
        ]
        self.host.send(message.response({"pipeline_id": self.id, "intents": intents}))
