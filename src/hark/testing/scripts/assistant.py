"""An assistant for one conversation, on a clock that only the script advances."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, ClassVar, Final, Self

from hark.app.runtime import Runtime, Storage
from hark.app.settings import Settings
from hark.bus import LocalBus
from hark.hosting import Refusal
from hark.model import Location, Message, Session
from hark.plugins import Plugin
from hark.schedule import MemoryStore
from hark.speak import SpokenResponse
from hark.spec import DEFAULT_SESSION_ID, topics
from hark.testing.clock import FakeClock, settle
from hark.testing.scripts.device import MARK, Device, Devices, ScriptTurn, ScriptTurns, SpokenAnswer
from hark.testing.scripts.script import HERE
from hark.trace import render

if TYPE_CHECKING:
    from hark.app.voice.engines import VoiceConfig


_HUSH: Final = 0.05
"""Seconds of real time without any Message after which a running handler is assumed to wait for something."""
_DECISION: Final = 60.0
"""Seconds after which plugins that are asked whether an utterance is theirs are no longer waited for."""
_TICK: Final = 1e-6
"""Seconds that are enough to be past a timer, however times were rounded."""


NOTHING_TO_INTERRUPT: Final = "there is nothing to interrupt: Hark is silent"


class NotHeard(Exception):
    """An utterance cannot be said to a device in this way; with a hint."""

    def __init__(self, what: str, hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint


class ScriptAssistant:
    """An assistant that a script talks to: `async with ScriptAssistant(...) as it: await it.say(device, "...")`.

    Time passes only in `wait`.
    """

    runtime: Runtime
    patience: ClassVar[float] = 10.0
    """Seconds of real time that plugins may work before the script goes on without them."""

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
        self._schedules = MemoryStore()
        self._where = Location(tz=timezone)
        self._default = Session(location=self._where)
        self._devices = Devices(self._where)
        self.device = self._devices.named
        self.devices = self._devices.all
        self._marks = count(1)
        self.turns = ScriptTurns()
        self._activity = asyncio.Event()
        self._is_open = True
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
        """Stop the assistant and start it again with the state it stored."""
        now = self.clock.wall()
        await self._close()
        self.clock = FakeClock(now)
        await self._open()

    async def say(self, device: Device, text: str, lang: str | None) -> None:
        """Say something to a device, and wait until nothing more happens without time passing; raises `NotHeard`."""
        mark = f"script-{next(self._marks)}"
        self.turns.begin(device, mark)
        self.runtime.bus.emit(device.utterance(text, lang, mark))
        await self.settle_turns()

    async def interrupt(self, device: Device, text: str, lang: str | None) -> None:
        """Say something to a device that is still speaking; the rest of its speech is dropped. Raises `NotHeard`."""
        if not device.spoke:
            raise NotHeard(NOTHING_TO_INTERRUPT, "write user: where Hark is silent")
        device.unread.clear()
        for topic in (topics.AUDIO_OUTPUT_STARTED, topics.AUDIO_OUTPUT_ENDED):  # as where it can be heard
            self.runtime.bus.emit(Message(topic, session=Session(device.session_id)))
        await self.say(device, text, lang)

    async def finish_speaking(self) -> None:
        """Wait until Hark has finished speaking, in a spoken conversation."""

    async def speak_on(self) -> bool:
        """Let Hark speak for a moment, in a spoken conversation; false when it is silent."""
        return False

    async def speech_fault(self, said: SpokenAnswer) -> str:  # noqa: ARG002 - for spoken conversations
        """What is wrong with the sound of a speech; empty if nothing."""
        return ""

    def hint(self, device: Device) -> str:  # noqa: ARG002
        """A hint for a line of the script that does not hold at this device."""
        return ""

    def forget_messages(self) -> None:
        """Start another part of the conversation."""
        self.messages = []
        self.turns.forget()

    async def settle_turns(self) -> None:
        """Wait until nothing more happens unless time passes or a user speaks.

        While plugins are polled, the clock is advanced: they have time to answer, but not real time.
        """
        end = self.clock.monotonic() + _DECISION
        while True:
            await self._idle()
            undecided = self.turns.any_undecided
            if not (undecided or self.turns.any_running):
                return
            if await self.has_activity(_HUSH):
                continue
            await self._idle()  # what took longer than that on a busy machine is not left to a later time
            due = self.clock.due
            if self._activity.is_set():
                continue
            if not undecided or due is None or self.clock.monotonic() > end:
                return
            await self.clock.advance(due + _TICK, self._idle)

    async def has_activity(self, seconds: float) -> bool:
        """Whether there is a Message within these seconds of real time."""
        self._activity.clear()
        try:
            await asyncio.wait_for(self._activity.wait(), seconds)
        except TimeoutError:
            return False
        return True

    async def wait(self, seconds: float) -> None:
        """Let time pass."""
        await self.clock.advance(seconds, self._idle)
        await self.settle_turns()

    def why(self, device: Device | None) -> str:
        """The trace of the last utterance to a device, or to any."""
        turn = device.last if device is not None else None
        trace = self.runtime.traces.find(turn.utterance_id if turn is not None else "")
        return render(trace.record()) if trace is not None else ""

    async def _idle(self) -> None:
        """Wait until the event loop and the worker threads have nothing left to do, and every speech is rendered."""
        loop = asyncio.get_running_loop()
        end = loop.time() + self.patience
        while not await self._stayed_idle():
            if loop.time() > end:
                return
            await asyncio.sleep(0.001)

    async def _stayed_idle(self) -> bool:
        """Whether the worker threads were idle while the event loop settled.

        A job that ends shortly before the loop has settled would leave its consequences for later.
        """
        threads = self.runtime.runner.threads
        await self.runtime.prepared()
        was_busy, submitted = threads.busy, threads.submitted
        await settle()
        return not (was_busy or threads.busy or self._has_unspoken()) and threads.submitted == submitted

    def _has_unspoken(self) -> bool:
        """Whether speeches are waiting to be rendered, which takes no time."""
        return self.runtime.speaker.pending > 0

    async def _open(self) -> None:
        self._is_open = True
        bus = LocalBus()
        bus.tap(self._on_message)
        self.runtime = Runtime(
            self._settings,
            bus,
            self.clock,
            self._plugins(),
            render=self._on_rendered,
            storage=Storage(
                Session.read(self._default.wire()),
                self._store_session,
                data_root=self._data_root,
                schedules=self._schedules,
            ),
            voice=self._voice_config(),
        )
        await self.runtime.start()
        await self._idle()

    async def _close(self) -> None:
        self._is_open = False
        closing = asyncio.create_task(self.runtime.stop(), name="stopping the assistant")
        while not closing.done():
            await self.clock.advance(1.0)  # grace periods count on this clock
        await closing
        await self.runtime.bus.close()
        self.turns.forget(also_open=True)

    def _voice_config(self) -> VoiceConfig | None:
        """The engines of a spoken conversation."""
        return None

    def _turn_of(self, message: Message) -> ScriptTurn | None:
        return self.turns.get(message.context.get(MARK))

    def _store_session(self, session: Session) -> None:
        self._default = session

    def _on_message(self, message: Message) -> None:
        if not self._is_open:
            return
        self._activity.set()
        self.messages.append(message)
        turn = self._turn_of(message)
        if turn is not None:
            turn.observe(message)
        if message.type == topics.UTTERANCE_HANDLED:
            self._devices.update_session(message)

    def _on_rendered(self, spoken: SpokenResponse) -> None:
        if not self._is_open:
            return
        session_id = spoken.message.session_id
        device = self.device(HERE if session_id == DEFAULT_SESSION_ID else session_id)
        device.update_session(spoken.message.session)
        device.spoke = True
        device.unread.append(SpokenAnswer(spoken.text, spoken.message.data.get("listen") is True))
