"""What people put around a request: courtesy, fillers, hesitation, the name of the assistant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from hark.builtin.normalize.forms import RequestForms
from hark.intents import words
from hark.intents.locale import Locale, MissingResource
from hark.intents.text import EDGES, short_forms

Phrase = tuple[str, ...]
ByEdge = Mapping[str, Sequence[Phrase]]
"""Phrases by the word at their outer edge, the longest first: most requests begin and end with other words."""

_GREETINGS: Final = frozenset({"hey", "hi", "ok", "okay", "hello"})
"""How wake words begin: "hey jarvis" is also "jarvis"."""


class Stripped(NamedTuple):
    """A request without what was put around it."""

    text: str
    is_certain: bool
    """False where what was left out may be what the request is about: "say thank you"."""
    before: tuple[str, ...]
    """The words that were left out before it, in lower case."""


class CourtesyWords:
    """What is put around requests in one language, from its locale files and the names of the assistant."""

    def __init__(self, lang: str, names: Iterable[str]) -> None:
        called = [phrase for name in names for phrase in _called(name, lang)]
        self.short_forms = short_forms(lang)
        self._hesitation = frozenset(word for phrase in _phrases("hesitation", lang) for word in phrase)
        self._quoting = frozenset(phrase[-1] for phrase in _phrases("quoting", lang))
        self._before = _by_edge([*_phrases("before", lang), *called], 0)
        self._particles = _by_edge(_phrases("particles", lang), 0)
        self._forms = RequestForms(lang)
        self._after = _by_edge([*_phrases("after", lang), *called], -1)

    def stripped(self, text: str) -> Stripped | None:
        """`text` without what is around the request; None when there is nothing around it, or nothing but that."""
        tokens = text.split()
        said = [token.strip(EDGES) for token in text.casefold().split()]
        if not tokens or len(said) != len(tokens):
            return None
        start, end, changed = 0, len(tokens), False
        if not self._hesitation.isdisjoint(said):
            kept = [number for number, word in enumerate(said) if word not in self._hesitation]
            if not kept:
                return None
            tokens, said = [tokens[number] for number in kept], [said[number] for number in kept]
            end, changed = len(tokens), True
        while (size := _size(said, start, end, self._before.get(said[start], ()))) > 0:
            start += size
        certain = True
        while (size := _size_at_end(said, start, end, self._after.get(said[end - 1], ()))) > 0:
            end -= size
            certain = certain and said[end - 1] not in self._quoting
        if not changed and end - start == len(tokens):
            return None
        return Stripped(" ".join(tokens[start:end]).rstrip(",;:"), certain, tuple(said[:start]))

    def order(self, request: str, before: Sequence[str] = ()) -> str | None:
        """`request` as a familiar imperative; None when it is one, or has no known verb. See `RequestForms`."""
        return self._forms.familiar(request, before)

    def without_particles(self, text: str) -> str:
        """`text` without the words that change nothing wherever they stand; itself where there are none."""
        said = [token.strip(EDGES) for token in text.casefold().split()]
        if self._particles.keys().isdisjoint(said):
            return text
        tokens, kept, at = text.split(), [], 0
        while at < len(said):
            phrases = self._particles.get(said[at], ())
            size = next((len(one) for one in phrases if tuple(said[at : at + len(one)]) == one), 0)
            if not size:
                kept.append(tokens[at])
            at += size or 1
        return " ".join(kept) or text


def _size(said: list[str], start: int, end: int, phrases: Sequence[Phrase]) -> int:
    """Words of the phrase that `said` begins with; 0 when it begins with none, or nothing would be left."""
    for phrase in phrases:
        size = len(phrase)
        if size < end - start and tuple(said[start : start + size]) == phrase:
            return size
    return 0


def _size_at_end(said: list[str], start: int, end: int, phrases: Sequence[Phrase]) -> int:
    for phrase in phrases:
        size = len(phrase)
        if size < end - start and tuple(said[end - size : end]) == phrase:
            return size
    return 0


def _called(name: str, lang: str) -> Iterable[Phrase]:
    phrase = tuple(words(name, lang))
    if phrase:
        yield phrase
    if len(phrase) > 1 and phrase[0] in _GREETINGS:
        yield phrase[1:]


def _by_edge(phrases: Iterable[Phrase], edge: int) -> ByEdge:
    found: dict[str, list[Phrase]] = {}
    for phrase in sorted(set(phrases) - {()}, key=len, reverse=True):
        found.setdefault(phrase[edge], []).append(phrase)
    return found


def _phrases(name: str, lang: str) -> Iterable[Phrase]:
    try:
        return _locale().phrases(name, lang)
    except MissingResource:
        return ()


@cache
def _locale() -> Locale:
    return Locale(Path(__file__).parent / "locale")  # when it is first needed, not when this is imported
