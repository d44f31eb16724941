"""Transformers of OVOS as transformers of Hark, one class for each of the six kinds."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any, Final

from hark.bridges.opm.facade import OWN, legacy_session
from hark.bridges.opm.instance import OvosPlugin, accepts, make
from hark.model import MalformedMessage
from hark.model.lang import canonical, is_tag
from hark.model.wav import MalformedWav, read_wav, write_wav
from hark.plugins import (
    Audio,
    AudioTransformer,
    Ctx,
    DialogTransformer,
    IntentTransformer,
    Match,
    MetadataTransformer,
    Transformer,
    TTSTransformer,
    UtteranceTransformer,
)
from hark.spec.names import DESTINATION, PIPELINE_ID, RUNTIME_KEYS, SESSION, SKILL_ID, SOURCE

_KEPT: Final = RUNTIME_KEYS | {SOURCE, DESTINATION, SKILL_ID, PIPELINE_ID, "lang", "stt_lang", "cancel_word"}
"""Context keys that a plugin of OVOS cannot change, or that are read in another way."""


class OvosTransformer(OvosPlugin, Transformer):
    """What the six kinds have in common."""

    async def start(self) -> None:
        self._reported: set[str] = set()
        await super().start()

    def _make(self) -> None:
        self._inner = make(self.found, self.settings)
        if callable(getattr(self._inner, "bind", None)):
            self._inner.bind(self._bus)
        if callable(getattr(self._inner, "initialize", None)):
            self._inner.initialize()

    def _context(self, ctx: Ctx) -> dict[str, Any]:
        """The context as such plugins know it: with the language in it."""
        context = {key: ctx.get(key) for key in ctx if key != SESSION and not key.startswith(OWN)}
        lang = ctx.lang or ctx.session.lang or self.host.lang
        return {**context, "lang": lang, SESSION: legacy_session(ctx.session, lang)}

    def _accept(self, given: Mapping[str, Any], returned: Any, ctx: Ctx) -> bool:
        """Take over what a plugin changed in the context; whether it cancelled."""
        if not isinstance(returned, Mapping):
            return False
        for key, value in returned.items():
            if not isinstance(key, str) or key in _KEPT or key.startswith(OWN) or given.get(key) == value:
                continue
            try:
                ctx.set(key, value)
            except (MalformedMessage, TypeError, ValueError):
                self._report(key, "is dropped: it cannot be sent on a bus")
        if SESSION in returned and _named(returned[SESSION]) != _named(given.get(SESSION)):
            self._report(SESSION, "is not changed by plugins of OVOS")
        self._take_lang(given, returned, ctx)
        if not returned.get("canceled"):
            return False
        word = returned.get("cancel_word")
        if isinstance(word, str):
            ctx.set("cancel_word", word)
        # The stable line of OVOS gives no reason; there only a word cancels.
        ctx.cancel(str(returned.get("cancel_reason") or ("stop_word" if word else "other")))
        return True

    def _take_lang(self, given: Mapping[str, Any], returned: Mapping[str, Any], ctx: Ctx) -> None:
        """The language that a plugin names: in the context, or in the session, as one that translates does."""
        if self.type in ("metadata", "intent"):
            return
        before = {given.get("lang"), _lang(given.get(SESSION))}
        named = (returned.get("stt_lang"), returned.get("lang"), _lang(returned.get(SESSION)))
        lang = next((one for one in named if is_tag(one) and one not in before), None)
        if lang is not None:
            ctx.lang = canonical(str(lang))

    def _report(self, what: str, text: str) -> None:
        if what not in self._reported:
            self._reported.add(what)
            self.host.log.warning("%s: context key %r %s", self.found.origin, what, text)

    def _parts(self, result: Any) -> tuple[Any, Any]:
        """The artifact and the context that a plugin returned: some return both, some the artifact alone."""
        if isinstance(result, tuple) and len(result) == 2:
            return result
        return result, None

    def _call(self, artifact: Any, context: dict[str, Any]) -> Any:
        transform = self._inner.transform
        return transform(artifact, context=context) if accepts(transform, "context") else transform(artifact)


class OvosUtteranceTransformer(OvosTransformer, UtteranceTransformer):
    def transform(self, utterances: list[str], ctx: Ctx) -> list[str]:
        context = self._context(ctx)
        texts, changed = self._parts(self._call(list(utterances), dict(context)))
        if self._accept(context, changed, ctx):
            return utterances
        return [text for text in texts if isinstance(text, str)]


class OvosMetadataTransformer(OvosTransformer, MetadataTransformer):
    def transform(self, ctx: Ctx) -> None:
        context = self._context(ctx)
        _, changed = ("", self._inner.transform(dict(context)))
        self._accept(context, changed[-1] if isinstance(changed, tuple) else changed, ctx)


class OvosDialogTransformer(OvosTransformer, DialogTransformer):
    def transform(self, text: str, ctx: Ctx) -> str:
        context = self._context(ctx)
        changed_text, changed = self._parts(self._call(text, dict(context)))
        return text if self._accept(context, changed, ctx) else str(changed_text)


class OvosAudioTransformer(OvosTransformer, AudioTransformer):
    def transform(self, audio: Audio, ctx: Ctx) -> Audio:
        inner, samples = self._inner, audio.samples
        inner.sample_rate, inner.sample_width, inner.channels = audio.sample_rate, audio.sample_width, audio.channels
        if callable(getattr(inner, "feed_speech_utterance", None)):
            samples = inner.feed_speech_utterance(samples) or samples
        changed_samples, changed = self._parts(inner.transform(samples))
        if callable(getattr(inner, "reset", None)):
            inner.reset()
        if self._accept({}, changed, ctx) or not isinstance(changed_samples, bytes | bytearray):
            return audio
        return Audio(bytes(changed_samples), audio.sample_rate, audio.sample_width, audio.channels)


class OvosTTSTransformer(OvosTransformer, TTSTransformer):
    def transform(self, audio: Audio, ctx: Ctx) -> Audio:
        context = self._context(ctx)
        # Such plugins work on files.
        with TemporaryDirectory(prefix="hark-") as folder:
            file = Path(folder, "speech.wav")
            file.write_bytes(write_wav(audio))
            result, changed = self._parts(self._call(str(file), dict(context)))
            if self._accept(context, changed, ctx):
                return audio
            if not isinstance(result, str | Path):
                self.host.log.warning("%s returned no file; the sound stays as it is", self.found.origin)
                return audio
            try:
                return read_wav(Path(result).read_bytes())
            except (OSError, MalformedWav) as error:
                self.host.log.warning("%s: its file cannot be read (%s)", self.found.origin, error)
                return audio


class OvosIntentTransformer(OvosTransformer, IntentTransformer):
    def transform(self, match: Match, ctx: Ctx) -> Match:
        self._bus.settle()
        given = dict(match.slots)
        # A slot can be matched by a vocabulary of its own: plugins that add slots find them in `match_data`.
        fields = {
            "match_type": match.topic,
            "match_data": dict(given),
            "skill_id": match.skill_id,
            "utterance": match.utterance,
            "updated_session": _ovos_session(legacy_session(ctx.session, match.lang)),
        }
        result = self._inner.transform(_intent_match(fields))
        found = getattr(result, "match_data", None)
        if not isinstance(found, Mapping):
            return match
        slots = {name: text for name, value in found.items() if (text := slot_text(value)) is not None}
        return match.replace(slots=slots) if slots != given else match


def _named(session: Any) -> Any:
    """The id of a session as plugins know it: its other fields are never taken over."""
    return session.get("session_id") if isinstance(session, Mapping) else session


def _lang(session: Any) -> Any:
    return session.get("lang") if isinstance(session, Mapping) else None


def slot_text(value: Any) -> str | None:
    """A slot as text; None for what has no text of its own."""
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return None


def _intent_match(fields: Mapping[str, Any]) -> Any:
    try:
        made = import_module("ovos_plugin_manager.templates.pipeline").IntentHandlerMatch
    except (ImportError, AttributeError):  # older than that class
        return SimpleNamespace(**fields)
    return made(**{name: fields[name] for name in accepts(made, *fields)})


def _ovos_session(fields: dict[str, Any]) -> Any:
    return import_module("ovos_bus_client.session").Session.deserialize(fields)


CLASSES: Final[Mapping[str, type[OvosTransformer]]] = {
    "audio": OvosAudioTransformer,
    "utterance": OvosUtteranceTransformer,
    "metadata": OvosMetadataTransformer,
    "intent": OvosIntentTransformer,
    "dialog": OvosDialogTransformer,
    "tts": OvosTTSTransformer,
}
