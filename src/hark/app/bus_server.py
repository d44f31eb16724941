"""The websocket server as the [bus] settings describe it. Needs the extra `websocket`."""

from __future__ import annotations

import os
import ssl
import stat
from collections.abc import Iterable
from pathlib import Path

from hark import hints
from hark.app.paths import tokens_file
from hark.app.settings.tables import BusTable
from hark.app.tokens import ServiceToken, Token, TokenFile
from hark.bus import Bus
from hark.bus.websocket import Credential, Endpoint, EndpointError, Permissions, ServerLimits, WebSocketServer
from hark.bus.websocket.auth import is_loopback
from hark.errors import UserError
from hark.model import Clock


class TokenCredentials:
    """The tokens of clients and the one of Hark's own services, as a `CredentialStore`."""

    def __init__(self, file: TokenFile, service: ServiceToken) -> None:
        self._file = file
        self._service = service

    def find(self, token: str) -> Credential | None:
        """See `CredentialStore`."""
        found = self._file.find(token)
        if self._service.matches(token):
            return _service_credential(self._service.fingerprint())
        return _credential(found) if found is not None else None

    def is_valid(self, credential: Credential) -> bool:
        """See `CredentialStore`."""
        if credential == _service_credential(self._service.fingerprint()):
            return True
        return any(_credential(token) == credential for token in self._file.current())


def _credential(token: Token) -> Credential:
    permissions = Permissions(token.emit, token.receive, token.sources, token.sessions, private=token.service)
    return Credential(token.name, permissions, token.sha256)


def _service_credential(fingerprint: str) -> Credential:
    return Credential("a Hark service", Permissions(private=True), fingerprint)


class PortTaken(UserError):
    """Another process listens at the port."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.place = f"port {endpoint.port} of {endpoint.host} is taken"
        super().__init__(f"{self.place}: a bus may be running already; choose another with port in [bus]")


async def start_server(
    bus: Bus,
    table: BusTable,
    state: Path,
    clock: Clock,
    *,
    reserved: Iterable[str] = (),
    has_assistant: bool = False,
    lang: str = "en-US",
) -> tuple[WebSocketServer, list[str]]:
    """A server for `bus` that listens, and its addresses. Raises `UserError`, which says what to do.

    The tokens are in the directory `state`, where also the one of Hark's own services is made. No client may register
    skills whose ids are `reserved`. See `WebSocketServer` for `has_assistant`.
    """
    tokens, service = TokenFile(tokens_file(table.tokens, state)), ServiceToken(state)
    service.ensure()
    translators = None
    if table.ovos:
        from hark.bridges.ovos import OvosBridge  # here: most assistants have no programs of OVOS

        translators = OvosBridge(bus, clock, lang).translator
    server = WebSocketServer(
        bus,
        endpoints(table, tokens, service),
        limits(table),
        clock,
        reserved=reserved,
        has_assistant=has_assistant,
        translators=translators,
    )
    try:
        return server, await server.start()
    except EndpointError as error:
        if error.port_taken:
            raise PortTaken(error.endpoint) from None
        raise UserError(f"the bus {error}") from None


def endpoints(table: BusTable, tokens: TokenFile, service: ServiceToken) -> list[Endpoint]:
    """Where to listen, and for which clients; raises `UserError`."""
    found = [_endpoint(table, tokens, service, table.host, table.port)]
    if table.remote_host is not None:
        # Of this machine alone, as behind a tunnel, it is still for clients elsewhere.
        is_secured = table.certificate is not None and table.key is not None and bool(tokens.read())
        found.append(_endpoint(table, tokens, service, table.remote_host, table.remote_port, secured=is_secured))
    return found


def limits(table: BusTable) -> ServerLimits:
    """What one client may use."""
    return ServerLimits(
        message=table.largest_message,
        backlog=table.backlog,
        backlogs=table.backlogs,
        connections=table.connections,
        client_connections=table.client_connections,
        rate=table.rate,
        burst=table.burst,
        byte_rate=table.byte_rate,
        byte_burst=table.byte_burst,
        registrations=table.registrations,
        registration_bytes=table.registration_bytes,
        handshake=table.handshake,
    )


def _endpoint(
    table: BusTable, tokens: TokenFile, service: ServiceToken, host: str, port: int, *, secured: bool = False
) -> Endpoint:
    has_tokens = bool(tokens.read())
    tls = None
    if secured or not is_loopback(host):
        where = f"{host} can be reached from other machines"
        if table.certificate is None or table.key is None:
            raise UserError(f"{where}, so it needs TLS: set certificate and key in [bus] (docs/bus.md shows how)")
        if not has_tokens:
            raise UserError(f"{where}, so clients need tokens, and there are none: {hints.hark('token add NAME')}")
        tls = _tls(Path(table.certificate).expanduser(), Path(table.key).expanduser())
    elif table.ask_everybody and not has_tokens:
        raise UserError(f"ask_everybody is set in [bus], and there are no tokens: {hints.hark('token add NAME')}")
    return Endpoint(
        host,
        port,
        path=table.path,
        tls=tls,
        credentials=TokenCredentials(tokens, service),
        needs_token=table.ask_everybody or secured,
        hosts=table.hosts,
        origins=table.origins,
    )


def _tls(certificate: Path, key: Path) -> ssl.SSLContext:
    _check_private(key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(certificate, key)
    except OSError as error:  # an SSLError is one
        why = error.strerror or str(error)
        raise UserError(f"{certificate} and {key} are not a certificate and its key: {why}") from None
    return context


def _check_private(key: Path) -> None:
    """Refuse a key that others can read: they could pass for this bus. A group may read one that root gave it."""
    try:
        found = key.stat()
    except OSError:
        return  # said when it is loaded
    others = stat.S_IRWXO | (stat.S_IRWXG if found.st_uid == os.geteuid() else stat.S_IWGRP)
    if found.st_mode & others:
        raise UserError(f"the key {key} can be read or changed by other users of this machine: chmod 600 {key}")
