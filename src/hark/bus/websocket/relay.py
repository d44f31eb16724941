"""What a server does with the Messages it is sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from hark.bus.carrier import EVERYTHING
from hark.bus.exchange import Exchange
from hark.bus.rejection import rejection_of
from hark.bus.websocket.frames import Parcel
from hark.bus.websocket.receipts import Receipts
from hark.bus.websocket.reunion import GuestBook, Reunion
from hark.bus.websocket.senders import Senders
from hark.bus.websocket.sparing import SparingLog
from hark.model import Clock, MalformedMessage, decode, encode

if TYPE_CHECKING:
    from hark.bus.websocket.member import Client

_BOM: Final = b"\xef\xbb\xbf"


class Relay:
    """Hands every Message to those who follow its topic: looked at, with the rights of its sender, and once."""

    def __init__(
        self, clock: Clock, follows: int, book: GuestBook | None, sparing: SparingLog, flush: Callable[[], None]
    ) -> None:
        self.exchange: Exchange[Client, Parcel] = Exchange(clock.monotonic)
        self.senders = Senders()
        self.receipts = Receipts(clock)
        self.reunion = Reunion(clock, book, self._reunited)
        self._follows = follows
        self._sparing = sparing
        self._flush = flush

    def close(self) -> None:
        """Hand out nothing more."""
        self.reunion.close()
        self.receipts.close()

    def take(self, client: Client, raw: bytes) -> None:
        """Hand out a Message that somebody sent; what is none is dropped, and nobody is told but the log."""
        mark = client.next_mark()
        if mark is None:
            return
        try:
            message = decode(raw)
        except MalformedMessage as error:
            self._sparing.warning("bus: dropped what is no Message, from %s: %s", client, str(error)[:200])
            return
        rights = client.key.rights
        if rights.emit is not None:
            if not rights.may_emit(message.type):
                self._sparing.warning("bus: dropped a Message that %s may not emit: %s", client, message.type[:200])
                return
            raw = encode(message)  # what was looked at, and not what another reader may see in it
        rejection = rejection_of(message, self._sparing.warning)
        if rejection is not None:
            message, raw = rejection, encode(rejection)
        elif raw.startswith(_BOM):
            raw = raw[len(_BOM) :]
        parcel = Parcel(message.type, raw, mark.text, mark.again)
        if self.reunion.is_on:
            self.reunion.hold(parcel)
        else:
            self._publish(parcel)

    def follow(self, client: Client, topic: str, group: str) -> None:
        """Let a client have what is sent on a topic, if it may."""
        if topic != EVERYTHING and not client.key.rights.may_receive(topic):
            self._sparing.warning("bus: %s may not receive %s", client, topic[:200])
        elif self.exchange.count(client) >= self._follows:
            self._sparing.warning("bus: %s follows more topics than it may", client)
        else:
            self.exchange.follow(client, topic, group)

    def had(self, client: Client, group: str, *marks: str) -> None:
        """A client had Messages by one of its groups, from the server before."""
        if self.exchange.is_member(client, group):
            self.reunion.had(group, marks)

    def _publish(self, parcel: Parcel) -> None:
        had = self.reunion.groups_that_had(parcel.mark) if parcel.again else ()
        self.exchange.publish(parcel.topic, parcel, had)

    def _reunited(self, held: list[Parcel]) -> None:
        for parcel in held:
            self._publish(parcel)
        self._flush()
