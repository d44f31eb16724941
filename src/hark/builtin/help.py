"""Telling what can be said."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain, islice, zip_longest
from typing import Any, Final, NamedTuple

from hark.intents import TemplateError, expand
from hark.plugins import Message, Session, Turn
from hark.skills import Skill, intent
from hark.spec import DEFAULT_SESSION_ID, dispatch_topic, topics

_EXAMPLES: Final = 5
_SLOT = re.compile(r"\{(\w+)\}")


class _Key(NamedTuple):
    session_id: str
    skill_id: str
    intent_name: str
    lang: str


class HelpSkill(Skill):
    """Gives examples of what skills registered: one sentence for an intent, and something of every skill first."""

    id = "help.skill"
    quick = True

    def __init__(self) -> None:
        self._samples: dict[_Key, tuple[Any, ...]] = {}
        self._off: set[tuple[str, str]] = set()
        """Session id and label of what was disabled."""

    async def start(self) -> None:
        """Listen to what skills register."""
        self.host.on(topics.REGISTER_TEMPLATE, self._registered)
        self.host.on(topics.INTENT_DEREGISTER, self._deregistered)
        self.host.on(topics.SKILL_DEREGISTER, self._deregistered)
        self.host.on(topics.INTENT_DISABLE, self._disabled_or_enabled)
        self.host.on(topics.INTENT_ENABLE, self._disabled_or_enabled)

    @intent("help [me]", "what can you do [for me]", "what can I (say|ask [you])", "what do you understand")
    def what_can_you_do(self, turn: Turn) -> str:
        """A few sentences to try."""
        examples = [f'"{example}"' for example in islice(self._examples(turn.session, turn.lang), _EXAMPLES)]
        if not examples:
            return "I know of nothing that you could ask me."
        *others, last = examples
        return f"You can say {', '.join(others)} or {last}." if others else f"You can say {last}."

    def _examples(self, session: Session, lang: str) -> Iterator[str]:
        """An example for each intent the session can reach, the first of every skill ahead of the second of any."""
        by_skill: dict[str, list[str]] = {}
        for key, samples in self._samples.items():
            if key.skill_id != self.id and _primary(key.lang) == _primary(lang) and self._can_reach(session, key):
                by_skill.setdefault(key.skill_id, []).append(_example(samples))
        in_turn = chain.from_iterable(zip_longest(*by_skill.values(), fillvalue=""))
        return (example for example in dict.fromkeys(in_turn) if example)

    def _can_reach(self, session: Session, key: _Key) -> bool:
        label = dispatch_topic(key.skill_id, key.intent_name)
        scopes = (DEFAULT_SESSION_ID, session.session_id)
        return (
            key.session_id in scopes
            and not any((scope, label) in self._off for scope in scopes)
            and key.skill_id not in (session.blacklisted_skills or ())
            and label not in (session.blacklisted_intents or ())
        )

    def _registered(self, message: Message) -> None:
        fields = [message.data.get(name) for name in ("skill_id", "intent_name", "lang")]
        samples = message.data.get("samples")
        if all(isinstance(field, str) for field in fields) and isinstance(samples, tuple):
            self._samples[_Key(message.session_id, *map(str, fields))] = samples

    def _deregistered(self, message: Message) -> None:
        for key in [key for key in self._samples if _is_meant(message, key)]:
            del self._samples[key]
            self._off.discard((key.session_id, dispatch_topic(key.skill_id, key.intent_name)))

    def _disabled_or_enabled(self, message: Message) -> None:
        switch = (message.session_id, f"{message.data.get('skill_id')}:{message.data.get('intent_name')}")
        if message.type == topics.INTENT_DISABLE:
            self._off.add(switch)
        else:
            self._off.discard(switch)


def _is_meant(message: Message, key: _Key) -> bool:
    data: Mapping[str, Any] = message.data
    return (
        message.session_id == key.session_id
        and data.get("skill_id") == key.skill_id
        and (message.type == topics.SKILL_DEREGISTER or data.get("intent_name") == key.intent_name)
        and str(data.get("lang", key.lang)).lower() == key.lang.lower()
    )


def _example(samples: tuple[Any, ...]) -> str:
    """The shortest sentence of the first sample that can be read; nothing when there is none."""
    for sample in samples:
        try:
            sentence = min(expand(sample), key=len)
        except (TemplateError, TypeError):
            continue
        return _SLOT.sub(lambda slot: f"some {slot[1].replace('_', ' ')}", sentence)
    return ""


def _primary(lang: str) -> str:
    return lang.partition("-")[0].lower()
