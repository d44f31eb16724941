"""A spoken conversation as a terminal shows it: answers, state, and a level meter."""

from __future__ import annotations

import asyncio
import math
from typing import Final, TextIO

from hark.app.runtime import Runtime, makes_remarks
from hark.app.settings import Settings
from hark.app.text import one_line
from hark.app.voice.engines import EngineFactory, VoiceConfig
from hark.app.voice.follower import VoiceFollower
from hark.app.voice.sound_files import progress
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
    """Shows the state and a level meter in the last line of a terminal, answers above it. In a pipe, answers only."""

    def __init__(self, bus: Bus, out: TextIO, hints: dict[str, str], *, is_terminal: bool) -> None:
        self._out = out
        self._hints = hints
        """What the user can do, by state."""
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
        self._understood = bus.on(
            (topics.UTTERANCE_HANDLE, topics.STT_FAILED), self._recognised, name="what was recognised"
        )

    @property
    def state(self) -> str:
        """The listener's state, or `speaking`."""
        return "speaking" if self._speaking and self._state == "waiting" else self._state

    def show(self, text: str) -> None:
        """Show an answer above the line."""
        self._write(f"{_CLEAR if self._is_terminal else ''}{one_line(text)}\n")
        self._shown = ""
        self._draw()

    def level(self, level: Level) -> None:
        self._levels = [*self._levels[1:], _height(level.rms)]
        self._draw()

    def close(self) -> None:
        """Clear the line."""
        self._subscription.close()
        self._understood.close()
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

    def _recognised(self, message: Message) -> None:
        if message.session_id != DEFAULT_SESSION_ID or not self._is_terminal:
            return
        utterances = message.data.get("utterances") or ("",)
        self.show(f'heard "{utterances[0]}"' if message.type == topics.UTTERANCE_HANDLE else "(not understood)")

    def _draw(self) -> None:
        if not self._is_terminal:
            return
        meter = "".join(_BARS[height] for height in self._levels)
        line = f"{meter} {self.state:<9} {self._hints.get(self.state, '')}".rstrip()
        if line != self._shown:  # levels come many times a second; few change the line
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
    """The height of a bar, from 0 to 8, linear in decibels."""
    decibels = 20 * math.log10(rms) if rms > 0 else _QUIETEST
    return max(0, min(len(_BARS) - 1, round((1 - decibels / _QUIETEST) * (len(_BARS) - 1))))


class VoiceTerminal:
    """Hand `config` and `show` to the assistant, start it, then `await run(runtime, stop)`."""

    def __init__(self, settings: Settings, out: TextIO, *, installed: bool) -> None:
        self._settings = settings
        self._out = out
        self._line: StatusLine | None = None
        self.config = VoiceConfig(
            factory=EngineFactory(settings, installed=installed), report=progress(), on_level=self._level
        )

    def show(self, text: str) -> None:
        if self._line is not None:
            self._line.show(text)

    async def run(self, runtime: Runtime, stop: asyncio.Event) -> None:
        """Show the state until `stop` is set, or the sound ends, as that of a file does."""
        self._line = StatusLine(runtime.bus, self._out, self._hints(), is_terminal=self._out.isatty())
        follower = VoiceFollower(runtime.bus, remarks=makes_remarks(runtime))
        waits = [asyncio.create_task(stop.wait()), asyncio.create_task(runtime.listener.finished())]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            if not stop.is_set():
                await follower.quiet()
        finally:
            for wait in waits:
                wait.cancel()
            follower.close()
            self._line.close()

    def _level(self, level: Level) -> None:
        if self._line is not None:
            self._line.level(level)

    def _hints(self) -> dict[str, str]:
        """What the user can do in each state."""
        if self._settings.voice.always_listening:
            waiting = "just speak; Ctrl-C leaves"
        else:
            phrases = " or ".join(f'"{word.phrase}"' for word in self.config.factory.wake_words())
            waiting = f"say {phrases}; Ctrl-C leaves"
        return {"waiting": waiting, "listening": "speak now", "asleep": 'say "wake up"'}
