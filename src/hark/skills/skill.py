"""What a skill is: intents, and the methods that handle them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from hark.model import Message
from hark.plugins import Plugin
from hark.skills.intent import Marked, intents_of, payloads
from hark.spec import topics


class Skill(Plugin):
    """Answers what its `@intent` methods say it understands.

    It is announced on the bus when it has started, again whenever an assistant gets ready, and withdrawn before it
    stops; `start` and `stop` are the author's alone and need no `super()`.
    """

    lang: ClassVar[str] = "en-US"
    """The language of samples that name none."""

    intents: ClassVar[Mapping[str, Marked]] = {}
    """What it understands, by intent name; filled from the `@intent` marks."""

    # Not set in `__init__`, which is the author's as well.
    _disabled: frozenset[str] = frozenset()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.intents = intents_of(cls)

    async def begin(self) -> None:
        """As promised by `Plugin`; then announces what the skill understands."""
        await super().begin()
        self.host.on(topics.READY, self._ready)
        self._announce()

    async def end(self) -> None:
        """As promised by `Plugin`; before that, nobody is to match this skill any more."""
        self.host.emit(topics.SKILL_DEREGISTER, {"skill_id": self.id})
        await super().end()

    def enable(self, intent_name: str) -> None:
        """Let one of the skill's intents be matched again."""
        self._check_name(intent_name)
        self._disabled -= {intent_name}
        self.host.emit(topics.INTENT_ENABLE, {"skill_id": self.id, "intent_name": intent_name})

    def disable(self, intent_name: str) -> None:
        """Keep one of the skill's intents from being matched, until `enable`."""
        self._check_name(intent_name)
        self._disabled |= {intent_name}
        self.host.emit(topics.INTENT_DISABLE, {"skill_id": self.id, "intent_name": intent_name})

    def _check_name(self, intent_name: str) -> None:
        if intent_name not in self.intents:
            known = ", ".join(self.intents) or "none"
            raise ValueError(f"{self.id} has no intent {intent_name!r}; it has: {known}")

    async def _ready(self, _message: Message) -> None:
        # Whoever got ready may have forgotten everything, so all of it is said again, under the same keys.
        self._announce()

    def _announce(self) -> None:
        self.host.emit(topics.SKILL_LOADED, {"skill_id": self.id, "capabilities": []})
        for intent_name, marked in self.intents.items():
            for lang, fields in payloads(marked, self.lang):
                identity = {"skill_id": self.id, "intent_name": intent_name, "lang": lang}
                self.host.emit(topics.REGISTER_TEMPLATE, {**identity, **fields})
        # A switch thrown before there was anything to switch had no effect.
        for intent_name in sorted(self._disabled):
            self.disable(intent_name)
