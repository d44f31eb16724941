"""The volume skill: how loud the assistant speaks and plays sounds."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Annotated, Final

from msgspec import Meta

from hark.builtin.skills.spoken_numbers import number_in
from hark.builtin.skills.storage import StoredValue
from hark.plugins import Message, Turn
from hark.skills import Skill, intent
from hark.spec import DEFAULT_SESSION_ID, topics

_USUAL: Final = 70
_SESSIONS: Final = 64
_FOLLOWED: Final = 2
_TURNED: Final = "turned"
"""The name under which a session remembers whether it was made louder or quieter."""
_OF_TEN: Final = 10
"""Numbers up to this one are a scale of ten, where no percent sign is said: "set the volume to five"."""

Step = Annotated[int, Meta(ge=1, le=100)]


class VolumeSkill(Skill):
    """Sets the volume by `ovos.audio.volume`, from 0 to 100; the device's own is kept on disk. It changes what Hark
    plays, not the mixer of the machine.
    """

    id = "volume.skill"
    reads_late = True

    @dataclass(frozen=True)
    class Settings:
        step: Step = 10
        """By how much "louder" and "quieter" change the volume, of 100."""

    settings: Settings

    def __init__(self) -> None:
        self._levels: dict[str, int] = {}
        self._before: dict[str, int] = {}
        """The level before a session was muted."""

    async def start(self) -> None:
        self._stored = StoredValue(self.host, "level.json", int, _USUAL)
        self._levels[DEFAULT_SESSION_ID] = await asyncio.to_thread(self._stored.read) if self.host.has_data else _USUAL
        self.host.on(topics.READY, self._announce)
        self._announce()

    @intent(file="up")
    def up(self, turn: Turn) -> None:
        """Louder."""
        self._turn(turn, 1)

    @intent(file="down")
    def down(self, turn: Turn) -> None:
        """Quieter."""
        self._turn(turn, -1)

    @intent(file="more", requires=(_TURNED,))
    def more(self, turn: Turn) -> None:
        """Further in the same direction."""
        entry = turn.session.intent_context.get(f"{self.id}:{_TURNED}")
        self._turn(turn, -1 if entry is not None and entry.value == "-1" else 1)

    @intent(file="set")
    def set(self, turn: Turn) -> None:
        """To a level, in percent or from one to ten."""
        wanted = number_in(turn.slots["level"].rstrip("% "), turn.lang)
        if wanted is None or not 0 <= wanted <= 100:
            turn.say("no_level")
            return
        if "%" in turn.utterance or self._says_percent(turn) or wanted > _OF_TEN:
            self._set(turn, round(wanted))
        else:
            self._set(turn, round(wanted * (100 if 0 < wanted < 1 else 10)))  # "half", "five"

    @intent(file="loudest")
    def loudest(self, turn: Turn) -> None:
        """As loud as it goes."""
        self._set(turn, 100)

    @intent(file="quietest")
    def quietest(self, turn: Turn) -> None:
        """As quiet as can still be heard."""
        self._set(turn, 10)

    @intent(file="mute")
    def mute(self, turn: Turn) -> None:
        """Silent."""
        level = self._level(turn)
        if level:
            self._before[turn.session.session_id] = level
            while len(self._before) > _SESSIONS:
                del self._before[next(iter(self._before))]
        self._set(turn, 0)

    @intent(file="unmute")
    def unmute(self, turn: Turn) -> None:
        """As loud as before it was muted."""
        self._set(turn, self._before.pop(turn.session.session_id, 0) or self._level(turn) or _USUAL)

    @intent(file="what")
    def what(self, turn: Turn) -> None:
        """How loud it is."""
        turn.say("level", level=self._level(turn))

    def _turn(self, turn: Turn, direction: int) -> None:
        turn.remember(_TURNED, str(direction), turns=_FOLLOWED)
        self._set(turn, self._level(turn) + direction * self._step(turn))

    def _level(self, turn: Turn) -> int:
        return self._levels.get(turn.session.session_id, _USUAL)

    def _step(self, turn: Turn) -> int:
        said = number_in(turn.slots["step"], turn.lang) if "step" in turn.slots else None
        return self.settings.step if said is None or not 0 < said <= 100 else round(said)

    def _says_percent(self, turn: Turn) -> bool:
        return any(word in turn.utterance.lower() for word in ("percent", "prozent", "cento", "ciento", "cent"))

    def _set(self, turn: Turn, level: int) -> None:
        level = min(max(level, 0), 100)
        session_id = turn.session.session_id
        self._levels[session_id] = level
        while len(self._levels) > _SESSIONS:
            del self._levels[next(one for one in self._levels if one not in (DEFAULT_SESSION_ID, session_id))]
        if session_id == DEFAULT_SESSION_ID:
            self._stored.write(level)
        turn.emit(topics.AUDIO_VOLUME, {"level": level})
        if level:
            turn.say("set", level=level)

    def _announce(self, _message: Message | None = None) -> None:
        self.host.emit(topics.AUDIO_VOLUME, {"level": self._levels[DEFAULT_SESSION_ID]})
