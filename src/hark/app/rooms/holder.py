"""A process that has rooms of an assistant."""

from __future__ import annotations

import os
import socket
from collections.abc import Collection
from datetime import datetime

import msgspec

from hark.app.rooms.names import RoomName
from hark.model import Message


class Holder(msgspec.Struct, frozen=True):
    """Who has which rooms, since when. Sent with every word that processes of one assistant have with each other."""

    id: str
    rooms: tuple[str, ...]
    pid: int
    host: str
    since: float
    is_worker: bool = False
    """Whether it shares its rooms with other workers."""
    is_settled: bool = False
    """Whether its claim was met: it gives way only to somebody who was there before."""
    is_ready: bool = False
    """Whether its plugins have started."""

    def __str__(self) -> str:
        began = datetime.fromtimestamp(self.since).astimezone().isoformat(" ", "seconds")
        return f"process {self.pid} on {self.host}, since {began}"

    def rivals(self, other: Holder) -> bool:
        """Whether the two cannot both be there."""
        shares = self.is_worker and other.is_worker
        return self.id != other.id and not shares and not set(self.rooms).isdisjoint(other.rooms)

    def goes_before(self, other: Holder) -> bool:
        """Whether this one stays, of two rivals."""
        if self.is_settled != other.is_settled:
            return self.is_settled
        return (self.since, self.id) < (other.since, other.id)


def myself(rooms: Collection[RoomName], since: float, *, is_worker: bool = False) -> Holder:
    """This process."""
    return Holder(os.urandom(8).hex(), tuple(rooms), os.getpid(), socket.gethostname(), since, is_worker)


def holder_in(message: Message) -> Holder | None:
    """Who speaks of himself in a Message; None for what makes no sense."""
    try:
        return msgspec.convert(message.data.get("holder"), Holder)
    except msgspec.ValidationError:
        return None
