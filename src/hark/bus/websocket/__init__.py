"""The bus over websockets: a server, and the carrier that connects to it.

Needs the extra `websocket`. Clients of OVOS connect to the server as they do to ovos-messagebus.
"""

try:
    import picows as _picows  # noqa: F401 - asked for here, so that one place says what is missing
except ImportError as error:  # pragma: no cover - depends on what is installed
    raise ImportError("the websocket bus needs picows; install it with: pip install 'hark[websocket]'") from error

from hark.bus.websocket.client import WebSocketCarrier
from hark.bus.websocket.door import Door, NotClosed
from hark.bus.websocket.limits import Limits
from hark.bus.websocket.link import NoBus
from hark.bus.websocket.rights import Key, Keys, Rights
from hark.bus.websocket.server import WebSocketServer

__all__ = [
    "Door",
    "Key",
    "Keys",
    "Limits",
    "NoBus",
    "NotClosed",
    "Rights",
    "WebSocketCarrier",
    "WebSocketServer",
]
