"""The contract of engines, by their kind: `test_contract = engine_contract(MyVoice)`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from hark.model import Audio
from hark.plugins.engines import Engine, EngineKind
from hark.testing.contracts.clause import Clause, clause, test_of
from hark.testing.contracts.common import COMMON
from hark.testing.contracts.engines_hearing import MICROPHONE, STT, VAD, WAKEWORD
from hark.testing.contracts.engines_speaking import PLAYER, TTS
from hark.testing.contracts.stage import on_stage
from hark.testing.contracts.subject import Make, Subject


@clause
async def it_loads_tells_about_itself_and_goes(subject: Subject) -> None:
    """It can be used with the settings it was given, has a line for the doctor, and leaves no thread behind."""
    async with on_stage(subject) as stage:
        about = await stage.work(stage.engine.about)
        assert isinstance(about, str), f"about() returned a {type(about).__name__}"
        assert "\n" not in about, "about() is more than one line"
        langs = stage.engine.langs
        assert langs is None or (not isinstance(langs, str) and all(isinstance(one, str) for one in langs)), (
            f"langs are {langs!r}: a collection of tags, or None"
        )


_EVERY: Final[tuple[Clause, ...]] = (
    *(one for one in COMMON if "starts_and_stops" not in one.name),  # which is about plugins in a house
    it_loads_tells_about_itself_and_goes,
)
_CLAUSES: Final[Mapping[EngineKind, Sequence[Clause]]] = {
    "stt": STT,
    "tts": TTS,
    "vad": VAD,
    "wakeword": WAKEWORD,
    "microphone": MICROPHONE,
    "player": PLAYER,
}


def engine_contract(
    make: Make,
    *,
    settings: Mapping[str, Any] | None = None,
    lang: str = "en-US",
    examples: Mapping[str, Audio] | None = None,
    speech: Audio | None = None,
    phrase: str = "",
) -> Callable[..., None]:
    """The contract of an engine: `test_contract = engine_contract(MyVoice, lang="de-DE")`.

    `examples` is for recognisers: text in lower case without punctuation, and sound in which exactly that is said.
    `speech` is for voice activity (somebody speaks) and for wake words (somebody says `phrase`, once).
    """
    made = make if isinstance(make, type) else type(make())
    kind: Any = getattr(made, "kind", None)
    if kind not in _CLAUSES or not issubclass(made, Engine):
        raise TypeError("an engine is a subclass of one of the six kinds in hark.plugins.engines")
    options = {"lang": lang, "examples": dict(examples or {}), "speech": speech, "phrase": phrase}
    return test_of((*_EVERY, *_CLAUSES[kind]), make, settings or {}, **options)
