"""Clients that speak a dialect of their own: what a translator is, and what it can do for one connection."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from hark.model import Message


class ClientLink(Protocol):
    """One client's connection, as its translator sees it."""

    def send(self, message: Message) -> None:
        """Send the client a Message that is not on the bus."""

    def send_foreign(self, message: Message, topic: str, data: object) -> None:
        """The same, under a topic and with a payload that need not be those of a Message."""

    def emit(self, message: Message) -> None:
        """Emit a Message on the bus in the client's name; it is checked like those that the client sends."""


class ClientTranslator(Protocol):
    """Translates between one client and the bus. Its methods are called in the order of the Messages."""

    def from_client(self, message: Message) -> Iterable[Message]:
        """What goes to the bus in the place of a Message of the client; nothing, if it is dropped."""

    def to_client(self, message: Message) -> Iterable[Message] | None:
        """What the client gets in the place of a Message of the bus; None if it gets the Message as it is."""

    def close(self) -> None:
        """The connection is gone."""


TranslatorFactory = Callable[[ClientLink], ClientTranslator]
