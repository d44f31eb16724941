"""What every plugin has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from hark.plugins.host import Host

if TYPE_CHECKING:  # most plugins say nothing from files
    from hark.intents.locale import Renderer


class Plugin:
    """Base of everything that is loaded: made without arguments; `settings` and `host` are there at `start`.

    What a deployer may set is a nested frozen dataclass `Settings`, whose defaults, types and docstrings are its
    documentation.
    """

    id: ClassVar[str]
    """The one name this plugin is known by."""

    quick: ClassVar[bool] = False
    """A promise that its plain methods are pure, do no I/O and take well under a millisecond: they run inline."""

    @dataclass(frozen=True)
    class Settings:
        """Nothing to set."""

    settings: Any
    """The checked values for this plugin's `Settings`."""

    host: Host
    """The way to the rest of the house."""

    dialogs: Renderer | None = None
    """What `turn.say` and `turn.render` take their phrases from. Skills have theirs from their locale folder."""

    async def start(self) -> None:
        """Called once, before the first use."""

    async def stop(self) -> None:
        """Called once, after the last use."""

    async def begin(self) -> None:
        """What the frame calls to start the plugin; kinds that have more to do than `start` add it here."""
        await self.start()

    async def end(self) -> None:
        """What the frame calls to stop the plugin."""
        await self.stop()
