"""Who speaks for the user."""

from __future__ import annotations

from hark.app.house import House
from hark.app.script.aloud.ensemble import Ensemble
from hark.app.script.stage import Unheard
from hark.app.settings import Settings
from hark.app.voice.engines import NoEngine
from hark.hosting import Engines, PluginHost, Refusal, UnusableResult
from hark.model import Audio
from hark.model.resample import resample_mono
from hark.plugins.engines import SAMPLE_RATE, TTSEngine


class User:
    """A voice beside the one that answers: `await user.find(...)`, then `await user.says("...", "en-US")`."""

    def __init__(self, by: Ensemble) -> None:
        self._by = by
        self._engines: Engines[TTSEngine] | None = None

    async def find(self, house: House, settings: Settings, answering: TTSEngine | None) -> None:
        """Load the first engine that can do it; raises `NoEngine` when there is none."""
        engines: Engines[TTSEngine] = Engines("tts", house.runner)
        self._engines = engines
        for one in self._by.users(settings, answering):
            if isinstance(one, Refusal):
                engines.registry.refuse(one)
                continue
            engine: TTSEngine = one.engine  # type: ignore[assignment]
            refusal = await engines.add(
                engine, one.settings, lambda engine: PluginHost(engine, house.bus, house.runner, None)
            )
            if refusal is None:
                return
        reasons = "".join(f"\n  {refusal}" for refusal in engines.registry.refusals)
        raise NoEngine(f"there is no voice for the user beside the one that answers{reasons}")

    async def says(self, text: str, lang: str) -> bytes:
        """Text as it is heard; raises `Unheard` when it cannot be said."""
        key = text, lang
        if key not in self._by.spoken:
            engines = self._engines
            done = None if engines is None else await engines.do(text, lang, None, lang=lang, check=_sound)
            if done is None:
                raise Unheard(f"nobody can say this for the user in {lang}", "name an engine: hark test --voice ENGINE")
            self._by.spoken[key] = resample_mono(done.value, SAMPLE_RATE).samples
        return self._by.spoken[key]

    async def close(self) -> None:
        """Let the voice go."""
        if self._engines is not None:
            await self._engines.close()


def _sound(value: object) -> Audio:
    if type(value) is not Audio or value.defect() is not None or not value.samples:
        raise UnusableResult("it gave no sound")
    return value
