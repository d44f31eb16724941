"""A player that nobody hears, for machines without a loudspeaker and for tests."""

from __future__ import annotations

from dataclasses import dataclass

from hark.model import Audio
from hark.plugins.engines import Player


class NullPlayer(Player):
    """Plays nothing, for as long as it would take."""

    id = "null"

    @dataclass(frozen=True)
    class Settings:
        """What a deployer may set."""

        paced: bool = True
        """Whether it takes the time the sound takes; else it is done at once."""

    settings: Settings

    async def play(self, audio: Audio) -> None:
        """As promised by `Player`."""
        if self.settings.paced:
            await self.host.clock.sleep(audio.seconds)

    def about(self) -> str:
        """As promised by `Engine`."""
        return "plays nothing" if self.settings.paced else "plays nothing, in no time"
