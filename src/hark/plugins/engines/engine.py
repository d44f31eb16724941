"""What every engine has: a model to load, languages, and a line for the doctor."""

from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar, Final, Literal, get_args

from hark.plugins.plugin import Plugin

EngineKind = Literal["stt", "tts", "vad", "wakeword", "microphone", "player"]
ENGINE_KINDS: Final[tuple[EngineKind, ...]] = get_args(EngineKind)


class Unavailable(Exception):
    """An engine cannot work here: `raise Unavailable("the model is missing", "download it by: ...")`."""

    def __init__(self, reason: str, remedy: str = "") -> None:
        super().__init__(reason)
        self.remedy = remedy


class Engine(Plugin):
    """A plugin that turns sound into something, or something into sound. Subclass one of the six kinds.

    Importing its module must be cheap: what it needs is imported in `load`.
    """

    kind: ClassVar[EngineKind]
    """Which of the six; its subclass says so."""

    langs: Collection[str] | None = None
    """The languages it can do, as tags such as "en" or "en-US"; None when language does not matter to it."""

    def load(self) -> None:
        """Import what is needed and load the model. Called once, on a worker thread; raises `Unavailable`."""

    def warm_up(self) -> None:
        """Do one piece of work for nothing, so that the first real one is as fast as the next. On a worker thread."""

    def unload(self) -> None:
        """Let go of what `load` took. On a worker thread."""

    def about(self) -> str:
        """One line for the doctor, once loaded: which model, of which version."""
        return ""

    def serves(self, lang: str) -> bool:
        """Whether it can do this language; a region it does not know is no reason against it."""
        if self.langs is None:
            return True
        wanted = lang.lower()
        return any(wanted.split("-")[0] == known.lower().split("-")[0] for known in self.langs)
