"""A handler host in a test, with everything that goes over its bus."""

from __future__ import annotations

from typing import Any

from hark.act import HandlerHost
from hark.bus import LocalBus
from hark.hosting import Runner
from hark.model import Message, Session
from hark.spec import topics
from hark.testing import FakeClock, settle
from hark.trace import TraceStore


class Acting:
    """Dispatches to hosted plugins, and sees what comes of it."""

    def __init__(self, bus: LocalBus) -> None:
        self.bus = bus
        self.clock = FakeClock()
        self.runner = Runner(self.clock)
        self.host = HandlerHost(bus, self.runner, TraceStore(self.clock))
        self.messages: list[Message] = []
        bus.tap(self.messages.append)

    async def call(
        self, topic: str, utterance: str = "hello", utterance_id: str = "u1", session: Session | str = "x"
    ) -> Message:
        """Dispatch something, and let happen what can."""
        data = {"lang": "en-US", "utterance": utterance, "slots": {}}
        context = {"utterance_id": utterance_id, "skill_id": topic.partition(":")[0]}
        message = Message(topic, data, context, Session(session) if isinstance(session, str) else session)
        self.bus.emit(message)
        await settle()
        if topic.endswith(":response"):  # what comes of an answer comes after the end of its turn
            self.bus.emit(message.forward(topics.UTTERANCE_HANDLED))
            await settle()
        return message

    async def poll(self, topic: str, session: Session, **data: Any) -> dict[str, dict[str, Any]]:
        """Ask candidates; what each answers."""
        before = len(self.messages)
        self.bus.emit(Message(topic, data, {"utterance_id": "u9"}, session))
        await settle()
        answers = [m for m in self.messages[before:] if m.type == topics.answer_topic(topic)]
        assert all((m.session_id, m.utterance_id) == (session.session_id, "u9") for m in answers)
        return {m.data["skill_id"]: {k: v for k, v in m.data.items() if k != "skill_id"} for m in answers}

    def of(self, topic: str) -> list[Message]:
        return [message for message in self.messages if message.type == topic]

    def spoken(self) -> list[str]:
        return [message.data["utterance"] for message in self.of(topics.UTTERANCE_SPEAK)]

    def failures(self) -> list[str]:
        """How the handlers ended that are done: an exception, or nothing."""
        return [message.data.get("exception", "") for message in self.of(topics.HANDLER_DONE)]
