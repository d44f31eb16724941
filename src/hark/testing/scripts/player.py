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
"""Seconds of real time that an answer may take while its handler runs."""


class ScriptPlayer:
    """Takes a conversation through an assistant; `play` raises `ConversationDiffers` where a line does not hold."""

    def __init__(self, conversation: Conversation, assistant: ScriptAssistant) -> None:
        self._conversation = conversation
        self._assistant = assistant
        self._zone = ZoneInfo(conversation.head.timezone)
        self._lang = conversation.head.language
        self._captured: dict[str, str] = {}
        self._never = [step for step in conversation.steps if isinstance(step, NeverSaid)]
        self._never_happens = [step for step in conversation.steps if isinstance(step, EventHappens) and step.never]
        self._expected: list[EventHappens] = []
        """Expected events of this part of the conversation that did happen."""
        self._answered: list[tuple[HarkSays, SpokenAnswer]] = []
        """Speeches that were as written, and may still be playing."""
        self._actions: dict[type[ScriptStep], Callable[[Any], Any]] = {
            UserSays: self._says,
            HarkSays: self._answers,
            HarkSaysMore: self._says_more,
            HarkIsSilent: self._is_silent,
            EventHappens: self._happens,
            TimePasses: self._passes,
            AssistantRestarts: self._restarts,
            LanguageChanges: self._speaks,
        }

    async def play(self) -> None:
        """Play all lines."""
        for step in self._conversation.steps:
            action = self._actions.get(type(step))
            done = action(step) if action is not None else None
            if done is not None:
                await done
        await self._finish_speaking()
        self._end_part(self._conversation.steps[-1], self._assistant.devices(), at_end=True)

    async def _says(self, step: UserSays) -> None:
        device = self._assistant.device(step.device)
        if step.interrupts:
            device.unread.clear()  # this is what is interrupted
        else:
            await self._finish_speaking()
        self._end_part(step, [device])
        try:
            text = step.text.filled(self._captured)
        except KeyError as name:
            self._differ(step, f"nothing was captured as {{{name.args[0]}}}")
        say = self._assistant.interrupt if step.interrupts else self._assistant.say
        try:
            await say(device, text, device.lang or self._lang)
        except NotHeard as error:
            self._differ(step, error.what, device, hint=error.hint)

    async def _answers(self, step: HarkSays) -> None:
        device = self._assistant.device(step.device)
        passed_over: list[str] = []
        while await self._has_more(device):
            speech = device.unread.popleft()
            self._check_never_said(speech.text)
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
        """Whether a device says something more; while its handler runs, that is waited for."""
        while not device.unread and await self._goes_on():
            pass
        return bool(device.unread)

    async def _goes_on(self) -> bool:
        """Whether Hark has spoken on, or a handler that takes real time has done something more."""
        if await self._assistant.speak_on():
            return True
        if not self._assistant.turns.any_running or not await self._assistant.has_activity(_LONGER):
            return False
        await self._assistant.settle_turns()
        return True

    def _says_more(self, step: HarkSaysMore) -> None:
        self._assistant.device(step.device).lenient = True

    async def _is_silent(self, step: HarkIsSilent) -> None:
        device = self._assistant.device(step.device)
        await self._finish_speaking()
        device.lenient = False
        if device.unread:
            self._differ(step, "Hark is not silent", device, [speech.text for speech in device.unread])

    async def _happens(self, step: EventHappens) -> None:
        if step.never:
            return
        while not self._happened(step):
            if not await self._goes_on():
                self._differ(step, "this did not happen", happened=describe_events(self._assistant.messages))
        self._expected.append(step)

    def _happened(self, step: EventHappens) -> bool:
        for message in self._assistant.messages:
            values = matches(step, message, self._captured)
            if values is not None:
                self._captured.update(values)
                return True
        return False

    async def _finish_speaking(self) -> None:
        """Wait until Hark has finished speaking, and check the sound of its answers."""
        await self._assistant.finish_speaking()
        answered, self._answered = self._answered, []
        for step, speech in answered:
            fault = await self._assistant.speech_fault(speech)
            if fault:
                self._differ(step, fault, self._assistant.device(step.device), [speech.text])

    async def _passes(self, step: TimePasses) -> None:
        await self._finish_speaking()
        self._end_part(step, self._assistant.devices())
        now = datetime.fromtimestamp(self._assistant.clock.wall(), self._zone)
        try:
            seconds = step.pause.length(now)
        except LineError as wrong:
            self._differ(step, wrong.wrong, hint=wrong.remedy)
        await self._assistant.wait(seconds)

    async def _restarts(self, step: AssistantRestarts) -> None:
        await self._finish_speaking()
        self._end_part(step, self._assistant.devices())
        await self._assistant.restart()

    def _speaks(self, step: LanguageChanges) -> None:
        if step.device == HERE:
            self._lang = step.lang
        else:
            self._assistant.device(step.device).lang = step.lang

    def _end_part(self, step: ScriptStep, devices: list[Device], *, at_end: bool = False) -> None:
        """Check what has to hold before the next part: no unread speech, no failed handler, no forbidden event.

        When one device is spoken to, others may still have something to say.
        """
        where = "after this line" if at_end else "before this line"
        for device in devices:
            for speech in device.unread:
                self._check_never_said(speech.text)
            if device.unread and not device.lenient:
                said = [speech.text for speech in device.unread]
                self._differ(step, f"{where} Hark said more than is written", device, said)
            device.unread.clear()
            device.lenient = False
        for never in self._never_happens:
            for message in self._assistant.messages:
                if matches(never, message, self._captured) is not None:
                    self._differ(never, "this happened", happened=describe_events([message]))
        for error in handler_errors(self._assistant.messages, self._expected):
            self._differ(step, f"{where} {error}")
        self._expected.clear()
        self._assistant.forget_messages()

    def _check_never_said(self, text: str) -> None:
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
        happened: tuple[str, ...] = (),
        hint: str = "",
    ) -> NoReturn:
        if not hint and device is not None:
            hint = self._assistant.hint(device)
        if not hint and self._assistant.turns.any_running and self._assistant.clock.due is not None:
            hint = "a handler is still running: if it waits for time to pass, write for example [1 minute later]"
        shown = [_shown(device, text) for text in said] or [
            _shown(other, speech.text) for other in self._assistant.devices() for speech in other.unread
        ]
        why = self._assistant.why(device)
        raise ConversationDiffers(Difference(step.line, what, str(step), tuple(shown), happened, hint, why))


def _shown(device: Device | None, text: str) -> str:
    """A speech, with its device unless that is the default one."""
    return f"({device.name}) {text}" if device is not None and device.name else text
