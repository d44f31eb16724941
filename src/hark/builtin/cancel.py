"""Cancelling an utterance with its last words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from hark.intents import words
from hark.plugins import Ctx, UtteranceTransformer

CANCEL_PHRASES: Final[Mapping[str, tuple[str, ...]]] = {
    "en": (
        *("never mind", "nevermind", "never mind that", "nevermind that", "cancel that", "cancel command"),
        *("ignore that", "ignore what I said", "forget I said that", "forget what I said", "scratch that"),
    ),
    "de": (
        *("vergiss es", "vergiss das", "vergiss es wieder", "vergiss was ich gesagt habe", "ach egal"),
        *("ignoriere das", "Befehl abbrechen", "Kommando zurück"),
    ),
    "es": ("olvídalo", "olvida eso", "olvida lo que he dicho", "ignora eso", "cancela eso"),
    "fr": ("laisse tomber", "laissez tomber", "oublie ça", "oublie ce que j'ai dit", "ignore ça", "annule ça"),
    "it": ("lascia perdere", "lascia stare", "dimentica quello che ho detto", "ignora quello che ho detto"),
    "pt": ("deixa para lá", "deixa pra lá", "esquece isso", "esquece o que eu disse", "ignora isso", "cancela isso"),
}

_ALONE: Final[Mapping[str, tuple[str, ...]]] = {
    "en": (
        *("forget it", "forget about it", "forget that", "leave it", "drop it", "skip it", "do not bother"),
        *("it does not matter", "it does not matter anymore", "does not matter"),
    ),
    "de": (
        *("egal", "ist egal", "schon gut", "lass gut sein", "lass mal", "lass es", "doch nicht"),
        *("nicht mehr nötig", "ist nicht mehr nötig", "nicht so wichtig", "ist nicht so wichtig"),
    ),
    "es": ("déjalo", "déjalo estar", "da igual", "no importa", "olvídate"),
    "fr": ("oublie", "oubliez", "tant pis", "peu importe", "c'est pas grave", "pas la peine"),
    "it": ("dimentica", "dimenticalo", "fa niente", "non fa niente", "non importa", "lascia"),
    "pt": ("esquece", "esqueça", "deixa", "deixa estar", "não interessa", "não importa", "tanto faz"),
}
"""Phrases that cancel when nothing else is said: "remind me, or I forget it" ends with one of them."""

_NO: Final[Mapping[str, frozenset[str]]] = {
    "en": frozenset({"no", "nope", "nah"}),
    "de": frozenset({"nein", "nee", "ach"}),
    "es": frozenset({"no"}),
    "fr": frozenset({"non"}),
    "it": frozenset({"no"}),
    "pt": frozenset({"não"}),
}
"""Words before a phrase that is said alone: "no, leave it"."""
_ANY_NO: Final = frozenset[str]().union(*_NO.values())

_PASSED: Final[Mapping[str, tuple[str, ...]]] = {
    "en": ("cancel that",),
    "es": ("cancela eso",),
    "fr": ("annule ça",),
    "pt": ("cancela isso",),
}
"""Phrases that cancel at the end of an utterance, or as an answer: alone they are about what was asked for before."""


class Cancel(UtteranceTransformer):
    """Cancels an utterance that ends with "never mind", or is just that; an open question is withdrawn with it.

    The phrases of the utterance's language count or, if it has none, those of all languages. The likeliest candidate
    decides; as an answer, any candidate that is nothing but such a phrase.
    """

    id = "cancel"
    priority = 20
    quick = True

    @dataclass(frozen=True)
    class Settings:
        phrases: tuple[str, ...] = ()
        """Further phrases that cancel, in any language."""

    settings: Settings

    async def start(self) -> None:
        own = self.settings.phrases
        everything = [phrase for phrases in CANCEL_PHRASES.values() for phrase in phrases]
        self._of_language = {lang: _by_length((*phrases, *own), lang) for lang, phrases in CANCEL_PHRASES.items()}
        self._of_any = _by_length((*everything, *own))
        self._own = _by_length(own)
        self._alone = {lang: frozenset(tuple(words(one, lang)) for one in phrases) for lang, phrases in _ALONE.items()}
        self._passed = {lang: frozenset(tuple(words(one, lang)) for one in said) for lang, said in _PASSED.items()}
        self._passed[""] = frozenset[tuple[str, ...]]().union(*self._passed.values())
        self._alone[""] = alone = frozenset[tuple[str, ...]]().union(*self._alone.values())
        self._ends = frozenset(phrase[-1] for known in (*self._of_any.values(), alone) for phrase in known)

    def transform(self, utterances: list[str], ctx: Ctx) -> list[str]:
        is_answer = ctx.session.response_mode is not None
        # As an answer, what was said comes first, and what courtesy around it hides comes behind it.
        candidates = utterances if is_answer else utterances[:1]
        if any(self._takes_back(one, ctx.lang, is_answer, is_whole=at > 0) for at, one in enumerate(candidates)):
            if is_answer:
                ctx.session = ctx.session.without("response_mode")  # "never mind" also closes the question
            ctx.cancel("stop_word")
        return utterances

    def _takes_back(self, utterance: str, lang: str | None, is_answer: bool, *, is_whole: bool) -> bool:
        """Whether an utterance ends with a phrase that cancels, or with `is_whole` is nothing else."""
        code = "" if lang is None else lang.partition("-")[0].lower()
        phrases = self._of_any if lang is None else self._of_language.get(code, self._own)
        # Most utterances end in a word that no phrase ends in: that much can be seen without reading all of it.
        last = utterance.rsplit(None, 1)[-1:]
        if last and "'" not in last[0] and last[0].isascii() and not self._ends.intersection(words(last[0])):
            return False
        said = words(utterance, lang or "")
        while len(said) > 1 and said[0] in _NO.get(code, _ANY_NO):
            del said[0]
        if tuple(said) in self._alone.get(code, ()):
            return True
        if not is_answer and tuple(said) in self._passed.get(code, ()):
            return False
        sizes = [len(said)] if is_whole else phrases
        return any(tuple(said[-size:]) in phrases.get(size, ()) for size in sizes)


def _by_length(phrases: Iterable[str], lang: str = "") -> dict[int, frozenset[tuple[str, ...]]]:
    split = {tuple(words(phrase, lang)) for phrase in phrases} - {()}
    return {length: frozenset(p for p in split if len(p) == length) for length in {len(p) for p in split}}
