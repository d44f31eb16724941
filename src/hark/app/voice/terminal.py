"""A spoken conversation as a terminal shows it: answers, state, and a level meter."""

from __future__ import annotations

import asyncio
import math
from typing import Final, TextIO

from hark.app.house import House
from hark.app.settings import Settings
from hark.app.voice.engines import EngineFactory, VoiceConfig
from hark.app.voice.follower import VoiceFollower
from hark.app.voice.sound_files import progress
from hark.app.words import one_line
from hark.bus import Bus
from hark.model import Message
from hark.model.audio import Level
from hark.spec import DEFAULT_SESSION_ID, topics

_BARS: Final = " ▁▂▃▄▅▆▇█"
_WIDTH: Final = 12
_QUIETEST: Final = -60.0
"""Decibels below full scale that are shown as nothing."""
_CLEAR: Final = "\r\x1b[K"


class StatusLine:
    """Shows the state and a level meter on a terminal, and answers above it. Elsewhere, answers only."""

    def __init__(self, bus: Bus, out: TextIO, hints: dict[str, str], *, is_terminal: bool) -> None:
        self._out = out
        self._hints = hints
        """What a person can do, by state."""
        self._is_terminal = is_terminal
        self._state = "waiting"
        self._speaking = False
        self._levels = [0] * _WIDTH
        self._shown = ""
        self._subscription = bus.on(
            (topics.LISTENER_STATE, topics.AUDIO_OUTPUT_STARTED, topics.AUDIO_OUTPUT_ENDED),
            self._changed,
            name="status line",
        )

    @property
    def state(self) -> str:
        """Asleep, waiting, listening, thinking or speaking."""
        return "speaking" if self._speaking and self._state == "waiting" else self._state

    def show(self, text: str) -> None:
        """Show what was said, above the line."""
        self._write(f"{_CLEAR if self._is_terminal else ''}{one_line(text)}\n")
        self._shown = ""
        self._draw()

    def level(self, level: Level) -> None:
        """Show how loud it is."""
        self._levels = [*self._levels[1:], _height(level.rms)]
        self._draw()

    def close(self) -> None:
        """Leave a clean line behind."""
        self._subscription.close()
        if self._is_terminal:
            self._write(_CLEAR)

    def _changed(self, message: Message) -> None:
        if message.session_id != DEFAULT_SESSION_ID:
            return
        if message.type == topics.LISTENER_STATE:
            self._state = str(message.data.get("state"))
        else:
            self._speaking = message.type == topics.AUDIO_OUTPUT_STARTED
        self._draw()

    def _draw(self) -> None:
        if not self._is_terminal:
            return
        meter = "".join(_BARS[height] for height in self._levels)
        line = f"{meter} {self.state:<9} {self._hints.get(self.state, '')}".rstrip()
        if line != self._shown:  # many a second come in; few look different
            self._shown = line
            self._write(f"{_CLEAR}{line}")

    def _write(self, text: str) -> None:
        try:
            self._out.write(text)
            self._out.flush()
        except UnicodeEncodeError:
            self._write(text.encode("ascii", "replace").decode())
        except OSError:
            self._is_terminal = False


def _height(rms: float) -> int:
    """How high a bar is, from 0 to 8; ears go by decibels."""
    decibels = 20 * math.log10(rms) if rms > 0 else _QUIETEST
    return max(0, min(len(_BARS) - 1, round((1 - decibels / _QUIETEST) * (len(_BARS) - 1))))


class VoiceTerminal:
    """`aloud` goes to the house; `show` is where answers appear; then `await attend(house, stop)`."""

    def __init__(self, settings: Settings, out: TextIO, *, installed: bool) -> None:
        self._settings = settings
        self._out = out
        self._line: StatusLine | None = None
        self.aloud = VoiceConfig(
            factory=EngineFactory(settings, installed=installed), report=progress(), on_level=self._level
        )

    def show(self, text: str) -> None:
        """Show what was said."""
        if self._line is not None:
            self._line.show(text)

    async def attend(self, house: House, stop: asyncio.Event) -> None:
        """Show what goes on until somebody stops it, or the sound ends, as that of a file does."""
        self._line = StatusLine(house.bus, self._out, self._hints(), is_terminal=self._out.isatty())
        following = VoiceFollower(house.bus)
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
