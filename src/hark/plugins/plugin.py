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
    from hark.plugins.home import Home


class Plugin:
    """Base of every plugin. It is created without arguments; `settings` and `host` are set before `start`.

    Its options are a nested frozen dataclass `Settings`, whose defaults, types and docstrings are their documentation.
    """

    id: ClassVar[str]
    """The unique name of this plugin."""

    quick: ClassVar[bool] = False
    """Promises that its plain methods are pure, do no I/O and take well under a millisecond: they run inline."""

    @dataclass(frozen=True)
    class Settings:
        """No options."""

    settings: Any
    """The plugin's `Settings`, with values from the settings file."""

    host: Host
    """Access to the bus, the clock, the log and the disk."""

    dialogs: Renderer | None = None
    """Where `turn.say` and `turn.render` take phrases from. Skills get theirs from their locale folder."""

    async def start(self) -> None:
        """Called once, before the first use."""

    async def stop(self) -> None:
        """Called once, after the last use."""

    def problem(self) -> str:
        """What is wrong with it at the moment and what to do about it, for `hark doctor`; empty when all is well.

        It is called on the event loop: answer from what is known, do not look into it now.
        """
        return ""

    async def begin(self) -> None:
        """Called by Hark to start the plugin; a kind of plugin that does more than `start` overrides it."""
        await self.start()

    async def end(self) -> None:
        """Called by Hark to stop the plugin."""
        await self.stop()


class Host(Protocol):
    """What a plugin can use of the process that runs it. Everything started here ends when the plugin stops."""

    @property
    def clock(self) -> Clock:
        """The clock of the assistant: use it for times and for waiting."""

    @property
    def log(self) -> logging.Logger:
        """A logger with the plugin's name."""

    @property
    def data_dir(self) -> Path:
        """A directory for the plugin's data, created on first use."""

    @property
    def has_data(self) -> bool:
        """Whether `data_dir` exists already; does not create it."""

    @property
    def langs(self) -> Collection[str]:
        """The languages the assistant understands, as tags."""

    @property
    def lang(self) -> str:
        """The default language of the assistant: that of an utterance that shows no other."""

    @property
    def home(self) -> Home:
        """The place, units and clock of the settings; `turn.home` has them as they apply to a turn."""

    def on(
        self,
        topic: str | Sequence[str],
        listener: Callable[[Message], Awaitable[None] | None],
        *,
        shared: bool = False,
    ) -> None:
        """Call `listener` for every Message on `topic` (or on any of several), one at a time and in order.

        Its failures are caught and logged. If several processes run this plugin, each gets every Message; with
        `shared`, for questions to be answered once, each Message reaches one of them.
        """

    def emit(self, topic: str, data: Mapping[str, Any] | None = None, *, session: Session | None = None) -> None:
        """Emit a fresh Message that carries this plugin's identity."""

    def send(self, message: Message, *, passing_on: bool = False) -> None:
        """Emit a Message derived from another one, with this plugin's identity on it.

        With `passing_on`, for what the plugin only forwards, the Message keeps the identity it has.
        """

    def speak(self, text: str, *, session: Session | None = None, lang: str | None = None) -> None:
        """Say something outside a turn, in the device's own session unless `session` is given."""

    def task(self, work: Coroutine[Any, Any, None], name: str = "") -> None:
        """Run `work` as a task; its failure is caught and logged."""

    def after(self, seconds: float, call: Callable[[], object]) -> Timer:
        """Call `call` once `seconds` have passed."""
