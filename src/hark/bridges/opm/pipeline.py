"""Pipeline plugins of OVOS as pipeline plugins of Hark."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from hark.bridges.opm.facade import legacy_message, vocabulary_prefix
from hark.bridges.opm.instance import OvosPlugin
from hark.bridges.opm.transformers import slot_text
from hark.model.frozen import EMPTY, Frozen
from hark.plugins import Declined, Match, PipelinePlugin, Round, Session, Turn, handles
from hark.spec import is_intent_name, is_skill_id

LEVELS: Final = ("high", "medium", "low")
_ENTRY: Final = "recognizer_loop:utterance"
_ABOUT_THE_MATCH: Final = frozenset(
    {"intent_type", "target", "confidence", "conf", "utterance", "utterances", "lang", "skill_id"}
)
"""Keys of a match of OVOS that are no slots."""
_TRAINS_AFTER: Final = 2.0
"""Seconds after its start at which a plugin that learns is told to; later registrations are learnt when needed."""


class OvosPipelinePlugin(OvosPlugin, PipelinePlugin):
    """A matcher of OVOS. An entry of the pipeline may choose its `level`: "high", "medium" or "low"."""

    async def start(self) -> None:
        await super().start()
        self.host.task(self._train_early(), "trains")

    async def _train_early(self) -> None:
        """Train once the skills have registered, so that the first utterance does not wait for it."""
        await self.host.clock.sleep(_TRAINS_AFTER)
        await asyncio.to_thread(self._bus.settle, train=True)

    def match(
        self, utterances: Sequence[str], lang: str, session: Session, round: Round | None = None
    ) -> Match | Declined:
        self._bus.settle(train=True)
        context = round.message.context if round is not None else EMPTY
        message = legacy_message(_ENTRY, {"utterances": list(utterances), "lang": lang}, session, context, lang)
        for matcher in self._matchers(round.config.get("level") if round is not None else None):
            found = matcher(list(utterances), lang, message)
            if found is not None and found is not False:
                return self._claim(found, utterances, lang)
        return Declined(f"{self.found.name} matched nothing")

    def _matchers(self, level: object) -> list[Callable[..., Any]]:
        by_level = [getattr(self._inner, f"match_{name}", None) for name in (LEVELS[:2] if level is None else (level,))]
        usable = [one for one in by_level if callable(one)]
        if usable:
            return usable
        return [one for one in (getattr(self._inner, "match", None),) if callable(one)]

    def _claim(self, found: Any, utterances: Sequence[str], lang: str) -> Match | Declined:
        """A match of any generation as a claim."""
        match_type = str(getattr(found, "match_type", None) or getattr(found, "intent_type", None) or "")
        data = getattr(found, "match_data", None) or getattr(found, "intent_data", None) or {}
        said = getattr(found, "utterance", None)
        utterance = said if isinstance(said, str) and said else utterances[0]
        skill_id, colon, intent_name = match_type.partition(":")
        intent_name = intent_name.removesuffix(".intent")
        if colon and is_skill_id(skill_id) and is_intent_name(intent_name) and not self._bus.has_listeners(match_type):
            return Match(skill_id, intent_name, lang, utterance, slots_of(data, skill_id))
        if not match_type:
            return Declined(f"{self.found.name} handled it itself, which a claim cannot say")
        if not self._bus.has_listeners(match_type):
            return Declined(f"{self.found.name} claimed it for {match_type!r}, which is no dispatch topic")
        # It is a topic of the plugin itself: its listener is called as the handler of this claim.
        called = msgspec.json.encode(data, enc_hook=str).decode()
        return self.claim("call", lang=lang, utterance=utterance, slots={"topic": match_type, "data": called})

    @handles("call")
    async def call(self, turn: Turn) -> None:
        """Deliver what the plugin claimed to its own listener, and say what it says."""
        topic, data = turn.slots["topic"], msgspec.json.decode(turn.slots["data"], type=dict[str, Any])
        data = {"utterance": turn.utterance, "utterances": [turn.utterance], "lang": turn.lang, **data}
        for text in await asyncio.to_thread(self._bus.call, topic, data, turn.session):
            await turn.speak(text)


def slots_of(data: Mapping[str, Any], skill_id: str) -> Frozen:
    """The slots among what a matcher of OVOS returned: text, by the names that the skill knows."""
    prefix = vocabulary_prefix(skill_id)
    named = {
        str(name).removeprefix(prefix): slot_text(value)
        for name, value in data.items()
        if name not in _ABOUT_THE_MATCH and not str(name).startswith("__")
    }
    return Frozen({name: text for name, text in named.items() if text is not None and name})
