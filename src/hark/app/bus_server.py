"""The websocket server as the [bus] settings describe it. Needs the extra `websocket`."""

from __future__ import annotations

import ssl
from pathlib import Path

from hark.app.settings.tables import BusTable
from hark.app.tokens import Token, TokenFile
from hark.bus import Bus
from hark.bus.websocket import Credential, Endpoint, EndpointError, Permissions, ServerLimits, WebSocketServer
from hark.bus.websocket.auth import is_loopback
from hark.errors import UserError
from hark.model import Clock


class TokenCredentials:
    """The tokens of a file, as a `CredentialStore`."""

    def __init__(self, file: TokenFile) -> None:
        self._file = file

    def find(self, token: str) -> Credential | None:
        """See `CredentialStore`."""
        found = self._file.find(token)
        return _credential(found) if found is not None else None

    def is_valid(self, credential: Credential) -> bool:
        """See `CredentialStore`."""
        return any(_credential(token) == credential for token in self._file.current())


def _credential(token: Token) -> Credential:
    return Credential(token.name, Permissions(token.emit, token.receive), token.sha256)


async def start_server(bus: Bus, table: BusTable, tokens: TokenFile, clock: Clock) -> tuple[WebSocketServer, list[str]]:
    """A server for `bus` that listens, and its addresses. Raises `UserError`, which says what to do."""
    server = WebSocketServer(bus, endpoints(table, tokens), limits(table), clock)
    try:
        return server, await server.start()
    except EndpointError as error:
        if error.port_taken:
            endpoint = error.endpoint
            raise UserError(
                f"port {endpoint.port} of {endpoint.host} is taken: a bus may be running already; "
                "choose another with --port, or port in [bus]"
            ) from None
        raise UserError(f"the bus {error}") from None


def endpoints(table: BusTable, tokens: TokenFile) -> list[Endpoint]:
    """Where to listen, and for which clients; raises `UserError`."""
    found = [_endpoint(table, tokens, table.host, table.port)]
    if table.remote_host is not None:
        found.append(_endpoint(table, tokens, table.remote_host, table.remote_port))
    return found


def limits(table: BusTable) -> ServerLimits:
    """What one client may use."""
    return ServerLimits(
        message=table.largest_message,
        backlog=table.backlog,
        backlogs=table.backlogs,
        connections=table.connections,
        rate=table.rate,
        burst=table.burst,
        handshake=table.handshake,
    )


def _endpoint(table: BusTable, tokens: TokenFile, host: str, port: int) -> Endpoint:
    credentials = TokenCredentials(tokens) if tokens.read() else None
    tls = None
    if not is_loopback(host):
        where = f"{host} can be reached from other machines"
        if table.certificate is None or table.key is None:
            raise UserError(f"{where}, so it needs TLS: set certificate and key in [bus] (docs/bus.md shows how)")
        if credentials is None:
            raise UserError(f"{where}, so clients need tokens, and there are none: hark token add NAME")
        tls = _tls(Path(table.certificate).expanduser(), Path(table.key).expanduser())
    elif table.ask_everybody and credentials is None:
        raise UserError("ask_everybody is set in [bus], and there are no tokens: hark token add NAME")
    return Endpoint(
        host,
        port,
        path=table.path,
        tls=tls,
        credentials=credentials,
        needs_token=table.ask_everybody,
        hosts=table.hosts,
        origins=table.origins,
    )


def _tls(certificate: Path, key: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(certificate, key)
    except OSError as error:  # an SSLError is one
        why = error.strerror or str(error)
        raise UserError(f"{certificate} and {key} are not a certificate and its key: {why}") from None
    return context
