"""Whether a transcript is speech that was understood, or what a recogniser makes of noise."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Final

from msgspec import Meta

from hark.builtin.transformers.conditions import heard_lang
from hark.builtin.transformers.endpoints import ChatModel, ServiceFailed
from hark.model.lang import primary
from hark.plugins import Ctx, UtteranceTransformer
from hark.spec import topics
from hark.spec.names import CAPTURE_ID

_INVENTED_FILE: Final = Path(__file__).with_name("invented.txt")
_MARK: Final = re.compile(r"[\[(*♪][^\])*♪]{0,40}[\])*♪]")
_LONGEST_PHRASE: Final = 30
"""Words of what a recogniser may repeat."""
_WORD: Final = re.compile(r"\w+(?:['\u2019]\w+)*")
_AGAIN: Final[Mapping[str, str]] = {
    "en": "Sorry, could you say that again?",
    "de": "Wie bitte? Sag das bitte noch einmal.",
    "es": "Perdona, ¿puedes repetirlo?",
    "fr": "Pardon, pouvez-vous répéter ?",
    "it": "Scusa, puoi ripetere?",
    "pt": "Desculpa, podes repetir?",
    "nl": "Sorry, kun je dat nog eens zeggen?",
    "pl": "Przepraszam, możesz powtórzyć?",
    "sv": "Ursäkta, kan du säga det igen?",
    "ca": "Perdona, ho pots repetir?",
}
_QUESTION: Final = (
    "You check transcripts of a voice assistant. Answer only yes or no: is this something a person may say to a voice "
    "assistant, as a command, a question or an answer, in the language {lang}?"
)


def why_invalid(text: str) -> str:
    """What is wrong with a transcript by rule; empty when nothing is."""
    words = [found[0].casefold() for found in _WORD.finditer(_MARK.sub(" ", text))]
    if not words:
        return "there are no words in it"
    if _invented().fullmatch(" ".join(_once(words))):
        return "recognisers write this for silence"
    if len(words) >= 6:
        word, times = Counter(words).most_common(1)[0]
        if times > len(words) * 0.7:
            return f"{word!r} is repeated {times} times"
        if any(words[size:] == words[:-size] for size in range(2, min(len(words) // 3, _LONGEST_PHRASE) + 1)):
            return "the same words are repeated three times"
    if len(words) >= 3 and all(len(word) == 1 for word in words) and not any(map(str.isdigit, words)):
        return "it has only single letters"
    return ""


@lru_cache(maxsize=1)
def _invented() -> re.Pattern[str]:
    """What the file of invented transcripts has."""
    lines = [line.strip() for line in _INVENTED_FILE.read_text("utf-8").splitlines()]
    phrases = [re.escape(line).replace(r"\*\ ", ".{0,80}").replace(r"\ \*", ".{0,80}") for line in lines
               if line and not line.startswith("#")]  # fmt: skip
    return re.compile(rf"(?:{'|'.join(phrases)})(?: (?:{'|'.join(phrases)}))*")


def _once(words: list[str]) -> list[str]:
    """The words that the text is a repetition of."""
    size = len(words)
    return next(
        words[:part] for part in range(1, size + 1) if size % part == 0 and words == words[:part] * (size // part)
    )


class TranscriptValidator(UtteranceTransformer):
    """Drops candidates that are no speech. If none is left, the turn is cancelled, and the device that heard it asks
    the user to say it again.
    """

    id = "validate"
    priority = 25

    @dataclass(frozen=True)
    class Settings:
        """What is checked, and what happens then."""

        typed: bool = False
        """Whether text that was not recognised from speech is checked too."""
        reprompt: bool = True
        """Whether the user is asked to say it again; else the turn ends silently."""
        again: str = ""
        """The question; empty: a short one in the user's language."""
        url: str = ""
        """An OpenAI-compatible server that is asked as well, up to and including "/v1"; empty: only the rules."""
        model: str = ""
        """The name of its model."""
        key: str = field(default="", repr=False)
        """Its API key."""
        timeout: Annotated[float, Meta(gt=0, le=60)] = 1.5
        """Seconds the model may take; when it takes longer or fails, the rules alone decide."""

    settings: Settings

    async def start(self) -> None:
        settings = self.settings
        _invented()
        self._model: ChatModel | None = None
        if settings.url:
            self._model = ChatModel(settings.url, settings.key, settings.model, settings.timeout, self.host.clock)
            await self._model.service.probe()

    async def transform(self, utterances: list[str], ctx: Ctx) -> list[str]:
        if not self.settings.typed and CAPTURE_ID not in ctx:
            return utterances
        valid = [text for text in utterances if not why_invalid(text)]
        if valid and await self._is_sensible(valid[0], heard_lang(ctx, self.host)):
            return valid
        ctx.set("validate.why", why_invalid(utterances[0]) or "the model takes it for no request")
        if self.settings.reprompt:
            lang = heard_lang(ctx, self.host)
            again = self.settings.again or _AGAIN.get(primary(lang), _AGAIN["en"])
            ctx.reply(topics.UTTERANCE_SPEAK, {"utterance": again, "lang": lang, "listen": True})
        ctx.cancel("transcription_invalid")
        return utterances

    def problem(self) -> str:
        return self._model.service.problem if self._model is not None else ""

    async def _is_sensible(self, text: str, lang: str) -> bool:
        if self._model is None:
            return True
        try:
            answer = await asyncio.to_thread(self._model.answer, _QUESTION.format(lang=lang), text, longest=5)
        except ServiceFailed as failed:
            self.host.log.debug("not asked: %s", failed)
            return True
        return not answer.casefold().lstrip("\"'*. ").startswith("no")
