"""The local bus, through the codec: proof that nothing un-JSON crosses it."""

from __future__ import annotations

from hark.bus.local import LocalBus
from hark.model import Message, decode, encode


class WireBus(LocalBus):
    """A `LocalBus` on which every Message is encoded and decoded on its way, as between processes."""

    def emit(self, message: Message) -> None:
        """As promised by `Bus`."""
        super().emit(decode(encode(message)))

    def post(self, message: Message) -> None:
        """As promised by `Bus`."""
        super().post(decode(encode(message)))
