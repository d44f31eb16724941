"""The way to NATS as the settings have it. Needs the extra `nats`."""

from __future__ import annotations

import asyncio
import logging
import ssl
from pathlib import Path
from typing import Any

import msgspec
import nats.errors
from nats.aio.client import Client

from hark.app.settings.bus_tables import NatsTable
from hark.app.trouble import Trouble
from hark.bus import RemoteBus
from hark.bus.nats import NatsCarrier, NatsOptions, NoBroker
from hark.model import Clock
from hark.understand import Pace

log = logging.getLogger("hark.bus")

_RETRY: Any = 0.1
"""Seconds between two attempts to reconnect; the client declares them as whole numbers, and takes others."""


async def connected_to_nats(
    table: NatsTable, clock: Clock, *, is_worker: bool = False, within: float = NatsOptions().connect_within
) -> RemoteBus:
    """The bus that [nats] names; raises `Trouble` that says what to do when it is not there `within` seconds."""
    options = msgspec.structs.replace(options_of(table, is_worker=is_worker), connect_within=within)
    bus = RemoteBus(NatsCarrier(options, clock))
    try:
        await bus.open()
    except NoBroker as error:
        await bus.close()
        raise Trouble(str(error)) from None
    return bus


async def jetstream_client(table: NatsTable) -> Client:
    """A client of its own for JetStream, which reconnects for ever; raises `Trouble`."""
    options = options_of(table)
    client = Client()
    try:
        async with asyncio.timeout(options.connect_within):  # it would try for ever
            await client.connect(
                servers=list(options.servers),
                name="hark",
                token=options.token,
                user_credentials=options.credentials,
                tls=options.tls,
                connect_timeout=2,
                max_reconnect_attempts=-1,
                reconnect_time_wait=_RETRY,
                ping_interval=1,
                error_cb=_log_error,
            )
    except (nats.errors.Error, OSError) as error:
        raise Trouble(f"the NATS server cannot be used: {error or type(error).__name__}") from None
    return client


async def _log_error(error: Exception) -> None:
    log.debug("nats: %s", error)


def options_of(table: NatsTable, *, is_worker: bool = False) -> NatsOptions:
    """What [nats] says; raises `Trouble`. What a worker sends does not wait longer than others wait for it."""
    try:
        return NatsOptions(
            servers=table.servers,
            prefix=table.prefix,
            token=_read(table.token) if table.token is not None else None,
            credentials=str(Path(table.credentials).expanduser()) if table.credentials is not None else None,
            tls=_tls(table),
            patience=Pace().patience if is_worker else NatsOptions().patience,
        )
    except ValueError as error:
        raise Trouble(f"[nats]: {error}") from None


def _read(file: str) -> str:
    try:
        return Path(file).expanduser().read_text().strip()
    except (OSError, UnicodeError) as error:
        said = getattr(error, "strerror", None) or "it is not text"
        raise Trouble(f"[nats] token: {file} cannot be read: {said}") from None


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
        raise Trouble(f"[nats]: the certificates cannot be used: {error.strerror or error}") from None
    return made
