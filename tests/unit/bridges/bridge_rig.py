"""A translator without a network: what it sends to its client and to the bus is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hark.bridges.ovos import OvosBridge
from hark.bus import LocalBus
from hark.model import Message, Session, decode
from hark.testing import FakeClock

RECORDED = Path(__file__).parent / "recorded"
HELLO = "ovos-skill-hello-world.openvoiceos"


class Link:
    """See `ClientLink`."""

    def __init__(self) -> None:
        self.sent: list[Message] = []
        self.emitted: list[Message] = []
        self.foreign: list[tuple[str, Any]] = []

    def send(self, message: Message) -> None:
        self.sent.append(message)

    def send_foreign(self, message: Message, topic: str, data: Any) -> None:
        self.sent.append(message)
        self.foreign.append((topic, data))

    def emit(self, message: Message) -> None:
        self.emitted.append(message)


class Rig:
    """One client, its translator, and what came of its Messages."""

    def __init__(self, line: str | None = None) -> None:
        self.clock = FakeClock()
        self.link = Link()
        self.bridge = OvosBridge(LocalBus(), self.clock, "en-US")
        self.translator = self.bridge.translator(self.link)
        self.line = line
        if line == "stable":
            self.up("ovos.session.sync")

    def recorded(self, line: str, *, until: str = "mycroft.skills.loaded") -> list[Message]:
        """Send what a real client of that line sent, up to a topic; what went to the bus."""
        made: list[Message] = []
        for raw in (RECORDED / f"{line}.jsonl").read_bytes().splitlines():
            message = decode(raw, without_nulls=True)
            made += self.translator.from_client(message)
            if message.type == until:
                break
        return made

    def up(
        self, topic: str, data: dict[str, Any] | None = None, session: Session | None = None, **context: Any
    ) -> list[Message]:
        """Send a Message; what goes to the bus in its place."""
        return list(self.translator.from_client(Message(topic, data or {}, context, session)))

    def down(
        self, topic: str, data: dict[str, Any] | None = None, session: Session | None = None, **context: Any
    ) -> list[Message]:
        """A Message of the bus; what the client gets."""
        message = Message(topic, data or {}, context, session or Session())
        given = self.translator.to_client(message)
        return [message] if given is None else list(given)

    def call(
        self, skill_id: str, intent_name: str, session: Session | None = None, turn: str = "u1", **slots: str
    ) -> list[Message]:
        """Call a handler of the client; what it gets."""
        data = {"utterance": "words", "lang": "en-US", "slots": slots}
        return self.down(f"{skill_id}:{intent_name}", data, session, utterance_id=turn, skill_id=skill_id)


def topics_of(messages: list[Message]) -> list[str]:
    return [message.type for message in messages]
