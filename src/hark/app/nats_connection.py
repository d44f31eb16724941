"""The way to NATS as the settings have it. Needs the extra `nats`."""

from __future__ import annotations

import ssl
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from hark.app.bus_address import is_loopback
from hark.app.settings.tables import NatsTable
from hark.bus import RemoteBus
from hark.bus.nats import NatsCarrier, NatsOptions, NoBroker
from hark.errors import UserError
from hark.model import Clock


async def connected_to_nats(
    table: NatsTable, clock: Clock, *, within: float = NatsOptions().connect_within, on_disk: bool = True
) -> RemoteBus:
    """The bus that [nats] names; raises `UserError` that says what to do when it is not there `within` seconds."""
    options = msgspec.structs.replace(options_of(table), connect_within=within, on_disk=on_disk)
    bus = RemoteBus(NatsCarrier(options, clock))
    try:
        await bus.open()
    except NoBroker as error:
        await bus.close()
        if isinstance(error.__cause__, ImportError):
            raise UserError(str(error)) from None
        raise UserError(f"{error}; start the server, or correct its address: --bus, or servers in [nats]") from None
    return bus


def options_of(table: NatsTable) -> NatsOptions:
    """What [nats] says; raises `UserError`."""
    _refuse_without_credentials(table)
    try:
        return NatsOptions(
            servers=table.servers,
            prefix=table.prefix,
            token=_read(table.token, "token") if table.token is not None else None,
            user=table.user,
            password=_read(table.password, "password") if table.password is not None else None,
            credentials=str(Path(table.credentials).expanduser()) if table.credentials is not None else None,
            tls=_tls(table),
        )
    except ValueError as error:
        raise UserError(f"[nats]: {error}") from None


def _refuse_without_credentials(table: NatsTable) -> None:
    """A broker that other machines reach, and that accepts every client, would let each send in Hark's name."""
    if any((table.token, table.password, table.credentials, table.certificate)):
        return
    for server in table.servers:
        place = urlsplit(server if "://" in server else f"nats://{server}")
        if place.username is None and not is_loopback(place.hostname or ""):
            raise UserError(
                f"[nats] servers: {place.hostname} is not on this machine, and the settings have no credentials for "
                "it: set token, user and password, credentials, or certificate and key in [nats]"
            )


def _read(file: str, key: str) -> str:
    try:
        return Path(file).expanduser().read_text().strip()
    except (OSError, UnicodeError) as error:
        said = getattr(error, "strerror", None) or "it is not text"
        raise UserError(f"[nats] {key}: {file} cannot be read: {said}") from None


def _tls(table: NatsTable) -> ssl.SSLContext | None:
    files = (table.authority, table.certificate, table.key)
    if not any(files) and not any(server.startswith("tls://") for server in table.servers):
        return None
    authority, certificate, key = (Path(file).expanduser() if file is not None else None for file in files)
    try:
        made = ssl.create_default_context(cafile=authority)
        if certificate is not None:
            made.load_cert_chain(certificate, key)
    except OSError as error:  # an SSLError is one
        raise UserError(f"[nats]: the certificates cannot be used: {error.strerror or error}") from None
    return made
