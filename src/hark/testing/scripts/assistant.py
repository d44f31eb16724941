"""An assistant for one conversation, on a clock that only the script advances."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, ClassVar, Final, Self

from hark.app.house import House
from hark.app.settings import Settings
from hark.bus import LocalBus
from hark.hosting import Refusal
from hark.model import Location, Message, Session
from hark.plugins import Plugin
from hark.speak import SpokenResponse
from hark.spec import DEFAULT_SESSION_ID, topics
from hark.testing.clock import FakeClock, settle
from hark.testing.scripts.device import MARK, Device, Devices, ScriptTurn, ScriptTurns, SpokenAnswer
from hark.testing.scripts.script import HERE
from hark.trace import render

if TYPE_CHECKING:
    from hark.app.voice.engines import VoiceConfig


_HUSH: Final = 0.05
"""Seconds of real time without any Message, after which a handler under way is taken to wait for something."""
_DECISION: Final = 60.0
"""Seconds after which nobody is waited for who ought to say whether he is meant."""
_TICK: Final = 1e-6
"""Enough to be past a timer, however times were rounded."""


NOTHING_TO_INTERRUPT: Final = "there is nothing to interrupt: Hark says nothing"


class NotHeard(Exception):
    """Something cannot be said to a device in this way; with what may help."""

    def __init__(self, what: str, hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint


class ScriptAssistant:
    """`async with Stage(...) as stage: await stage.says(device, "...")`. Time passes by `wait` alone."""

    house: House
    patience: ClassVar[float] = 10.0
    """Seconds of real time that plugins may be at work before the script goes on without them."""

    def __init__(
        self,
        settings: Settings,
        plugins: Callable[[], Iterable[Plugin | Refusal]],
        data_root: Path,
        wall: float,
        timezone: str,
    ) -> None:
        self._settings = settings
        self._plugins = plugins
        self._data_root = data_root
        self._where = Location(tz=timezone)
        self._default = Session(location=self._where)
        self._devices = Devices(self._where)
        self.device = self._devices.named
        self.devices = self._devices.all
        self._marks = count(1)
        self.turns = ScriptTurns()
        """What was said to Hark, and what became of it."""
        self._stirred = asyncio.Event()
        self._heeds = True
        self.clock = FakeClock(wall)
        self.messages: list[Message] = []
        """Every Message since `forget_messages`."""

    async def __aenter__(self) -> Self:
        try:
            await self._open()
        except BaseException:
            await self._close()
            raise
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        await self._close()

    async def restart(self) -> None:
        """Close the assistant and open it again, with what it keeps."""
        now = self.clock.wall()
        await self._close()
        self.clock = FakeClock(now)
        await self._open()

    async def says(self, device: Device, text: str, lang: str | None) -> None:
        """Say something to a device, and wait until nothing more comes of it by itself; raises `NotHeard`."""
        mark = f"script-{next(self._marks)}"
        self.turns.begin(device, mark)
        self.house.bus.emit(device.utterance(text, lang, mark))
        await self.calm()

    async def interrupts(self, device: Device, text: str, lang: str | None) -> None:
        """Say something to a device that is still talking: what it has not come to is not heard. Raises `NotHeard`."""
        if not device.spoke:
            raise NotHeard(NOTHING_TO_INTERRUPT, "write user: where Hark is silent")
        device.unread.clear()
        await self.says(device, text, lang)

    async def quiet(self) -> None:
        """Let Hark finish talking, where that takes time."""

    async def talks_on(self) -> bool:
        """Let Hark talk for a moment; false when it is not talking."""
        return False

    async def doubt(self, said: SpokenAnswer) -> str:  # noqa: ARG002 - for those who hear it
        """What is wrong with how something was said; nothing, as a rule."""
        return ""

    def hint(self, device: Device) -> str:  # noqa: ARG002
        """What may help somebody whose script does not hold at this device."""
        return ""

    def forget_messages(self) -> None:
        """Begin another stretch of the conversation."""
        self.messages = []
        self.turns.forget()

    async def calm(self) -> None:
        """Wait until nothing more happens unless time passes or somebody speaks.

        While skills are being asked who is meant, time does pass: they have a moment to answer, and not a real one.
        """
        end = self.clock.monotonic() + _DECISION
        while True:
            await self._idle()
            deciding = self.turns.deciding
            if not (deciding or self.turns.working):
                return
            if await self.stirs(_HUSH):
                continue
            due = self.clock.due
            if not deciding or due is None or self.clock.monotonic() > end:
                return
            await self.clock.advance(due + _TICK, self._idle)

    async def stirs(self, seconds: float) -> bool:
        """Whether anything happens within these seconds of real time."""
        self._stirred.clear()
        try:
            await asyncio.wait_for(self._stirred.wait(), seconds)
        except TimeoutError:
            return False
        return True

    async def wait(self, seconds: float) -> None:
        """Let time pass."""
        await self.clock.advance(seconds, self._idle)
        await self.calm()

    def why(self, device: Device | None) -> str:
        """The story of what was last said to a device, or to any."""
        heard = device.last if device is not None else None
        trace = self.house.traces.find(heard.utterance_id if heard is not None else "")
        return render(trace.record()) if trace is not None else ""

    async def _idle(self) -> None:
        """Wait until the event loop and the worker threads have nothing left to do, and all is said."""
        loop = asyncio.get_running_loop()
        end = loop.time() + self.patience
        await settle()
        while (self.house.runner.threads.busy or self._unsaid()) and loop.time() < end:
            await asyncio.sleep(0.001)
            await settle()

    def _unsaid(self) -> bool:
        """Whether something is still to be said that needs no time."""
        return self.house.speaker.pending > 0

    async def _open(self) -> None:
        self._heeds = True
        bus = LocalBus()
        bus.tap(self._saw)
        self.house = House(
            self._settings,
            bus,
            self.clock,
            self._plugins(),
            render=self._rendered,
            serves=lambda _id: True,
            restored=Session.read(self._default.wire()),
            save=self._keep,
            data_root=self._data_root,
            aloud=self._aloud(),
        )
        await self.house.start()
        await self._idle()

    async def _close(self) -> None:
        self._heeds = False
        closing = asyncio.create_task(self.house.stop(), name="closing the house")
        while not closing.done():
            await self.clock.advance(1.0)  # its grace periods are time too
        await closing
        await self.house.bus.close()
        self.turns.forget(all_of_them=True)

    def _aloud(self) -> VoiceConfig | None:
        """What the house hears and speaks with; nothing, where it deals in text."""
        return None

    def _turn_of(self, message: Message) -> ScriptTurn | None:
        return self.turns.of(message.context.get(MARK))

    def _keep(self, session: Session) -> None:
        self._default = session

    def _saw(self, message: Message) -> None:
        if not self._heeds:
            return
        self._stirred.set()
        self.messages.append(message)
        heard = self._turn_of(message)
        if heard is not None:
            heard.saw(message)
        if message.type == topics.UTTERANCE_HANDLED:
            self._devices.adopt(message)

    def _rendered(self, spoken: SpokenResponse) -> None:
        if not self._heeds:
            return
        session_id = spoken.message.session_id
        device = self.device(HERE if session_id == DEFAULT_SESSION_ID else session_id)
        device.adopt(spoken.message.session)
        device.spoke = True
        device.unread.append(SpokenAnswer(spoken.text, spoken.message.data.get("listen") is True))
