"""Hark in the place of ovos-core on a bus that is not its own, such as a stock ovos-messagebus.

There all clients share one connection with Hark, whatever their line, and each hears what the others say.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterable
from typing import Final, Protocol

from hark.bridges.ovos import names
from hark.bridges.ovos.bridge import OvosBridge
from hark.bridges.ovos.calls import remember
from hark.bridges.ovos.translator import OF_OVOS, SWITCHES, TWINS, OvosTranslator
from hark.bus import Bus
from hark.bus.protocols import Carrier, Receive
from hark.bus.websocket.skills import handler_done
from hark.bus.websocket.translation import ClientLink
from hark.model import Clock, MalformedMessage, Message, decode, encode, encode_for_clients, encode_foreign
from hark.spec import DEFAULT_SESSION_ID, split_dispatch, topics
from hark.spec.names import SKILL_ID

_SENT: Final = 10_000
"""Frames that are remembered until they come back."""
_REGISTER: Final = frozenset(
    {
        topics.REGISTER_KEYWORD,
        topics.REGISTER_TEMPLATE,
        topics.ENTITY_REGISTER,
        topics.SKILL_LOADED,
        topics.FALLBACK_REGISTER,
    }
)
_MARKER: Final = 0.2
"""Seconds in which the end marker of a skill follows the end of its handler."""
_HANDLER_ENDS: Final = (topics.LEGACY_HANDLER_COMPLETE, topics.LEGACY_HANDLER_ERROR, "skill.converse.response")
_FALLBACK: Final = "ovos.skills.fallback."
_STOP_PING: Final = ".stop.ping"
_SPEC_NAMES: Final = {**names.RENAMED, **SWITCHES}


class SharedTranslator(OvosTranslator):
    """Translates for all clients of a bus at once.

    The line of each skill shows by how it registers. Copies under older names are sent once a client of the older line
    was seen; they are marked as such once one of the newer line was seen too, which takes them for new otherwise.
    """

    orchestrator_warning = (
        "another orchestrator, probably ovos-core, is on %s (it sent %s): it answers the same utterances, and a bus "
        "that is not Hark's own passes them on to both. Stop it (docs/from-ovos.md)"
    )
    answers_for = ("mycroft.skills.", "mycroft.intents.")

    def __init__(self, link: ClientLink, bridge: OvosBridge) -> None:
        super().__init__(link, bridge)
        self._reconnected.cancel()  # clients stay connected to their bus while Hark is restarted
        self.is_of_ovos = True
        self._of_ovos: set[str] = set()
        """The skills whose programs were seen to be of OVOS."""
        self._has_newer = False
        self._newer: set[str] = set()
        """Skills that register as the specifications have it."""
        self._seen: OrderedDict[tuple[str, str | None, object], None] = OrderedDict()
        """Messages under newer names, whose copies are to come: topic, turn and skill."""
        self._ended: OrderedDict[str | None, None] = OrderedDict()
        """Turns whose end marker a skill has sent."""
        self._ending: dict[str | None, Message] = {}
        """How the handlers ended whose skill is about to send the end marker, by turn."""
        self._answers_pings: set[str] = set()
        """Skills of the older line that have answered whether they can be stopped: some never do."""
        self._started: OrderedDict[tuple[str | None, object], None] = OrderedDict()
        """Handlers of skills of the older line that have started, by turn and skill."""

    @property
    def gathering_time(self) -> float:
        return TWINS

    def is_of_older_line(self, skill_id: str) -> bool:
        return skill_id not in self._newer

    def is_skill_of_ovos(self, skill_id: str) -> bool:
        return self.is_of_older_line(skill_id) or skill_id in self._of_ovos

    def from_client(self, message: Message) -> Iterable[Message]:
        """See `Translator`."""
        skill_id = message.context.get(SKILL_ID)
        is_twin = any(mark in message.context for mark in names.TWIN_MARKS)
        if is_twin or message.type.startswith(OF_OVOS):
            self._note_ovos(skill_id, message.data.get(SKILL_ID), message.data.get("id"))
        if is_twin:
            key = (_SPEC_NAMES.get(message.type, ""), message.utterance_id, skill_id)
            if key in self._seen:
                del self._seen[key]
                return ()
            # A skill of the older line copies the mark into its answers.
            message = message.carrying(**dict.fromkeys(names.TWIN_MARKS))
        elif message.type in names.NEW_NAMES:
            self._has_newer = True
            remember(self._seen, (message.type, message.utterance_id, skill_id), None)
        if message.type in (topics.REGISTER_KEYWORD, topics.REGISTER_TEMPLATE, topics.SKILL_LOADED):
            self._newer.add(str(message.data.get(SKILL_ID)))
        elif message.type == topics.LEGACY_HANDLER_START:
            remember(self._started, (message.utterance_id, skill_id), None)
        elif message.type == "skill.stop.pong":
            self._answers_pings.add(str(message.data.get(SKILL_ID)))
            if message.utterance_id is None:
                return ()
        elif message.type == "mycroft.skills.loaded":
            self.ping(str(message.data.get("id")), "stop", {})
        elif _ends_handler(message.type) and self.is_of_older_line(str(skill_id)):
            return self._ends(message)
        elif message.type == topics.UTTERANCE_HANDLED and message.utterance_id is not None:
            remember(self._ended, message.utterance_id, None)
            ending = self._ending.pop(message.utterance_id, None)
            return self.translated(ending) if ending is not None else ()
        return self.translated(message)

    def says_ready(self, message: Message) -> Iterable[Message]:
        return (message,)  # the bus has passed it on

    def _note_ovos(self, *skill_ids: object) -> None:
        for skill_id in skill_ids:
            if isinstance(skill_id, str) and skill_id not in self._of_ovos:
                self._of_ovos.add(skill_id)
                self.mark(skill_id)

    def _ends(self, message: Message) -> Iterable[Message]:
        """Hold back the end of a handler: as a rule the skill sends the end marker next, and a turn has one."""
        turn = message.utterance_id
        if turn in self._ending:
            return ()  # after an error it says as well that it is complete
        if len(self._ending) >= _SENT:
            return self.translated(message)
        self._ending[turn] = message
        self.bridge.clock.after(_MARKER, lambda: self._end_without_marker(turn, message))
        return ()

    def _end_without_marker(self, turn: str | None, message: Message) -> None:
        if self._ending.get(turn) is message:
            del self._ending[turn]
            for one in self.translated(message):
                self.link.emit(one)

    def to_client(self, message: Message) -> Iterable[Message] | None:
        """See `Translator`."""
        if message.type == topics.UTTERANCE_HANDLED and message.utterance_id in self._ended:
            del self._ended[message.utterance_id]
            return ()  # one end marker for each turn
        if message.type.endswith(_STOP_PING) and self._lives(message, message.type.removesuffix(_STOP_PING)):
            return ()
        return super().to_client(message)

    def _lives(self, ping: Message, skill_id: str) -> bool:
        """Answer a ping for a skill that cannot, as long as a handler of it that has started may be under way."""
        if skill_id in self._answers_pings or (ping.utterance_id, skill_id) not in self._started:
            return False
        self.link.emit(ping.reply(topics.STOP_PONG, {SKILL_ID: skill_id, "can_handle": False}))
        return True

    def with_copy(self, message: Message, legacy: str) -> list[Message]:
        if not self._has_newer:
            return super().with_copy(message, legacy)
        # Clients of the newer line know a copy by its payload and context, which must be the same then.
        message = message.with_data(names.payload_down(message.type, message.data))
        return [message, message.forward(legacy, message.data).carrying(_namespace_compat_twin=True)]

    def converse_poll(self, ping: Message) -> list[Message] | None:
        asked = {handler.skill_id for handler in ping.session.converse_handlers} if ping.session is not None else set()
        by_name = {
            one for one in asked & self.skills if ping.session_id == DEFAULT_SESSION_ID or self.is_of_older_line(one)
        }
        pings = list(self.converse_pings(ping, by_name))
        return pings if asked == by_name else [ping, *pings]


def _ends_handler(topic: str) -> bool:
    """Whether a skill says so that a handler has ended, also one with a reserved name."""
    return topic in _HANDLER_ENDS or (topic.startswith(_FALLBACK) and topic.endswith(".response"))


class _WebSocket(Carrier, Protocol):
    @property
    def is_foreign(self) -> bool: ...


class StockBus:
    """Carries a bus by way of one that is not Hark's own, and translates; by Hark's own as if it were not there.

    What this process emits reaches its own listeners at once, and is not taken in when it comes back. What is
    translated from a client reaches the listeners of this process alone: other clients have heard it from that client.
    """

    def __init__(self, carrier: _WebSocket, name: str) -> None:
        self._carrier = carrier
        self._name = name
        self._receive: Receive
        self._translator: OvosTranslator | None = None
        self._sent: OrderedDict[bytes, int] = OrderedDict()
        """Frames that are to come back, and how often."""
        self._local: list[bytes] = []
        """Frames for the listeners of this process, in order."""

    def __str__(self) -> str:
        return self._name

    @property
    def is_foreign(self) -> bool:
        """Whether the server is not Hark's own."""
        return self._carrier.is_foreign

    def translate(self, bus: Bus, clock: Clock, lang: str) -> None:
        """Translate from now on, where the server is not Hark's own; `bus` is what it carries."""
        if self.is_foreign:
            bridge = OvosBridge(bus, clock, lang)
            self._translator = bridge.translator(_Clients(self), SharedTranslator)

    # As a carrier: see `Carrier`.

    async def open(self, receive: Receive) -> None:
        self._receive = receive
        await self._carrier.open(self._received)

    def follow(self, topic: str, group: str = "") -> None:
        self._carrier.follow(topic, group)

    def unfollow(self, topic: str, group: str = "") -> None:
        self._carrier.unfollow(topic, group)

    async def flush(self) -> None:
        await self._carrier.flush()

    async def close(self) -> None:
        if self._translator is not None:
            self._translator.close()
        await self._carrier.close()

    def send(self, topic: str, frame: bytes) -> None:
        if self._translator is None or not self.is_foreign:
            self._carrier.send(topic, frame)
            return
        self.deliver(frame)
        if topics.is_private(topic):
            self.put(topic, frame)
            return
        message = decode(frame)
        translated = self._translator.to_client(message)
        for one in (message,) if translated is None else translated:
            self.put(one.type, encode_for_clients(one))

    def put(self, topic: str, frame: bytes) -> None:
        """Send a frame to the clients alone."""
        self._sent[frame] = self._sent.get(frame, 0) + 1
        if len(self._sent) > _SENT:
            self._sent.popitem(last=False)
        self._carrier.send(topic, frame)

    def deliver(self, frame: bytes) -> None:
        """Hand a frame to the listeners of this process alone, in a moment: not while its emitter waits."""
        self._local.append(frame)
        if len(self._local) == 1:
            asyncio.get_running_loop().call_soon(self._deliver_all)

    def _deliver_all(self) -> None:
        waiting, self._local = self._local, []
        for frame in waiting:
            self._receive(frame, None)

    def _received(self, frame: bytes, via: str | None) -> None:
        if self._translator is None or not self.is_foreign or via is not None:
            self._receive(frame, via)
            return
        count = self._sent.pop(frame, 0)
        if count:
            if count > 1:
                self._sent[frame] = count - 1
            return
        try:
            message = decode(frame, without_nulls=True)
        except MalformedMessage:
            self._receive(frame, via)  # which logs it
            return
        if topics.is_private(message.type) or message.malformed_session is not None:
            self._receive(frame, via)
            return
        for one in self._translator.from_client(message):
            self._translator.link.emit(one)


class _Clients:
    """All clients of a bus, as the link of their translator; see `ClientLink`."""

    def __init__(self, bus: StockBus) -> None:
        self._bus = bus

    def __str__(self) -> str:
        return str(self._bus)

    def send(self, message: Message) -> None:
        self._bus.put(message.type, encode_for_clients(message))

    def send_foreign(self, message: Message, topic: str, data: object) -> None:
        self._bus.put(topic, encode_foreign(message, topic, data))

    def emit(self, message: Message) -> None:
        if message.type == topics.HANDLER_DONE:
            message = handler_done(message, split_dispatch(str(message.data["topic"]))[0])
        elif message.type in _REGISTER:
            named = [message.data.get(SKILL_ID)]
            completes = named if message.data.get("completes") is True else []
            self._bus.deliver(encode(Message(topics.SKILL_ATTACHED, {"skill_ids": named, "completes": completes})))
        self._bus.deliver(encode(message))
