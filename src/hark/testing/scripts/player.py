"""Playing a conversation, line by line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Final, NoReturn
from zoneinfo import ZoneInfo

from hark.testing.scripts.assistant import NotHeard, ScriptAssistant
from hark.testing.scripts.device import Device, SpokenAnswer
from hark.testing.scripts.errors import LineError
from hark.testing.scripts.events import describe_events, handler_errors, matches
from hark.testing.scripts.report import ConversationDiffers, Difference
from hark.testing.scripts.script import (
    HERE,
    AssistantRestarts,
    Conversation,
    EventHappens,
    HarkIsSilent,
    HarkSays,
    HarkSaysMore,
    LanguageChanges,
    NeverSaid,
    ScriptStep,
    TimePasses,
    UserSays,
)

_LONGER: Final = 2.0
"""Seconds of real time that an answer may take when a handler is at work on it."""


class ScriptPlayer:
    """Takes a conversation through an assistant; `play` raises `ConversationDiffers` at the first line that does not hold."""

    def __init__(self, conversation: Conversation, stage: ScriptAssistant) -> None:
        self._conversation = conversation
        self._stage = stage
        self._zone = ZoneInfo(conversation.head.timezone)
        self._lang = conversation.head.language
        self._captured: dict[str, str] = {}
        self._never = [step for step in conversation.steps if isinstance(step, NeverSaid)]
        self._never_happens = [step for step in conversation.steps if isinstance(step, EventHappens) and step.never]
        self._expected: list[EventHappens] = []
        """What was to happen in this stretch, and did."""
        self._answered: list[tuple[HarkSays, SpokenAnswer]] = []
        """What was said as written, and may still be sounding."""
        self._acts: dict[type[ScriptStep], Callable[[Any], Any]] = {
            UserSays: self._says,
            HarkSays: self._answers,
            HarkSaysMore: self._chatters,
            HarkIsSilent: self._is_silent,
            EventHappens: self._happens,
            TimePasses: self._passes,
            AssistantRestarts: self._restarts,
            LanguageChanges: self._speaks,
        }

    async def play(self) -> None:
        """From the first line to the last."""
        for step in self._conversation.steps:
            act = self._acts.get(type(step))
            done = act(step) if act is not None else None
            if done is not None:
                await done
        await self._talked_out()
        self._turn_over(self._conversation.steps[-1], self._stage.devices(), at_end=True)

    async def _says(self, step: UserSays) -> None:
        device = self._stage.device(step.device)
        if step.interrupts:
            device.unread.clear()  # this is what is cut short
        else:
            await self._talked_out()
        self._turn_over(step, [device])
        try:
            text = step.text.filled(self._captured)
        except KeyError as name:
            self._differ(step, f"nothing was captured as {{{name.args[0]}}}")
        say = self._stage.interrupts if step.interrupts else self._stage.says
        try:
            await say(device, text, device.lang or self._lang)
        except NotHeard as unheard:
            self._differ(step, unheard.what, device, hint=unheard.hint)

    async def _answers(self, step: HarkSays) -> None:
        device = self._stage.device(step.device)
        passed_over: list[str] = []
        while await self._has_more(device):
            speech = device.unread.popleft()
            self._check_words(speech.text)
            values = step.text.match(speech.text, self._captured)
            if values is not None:
                if step.asks and not speech.asks:
                    self._differ(step, "Hark said it, but does not listen for an answer", device, [speech.text])
                self._captured.update(values)
                device.lenient = False
                self._answered.append((step, speech))
                return
            passed_over.append(speech.text)
            if not device.lenient:
                passed_over += [more.text for more in device.unread]
                self._differ(step, "Hark said something else", device, passed_over)
        if passed_over:
            self._differ(step, "Hark did not say it", device, passed_over)
        self._differ(step, "Hark said nothing", device)

    async def _has_more(self, device: Device) -> bool:
        """Whether a device said something more; one whose handler is at work is given a while."""
        while not device.unread and await self._goes_on():
            pass
        return bool(device.unread)

    async def _goes_on(self) -> bool:
        """Whether Hark has gone on talking, or a handler that takes real time has done something more."""
        if await self._stage.talks_on():
            return True
        if not self._stage.turns.working or not await self._stage.stirs(_LONGER):
            return False
        await self._stage.calm()
        return True

    def _chatters(self, step: HarkSaysMore) -> None:
        self._stage.device(step.device).lenient = True

    async def _is_silent(self, step: HarkIsSilent) -> None:
        device = self._stage.device(step.device)
        await self._talked_out()
        device.lenient = False
        if device.unread:
            self._differ(step, "Hark is not silent", device, [speech.text for speech in device.unread])

    async def _happens(self, step: EventHappens) -> None:
        if step.never:
            return
        while not self._happened(step):
            if not await self._goes_on():
                self._differ(step, "this did not happen", happened=describe_events(self._stage.messages))
        self._expected.append(step)

    def _happened(self, step: EventHappens) -> bool:
        for message in self._stage.messages:
            values = matches(step, message, self._captured)
            if values is not None:
                self._captured.update(values)
                return True
        return False

    async def _talked_out(self) -> None:
        """Wait until Hark has finished talking, and see whether what was heard is what it said."""
        await self._stage.quiet()
        answered, self._answered = self._answered, []
        for step, speech in answered:
            doubt = await self._stage.doubt(speech)
            if doubt:
                self._differ(step, doubt, self._stage.device(step.device), [speech.text])

    async def _passes(self, step: TimePasses) -> None:
        await self._talked_out()
        self._turn_over(step, self._stage.devices())
        now = datetime.fromtimestamp(self._stage.clock.wall(), self._zone)
        try:
            seconds = step.pause.length(now)
        except LineError as wrong:
            self._differ(step, wrong.wrong, hint=wrong.remedy)
        await self._stage.wait(seconds)

    async def _restarts(self, step: AssistantRestarts) -> None:
        await self._talked_out()
        self._turn_over(step, self._stage.devices())
        await self._stage.restart()

    def _speaks(self, step: LanguageChanges) -> None:
        if step.device == HERE:
            self._lang = step.lang
        else:
            self._stage.device(step.device).lang = step.lang

    def _turn_over(self, step: ScriptStep, devices: list[Device], *, at_end: bool = False) -> None:
        """What has to hold before the next stretch begins: nothing unread, no mishap, nothing that must never be.

        Where one device is spoken to, others may still have something to say.
        """
        where = "after this line" if at_end else "before this line"
        for device in devices:
            for speech in device.unread:
                self._check_words(speech.text)
            if device.unread and not device.lenient:
                said = [speech.text for speech in device.unread]
                self._differ(step, f"{where} Hark said more than is written", device, said)
            device.unread.clear()
            device.lenient = False
        for never in self._never_happens:
            for message in self._stage.messages:
                if matches(never, message, self._captured) is not None:
                    self._differ(never, "this happened", happened=describe_events([message]))
        for mishap in handler_errors(self._stage.messages, self._expected):
            self._differ(step, f"{where} {mishap}")
        self._expected.clear()
        self._stage.forget_messages()

    def _check_words(self, text: str) -> None:
        for never in self._never:
            if never.text.match(text, self._captured, within=True) is not None:
                self._differ(never, "Hark said it", said=[text])

    def _differ(
        self,
        step: ScriptStep,
        what: str,
        device: Device | None = None,
        said: Sequence[str] = (),
        *,
        describe_events: tuple[str, ...] = (),
        hint: str = "",
    ) -> NoReturn:
        if not hint and device is not None:
            hint = self._stage.hint(device)
        if not hint and self._stage.turns.working and self._stage.clock.due is not None:
            hint = "a handler is still under way: if it waits for time to pass, write as in [1 minute later]"
        told = [_told(device, text) for text in said] or [
            _told(other, speech.text) for other in self._stage.devices() for speech in other.unread
        ]
        why = self._stage.why(device)
        raise ConversationDiffers(Difference(step.line, what, str(step), tuple(told), describe_events, hint, why))


def _told(device: Device | None, text: str) -> str:
    """What was said, with the device if it is not the one nobody has to name."""
    return f"({device.name}) {text}" if device is not None and device.name else text
