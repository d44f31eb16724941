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
    "en": ("forget it", "forget about it", "forget that", "leave it", "drop it", "skip it", "no never mind"),
    "de": ("egal", "ist egal", "schon gut", "lass gut sein", "lass mal", "lass es", "doch nicht", "nein doch nicht"),
    "es": ("déjalo", "déjalo estar", "da igual", "no importa", "olvídate"),
    "fr": ("oublie", "oubliez", "tant pis", "peu importe", "c'est pas grave", "non laisse tomber"),
    "it": ("dimentica", "dimenticalo", "fa niente", "non fa niente", "non importa", "lascia", "no lascia stare"),
    "pt": ("esquece", "esqueça", "deixa", "deixa estar", "não interessa", "não importa", "tanto faz"),
}
"""Phrases that cancel when nothing else is said: "remind me, or I forget it" ends with one of them."""

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
    decides.
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
        if utterances and self._takes_back(utterances[0], ctx.lang, is_answer):
            if ctx.session.response_mode is not None:
                ctx.session = ctx.session.without("response_mode")  # "never mind" also closes the question
            ctx.cancel("stop_word")
        return utterances

    def _takes_back(self, utterance: str, lang: str | None, is_answer: bool) -> bool:
        code = "" if lang is None else lang.partition("-")[0].lower()
        phrases = self._of_any if lang is None else self._of_language.get(code, self._own)
        # Most utterances end in a word that no phrase ends in: that much can be seen without reading all of it.
        last = utterance.rsplit(None, 1)[-1:]
        if last and "'" not in last[0] and last[0].isascii() and not self._ends.intersection(words(last[0])):
            return False
        said = words(utterance, lang or "")
        if tuple(said) in self._alone.get(code, ()):
            return True
        if not is_answer and tuple(said) in self._passed.get(code, ()):
            return False
        return any(tuple(said[-length:]) in known for length, known in phrases.items())


def _by_length(phrases: Iterable[str], lang: str = "") -> dict[int, frozenset[tuple[str, ...]]]:
    split = {tuple(words(phrase, lang)) for phrase in phrases} - {()}
    return {length: frozenset(p for p in split if len(p) == length) for length in {len(p) for p in split}}
