"""Playing many scripts, one conversation after the other."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from hark.app.script.casting import Cast
from hark.app.script.finding import scripts_in
from hark.app.script.outcome import Played
from hark.app.script.playing import play
from hark.app.script.reading import read_script
from hark.app.script.script import Conversation, Script
from hark.app.trouble import Trouble

if TYPE_CHECKING:
    from hark.app.script.aloud.ensemble import Ensemble


class Recital:
    """Plays what paths stand for. What is wrong with scripts or plugins goes to `tell`, each thing once."""

    def __init__(self, cast: Cast, tell: Callable[[str], None], aloud: Ensemble | None = None) -> None:
        self._cast = cast
        self._tell = tell
        self._aloud = aloud
        self._told: set[str] = set()
        self.stumbled = False
        """Whether there was a script that could not be played."""

    def play(self, paths: Iterable[Path], name: str = "") -> Iterator[tuple[Script, Played]]:
        """Every conversation with `name` in its path or title, as it ends; raises `Trouble` for no scripts."""
        for script, conversation in self._conversations(scripts_in(paths), name.lower()):
            try:
                yield script, asyncio.run(play(script, conversation, self._cast, self._once, self._aloud))
            except Trouble as error:
                self._stumble(error)

    def _conversations(self, files: Iterable[Path], name: str) -> Iterator[tuple[Script, Conversation]]:
        for file in files:
            try:
                script = read_script(file)
            except Trouble as error:
                self._stumble(error)
                continue
            for conversation in script.conversations:
                if name in f"{file}: {conversation.name}".lower():
                    yield script, conversation

    def _stumble(self, error: Trouble) -> None:
        self.stumbled = True
        self._once(str(error))

    def _once(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self._tell(text)
