"""Transformers that come with Hark and are off until the settings name them, by chain. See docs/transformers.md.

Nothing of them is imported here: this is the catalogue.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Final, Literal

import msgspec

from hark import hints
from hark.plugins import AudioTap, Transformer
from hark.spec import TransformerType

ChainName = TransformerType | Literal["audio_tap"]
"""A chain, or the taps that hear sound before it is recorded."""


class ShippedTransformer(msgspec.Struct, frozen=True):
    """A transformer that comes with Hark: where its class is, and what it needs."""

    kind: ChainName
    id: str
    place: str
    """Module and class, the module relative to this package."""
    about: str
    """One line for lists."""
    extra: str = ""
    """The extra that installs what it needs; empty: it needs nothing."""
    modules: tuple[str, ...] = ()
    """The modules that the extra installs."""

    @property
    def name(self) -> str:
        """Chain and id, as the settings can name it."""
        return f"{self.kind}.{self.id}"

    @property
    def missing(self) -> str:
        """What has to be installed to use it; empty when everything is there."""
        lacking = [module for module in self.modules if find_spec(module) is None]
        return hints.install_extra(self.extra) if lacking else ""

    def load(self) -> type[Transformer] | type[AudioTap]:
        """Its class."""
        module, _, name = self.place.partition(":")
        found: type[Transformer] | type[AudioTap] = getattr(import_module(f"{__name__}.{module}"), name)
        return found


def _shipped(kind: ChainName, *rows: tuple[str, ...]) -> Iterator[ShippedTransformer]:
    for plugin_id, place, about, *needs in rows:
        extra, *modules = needs or [""]
        yield ShippedTransformer(kind, plugin_id, place, about, extra, tuple(modules))


SHIPPED: Final[tuple[ShippedTransformer, ...]] = (
    *_shipped(
        "audio_tap",
        ("sound-data", "audio.data_over_sound:DataOverSound", "receives texts that other devices send over sound",
         "sound-data", "ggwave"),
    ),
    *_shipped(
        "audio",
        ("privacy", "metadata.privacy:SoundPrivacy", "what the trace may keep of a command, before it is recognised"),
        ("publish", "audio.publish:PublishedSound", "sends a copy of each command to NATS or Redis"),
        ("denoise", "audio.noise:NoiseSuppression", "removes steady noise", "denoise", "webrtc_noise_gain"),
        ("level", "audio.level:SpeechLevel", "brings quiet speech to one level and trims silence", "sound", "numpy"),
        ("spoken-language", "audio.language:SpokenLanguage", "hears which language is spoken, a hint for recognition",
         "faster-whisper", "ctranslate2", "tokenizers"),
    ),
    *_shipped(
        "utterance",
        ("language", "utterance.language:WrittenLanguage", "detects the language of a text", "language", "py3langid"),
        ("corrections", "utterance.corrections:Corrections", "replaces what is often misheard, from a file"),
        ("validate", "utterance.validate:TranscriptValidator", "asks again where recognition gave nonsense"),
        ("translate", "translation:UtteranceTranslation", "translates what is said into the assistant's language"),
        ("policy", "guards:PolicyGuard", "refuses what rules forbid, by device, time and language"),
    ),
    *_shipped(
        "metadata",
        ("privacy", "metadata.privacy:TurnPrivacy", "what the trace may keep of a turn, by device"),
        ("rate-limit", "metadata.rate_limit:RateLimit", "limits how often each source may speak"),
        ("router", "metadata.router:Router", "chooses pipeline, persona and language by device, time and wake word"),
    ),
    *_shipped(
        "intent",
        ("entities", "intent.entities:EntityLookup", "finds names from lists of any size", "entities",
         "ahocorasick_rs"),
        ("keywords", "intent.keywords:TemplateKeywords", "fills slots from the templates of the matched intent"),
        ("defaults", "intent.defaults:SessionDefaults", "fills slots from the session: place, zone, units"),
        ("redact", "intent.redaction:SlotRedaction", "hides personal data from handlers that are not trusted"),
    ),
    *_shipped(
        "dialog",
        ("tone", "dialog.tone:ModelTone", "has a model reword answers, within a time budget"),
        ("length", "dialog.length:LengthCap", "keeps answers short"),
        ("content", "guards:ContentGuard", "keeps words out of answers"),
        ("translate", "translation:DialogTranslation", "translates answers into the user's language"),
        ("speakable", "dialog.speakable:Speakable", "writes out numbers, dates, units and symbols; drops markup",
         "speakable", "unicode_rbnf"),
    ),
    *_shipped(
        "tts",
        ("tempo", "tts.tempo:TempoAndPitch", "changes tempo and pitch of speech", "tempo", "python_stretch"),
        ("loudness", "tts.loudness:SpeechLoudness", "brings every voice to one loudness (BS.1770)", "sound", "numpy"),
        ("earcon", "tts.earcon:AnswerEarcon", "plays a short sound before each answer"),
    ),
)  # fmt: skip
"""All of them, by chain and in the order in which they run by priority."""


def named(wanted: str) -> tuple[ShippedTransformer, ...]:
    """The transformers that a name of [transformers] enable means: an id, or chain and id."""
    return tuple(one for one in SHIPPED if wanted in (one.id, one.name))
