"""Voice activity and wake words in blocks of sound."""

from __future__ import annotations

import logging
from collections.abc import Callable
from math import inf, isnan
from typing import Any, Final

import msgspec

from hark.hear.options import HearOptions
from hark.hosting import Engines, Job, Late, Loaded, Outcome, Refusal, Runner
from hark.model.audio import level
from hark.plugins import Plugin
from hark.plugins.engines import Unavailable, VADEngine, VoiceDetector, WakeDetector, WakeWord, WakeWordEngine

_AUDIBLE: Final = 0.004
_ABOVE: Final = 3.0
"""How many times as loud as its surroundings speech is."""
_RISING: Final = 1.005
"""How fast the surroundings may become louder, for each block."""


class Loudness(VoiceDetector):
    """Takes for speech what is clearly louder than the quietest of the last seconds."""

    def __init__(self) -> None:
        self._floor = _AUDIBLE / _ABOVE

    def probability(self, samples: bytes) -> float:
        """As promised by `VoiceDetector`."""
        rms = level(samples).rms
        self._floor = min(rms, self._floor * _RISING + 1e-6)
        bar = max(_AUDIBLE, self._floor * _ABOVE)
        return min(1.0, 0.5 * rms / bar)

    def reset(self) -> None:
        """As promised by `VoiceDetector`."""
        self._floor = _AUDIBLE / _ABOVE


class OwnEar(Plugin):
    """Whose detector that is, for the record."""

    id = "loudness"
    quick = True


log = logging.getLogger("hark.hear")

_LIMIT: Final = 2.0
"""Seconds by the clock a detector may take for one block."""
_FAILURES: Final = 3
_RETRY: Final = 60.0
_LETTING_GO: Final = 0.15
"""By how much less likely than its beginning speech is when it ends."""
_SHORTEST_BLOCK: Final = 160
_LONGEST_BLOCK: Final = 8_000


class Detection(msgspec.Struct, frozen=True):
    """What there was in a block."""

    voice: bool
    wake_word: WakeWord | None = None


class _Ear:
    """One detector, as the runner calls it."""

    def __init__(
        self, owner: Plugin, listen: Callable[[bytes], Any], reset: Callable[[], None], word: WakeWord | None = None
    ) -> None:
        self.word = word
        self.stale = False
        """Whether what it remembers is of no use any more."""
        self._listen = listen
        self._reset = reset
        self.loaded: Loaded[Any] = Loaded(
            owner, self.hear, limit=_LIMIT, failures_allowed=_FAILURES, retry_after=_RETRY
        )

    def usable(self, now: float) -> bool:
        """Whether it may be asked; not while it is still at it: nobody promised that it can do two things at once."""
        return not self.loaded.abandoned and self.loaded.available(now)

    def hear(self, block: bytes) -> float:
        """What it makes of a block, as a number from 0 to 1."""
        if self.stale:
            self._reset()
            self.stale = False
        value = float(self._listen(block))
        if isnan(value):
            raise ValueError("it does not know a number")
        return value


class Detectors:
    """Listens for voices and for all wake words, in one trip to a worker for each block."""

    def __init__(
        self, runner: Runner, vads: Engines[VADEngine], spotters: Engines[WakeWordEngine], options: HearOptions
    ) -> None:
        self.refusals: list[Refusal] = []
        """The wake words nobody listens for, and why."""
        self.block = VoiceDetector.block
        """Samples that are listened to at a time."""
        self._runner = runner
        self._vads = vads
        self._spotters = spotters
        self._options = options
        self._voice: _Ear = _own_ear()
        self._words: list[_Ear] = []
        self._speaking = False
        self._retry = inf
        """When to look again whether a voice activity engine works, while none does."""

    async def open(self) -> None:
        """Have the engines make their detectors."""
        await self._next_voice()
        for word in self._options.wake_words:
            await self._spot(word)

    async def hear(self, block: bytes, words: bool = True) -> Detection:
        """What there is in a block, which follows the last one; `words`: whether wake words matter now."""
        now = self._runner.clock.monotonic()
        if not self._voice.usable(now) or now >= self._retry:
            await self._next_voice()
        ears = [self._voice]
        if words:
            ears += [ear for ear in self._words if ear.usable(now)]
        values = await self._ask(ears, block)
        chance = values.get(self._voice)
        if chance is not None:
            bar = self._options.speech_threshold
            self._speaking = chance >= (max(bar - _LETTING_GO, bar / 2) if self._speaking else bar)
        spotted = next((ear.word for ear in self._words if values.get(ear)), None)
        if spotted is not None:
            self.forget()
        return Detection(self._speaking, spotted)

    def forget(self) -> None:
        """What was heard so far is no part of a wake word to come."""
        for ear in self._words:
            ear.stale = True

    async def _ask(self, ears: list[_Ear], block: bytes) -> dict[_Ear, float]:
        """What each of them says; who failed says nothing."""
        values: dict[_Ear, float] = {}

        def note(ear: _Ear, outcome: Outcome) -> None:
            if outcome.error is None:
                values[ear] = outcome.value
                if ear.loaded.failures:
                    ear.loaded.succeeded()

        far = []
        for ear in ears:
            if ear.loaded.mode == "inline":
                note(ear, self._runner.call_now(ear.loaded, block))
            else:
                far.append(ear)
        while far:
            done = await self._on_worker(far, block, note)
            far = far[done:]
        return values

    async def _on_worker(self, ears: list[_Ear], block: bytes, note: Callable[[_Ear, Outcome], None]) -> int:
        """Ask these on a worker; how many of them are dealt with, one that hangs included."""
        done = 0

        def work(job: Job) -> int:
            nonlocal done
            for ear in ears:
                job.enter(ear.loaded, self._runner.clock.monotonic())
                outcome = self._runner.attempt(ear.loaded, block)

                def accept(ear: _Ear = ear, outcome: Outcome = outcome) -> None:
                    nonlocal done
                    self._runner.count_failure(ear.loaded, outcome)
                    note(ear, outcome)
                    done += 1

                if not job.keep(accept):
                    ear.loaded.returned_late()
                    break
            return done

        def given_up(_late: Late) -> int:
            return done + 1

        return await self._runner.on_worker(work, given_up)

    async def _next_voice(self) -> None:
        """Let the next voice activity engine listen; loudness when there is none."""
        alone, self._retry = self._retry < inf, inf
        for entry in list(self._vads.usable()):
            if self._voice.loaded.plugin is entry.plugin:
                continue  # it has just failed
            outcome = await self._runner.call(entry)
            detector = outcome.value
            if outcome.error is None and isinstance(detector, VoiceDetector):
                size = detector.block
                if type(size) is int and _SHORTEST_BLOCK <= size <= _LONGEST_BLOCK:
                    self._voice = _Ear(entry.plugin, detector.probability, detector.reset)
                    self.block = size
                    return
            if outcome.error is None:
                self._runner.record_failure(entry, "its detector() made no voice detector")
        self._retry = self._runner.clock.monotonic() + _RETRY
        if not alone:
            log.warning("no voice activity engine works: speech is told by its loudness")
            self._voice = _own_ear()

    async def _spot(self, word: WakeWord) -> None:
        """Have the first engine that can listen for a wake word."""
        wanted = "no wake word engine" if word.engine is None else f"no engine {word.engine!r}"
        reason, remedy = f"{wanted} is loaded", "name one in [voice] wakeword"
        for entry in list(self._spotters.usable()):
            if word.engine is not None and word.engine != entry.id:
                continue
            outcome = await self._runner.call(entry, word)
            detector = outcome.value
            if outcome.error is None and isinstance(detector, WakeDetector):
                self._words.append(_Ear(entry.plugin, detector.hears, detector.reset, word))
                return
            reason = outcome.failure or "it made no detector"
            if isinstance(outcome.error, Unavailable):
                reason, remedy = str(outcome.error), outcome.error.remedy
        self.refusals.append(Refusal("wake word", word.name, reason, remedy))
        log.error("%s", self.refusals[-1])


def _own_ear() -> _Ear:
    loudness = Loudness()
    return _Ear(OwnEar(), loudness.probability, loudness.reset)
