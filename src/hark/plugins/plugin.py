"""What every plugin has: id, settings, and the host that connects it to the assistant."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from hark.model import Clock, Message, Session, Timer

if TYPE_CHECKING:
    from hark.intents.locale import Renderer


class Host(Protocol):
    """What a plugin may ask of the process that runs it. Everything started here ends when the plugin stops."""

    @property
    def clock(self) -> Clock:
        """The time."""

    @property
    def log(self) -> logging.Logger:
        """A logger with the plugin's name."""

    @property
    def data_dir(self) -> Path:
        """A directory of the plugin's own, made on first use."""

    @property
    def has_data(self) -> bool:
        """Whether that directory is there already; looking makes none."""

    @property
    def langs(self) -> Collection[str]:
        """The languages the assistant understands, as tags."""

    def on(
        self,
        topic: str | Sequence[str],
        listener: Callable[[Message], Awaitable[None] | None],
        *,
        shared: bool = False,
    ) -> None:
        """Call `listener` for every Message on `topic` (or on any of several), one at a time and in order.

        Its failures are caught and named. Where several processes have this plugin, each hears everything; of what is
        `shared` (a question that is to be answered once), each Message reaches one of them.
        """

    def emit(self, topic: str, data: Mapping[str, Any] | None = None, *, session: Session | None = None) -> None:
        """Emit a fresh Message that carries this plugin's identity."""

    def send(self, message: Message, *, passing_on: bool = False) -> None:
        """Emit a Message derived from another one, with this plugin's identity on it.

        `passing_on` is for what the plugin only forwards: that stays somebody else's.
        """

    def speak(self, text: str, *, session: Session | None = None, lang: str | None = None) -> None:
        """Say something outside a turn, to the device's own session unless told otherwise."""

    def task(self, work: Coroutine[Any, Any, None], name: str = "") -> None:
        """Run `work` beside everything else; its failure is caught and named."""

    def after(self, seconds: float, call: Callable[[], object]) -> Timer:
        """Call `call` once `seconds` have passed."""


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
