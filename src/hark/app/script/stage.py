"""An assistant for one conversation, and those who talk to it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Final

from hark.app.house import House
from hark.app.script.clock import FakeClock, settle
from hark.app.script.device import MARK, Device, Heard, Said
from hark.app.script.steps import HERE
from hark.app.settings import Settings
from hark.bus import LocalBus
from hark.hosting import Refusal
from hark.model import Message, Session
from hark.model.session_fields import Location
from hark.plugins import Plugin
from hark.speak import Spoken
from hark.spec import DEFAULT_SESSION_ID, topics
from hark.trace import render

_HUSH: Final = 0.05
"""Seconds of real time without any Message, after which a handler under way is taken to wait for something."""
_PATIENCE: Final = 10.0
"""Seconds of real time that plugins may be at work before the script goes on without them."""
_DECISION: Final = 60.0
"""Seconds after which nobody is waited for who ought to say whether he is meant."""
_TICK: Final = 1e-6
"""Enough to be past a timer, however times were rounded."""


class Stage:
    """`async with Stage(...) as stage: stage.say(device, "..."); await stage.calm()`. Time passes by `wait` alone."""

    house: House

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
        self._devices: dict[str, Device] = {}
        self._marks = count(1)
        self._turns: dict[str, Heard] = {}
        self._stirred = asyncio.Event()
        self._heeds = True
        self.clock = FakeClock(wall)
        self.messages: list[Message] = []
        """Every Message since `forget_messages`."""

    async def __aenter__(self) -> Stage:
        await self._open()
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

    def device(self, name: str) -> Device:
        """The device of this name; there is one as soon as somebody speaks of it."""
        session_id = DEFAULT_SESSION_ID if name == HERE else name
        if session_id not in self._devices:
            session = Session() if name == HERE else Session(session_id, location=self._where)
            self._devices[session_id] = Device(name, session)
        return self._devices[session_id]

    def devices(self) -> list[Device]:
        """Everybody who was spoken of, or spoke."""
        return list(self._devices.values())

    def say(self, device: Device, text: str, lang: str | None) -> None:
        """Say something to a device."""
        mark = f"script-{next(self._marks)}"
        for heard in self._turns.values():
            if heard.session_id == device.session_id:
                heard.asks = False  # whoever waited may be answered by this
        device.last = self._turns[mark] = Heard(device.session_id)
        self.house.bus.emit(device.utterance(text, lang, mark))

    def forget_messages(self) -> None:
        """Begin another stretch of the conversation."""
        self.messages = []
        self._turns = {mark: heard for mark, heard in self._turns.items() if heard.open}

    @property
    def working(self) -> bool:
        """Whether a handler is under way that waits for nobody's answer."""
        return any(heard.open and not heard.asks for heard in self._turns.values())

    async def calm(self) -> None:
        """Wait until nothing more happens unless time passes or somebody speaks.

        While skills are being asked who is meant, time does pass: they have a moment to answer, and not a real one.
        """
        end = self.clock.monotonic() + _DECISION
        while True:
            await self._idle()
            deciding = any(heard.deciding for heard in self._turns.values())
            if not (deciding or self.working):
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
        end = loop.time() + _PATIENCE
        await settle()
        while (self.house.runner.workers.busy or self.house.speaker.pending) and loop.time() < end:
            await asyncio.sleep(0.001)
            await settle()

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
        self._turns.clear()

    def _keep(self, session: Session) -> None:
        self._default = session

    def _saw(self, message: Message) -> None:
        if not self._heeds:
            return
        self._stirred.set()
        self.messages.append(message)
        heard = self._turns.get(message.context.get(MARK, ""))
        if heard is not None:
            heard.saw(message)
        if message.type == topics.UTTERANCE_HANDLED and message.session_id in self._devices:
            self._devices[message.session_id].adopt(message.session)

    def _rendered(self, spoken: Spoken) -> None:
        if not self._heeds:
            return
        session_id = spoken.message.session_id
        device = self.device(HERE if session_id == DEFAULT_SESSION_ID else session_id)
        device.adopt(spoken.message.session)
        device.unread.append(Said(spoken.text, spoken.message.data.get("listen") is True))
