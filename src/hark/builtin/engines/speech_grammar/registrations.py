"""What skills register (INTENT-4), kept up to date as a grammar for recognisers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from threading import Lock
from typing import Any, Final, Protocol, runtime_checkable

from hark.builtin.engines.speech_grammar.grammar import Grammar, SpokenTemplate, Values, grammar_of
from hark.builtin.engines.speech_grammar.graph import GrammarTooLarge
from hark.intents import Rejected
from hark.intents.registration import read_lang, read_name
from hark.plugins import Message
from hark.plugins.plugin import Host
from hark.spec import DEFAULT_SESSION_ID, topics

_Key = tuple[str, str, str, str]
"""Session, skill, intent or slot, and folded language."""
_Apply = Callable[[Mapping[str, Any], str], bool]
"""Applies a payload for a session id. Returns whether it changed anything."""


class RegisteredTemplates:
    """Follows the messages of INTENT-4. Sentences of all sessions count: which of them act, matchers decide."""

    def __init__(self) -> None:
        self._samples: dict[_Key, tuple[str, ...]] = {}
        self._values: dict[_Key, tuple[str, ...]] = {}
        self._keywords: dict[_Key, tuple[str, ...]] = {}
        self._off: frozenset[tuple[str, str, str]] = frozenset()
        """Skill, intent and folded language (empty: all) that are disabled for every session."""
        self._apply: Final[Mapping[str, _Apply]] = {
            topics.REGISTER_TEMPLATE: self._intent,
            topics.REGISTER_KEYWORD: self._keyword_intent,
            topics.ENTITY_REGISTER: self._entity,
            topics.INTENT_DEREGISTER: self._without_intent,
            topics.ENTITY_DEREGISTER: self._without_entity,
            topics.SKILL_DEREGISTER: self._without_skill,
            topics.INTENT_ENABLE: self._enable,
            topics.INTENT_DISABLE: self._disable,
        }

    @property
    def topics(self) -> tuple[str, ...]:
        return tuple(self._apply)

    @property
    def keyword_intents(self) -> int:
        """How many keyword intents there are: words in any order make no sentence for a grammar."""
        return len(self._keywords)

    def apply(self, message: Message) -> bool:
        """Take a message in. Returns whether it changed anything; a malformed one does not."""
        source, target = message.context.get("skill_id"), message.data.get("skill_id")
        if message.type == topics.SKILL_DEREGISTER and source not in (None, target):
            return False
        try:
            return self._apply[message.type](message.data, message.session_id)
        except Rejected:
            return False  # the matcher reports it

    def templates(self, lang: str) -> Iterator[SpokenTemplate]:
        """Every template of a language, whatever its region."""
        primary = lang.lower().partition("-")[0]
        values: dict[tuple[str, str, str], tuple[str, ...]] = {}
        for (_session, skill, slot, tag), members in list(self._values.items()):
            # Values of another session do no harm: they are words a user may say.
            values[skill, slot, tag] = (*values.get((skill, slot, tag), ()), *members)

        def values_of(skill: str, tag: str) -> Values:
            return lambda slot: values.get((skill, slot, tag), ())

        for (_session, skill, intent, tag), samples in list(self._samples.items()):
            if tag.partition("-")[0] == primary and not self._off & {(skill, intent, tag), (skill, intent, "")}:
                for sample in samples:
                    yield SpokenTemplate(sample, tag, values_of(skill, tag))

    def _intent(self, data: Mapping[str, Any], session: str) -> bool:
        return _put(self._samples, _key(data, session, "intent_name"), _texts(data))

    def _keyword_intent(self, data: Mapping[str, Any], session: str) -> bool:
        return _put(self._keywords, _key(data, session, "intent_name"), ())

    def _entity(self, data: Mapping[str, Any], session: str) -> bool:
        return _put(self._values, _key(data, session, "entity_name"), _texts(data))

    def _without_intent(self, data: Mapping[str, Any], session: str) -> bool:
        skill, intent, tag = _target(data)
        kept = (self._samples, self._keywords)
        return _drop(kept, lambda key: key[:3] == (session, skill, intent) and tag in ("", key[3]))

    def _without_entity(self, data: Mapping[str, Any], session: str) -> bool:
        skill, slot = read_name(data, "skill_id"), read_name(data, "entity_name")
        tag = (read_lang(data, required=False) or "").lower()
        return _drop((self._values,), lambda key: key[:3] == (session, skill, slot) and tag in ("", key[3]))

    def _without_skill(self, data: Mapping[str, Any], session: str) -> bool:
        skill = read_name(data, "skill_id")
        self._off = frozenset(key for key in self._off if key[0] != skill)
        return _drop((self._samples, self._values, self._keywords), lambda key: key[:2] == (session, skill))

    def _enable(self, data: Mapping[str, Any], session: str) -> bool:
        skill, intent, tag = _target(data)
        left = frozenset(key for key in self._off if key[:2] != (skill, intent) or tag not in ("", key[2]))
        return self._switch(left, session)

    def _disable(self, data: Mapping[str, Any], session: str) -> bool:
        return self._switch(self._off | {_target(data)}, session)

    def _switch(self, off: frozenset[tuple[str, str, str]], session: str) -> bool:
        if session != DEFAULT_SESSION_ID or off == self._off:  # another session may have it enabled
            return False
        self._off = off
        return True


def _target(data: Mapping[str, Any]) -> tuple[str, str, str]:
    lang = (read_lang(data, required=False) or "").lower()
    return read_name(data, "skill_id"), read_name(data, "intent_name"), lang


def _key(data: Mapping[str, Any], session: str, name: str) -> _Key:
    return session, read_name(data, "skill_id"), read_name(data, name), (read_lang(data) or "").lower()


def _texts(data: Mapping[str, Any]) -> tuple[str, ...]:
    samples = data.get("samples")
    if not isinstance(samples, (tuple, list)):
        raise Rejected("samples is not an array")
    return tuple(sample for sample in samples if isinstance(sample, str))


def _put(kept: dict[_Key, tuple[str, ...]], key: _Key, value: tuple[str, ...]) -> bool:
    if kept.get(key) == value:
        return False  # skills register again whenever a service announces that it is ready
    kept[key] = value
    return True


def _drop(all_kept: tuple[dict[_Key, tuple[str, ...]], ...], unwanted: Callable[[_Key], bool]) -> bool:
    gone = [(kept, key) for kept in all_kept for key in kept if unwanted(key)]
    for kept, key in gone:
        del kept[key]
    return bool(gone)


_LATER: Final = 0.5
"""Seconds without a registration before the grammar is rebuilt: skills register many intents in sequence."""


@runtime_checkable
class GrammarLearner(Protocol):
    """A recogniser that takes in registrations."""

    def learn(self, message: Message) -> bool:
        """Take in a registration. Returns whether it changed anything."""


class LiveGrammar:
    """A grammar of what is registered now, rebuilt on demand when something changed.

    `fill`: whether slots that can hold anything are in it.
    """

    def __init__(self, *, fill: bool = False) -> None:
        self._registered = RegisteredTemplates()
        self._fill = fill
        self._lock = Lock()
        self._changes = 0
        self._built_from: tuple[int, str, tuple[str, ...]] | None = None
        self._grammar: Grammar | None = None
        self.error = ""
        """Why the grammar is out of date, if it is."""

    @property
    def keyword_intents(self) -> int:
        """How many keyword intents are not in the grammar."""
        return self._registered.keyword_intents

    def learn(self, message: Message) -> bool:
        """Take in a registration (INTENT-4), for the next speech. Returns whether it changed anything."""
        changed = self._registered.apply(message)
        self._changes += changed
        return changed

    def start(self, host: Host, learn: Callable[[Message], bool], update: Callable[[], object]) -> None:
        """Follow what skills register, and have skills that registered before do so again.

        `update` is called when no more registrations come, so that the next speech does not wait for it.
        """

        async def follow(message: Message) -> None:
            # A coroutine, which runs on the loop: what was registered is known when the next message comes.
            if learn(message):
                changes = self._changes
                host.after(_LATER, lambda: update() if changes == self._changes else None)

        host.on(self._registered.topics, follow)
        host.emit(topics.READY)

    def grammar(self, lang: str, phrases: Iterable[str] = ()) -> Grammar | None:
        """All that is registered in a language, and these templates; the last grammar that could be built."""
        own = tuple(phrases)
        with self._lock:
            wanted = self._changes, lang.lower().partition("-")[0], own
            if wanted != self._built_from:
                self._built_from = wanted
                spoken = [one._replace(fill=self._fill) for one in self._registered.templates(lang)]
                try:
                    self._grammar = grammar_of(
                        [*spoken, *(SpokenTemplate(phrase, lang, lambda _slot: ()) for phrase in own)]
                    )
                    self.error = ""
                except GrammarTooLarge as error:
                    self.error = str(error)
            return self._grammar
