"""An assistant that is spoken to and answers by voice, for one conversation."""

from __future__ import annotations

import asyncio
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, Final

from hark.app.services.hear import Hear
from hark.app.services.speak import Speak
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
from hark.testing.scripts.setup import Make
from hark.testing.scripts.voice import ScriptLoudspeaker, ScriptMicrophone, UserVoice, VoiceSetup

_ALIKE: Final = 0.7
"""How alike two spellings of one word are."""
_MOST: Final = 0.6
"""The share of words that has to be found."""


def mostly_in(text: str, heard: str) -> bool:
    """Whether most words of `text` are in what was `heard`. Numbers, which are heard as words, do not count."""
    words = [word for word in plain(text).replace("-", " ").split() if word.isalpha()]
    found = plain(heard).replace("-", " ").split()
    if not words:
        return bool(found)
    return sum(any(_alike(word, one) for one in found) for word in words) >= _MOST * len(words)


def misheard(said: str, outcome: Message | None) -> str:
    """What was understood, where that is not what was `said`."""
    if outcome is None or outcome.type == topics.STT_FAILED:
        return f'nothing was understood of "{said}"'
    heard = str((outcome.data.get("utterances") or ("",))[0])
    return f'"{said}" was understood as "{heard}"' if plain(heard) != plain(said) else ""


def _alike(word: str, other: str) -> bool:
    return word == other or SequenceMatcher(None, word, other, autojunk=False).ratio() >= _ALIKE


_PIECE: Final = 1_536
"""Samples that are heard at a time, after which the clock shows that they were."""
_SILENCE: Final = bytes(2 * _PIECE)
_A_BREATH: Final = 4 * _SILENCE
"""The silence between the wake word and what somebody wants: 0.4 s."""
_FIRST_WORDS: Final = 0.3
"""Seconds that Hark may talk before it is interrupted."""
_TICK: Final = 1e-6
_HUSH: Final = 0.05
_OUTCOMES: Final = (topics.UTTERANCE_HANDLE, topics.STT_FAILED, topics.UTTERANCE_CANCELLED)
"""What can become of something that is said."""


class VoiceScriptAssistant(ScriptAssistant):
    """A stage whose own device has ears and a mouth. Other devices are elsewhere, and deal in text.

    Time passes with every sample that is heard and played: who is interrupted is so at the same sample every time.
    While engines are at work it stands still.
    """

    patience = 60.0

    def __init__(
        self, settings: Settings, plugins: Make, data_root: Path, wall: float, zone: str, by: VoiceSetup
    ) -> None:
        super().__init__(settings, plugins, data_root, wall, zone)
        self._by = by
        self._outcome: Message | None = None
        """What became of what was last said."""
        self._said_last = ""
        self._user = UserVoice(by)
        self._stopped = 0
        """How often Hark was made to fall silent."""

    # Speaking to it.

    async def says(self, device: Device, text: str, lang: str | None) -> None:
        """As promised by `ScriptAssistant`: with the wake word first, unless Hark listens anyway."""
        if device.name != HERE:
            await super().says(device, text, lang)
            return
        lang = lang or self._main
        sound = await self._user.says(text, lang)
        if self._listener.state == "listening":
            await self._hear(_A_BREATH)  # who is asked something does not answer at once
        else:
            await self._call(lang)
        await self._command(device, text, sound)

    async def interrupts(self, device: Device, text: str, lang: str | None) -> None:
        """As promised by `ScriptAssistant`: the wake word makes Hark fall silent."""
        if device.name != HERE:
            await super().interrupts(device, text, lang)
            return
        if not self._talks():
            raise NotHeard(NOTHING_TO_INTERRUPT, "what it said may be over already: let it say more")
        sound = await self._user.says(text, lang or self._main)
        await self._pass(_FIRST_WORDS)
        stopped = self._stopped
        await self._call(lang or self._main)
        if self._talks():
            raise NotHeard("Hark goes on talking", "with barge_in = false in [voice], nobody interrupts it")
        if self._stopped == stopped:
            raise NotHeard("Hark had finished talking before the wake word was over", "let it say more")
        device.unread.clear()
        await self._command(device, text, sound)

    async def _call(self, lang: str) -> None:
        """Have Hark listen."""
        if self._aloud_options.opens_by == "speech":
            return
        if lang != self._main:  # by its button, which is for this language
            if not self._listener.listen(None, lang):
                raise NotHeard("Hark does not listen")
            return
        word = self._aloud_options.wake_words[0]
        sound = await self._user.says(word.phrase, word.lang or self._main)
        await self._hear(sound)
        await self._hear(_A_BREATH)
        if self._listener.state != "listening":
            raise NotHeard(
                f'the wake word "{word.phrase}" was not heard', "try another voice: hark test --voice ENGINE"
            )

    async def _command(self, device: Device, text: str, sound: bytes) -> None:
        self._outcome, self._said_last = None, text
        device.spoke = False
        await self._hear(sound)
        await self._hear(_SILENCE)
        while self._listener.state == "listening":
            await self._hear(_SILENCE)
        async with asyncio.timeout(self.patience):
            await self._listener.idle()
        await self.calm()

    async def _hear(self, samples: bytes) -> None:
        """Let it hear some sound, and let the time pass that this takes."""
        samples += bytes(-len(samples) % (2 * _PIECE))
        for start in range(0, len(samples), 2 * _PIECE):
            piece = samples[start : start + 2 * _PIECE]
            async with asyncio.timeout(self.patience):
                await self._ear.hears(piece)
            await self.clock.advance(len(piece) / (2 * SAMPLE_RATE), self._idle)

    # Listening to it.

    def _talks(self) -> bool:
        return self.house.speaker.pending > 0

    def _unsaid(self) -> bool:
        return False  # what is said takes time

    async def quiet(self) -> None:
        """As promised by `ScriptAssistant`."""
        while await self.talks_on():
            pass

    async def talks_on(self) -> bool:
        """As promised by `ScriptAssistant`."""
        await self._idle()
        left = self._mouth.left
        if left is not None:
            await self._pass(left + _TICK)
            return True
        # It is about to say something; or what is to be said is still being made, by somebody who takes real time.
        return self._talks() and await self.stirs(_HUSH)

    async def doubt(self, said: SpokenAnswer) -> str:
        """As promised by `ScriptAssistant`."""
        if said.failed:
            return "Hark could not say it aloud"
        if not (self._by.listen_back and said.sounds and said.whole):
            return ""
        pause = bytes(SAMPLE_RATE // 2)
        whole = Audio(pause.join(resample_mono(sound, SAMPLE_RATE).samples for sound in said.sounds), SAMPLE_RATE)
        done = await self._recognisers.do(whole, self._main, lang=self._main, check=checked)
        heard: tuple[str, ...] = done.value.utterances if done is not None else ()
        # Any reading will do: the first may be a command that it sounds like.
        if any(mostly_in(said.text, one) for one in heard):
            return ""
        return f'what is heard of it is "{"".join(heard[:1])}"'

    def hint(self, device: Device) -> str:
        """As promised by `ScriptAssistant`: what was understood, where that is not what was said."""
        if device.name != HERE or not self._said_last:
            return ""
        return misheard(self._said_last, self._outcome)

    # Time.

    async def wait(self, seconds: float) -> None:
        """As promised by `ScriptAssistant`."""
        await self._pass(seconds)
        await self.calm()

    async def _pass(self, seconds: float) -> None:
        """Let time pass, in which nobody speaks to Hark: while it listens, it hears that."""
        end = self.clock.monotonic() + seconds
        while (left := end - self.clock.monotonic()) > _TICK / 2:
            if self._listener.state == "listening":
                await self._hear(_SILENCE)
            else:
                due = self.clock.due
                await self.clock.advance(left if due is None else min(left, max(due, 0.0) + _TICK), self._idle)

    # The house.

    def _aloud(self) -> VoiceConfig:
        self._ear, self._mouth = ScriptMicrophone(), ScriptLoudspeaker(self.clock.monotonic)
        aloud = self._by.aloud(self._settings, self._ear, self._mouth)
        self._aloud_options = aloud.hear_options(self._settings)
        self._main = self._aloud_options.lang
        return aloud

    async def _open(self) -> None:
        await super()._open()
        hear, speak = self.house.services["hear"], self.house.services["speak"]
        if not (isinstance(hear, Hear) and hear.engines and isinstance(speak, Speak) and speak.engines):
            raise LookupError("this house is deaf or mute")
        self._listener: Listener = self.house.listener
        self._recognisers: Engines[Any] = hear.engines.by_kind["stt"]
        answering = next(iter(speak.engines.by_kind["tts"].registry), None)
        await self._user.find(self.house, self._settings, None if answering is None else answering.plugin)

    async def _close(self) -> None:
        await self._user.close()
        await super()._close()

    def _turn_of(self, message: Message) -> ScriptTurn | None:
        """As in `ScriptAssistant`; what was heard is marked by the listener."""
        if MARK in message.context:
            return super()._turn_of(message)
        mark = message.context.get(CAPTURE_ID)
        if message.type == topics.UTTERANCE_HANDLE and isinstance(mark, str) and self.turns.of(mark) is None:
            self.turns.begin(self.device(HERE), mark)
        return self.turns.of(mark)

    def _saw(self, message: Message) -> None:
        if self._heeds and message.session_id == DEFAULT_SESSION_ID:
            if message.type in _OUTCOMES and CAPTURE_ID in message.context:
                self._outcome = message
            elif message.type == topics.SPEECH_RENDERED:
                self._over(message.data.get("outcome"))
        super()._saw(message)

    def _over(self, outcome: object) -> None:
        """Something was said, or was not."""
        saying = self._mouth.saying
        self._stopped += outcome == "stopped"
        if saying is not None and outcome == "stopped":
            saying.whole = False
        elif saying is not None and outcome == "failed":
            saying.failed = True

    def _rendered(self, spoken: SpokenResponse) -> None:
        super()._rendered(spoken)
        if self._heeds and spoken.message.session_id == DEFAULT_SESSION_ID:
            self._mouth.saying = self.device(HERE).unread[-1]
