"""Filling slots from the templates of the matched intent, for matchers that find the intent but not its slots."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import Annotated

from msgspec import Meta

from hark.intents import Found, Rejected, TemplatePool, lookup
from hark.plugins import Ctx, IntentTransformer, Match, Message
from hark.spec import dispatch_topic, topics


class TemplateKeywords(IntentTransformer):
    """Adds the slots that the intent's own templates find in the utterance and that the matcher left out.

    A model that classifies sentences, or a program on the bus, knows which intent is meant, but not the words in its
    slots; the skill has said it in its templates.
    """

    id = "keywords"
    priority = 40
    quick = True

    @dataclass(frozen=True)
    class Settings:
        """How sure it has to be."""

        floor: Annotated[float, Meta(ge=0, le=1)] = 0.01
        """How sure the templates have to be that the intent is meant; 1 is a sentence as written. Little is enough: the
        matcher has decided on the intent, and what has nothing in common with a template scores 0."""

    settings: Settings

    def __init__(self) -> None:
        self._pools: dict[str, TemplatePool] = {}
        """By `skill_id:intent_name`: each holds one intent, so that nothing but its slots is in question."""
        self._entities: dict[str, list[Message]] = {}
        self._writing = Lock()

    async def start(self) -> None:
        self.host.on(topics.REGISTER_TEMPLATE, self._registered)
        self.host.on((topics.ENTITY_REGISTER, topics.ENTITY_DEREGISTER), self._entity)
        self.host.on((topics.INTENT_DEREGISTER, topics.SKILL_DEREGISTER), self._removed)

    def transform(self, match: Match, ctx: Ctx) -> Match:
        pool = self._pools.get(match.topic)
        if pool is None:
            return match
        found = lookup(pool, match.utterance, match.lang, ctx.session, self.host.clock.wall, self.settings.floor)
        if not isinstance(found, Found):
            return match
        added = {slot: value for slot, value in found.slots.items() if slot not in match.slots}
        return match.with_slots(**added) if added else match

    def _registered(self, message: Message) -> None:
        skill_id, intent_name = message.data.get("skill_id"), message.data.get("intent_name")
        if not isinstance(skill_id, str) or not isinstance(intent_name, str):
            return
        with self._writing:
            label = dispatch_topic(skill_id, intent_name)
            new = label not in self._pools
            pool = self._pools.setdefault(label, TemplatePool())
            try:
                for entity in self._entities.get(skill_id, ()) if new else ():
                    pool.apply(entity.type, entity.data, entity.session_id)
                pool.apply(message.type, message.data, message.session_id)
            except Rejected as error:  # the matcher reports it
                self.host.log.debug("%s: %s", label, error)

    def _entity(self, message: Message) -> None:
        skill_id = message.data.get("skill_id")
        if not isinstance(skill_id, str):
            return
        with self._writing:
            self._entities.setdefault(skill_id, []).append(message)
            for label, pool in self._pools.items():
                if label.startswith(f"{skill_id}:"):
                    try:
                        pool.apply(message.type, message.data, message.session_id)
                    except Rejected as error:
                        self.host.log.debug("%s: %s", label, error)

    def _removed(self, message: Message) -> None:
        skill_id, intent_name = message.data.get("skill_id"), message.data.get("intent_name")
        with self._writing:
            if message.type == topics.SKILL_DEREGISTER:
                self._entities.pop(str(skill_id), None)
                self._pools = {label: one for label, one in self._pools.items() if not label.startswith(f"{skill_id}:")}
            else:
                self._pools.pop(f"{skill_id}:{intent_name}", None)
