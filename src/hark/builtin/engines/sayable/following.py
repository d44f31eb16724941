"""Keeping up with what skills register, while the assistant runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from threading import Lock
from typing import Final, Protocol, runtime_checkable

from hark.builtin.engines.sayable.automaton import TooLarge
from hark.builtin.engines.sayable.grammar import Grammar, Said, grammar_of
from hark.builtin.engines.sayable.registered import Registered
from hark.plugins import Message
from hark.plugins.plugin import Host
from hark.spec import topics

_LATER: Final = 0.5
"""Seconds of quiet after a registration before the grammar is made anew: skills register many intents in a row."""


@runtime_checkable
class Learns(Protocol):
    """A recogniser that wants to know what may be said."""

    def learn(self, message: Message) -> bool:
        """Take in a registration; whether anything is different now."""


class Following:
    """What may be said now, as a grammar that is made when somebody wants it and something changed.

    `fill`: whether slots that can hold anything have a place in it.
    """

    def __init__(self, *, fill: bool = False) -> None:
        self._registered = Registered()
        self._fill = fill
        self._lock = Lock()
        self._changes = 0
        self._made_of: tuple[int, str, tuple[str, ...]] | None = None
        self._grammar: Grammar | None = None
        self.trouble = ""
        """Why the grammar is not of today."""

    @property
    def keyword_intents(self) -> int:
        """How many intents are defined by keywords, of which no sentences can be made."""
        return self._registered.keyword_intents

    def learn(self, message: Message) -> bool:
        """Take in a registration (INTENT-4); whether anything is different now. It counts from the next speech on."""
        changed = self._registered.apply(message)
        self._changes += changed
        return changed

    def start(self, host: Host, learn: Callable[[Message], bool], catch_up: Callable[[], object]) -> None:
        """Follow what skills register, and have those who did so already say it again.

        `catch_up` is called in a quiet moment, so that nobody who speaks has to wait.
        """

        async def follow(message: Message) -> None:
            # On the loop, so that what was registered is known when the next message comes.
            if learn(message):
                changes = self._changes
                host.after(_LATER, lambda: catch_up() if changes == self._changes else None)

        host.on(self._registered.topics, follow)
        host.emit(topics.READY)

    def grammar(self, lang: str, phrases: Iterable[str] = ()) -> Grammar | None:
        """Everything that may be said in a language, and these templates; the last one that could be made."""
        own = tuple(phrases)
        with self._lock:
            wanted = self._changes, lang.lower().partition("-")[0], own
            if wanted != self._made_of:
                self._made_of = wanted
                said = [one._replace(fill=self._fill) for one in self._registered.said(lang)]
                try:
                    self._grammar = grammar_of([*said, *(Said(phrase, lang, lambda _slot: ()) for phrase in own)])
                    self.trouble = ""
                except TooLarge as error:
                    self.trouble = str(error)
            return self._grammar
