"""A conversation by microphone and loudspeaker, as a terminal shows it."""

from __future__ import annotations

import asyncio
from typing import TextIO

from hark.app.house import House
from hark.app.settings import Settings
from hark.app.voice.aloud import Aloud
from hark.app.voice.choosing import Choice
from hark.app.voice.composing import progress
from hark.app.voice.following import Following
from hark.app.voice.status_line import StatusLine
from hark.model.audio import Level


class Attending:
    """`aloud` goes to the house; `show` is where answers appear; then `await attend(house, stop)`."""

    def __init__(self, settings: Settings, out: TextIO, *, installed: bool) -> None:
        self._settings = settings
        self._out = out
        self._line: StatusLine | None = None
        self.aloud = Aloud(choice=Choice(settings, installed=installed), tell=progress(), on_level=self._level)

    def show(self, text: str) -> None:
        """Show what was said."""
        if self._line is not None:
            self._line.show(text)

    async def attend(self, house: House, stop: asyncio.Event) -> None:
        """Show what goes on until somebody stops it, or the sound ends, as that of a file does."""
        self._line = StatusLine(house.bus, self._out, self._hints(), is_terminal=self._out.isatty())
        following = Following(house.bus)
        waits = [asyncio.create_task(stop.wait()), asyncio.create_task(house.listener.finished())]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            if not stop.is_set():
                await following.quiet()
        finally:
            for wait in waits:
                wait.cancel()
            following.close()
            self._line.close()

    def _level(self, level: Level) -> None:
        if self._line is not None:
            self._line.level(level)

    def _hints(self) -> dict[str, str]:
        """What a person can do in each state."""
        if self._settings.voice.always_listening:
            waiting = "just speak; Ctrl-C leaves"
        else:
            phrases = " or ".join(f'"{word.phrase}"' for word in self.aloud.choice.wake_words())
            waiting = f"say {phrases}; Ctrl-C leaves"
        return {"waiting": waiting, "listening": "speak now"}
