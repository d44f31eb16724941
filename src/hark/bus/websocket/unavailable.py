"""Why there is no connection to a bus, and what to do about it."""

from __future__ import annotations

import os
import ssl
from typing import Final

from picows import WSHandshakeError, WSInvalidStatusError

from hark import hints

_REFUSALS: Final = {
    401: "it needs a token, or another one: hark token add NAME, on the machine of the bus",
    403: "it does not know this machine by that name; see hosts and origins in the [bus] settings there",
    404: "its path is another one; see path in the [bus] settings there",
    503: "too many clients are connected",
}
NOT_OURS: Final = (
    "Hark's services and commands need the service token of the bus. On its machine use the same --state as the bus; "
    "elsewhere name a file with a token in token of [bus], made with: hark token add NAME --service"
)


class BusUnavailable(ConnectionError):
    """There is no server, or it refuses this client; the text says why."""

    def __init__(self, text: str, *, final: bool = False) -> None:
        super().__init__(text)
        self.final = final
        """Whether trying again would not help."""


def unavailable(error: Exception, shown: str, tls: ssl.SSLContext | None, *, is_private: bool) -> BusUnavailable:
    """What an attempt to connect to the address `shown` failed with; one of Hark's own services is `is_private`."""
    if isinstance(error, WSInvalidStatusError):
        status = int(error.response.status) if error.response is not None else 0
        why = _REFUSALS.get(status, f"it answered with status {status}")
        if status == 401 and is_private:
            why = NOT_OURS
        final = status in (401, 403, 404)
        return BusUnavailable(f"the bus at {shown} refused this client: {why}", final=final)
    if isinstance(error, WSHandshakeError):
        return BusUnavailable(f"what listens at {shown} is no bus: it does not speak WebSocket")
    if isinstance(error, ssl.SSLError):
        return BusUnavailable(f"no connection to the bus at {shown}: {_tls_reason(error)}", final=True)
    why = str(error) or type(error).__name__
    if isinstance(error, ConnectionError) and error.errno is not None:
        why = os.strerror(error.errno)  # asyncio's own text repeats the address
    if tls is not None and isinstance(error, ConnectionResetError):
        why += f"; {other_scheme(tls)}"
    remedy = f"start an assistant with: {hints.hark('run')}, or a bus alone with: {hints.hark('bus')}"
    return BusUnavailable(f"no bus at {shown} ({why}); {remedy}")


def other_scheme(tls: ssl.SSLContext | None) -> str:
    """What may be wrong where a port takes a connection and then says nothing."""
    return "does that port expect TLS (wss://)?" if tls is None else "perhaps that port does not use TLS (ws://)"


def _tls_reason(error: ssl.SSLError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        remedy = "name its certificate with authority in [bus]"
        return f"its certificate is not trusted here ({error.verify_message}); {remedy}"
    if error.reason in ("WRONG_VERSION_NUMBER", "UNEXPECTED_MESSAGE", "RECORD_LAYER_FAILURE"):
        return "that port does not use TLS; its address begins with ws://, not wss://"
    return f"TLS failed: {error.reason or error}"
