"""What the translators of all OVOS clients share: readiness, the loaded skills, and when speech has ended."""

from __future__ import annotations

import logging
from collections import OrderedDict
from typing import Any, Final
from uuid import uuid4

from hark.bridges.ovos.registration import MOST_OF_ALL, MemoryBudget
from hark.bridges.ovos.translator import OvosTranslator
from hark.bus import Bus
from hark.bus.websocket.translation import ClientLink
from hark.model import Clock, Message, Session
from hark.spec import DEFAULT_SESSION_ID, topics
from hark.spec.names import SKILL_ID

log = logging.getLogger("hark.bridges.ovos")

_HEARD: Final = 0.25
"""Seconds after which text counts as spoken: a skill that waits for the end begins to do so after it has spoken."""

_QUESTIONS: Final = 16
"""Questions of clients that are kept until they are answered, in a millisecond; each may be as large as a Message."""


class OvosBridge:
    """Makes a translator for each connection. `lang` is the language of the device."""

    def __init__(self, bus: Bus, clock: Clock, lang: str) -> None:
        self.clock = clock
        self.skills: set[str] = set()
        """Skills that said they are loaded."""
        self.budget = MemoryBudget(MOST_OF_ALL)
        """What all clients together can make their translators keep."""
        self._bus = bus
        self._lang = lang
        self._translators: set[OvosTranslator] = set()
        self._previews: OrderedDict[str, tuple[ClientLink, Message]] = OrderedDict()
        """Questions which intent a text would match, by what the answer is known by."""
        self._audible: set[str] = set()
        """Sessions whose speech can be heard; the service speak says when it ends."""
        self._subscriptions = [
            bus.on(topics.SPEECH_RENDERED, self._rendered, name="ovos: rendered"),
            bus.on(topics.AUDIO_OUTPUT_STARTED, self._sounds, name="ovos: sound"),
            bus.on(topics.SKILL_LOADED, self._loaded, name="ovos: loaded"),
            bus.on(topics.SKILL_DEREGISTER, self._deregistered, name="ovos: deregistered"),
            bus.on(topics.INTENT_PREVIEW_RESPONSE, self._previewed, name="ovos: preview"),
        ]

    def translator(self, link: ClientLink, kind: type[OvosTranslator] = OvosTranslator) -> OvosTranslator:
        """A translator for a new connection."""
        made = kind(link, self)
        self._translators.add(made)
        return made

    def closed(self, translator: OvosTranslator) -> None:
        """A connection is gone."""
        self._translators.discard(translator)

    def close(self) -> None:
        """Listen no longer."""
        for subscription in self._subscriptions:
            subscription.close()

    def default_session(self) -> dict[str, Any]:
        """What a client of the older line is told of the device's session."""
        return {"session_id": DEFAULT_SESSION_ID, "lang": self._lang}

    def preview(self, question: Message, session: Session, link: ClientLink) -> None:
        """Have `intent.service.intent.get` answered: which intent a text would match."""
        query = uuid4().hex
        self._previews[query] = link, question
        if len(self._previews) > _QUESTIONS:
            self._previews.popitem(last=False)
        data = {"query": query, "utterance": question.data.get("utterance"), "lang": question.data.get("lang")}
        self._bus.emit(Message(topics.INTENT_PREVIEW, data, session=session))

    def _previewed(self, answer: Message) -> None:
        link, question = self._previews.pop(str(answer.data.get("query")), (None, None))
        if link is None or question is None:
            return  # it was asked in another process
        intent: dict[str, Any] | None = None
        if "topic" in answer.data:
            names = {"intent_name": answer.data["topic"], "skill_id": answer.data["skill_id"]}
            intent = {**answer.data["slots"], **names, "intent_service": "hark"}
        data = {"intent": intent, "utterance": question.data.get("utterance")}
        link.send_foreign(question.reply(question.type), "intent.service.intent.reply", data)

    def _rendered(self, message: Message) -> None:
        if message.session_id in self._audible:
            return
        skill_id = message.context.get(SKILL_ID)
        for translator in self._translators:
            if skill_id in translator.skills:
                translator.rendered(message, _HEARD)

    def _sounds(self, message: Message) -> None:
        if len(self._audible) < 1_000:
            self._audible.add(message.session_id)

    def _loaded(self, message: Message) -> None:
        if isinstance(skill_id := message.data.get("skill_id"), str) and len(self.skills) < 10_000:
            self.skills.add(skill_id)

    def _deregistered(self, message: Message) -> None:
        self.skills.discard(str(message.data.get("skill_id")))
