"""A recogniser that understands what the skills registered, and nothing else."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Annotated, Any

from msgspec import Meta

from hark.builtin.engines.extras import need, release
from hark.builtin.engines.pocketsphinx.decoder import DecodedSentence, Decoder
from hark.builtin.engines.pocketsphinx.fallback import fallback_engine
from hark.builtin.engines.pocketsphinx.pronounce import sounds_of
from hark.builtin.engines.speech_grammar.grammar import Grammar
from hark.builtin.engines.speech_grammar.graph import WordGraph
from hark.builtin.engines.speech_grammar.registrations import GrammarLearner, LiveGrammar
from hark.model import Audio
from hark.model.resample import resample_mono
from hark.plugins import Message
from hark.plugins.engines import STTEngine, Transcript, Unavailable

_WHOLE, _WORST, _HIDDEN = 2.4, 3.8, 1.2
"""How much worse than mere sounds a command may fit: on the whole, in its worst word, and in what it leaves out.
Measured; see docs/voice.md."""


class Pocketsphinx(STTEngine):
    """For very small devices and closed questions: seventy megabytes, a ninth of the time of the speech, no network.

    Its grammar is made of the templates that skills register, while it runs. What fits no template is nothing: then
    the next engine may be asked. Left to it are templates whose slots can hold anything, and intents by keywords.
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
        """Templates that may be said besides what skills register."""
        pronunciations: Mapping[str, str] = field(default_factory=dict)
        """How words sound that are in no dictionary, such as { roomba = "R UW M B AH" }."""
        strictness: Annotated[float, Meta(gt=0, le=4)] = 1.0
        """How well a command has to fit: at 2 twice as well, at 0.5 half as well. Less, and talk becomes commands."""
        model: str = ""
        """The folder of an acoustic model; else the English one inside the package."""
        dictionary: str = ""
        """The dictionary of that model."""
        langs: tuple[str, ...] = ("en",)
        """The languages of that model."""
        otherwise: str = ""
        """The id of another recogniser that comes with Hark, which is asked where nothing fits: with
        "faster-whisper", commands are understood as commands, and everything else is written down."""
        otherwise_settings: Mapping[str, Any] = field(default_factory=dict)
        """The settings of that one."""

    settings: Settings

    def __init__(self) -> None:
        self._following = LiveGrammar()
        self._lock = Lock()
        self._lang = ""
        self._grammar: Grammar | None = None
        self._trouble = ""
        self._guessed: dict[str, str] = {}
        self._graph: WordGraph | None = None
        self._other: Any = None

    def load(self) -> None:
        """As promised by `Engine`."""
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
            self._other = fallback_engine(settings.otherwise, settings.otherwise_settings, getattr(self, "host", None))
            self.langs = None if self._other.langs is None else (*settings.langs, *self._other.langs)

    def warm_up(self) -> None:
        """As promised by `Engine`."""
        self._fitting(bytes(32_000), next(iter(self.settings.langs), "en"))
        if self._other is not None:
            self._other.warm_up()

    async def start(self) -> None:
        """Follow what skills register, and have those who did so already say it again."""
        self._following = LiveGrammar()  # what was registered in another house is not said in this one
        self._following.start(self.host, self.learn, self._catch_up)

    def unload(self) -> None:
        """As promised by `Engine`."""
        with self._lock:
            del self._decoder
        if self._other is not None:
            self._other.unload()

    def transcribe(self, audio: Audio, lang: str) -> Transcript:
        """As promised by `STTEngine`: a sentence that may be said; else what the other one makes of it, or nothing."""
        primary = lang.lower().partition("-")[0]
        if any(known.lower().partition("-")[0] == primary for known in self.settings.langs):
            found = self._fitting(resample_mono(audio).samples, lang)
            if found.utterances or self._other is None:
                return found
        said: Transcript = self._other.transcribe(audio, lang)
        return said

    def _fitting(self, samples: bytes, lang: str) -> Transcript:
        """The sentence that fits, if it fits well enough."""
        with self._lock:
            self._keep_up(lang)
            heard = self._decoder.hear(samples) if samples else None
        if heard is None:
            return Transcript()
        misfit = _misfit(heard)
        if misfit * self.settings.strictness > 1:
            return Transcript()
        return Transcript((" ".join(heard.words),), confidence=1 / (1 + misfit * misfit))

    def about(self) -> str:
        """As promised by `Engine`."""
        known = f"{release('pocketsphinx')}, {len(self._graph.words) if self._graph else 0} words"
        notes = []
        left_out = self._grammar.open if self._grammar else ()
        if left_out:
            notes.append(f"{len(left_out)} open templates left to others, such as {left_out[0]!r}")
        if self._following.keyword_intents:
            notes.append(f"{self._following.keyword_intents} keyword intents left to others")
        if self._guessed:
            notes.append(f"pronunciation guessed: {', '.join(sorted(self._guessed))}")
        if self._other is not None:
            notes.append(f"otherwise {self._other.about()}")
        return "; ".join((known, *notes))

    def learn(self, message: Message) -> bool:
        """Take in a registration (INTENT-4); whether anything is different now. It counts from the next speech on."""
        if isinstance(self._other, GrammarLearner):
            self._other.learn(message)
        return self._following.learn(message)

    def _catch_up(self) -> None:
        with self._lock:
            self._keep_up(self._lang or next(iter(self.settings.langs), "en"))

    def _keep_up(self, lang: str) -> None:
        """Listen for what may be said now. With the lock held."""
        self._lang = lang.lower().partition("-")[0]
        grammar = self._following.grammar(lang, self.settings.phrases)
        if self._following.trouble != self._trouble:
            self._trouble = self._following.trouble
            if self._trouble:
                log = self.host.log
                log.error("there is too much that may be said (%s): it goes on with what it had", self._trouble)
        if grammar is None or grammar is self._grammar:
            return
        self._grammar = grammar
        self._graph = self._pronounced(grammar)
        self._decoder.listen_for(self._graph)

    def _pronounced(self, grammar: Grammar) -> WordGraph:
        """The graph of what can be pronounced; the rest is left out, and the log says so."""
        mute = set()
        for word in sorted(grammar.graph.words):
            own = self.settings.pronunciations.get(word)
            if not own and self._decoder.knows(word):
                continue
            sounds = own or sounds_of(word)
            if sounds and (own or self._lang == "en"):
                if word not in self._guessed and not own:
                    self._guessed[word] = sounds
                if not self._decoder.knows(word):
                    self._decoder.learn(word, sounds)
            else:
                mute.add(word)
        if mute:
            self.host.log.warning("nobody knows how these sound, so they are not understood: %s", ", ".join(mute))
        return grammar.graph.without(mute)


def _misfit(heard: DecodedSentence) -> float:
    """How near the limit it is: 0 fits as well as can be, beyond 1 it is no command."""
    return max(0.0, -heard.whole / _WHOLE, -heard.worst / _WORST, -heard.hidden / _HIDDEN)
