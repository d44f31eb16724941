"""Normalises utterances as users say them, type them, and recognisers write them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from hark.builtin.normalize.courtesy import CourtesyWords
from hark.intents.text import straight_quotes
from hark.model.lang import resolve
from hark.plugins import Ctx, UtteranceTransformer

_APOSTROPHED = re.compile(r"[^\W\d_]+'[^\W\d_]+")


class Normalize(UtteranceTransformer):
    """Single spaces, plain quotes, short forms written out ("what's", "what is"), and what people put around a request
    left out: courtesy, fillers, hesitation, the name of the assistant. Skills are written in familiar imperatives: a
    request in another form ("puedes añadir leche", "stellen Sie") is a candidate in that form as well, and words such
    as "also" are left out where nothing fits with them.

    What was said stays a candidate behind the shorter text, because what looks like courtesy may be meant. While a
    question is open it stays before it: the answer is what was said. Case and punctuation stay: matchers fold them,
    and skills may need them. Where no language is stated, the one the utterance will be matched in counts. The words
    are in `locale`, in `forms` and, for short forms, in `hark/intents/contractions`.
    """

    id = "normalize"
    priority = 10
    quick = True

    @dataclass(frozen=True)
    class Settings:
        strip: bool = True
        """Whether courtesy, fillers, hesitation and the name of the assistant are left out, and requests put into the
        familiar imperative."""
        names: tuple[str, ...] = ()
        """Names of the assistant, besides its wake words."""
        wake_words: tuple[str, ...] = ("hey jarvis", "hey mycroft", "hey hark")
        """The wake words; where the settings have [wake.<name>] tables, their phrases."""

    settings: Settings

    async def start(self) -> None:
        self._courtesy: dict[str, CourtesyWords] = {}

    def transform(self, utterances: list[str], ctx: Ctx) -> list[str]:
        lang = ctx.lang or resolve(None, ctx.session, self.host.langs, self.host.lang)
        courtesy = self._courtesy.get(lang) or self._words_of(lang)
        found: list[str] = []
        for utterance in utterances:
            said = " ".join(straight_quotes(utterance).split())
            if "'" in said:
                said = _APOSTROPHED.sub(lambda word: _long_form(word[0], courtesy.short_forms), said)
            text = _written_out(said, courtesy.short_forms)
            if not self.settings.strip:
                found.append(text)
            else:
                found += _candidates(text, courtesy, is_answer=ctx.session.response_mode is not None)
            if text is not said:
                found.append(said)
        return list(dict.fromkeys(found)) if len(found) > 1 else found

    def _words_of(self, lang: str) -> CourtesyWords:
        if len(self._courtesy) >= 32:  # clients may state what they like
            self._courtesy.clear()
        names = (*self.settings.wake_words, *self.settings.names)
        made = self._courtesy[lang] = CourtesyWords(lang, names)
        return made


def _candidates(text: str, courtesy: CourtesyWords, *, is_answer: bool) -> list[str]:
    """What is asked for, without what is put around it, and what was said; the likelier first."""
    request = courtesy.stripped(text)
    if request is None:
        order = courtesy.order(text)
        found, plainest = [text], order or text
        if order is not None:
            found.append(order)
    else:
        order = courtesy.order(request.text, request.before)
        plainest = order or request.text
        asked = [request.text, order] if order is not None else [request.text]
        found = [*asked, text] if request.is_certain and not is_answer else [text, *asked]
    without = courtesy.without_particles(plainest)
    if without is not plainest:
        found.append(without)
    return found


def _written_out(text: str, table: Mapping[str, str]) -> str:
    """`text` with the short forms written out that have no apostrophe inside; itself when there are none."""
    if table.keys().isdisjoint(text.lower().split(" ")):
        return text
    return " ".join([_long_form(token, table) for token in text.split(" ")])


def _long_form(word: str, table: Mapping[str, str]) -> str:
    long = table.get(word.lower(), word)
    if long is word or not word[0].isupper():
        return long
    return long[0].upper() + long[1:]
