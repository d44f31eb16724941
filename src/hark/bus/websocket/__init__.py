"""The bus over websockets: a server for any `Bus`, and the carrier that connects to it or to ovos-messagebus.

Needs the extra `websocket`.
"""

try:
    import picows as _picows  # noqa: F401 - asked for here, so that one place says what is missing
except ImportError as error:  # pragma: no cover - depends on what is installed
    from hark import hints

    raise ImportError(f"the websocket bus needs picows; install it with: {hints.install_extra('websocket')}") from error

from hark.bus.websocket.auth import Credential, CredentialStore, Endpoint, EndpointError, Permissions
from hark.bus.websocket.client import WebSocketCarrier
from hark.bus.websocket.limits import ServerLimits
from hark.bus.websocket.server import WebSocketServer
from hark.bus.websocket.unavailable import BusUnavailable

__all__ = [
    "BusUnavailable",
    "Credential",
    "CredentialStore",
    "Endpoint",
    "EndpointError",
    "Permissions",
    "ServerLimits",
    "WebSocketCarrier",
    "WebSocketServer",
]
