"""The sentence that is nearest to something that was not understood."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from heapq import nsmallest
from itertools import count
from math import log
from sys import intern
from typing import Any, Final, NamedTuple

from hark.intents import TemplateError, words
from hark.intents.grammar import parse
from hark.plugins import Message, Session
from hark.spec import DEFAULT_SESSION_ID, topics

_SLOT: Final = re.compile(r"\{(\w+)\}")
_SYNTAX: Final = re.compile(r"\{[^{}]*\}|[][()|{}]")
"""What is no word in a template: slots, and what marks choices."""
_SAMPLES: Final = 20
"""Samples of an intent that are looked at."""
_MOST: Final = 20_000
"""Intents that are remembered."""
_LEAST: Final = 0.45
"""The share of what was said, weighed by how rare its words are, that a suggested sentence has in common with it."""


_SKILLS: Final = 2
"""A word of more skills does not tell which of them is meant."""
_SHORT: Final = 3
"""Words with so few letters say little about what is meant."""


_Key = tuple[str, str, str, str]
"""Session, language, skill and intent."""


class _Known(NamedTuple):
    words: tuple[str, ...]
    samples: tuple[str, ...]
    number: int
    """Its place among all that were registered."""


class _Scope:
    """What is registered for one session id in one language."""

    def __init__(self) -> None:
        self.by_word: dict[str, list[_Key]] = {}
        self.by_skill: Counter[str] = Counter()
        """How many intents each skill has."""

    def add(self, key: _Key, words: Iterable[str]) -> None:
        self.by_skill[key[2]] += 1
        for word in words:
            self.by_word.setdefault(word, []).append(key)

    def remove(self, key: _Key, words: Iterable[str]) -> None:
        self.by_skill[key[2]] -= 1
        if not self.by_skill[key[2]]:
            del self.by_skill[key[2]]
        for word in words:
            self.by_word[word].remove(key)
            if not self.by_word[word]:
                del self.by_word[word]


class KnownSentences:
    """Sentences of the registered intents, by their words."""

    def __init__(self) -> None:
        self._intents: dict[_Key, _Known] = {}
        self._scopes: dict[tuple[str, str], _Scope] = {}
        """By session and language."""
        self._numbers = count()
        self._values: dict[tuple[str, str, str], str] = {}
        """An example value by language, skill and slot."""

    def apply(self, message: Message) -> None:
        """Follow a registration; what is malformed is passed over, for matchers reject it."""
        data = message.data
        skill_id, lang = data.get("skill_id"), data.get("lang")
        if not isinstance(skill_id, str):
            return
        if message.type == topics.REGISTER_TEMPLATE and isinstance(lang, str):
            self._register(message, skill_id, lang)
        elif message.type == topics.ENTITY_REGISTER and isinstance(lang, str):
            value = next(iter(_texts(data.get("samples"))), "")
            if value and not set("(|[<{") & set(value) and len(self._values) < _MOST:
                self._values[lang, skill_id, str(data.get("entity_name"))] = value
        elif message.type in (topics.INTENT_DEREGISTER, topics.INTENT_DISABLE, topics.SKILL_DEREGISTER):
            name = data.get("intent_name")
            whole = message.type == topics.SKILL_DEREGISTER
            for key in [k for k in self._intents if k[2] == skill_id and (whole or k[3] == name)]:
                self._remove(key)
            if whole:
                for slot in [one for one in self._values if one[1] == skill_id]:
                    del self._values[slot]

    def _register(self, message: Message, skill_id: str, lang: str) -> None:
        data = message.data
        key = message.session_id, lang, skill_id, str(data.get("intent_name"))
        self._remove(key)
        if data.get("requires_context") or len(self._intents) >= _MOST:
            return  # makes sense only after something else
        samples = tuple(_texts(data.get("samples")))[:_SAMPLES]
        found: set[str] = set()
        for sample in samples:
            found.update(map(intern, words(_SYNTAX.sub(" ", sample), lang)))
        self._intents[key] = _Known(tuple(found), samples, next(self._numbers))
        self._scopes.setdefault(key[:2], _Scope()).add(key, found)

    def _remove(self, key: _Key) -> None:
        known = self._intents.pop(key, None)
        if known is not None:
            scope = self._scopes[key[:2]]
            scope.remove(key, known.words)
            if not scope.by_skill:
                del self._scopes[key[:2]]

    def nearest(self, utterances: Iterable[str], lang: str, session: Session) -> str | None:
        """A sentence that has rare words in common with what was said, if there is one that can be said."""
        said = set(words(next(iter(utterances), ""), lang))
        denied = set(session.blacklisted_skills or ())
        ids = dict.fromkeys((DEFAULT_SESSION_ID, session.session_id))
        scopes = [self._scopes[session_id, lang] for session_id in ids if (session_id, lang) in self._scopes]
        having: dict[str, list[_Key]] = {}
        """By word that was said, the intents with that word."""
        for word in said:
            keys = [key for scope in scopes for key in scope.by_word.get(word, ()) if key[2] not in denied]
            if keys:
                having[word] = keys
        skills = {word: {key[2] for key in keys} for word, keys in having.items()}
        if not any(len(word) > _SHORT and len(of_word) <= _SKILLS for word, of_word in skills.items()):
            return None
        intents = sum(many for scope in scopes for skill_id, many in scope.by_skill.items() if skill_id not in denied)
        # A word that no sentence has tells little: half as much as one that a single sentence has.
        rarest = log((intents + 1) / 1.5)
        weight = {
            word: log((intents + 1) / (len(having[word]) + 0.5)) if word in having else rarest / 2 for word in said
        }
        whole = sum(weight.values())
        scores: dict[_Key, float] = {}
        for word, keys in having.items():
            for key in keys:
                scores[key] = scores.get(key, 0.0) + weight[word]
        for key in nsmallest(3, scores, key=lambda key: (-scores[key], self._intents[key].number)):
            one = self._intents[key]
            shared = said.intersection(one.words)
            telling = any(len(word) > _SHORT and len(skills[word]) <= _SKILLS for word in shared)
            if not telling or whole <= 0 or scores[key] < _LEAST * whole:
                return None
            sentence = self._sentence(key, one.samples, said, lang)
            if sentence is not None:
                return sentence
        return None

    def _sentence(self, key: _Key, samples: tuple[str, ...], said: set[str], lang: str) -> str | None:
        """The sentence of an intent with most of the words in common, its slots filled with registered values."""
        best, most = None, 0.0
        common = {sample: len(said.intersection(words(_SYNTAX.sub(" ", sample), lang))) for sample in samples}
        for sample in sorted(samples, key=lambda one: -common[one]):
            if common[sample] <= most * len(said):
                break  # no sentence has more in common than all words of its sample
            for text in _expanded(sample):
                filled: str | None = text
                for slot in _SLOT.findall(text):
                    value = self._values.get((key[1], key[2], slot))
                    filled = filled.replace(f"{{{slot}}}", value) if filled is not None and value is not None else None
                if filled is None:
                    continue
                own = set(words(_SLOT.sub("", text), lang))
                share = len(own & said) / len(own | said)
                if share > most:
                    best, most = filled, share
        return best


def _expanded(sample: str) -> Iterator[str]:
    with suppress(TemplateError):
        for number, text in enumerate(parse(sample).samples()):
            if number >= 50:
                return
            yield text


def _texts(samples: Any) -> Iterator[str]:
    if isinstance(samples, Mapping) or not isinstance(samples, (tuple, list)):
        return
    for sample in samples:
        if isinstance(sample, str):
            yield sample
