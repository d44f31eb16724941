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
from hark.plugins.engines import VADEngine, VoiceDetector, WakeDetector, WakeWord, WakeWordEngine

log = logging.getLogger("hark.hear")

_LIMIT: Final = 2.0
"""Seconds by the clock a detector may take for one block."""
_FAILURES: Final = 3
_RETRY: Final = 60.0
_HYSTERESIS: Final = 0.15
"""By how much the probability of speech has to fall below the threshold before speech is over."""
_SHORTEST_BLOCK: Final = 160
_LONGEST_BLOCK: Final = 8_000

_AUDIBLE: Final = 0.004
_ABOVE: Final = 3.0
"""How many times as loud as the background speech is."""
_RISING: Final = 1.005
"""How fast the background may become louder, for each block."""


class Loudness(VoiceDetector):
    """Voice activity without an engine: what is clearly louder than the quietest of the last seconds."""

    def __init__(self) -> None:
        self._background = _AUDIBLE / _ABOVE

    def probability(self, samples: bytes) -> float:
        rms = level(samples).rms
        self._background = min(rms, self._background * _RISING + 1e-6)
        threshold = max(_AUDIBLE, self._background * _ABOVE)
        return min(1.0, 0.5 * rms / threshold)

    def reset(self) -> None:
        self._background = _AUDIBLE / _ABOVE


class _LoudnessPlugin(Plugin):
    """The plugin that the runner calls `Loudness` for."""

    id = "loudness"
    quick = True


class Detection(msgspec.Struct, frozen=True):
    """What was detected in a block."""

    voice: bool
    wake_word: WakeWord | None = None


class _Detector:
    """One detector, as the runner calls it."""

    def __init__(
        self, owner: Plugin, score: Callable[[bytes], Any], reset: Callable[[], None], word: WakeWord | None = None
    ) -> None:
        self.word = word
        self.needs_reset = False
        self._score = score
        self._reset = reset
        self.loaded: Loaded[Any] = Loaded(owner, self.run, limit=_LIMIT, failures_allowed=_FAILURES, retry_after=_RETRY)

    def usable(self, now: float) -> bool:
        """Whether it may be called; not while an abandoned call is under way, for two at once are not promised."""
        return not self.loaded.abandoned and self.loaded.available(now)

    def run(self, block: bytes) -> float:
        """Its result for a block, as a number from 0 to 1."""
        if self.needs_reset:
            self._reset()
            self.needs_reset = False
        value = float(self._score(block))
        if isnan(value):
            raise ValueError("it returned NaN")
        return value


class Detectors:
    """Detects voice and all wake words, with one trip to a worker for each block."""

    def __init__(
        self, runner: Runner, vads: Engines[VADEngine], wakewords: Engines[WakeWordEngine], options: HearOptions
    ) -> None:
        self.refusals: list[Refusal] = []
        """The wake words that no engine detects, and why."""
        self.block = VoiceDetector.block
        """Samples in a block."""
        self._runner = runner
        self._vads = vads
        self._wakewords = wakewords
        self._options = options
        self._voice: _Detector = _loudness()
        self._words: list[_Detector] = []
        self._speaking = False
        self._retry = inf
        """When to try the voice activity engines again, while none works."""

    async def open(self) -> None:
        """Have the engines make their detectors."""
        await self._next_voice_detector()
        for word in self._options.wake_words:
            await self._add_wake_word(word)

    async def detect(self, block: bytes, *, wake_words: bool = True) -> Detection:
        """What is in a block, which follows the last one. `wake_words`: whether to look for those too."""
        now = self._runner.clock.monotonic()
        if not self._voice.usable(now) or now >= self._retry:
            await self._next_voice_detector()
        detectors = [self._voice]
        if wake_words:
            detectors += [detector for detector in self._words if detector.usable(now)]
        values = await self._call(detectors, block)
        probability = values.get(self._voice)
        if probability is not None:
            start = self._options.speech_threshold
            self._speaking = probability >= (max(start - _HYSTERESIS, start / 2) if self._speaking else start)
        detected = next((detector.word for detector in self._words if values.get(detector)), None)
        if detected is not None:
            self.reset_wake_words()
        return Detection(self._speaking, detected)

    def reset_wake_words(self) -> None:
        """What was heard so far is no part of a wake word to come."""
        for detector in self._words:
            detector.needs_reset = True

    async def _call(self, detectors: list[_Detector], block: bytes) -> dict[_Detector, float]:
        """The result of each detector; none of those that failed."""
        values: dict[_Detector, float] = {}

        def note(detector: _Detector, outcome: Outcome) -> None:
            if outcome.error is None:
                values[detector] = outcome.value
                if detector.loaded.failures:
                    detector.loaded.succeeded()

        for_worker = []
        for detector in detectors:
            if detector.loaded.mode == "inline":
                note(detector, self._runner.call_now(detector.loaded, block))
            else:
                for_worker.append(detector)
        while for_worker:
            done = await self._call_on_worker(for_worker, block, note)
            for_worker = for_worker[done:]
        return values

    async def _call_on_worker(
        self, detectors: list[_Detector], block: bytes, note: Callable[[_Detector, Outcome], None]
    ) -> int:
        """Call them on one worker. Return how many are done with, one that hangs included."""
        done = 0

        def work(job: Job) -> int:
            nonlocal done
            for detector in detectors:
                job.enter(detector.loaded, self._runner.clock.monotonic())
                outcome = self._runner.attempt(detector.loaded, block)

                def accept(detector: _Detector = detector, outcome: Outcome = outcome) -> None:
                    nonlocal done
                    self._runner.count_failure(detector.loaded, outcome)
                    note(detector, outcome)
                    done += 1

                if not job.keep(accept):
                    detector.loaded.returned_late()
                    break
            return done

        def given_up(_late: Late) -> int:
            return done + 1

        return await self._runner.on_worker(work, given_up)

    async def _next_voice_detector(self) -> None:
        """Use the next voice activity engine that works; loudness when there is none."""
        had_none, self._retry = self._retry < inf, inf
        for entry in list(self._vads.usable()):
            if self._voice.loaded.plugin is entry.plugin:
                continue  # it has just failed
            outcome = await self._runner.call(entry)
            detector = outcome.value
            if outcome.error is None and isinstance(detector, VoiceDetector):
                size = detector.block
                if type(size) is int and _SHORTEST_BLOCK <= size <= _LONGEST_BLOCK:
                    self._voice = _Detector(entry.plugin, detector.probability, detector.reset)
                    self.block = size
                    return
            if outcome.error is None:
                self._runner.record_failure(entry, "its detector() returned no usable VoiceDetector")
        self._retry = self._runner.clock.monotonic() + _RETRY
        if not had_none:
            log.warning("no voice activity engine works: speech is detected by its loudness")
            self._voice = _loudness()

    async def _add_wake_word(self, word: WakeWord) -> None:
        """Have the first engine that can detect a wake word."""
        wanted = "no wake word engine" if word.engine is None else f"no engine {word.engine!r}"
        reason, remedy = f"{wanted} is loaded", "name one in [voice] wakeword"
        for entry in list(self._wakewords.usable()):
            if word.engine is not None and word.engine != entry.id:
                continue
            outcome = await self._runner.call(entry, word)
            detector = outcome.value
            if outcome.error is None and isinstance(detector, WakeDetector):
                self._words.append(_Detector(entry.plugin, detector.hears, detector.reset, word))
                return
            reason = outcome.failure or "its detector() returned no WakeDetector"
            if (missing := outcome.unavailable) is not None:
                reason, remedy = str(missing), missing.remedy
        self.refusals.append(Refusal("wake word", word.name, reason, remedy))
        log.error("%s", self.refusals[-1])


def _loudness() -> _Detector:
    loudness = Loudness()
    return _Detector(_LoudnessPlugin(), loudness.probability, loudness.reset)
