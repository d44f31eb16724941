"""A recogniser of the sentences that skills registered, and nothing else."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from hark.builtin.engines.extras import need, release
from hark.builtin.engines.pocketsphinx.decoder import DecodedSentence, Decoder
from hark.builtin.engines.pocketsphinx.pronounce import phones_of
from hark.builtin.engines.speech_grammar.grammar import Grammar
from hark.builtin.engines.speech_grammar.graph import WordGraph
from hark.builtin.engines.speech_grammar.registrations import GrammarLearner, LiveGrammar
from hark.model import Audio
from hark.model.resample import resample_mono
from hark.plugins import Message
from hark.plugins.engines import STTEngine, Transcript, Unavailable
from hark.plugins.plugin import Host

_WHOLE, _WORST, _HIDDEN = 2.4, 3.8, 1.2
"""How much worse than phones a command may fit: on the whole, in its worst word, and in what it leaves out.
Measured; see docs/voice.md."""


class Pocketsphinx(STTEngine):
    """For very small devices: seventy megabytes, a ninth of real time, no network.

    Its grammar is built from the templates that skills register, while it runs. Speech that fits no template has an
    empty transcript, and the fallback engine is asked, if one is set. Templates with slots that can hold anything and
    keyword intents are not in the grammar.
    """

    id = "pocketsphinx"
    langs: Collection[str] | None = ("en",)

    @dataclass(frozen=True)
    class Settings:
        """What a deployer may set."""

        phrases: tuple[str, ...] = (
            "stop [it|that|everything|talking]",
            "be quiet",
            "yes [please]",
            "no [thanks|thank you]",
            "never mind",
            "cancel [that]",
        )
        """Templates in addition to those that skills register."""
        pronunciations: Mapping[str, str] = field(default_factory=dict)
        """Pronunciations of words that are in no dictionary, such as { roomba = "R UW M B AH" }."""
        strictness: Annotated[float, Meta(gt=0, le=4)] = 1.0
        """How well a command has to fit: 2 is twice as well, 0.5 half as well. Below 1, more other speech passes."""
        model: str = ""
        """The folder of an acoustic model; else the English one inside the package."""
        dictionary: str = ""
        """The dictionary of that model."""
        langs: tuple[str, ...] = ("en",)
        """The languages of that model."""
        otherwise: str = ""
        """The id of another recogniser that comes with Hark, which is asked when no sentence fits, such as
        "faster-whisper"."""
        otherwise_settings: Mapping[str, Any] = field(default_factory=dict)
        """The settings of that recogniser."""

    settings: Settings

    def __init__(self) -> None:
        self._live_grammar = LiveGrammar()
        self._lock = Lock()
        self._lang = ""
        self._grammar: Grammar | None = None
        self._error = ""
        self._guessed: dict[str, str] = {}
        self._graph: WordGraph | None = None
        self._fallback: Any = None

    def load(self) -> None:
        settings = self.settings
        library = need("pocketsphinx", "pocketsphinx")
        model = settings.model or library.get_model_path("en-us/en-us")
        dictionary = settings.dictionary or library.get_model_path("en-us/cmudict-en-us.dict")
        for path in map(Path, (model, dictionary)):
            if not path.exists():
                raise Unavailable(f"{path} is not there", "correct the settings `model` and `dictionary`")
        self._decoder = Decoder(library, str(model), str(dictionary))
        self.langs = settings.langs
        if settings.otherwise:
            self._fallback = _fallback_engine(
                settings.otherwise, settings.otherwise_settings, getattr(self, "host", None)
            )
            self.langs = None if self._fallback.langs is None else (*settings.langs, *self._fallback.langs)

    def warm_up(self) -> None:
        self._decode(bytes(32_000), next(iter(self.settings.langs), "en"))
        if self._fallback is not None:
            self._fallback.warm_up()

    async def start(self) -> None:
        """Follow what skills register, and have skills that registered before do so again."""
        self._live_grammar = LiveGrammar()  # registrations of another assistant do not count
        self._live_grammar.start(self.host, self.learn, self._update_in_background)

    def unload(self) -> None:
        with self._lock:
            del self._decoder
        if self._fallback is not None:
            self._fallback.unload()

    def transcribe(self, audio: Audio, lang: str) -> Transcript:
        """A registered sentence; else the transcript of the fallback engine, or an empty one."""
        primary = lang.lower().partition("-")[0]
        if any(known.lower().partition("-")[0] == primary for known in self.settings.langs):
            found = self._decode(resample_mono(audio).samples, lang)
            if found.utterances or self._fallback is None:
                return found
        transcript: Transcript = self._fallback.transcribe(audio, lang)
        return transcript

    def _decode(self, samples: bytes, lang: str) -> Transcript:
        """The sentence that fits best, if it fits well enough."""
        with self._lock:
            self._update_grammar(lang)
            heard = self._decoder.decode(samples) if samples else None
        if heard is None:
            return Transcript()
        misfit = _misfit(heard)
        if misfit * self.settings.strictness > 1:
            return Transcript()
        return Transcript((" ".join(heard.words),), confidence=1 / (1 + misfit * misfit))

    def about(self) -> str:
        known = f"{release('pocketsphinx')}, {len(self._graph.words) if self._graph else 0} words"
        notes = []
        left_out = self._grammar.open if self._grammar else ()
        if left_out:
            notes.append(f"{len(left_out)} open templates not recognised, such as {left_out[0]!r}")
        if self._live_grammar.keyword_intents:
            notes.append(f"{self._live_grammar.keyword_intents} keyword intents not recognised")
        if self._guessed:
            notes.append(f"pronunciation guessed: {', '.join(sorted(self._guessed))}")
        if self._fallback is not None:
            notes.append(f"fallback: {self._fallback.about()}")
        return "; ".join((known, *notes))

    def learn(self, message: Message) -> bool:
        """Take in a registration (INTENT-4), for the next speech. Return whether it changed anything."""
        if isinstance(self._fallback, GrammarLearner):
            self._fallback.learn(message)
        return self._live_grammar.learn(message)

    def _update_in_background(self) -> None:
        with self._lock:
            self._update_grammar(self._lang or next(iter(self.settings.langs), "en"))

    def _update_grammar(self, lang: str) -> None:
        """Decode what may be said now. The caller holds the lock."""
        self._lang = lang.lower().partition("-")[0]
        grammar = self._live_grammar.grammar(lang, self.settings.phrases)
        if self._live_grammar.error != self._error:
            self._error = self._live_grammar.error
            if self._error:
                log = self.host.log
                log.error("the registered sentences are too many (%s): the last grammar stays in use", self._error)
        if grammar is None or grammar is self._grammar:
            return
        self._grammar = grammar
        self._graph = self._with_pronunciations(grammar)
        self._decoder.listen_for(self._graph)

    def _with_pronunciations(self, grammar: Grammar) -> WordGraph:
        """The graph without words that have no pronunciation, which are logged."""
        unknown = set()
        for word in sorted(grammar.graph.words):
            own = self.settings.pronunciations.get(word)
            if not own and self._decoder.knows(word):
                continue
            phones = own or phones_of(word)
            if phones and (own or self._lang == "en"):
                if word not in self._guessed and not own:
                    self._guessed[word] = phones
                if not self._decoder.knows(word):
                    self._decoder.add_word(word, phones)
            else:
                unknown.add(word)
        if unknown:
            self.host.log.warning("words without a pronunciation are not recognised: %s", ", ".join(unknown))
        return grammar.graph.without(unknown)


def _misfit(sentence: DecodedSentence) -> float:
    """How near the limit a sentence is: 0 fits perfectly, beyond 1 it does not fit."""
    return max(0.0, -sentence.whole / _WHOLE, -sentence.worst / _WORST, -sentence.hidden / _HIDDEN)


def _fallback_engine(engine_id: str, settings: Mapping[str, Any], host: Host | None) -> Any:
    """Load another recogniser that comes with Hark; raises `Unavailable`."""
    from hark.builtin.engines import ENGINES, engine_class  # that module refers to this package

    known = [name for kind, name in ENGINES if kind == "stt" and name != "pocketsphinx"]
    if engine_id not in known:
        raise Unavailable(f"there is no recogniser {engine_id!r}", f"there are: {', '.join(known)}")
    kind = engine_class("stt", engine_id)
    other: Any = kind()
    for name in settings:
        if name not in kind.Settings.__dataclass_fields__:
            raise Unavailable(f"{engine_id} has no setting {name!r}", "correct `otherwise_settings`")
    try:
        other.settings = msgspec.convert(dict(settings), kind.Settings, strict=False)
    except msgspec.ValidationError as error:
        raise Unavailable(f"the settings of {engine_id} are wrong: {error}", "correct `otherwise_settings`") from None
    if host is not None:
        other.host = host
    other.load()
    return other
