"""What can be set about the bus between processes."""

from __future__ import annotations

import msgspec

from hark.app.settings.kinds import (
    Address,
    Addresses,
    Count,
    File,
    Flag,
    Names,
    Origins,
    Port,
    Rate,
    Seconds,
    Url,
    UrlPath,
)


class BusTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The bus between processes, for "hark bus" and for those who connect to it; docs/bus.md tells more."""

    url: Url | None = None
    """Where services in processes of their own find the bus; else host, port and path say so."""
    token: File | None = None
    """A file with the token they show, where the bus asks for one."""
    authority: File | None = None
    """The certificate by which they know the bus, where it is not one that this machine trusts anyway."""
    host: Address = "127.0.0.1"
    """Where the bus listens. Addresses that other machines reach need a certificate and tokens."""
    port: Port = 8181
    """The port there."""
    path: UrlPath = "/core"
    """The path there."""
    remote_host: Address | None = None
    """A second address to listen at, for other machines; "0.0.0.0" is every one that this machine has."""
    remote_port: Port = 8182
    """The port there."""
    certificate: File | None = None
    """The certificate for addresses that other machines reach."""
    key: File | None = None
    """Its key."""
    tokens: File | None = None
    """The file with the tokens; else tokens.json in the state directory."""
    ask_everybody: Flag = False
    """Whether clients on this machine need a token as well."""
    hosts: Addresses = ()
    """Names by which clients may call this machine, besides localhost and its addresses."""
    origins: Origins = ()
    """Web sites whose pages may connect. No other page may."""
    largest_message: Count = 4_194_304
    """Bytes that a Message may have; who sends more is disconnected."""
    backlog: Count = 33_554_432
    """Bytes that may wait for a client to read them; beyond that it is disconnected."""
    backlogs: Count = 268_435_456
    """Bytes that may wait for all clients together; beyond that the slowest one is disconnected."""
    connections: Count = 256
    """Clients at once; others are turned away."""
    rate: Rate = 20_000.0
    """Messages a second that a client may send over time; who sends more is read more slowly."""
    burst: Count = 40_000
    """Messages it may send at once before that."""
    handshake: Seconds = 5.0
    """Seconds in which a client has to say what it wants."""


class NatsTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """NATS in the place of the bus of our own, where servers are named; docs/nats.md tells more."""

    servers: Names = ()
    """Where the servers are, as "nats://host:4222", or "tls://host:4222" for encrypted connections."""
    prefix: str = "hark."
    """What every subject begins with, so that several assistants can share servers."""
    token: File | None = None
    """A file with the token that the servers ask for."""
    credentials: File | None = None
    """A file with the credentials of a user, as nsc writes it."""
    authority: File | None = None
    """The certificate by which the servers are known, where it is not one that this machine trusts anyway."""
    certificate: File | None = None
    """Our certificate, where the servers ask for one."""
    key: File | None = None
    """Its key."""
