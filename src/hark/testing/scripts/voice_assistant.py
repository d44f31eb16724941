"""An assistant that is spoken to and answers by voice, for one conversation."""

from __future__ import annotations

import asyncio
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, Final

from hark.app.services import Hear, Speak
from hark.app.settings import Settings
from hark.app.voice.engines import VoiceConfig
from hark.hear import Listener
from hark.hear.transcript import checked
from hark.hosting import Engines
from hark.model import Audio, Message
from hark.model.resample import resample_mono
from hark.plugins.engines import SAMPLE_RATE
from hark.speak import SpokenResponse
from hark.spec import DEFAULT_SESSION_ID, topics
from hark.spec.names import CAPTURE_ID
from hark.testing.scripts.assistant import NOTHING_TO_INTERRUPT, NotHeard, ScriptAssistant
from hark.testing.scripts.device import MARK, Device, ScriptTurn, SpokenAnswer
from hark.testing.scripts.pattern import plain
from hark.testing.scripts.script import HERE
from hark.testing.scripts.setup import PluginsFactory
from hark.testing.scripts.voice import ScriptLoudspeaker, ScriptMicrophone, UserVoice, VoiceSetup

_ALIKE: Final = 0.7
"""How alike two spellings of one word are."""
_MOST: Final = 0.6
"""The share of words that has to be found."""


def mostly_in(text: str, heard: str) -> bool:
    """Whether most words of `text` are in what was `heard`. Numbers, which are recognised as words, do not count."""
    words = [word for word in plain(text).replace("-", " ").split() if word.isalpha()]
    found = plain(heard).replace("-", " ").split()
    if not words:
        return bool(found)
    return sum(any(_alike(word, one) for one in found) for word in words) >= _MOST * len(words)


def misheard(said: str, outcome: Message | None) -> str:
    """A note on what was recognised, if that is not what was `said`."""
    if outcome is None or outcome.type == topics.STT_FAILED:
        return f'nothing was recognised of "{said}"'
    heard = str((outcome.data.get("utterances") or ("",))[0])
    return f'"{said}" was recognised as "{heard}"' if plain(heard) != plain(said) else ""


def _alike(word: str, other: str) -> bool:
    return word == other or SequenceMatcher(None, word, other, autojunk=False).ratio() >= _ALIKE


_PIECE: Final = 1_536
"""Samples that are heard at a time, after which the clock is advanced."""
_SILENCE: Final = bytes(2 * _PIECE)
_A_BREATH: Final = 4 * _SILENCE
"""The silence between the wake word and the command: 0.4 s."""
_FIRST_WORDS: Final = 0.3
"""Seconds that Hark speaks before it is interrupted."""
_TICK: Final = 1e-6
_HUSH: Final = 0.05
_OUTCOMES: Final = (topics.UTTERANCE_HANDLE, topics.STT_FAILED, topics.UTTERANCE_CANCELLED)
"""The possible outcomes of a spoken utterance."""


class VoiceScriptAssistant(ScriptAssistant):
    """An assistant whose own device has a microphone and a loudspeaker; other devices use text.

    Time passes with every sample that is heard and played, so an interruption is at the same sample every time. While
    engines work, it stands still.
    """

    patience = 60.0

    def __init__(
        self, settings: Settings, plugins: PluginsFactory, data_root: Path, wall: float, zone: str, setup: VoiceSetup
    ) -> None:
        super().__init__(settings, plugins, data_root, wall, zone)
        self._setup = setup
        self._outcome: Message | None = None
        """The outcome of the last utterance."""
        self._said_last = ""
        self._user = UserVoice(setup)
        self._stopped = 0
        """How often a speech of Hark was interrupted."""

    # Speaking to it.

    async def say(self, device: Device, text: str, lang: str | None) -> None:
        """Speak to it: the wake word first, unless Hark is listening already."""
        if device.name != HERE:
            await super().say(device, text, lang)
            return
        lang = lang or self._main
        sound = await self._user.synthesise(text, lang)
        if self._listener.state == "listening":
            await self._hear(_A_BREATH)  # users do not answer at once
        else:
            await self._wake(lang)
        await self._command(device, text, sound)

    async def interrupt(self, device: Device, text: str, lang: str | None) -> None:
        """Interrupt it: the wake word stops its speech."""
        if device.name != HERE:
            await super().interrupt(device, text, lang)
            return
        if not self._is_speaking():
            raise NotHeard(NOTHING_TO_INTERRUPT, "what it said may be over already: let it say more")
        sound = await self._user.synthesise(text, lang or self._main)
        await self._pass(_FIRST_WORDS)
        stopped = self._stopped
        await self._wake(lang or self._main)
        if self._is_speaking():
            raise NotHeard("Hark goes on speaking", "with barge_in = false in [voice], it cannot be interrupted")
        if self._stopped == stopped:
            raise NotHeard("Hark had finished speaking before the wake word was over", "let it say more")
        device.unread.clear()
        await self._command(device, text, sound)

    async def _wake(self, lang: str) -> None:
        """Make Hark listen."""
        if self._hear_options.opens_by == "speech":
            return
        if lang != self._main:  # as by a button for this language
            if not self._listener.listen(None, lang):
                raise NotHeard("Hark does not listen")
            return
        word = self._hear_options.wake_words[0]
        sound = await self._user.synthesise(word.phrase, word.lang or self._main)
        await self._hear(sound)
        await self._hear(_A_BREATH)
        if self._listener.state != "listening":
            raise NotHeard(f'the wake word "{word.phrase}" was not heard', "try another engine with --voice")

    async def _command(self, device: Device, text: str, sound: bytes) -> None:
        self._outcome, self._said_last = None, text
        device.spoke = False
        await self._hear(sound)
        await self._hear(_SILENCE)
        while self._listener.state == "listening":
            await self._hear(_SILENCE)
        async with asyncio.timeout(self.patience):
            await self._listener.idle()
        await self.settle_turns()

    async def _hear(self, samples: bytes) -> None:
        """Let it hear a sound, and advance the clock by its length."""
        samples += bytes(-len(samples) % (2 * _PIECE))
        for start in range(0, len(samples), 2 * _PIECE):
            piece = samples[start : start + 2 * _PIECE]
            async with asyncio.timeout(self.patience):
                await self._microphone.hear(piece)
            await self.clock.advance(len(piece) / (2 * SAMPLE_RATE), self._idle)

    # Listening to it.

    def _is_speaking(self) -> bool:
        return self.runtime.speaker.pending > 0

    def _has_unspoken(self) -> bool:
        return False  # speech takes time

    async def finish_speaking(self) -> None:
        """See `ScriptAssistant`."""
        while await self.speak_on():
            pass

    async def speak_on(self) -> bool:
        """See `ScriptAssistant`."""
        await self._idle()
        left = self._loudspeaker.left
        if left is not None:
            await self._pass(left + _TICK)
            return True
        # It is about to speak, or an engine is still working, which takes real time.
        return self._is_speaking() and await self.has_activity(_HUSH)

    async def speech_fault(self, said: SpokenAnswer) -> str:
        """See `ScriptAssistant`."""
        if said.failed:
            return "Hark could not speak it"
        if not (self._setup.listen_back and said.sounds and said.complete):
            return ""
        pause = bytes(SAMPLE_RATE // 2)
        whole = Audio(pause.join(resample_mono(sound, SAMPLE_RATE).samples for sound in said.sounds), SAMPLE_RATE)
        done = await self._recognisers.do(whole, self._main, lang=self._main, check=checked)
        heard: tuple[str, ...] = done.value.utterances if done is not None else ()
        # Any hypothesis will do: the first may be a command that it sounds like.
        if any(mostly_in(said.text, one) for one in heard):
            return ""
        return f'what is recognised of it is "{"".join(heard[:1])}"'

    def hint(self, device: Device) -> str:
        """What was recognised, if that is not what was said."""
        if device.name != HERE or not self._said_last:
            return ""
        return misheard(self._said_last, self._outcome)

    # Time.

    async def wait(self, seconds: float) -> None:
        """See `ScriptAssistant`."""
        await self._pass(seconds)
        await self.settle_turns()

    async def _pass(self, seconds: float) -> None:
        """Let time pass in which no user speaks; while Hark listens, it hears silence."""
        end = self.clock.monotonic() + seconds
        while (left := end - self.clock.monotonic()) > _TICK / 2:
            if self._listener.state == "listening":
                await self._hear(_SILENCE)
            else:
                due = self.clock.due
                await self.clock.advance(left if due is None else min(left, max(due, 0.0) + _TICK), self._idle)

    # The assistant.

    def _voice_config(self) -> VoiceConfig:
        self._microphone, self._loudspeaker = ScriptMicrophone(), ScriptLoudspeaker(self.clock.monotonic)
        config = self._setup.config(self._settings, self._microphone, self._loudspeaker)
        self._hear_options = config.hear_options(self._settings)
        self._main = self._hear_options.lang
        return config

    async def _open(self) -> None:
        await super()._open()
        hear, speak = self.runtime.services["hear"], self.runtime.services["speak"]
        if not (isinstance(hear, Hear) and hear.engines and isinstance(speak, Speak) and speak.engines):
            raise LookupError("this assistant has no engines to hear or speak with")
        self._listener: Listener = self.runtime.listener
        self._recognisers: Engines[Any] = hear.engines.by_kind["stt"]
        answering = next(iter(speak.engines.by_kind["tts"].registry), None)
        await self._user.load(self.runtime, self._settings, None if answering is None else answering.plugin)

    async def _close(self) -> None:
        await self._user.close()
        await super()._close()

    def _turn_of(self, message: Message) -> ScriptTurn | None:
        """The turn of a Message; utterances that were heard are marked by the listener."""
        if MARK in message.context:
            return super()._turn_of(message)
        mark = message.context.get(CAPTURE_ID)
        if message.type == topics.UTTERANCE_HANDLE and isinstance(mark, str) and self.turns.get(mark) is None:
            self.turns.begin(self.device(HERE), mark)
        return self.turns.get(mark)

    def _on_message(self, message: Message) -> None:
        if self._is_open and message.session_id == DEFAULT_SESSION_ID:
            if message.type in _OUTCOMES and CAPTURE_ID in message.context:
                self._outcome = message
            elif message.type == topics.SPEECH_RENDERED:
                self._on_speech_end(message.data.get("outcome"))
        super()._on_message(message)

    def _on_speech_end(self, outcome: object) -> None:
        """A speech has ended."""
        saying = self._loudspeaker.saying
        self._stopped += outcome == "stopped"
        if saying is not None and outcome == "stopped":
            saying.complete = False
        elif saying is not None and outcome == "failed":
            saying.failed = True

    def _on_rendered(self, spoken: SpokenResponse) -> None:
        super()._on_rendered(spoken)
        if self._is_open and spoken.message.session_id == DEFAULT_SESSION_ID:
            self._loudspeaker.saying = self.device(HERE).unread[-1]
