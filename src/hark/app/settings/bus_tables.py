"""The settings of the bus between processes: [bus] and [nats]."""

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
    """The websocket bus: its server, and the services that connect to it; see docs/bus.md."""

    url: Url | None = None
    """Where services in processes of their own find the bus; else host, port and path say so."""
    token: File | None = None
    """A file with the token of these services, where the bus needs one."""
    authority: File | None = None
    """The certificate of the bus, where it is not one that this machine trusts anyway."""
    host: Address = "127.0.0.1"
    """The address where the bus listens. One that other machines can reach needs a certificate and tokens."""
    port: Port = 8181
    """Its port, for the server and for the services that connect to it."""
    path: UrlPath = "/core"
    """Its path."""
    remote_host: Address | None = None
    """A second address to listen at, for other machines; "0.0.0.0" is every address of this machine."""
    remote_port: Port = 8182
    """Its port."""
    certificate: File | None = None
    """The certificate for addresses that other machines can reach."""
    key: File | None = None
    """Its key."""
    tokens: File | None = None
    """The file with the tokens; else tokens.json in the state directory."""
    ask_everybody: Flag = False
    """Whether clients on this machine need a token as well."""
    hosts: Addresses = ()
    """Names under which clients may reach this machine, besides localhost and its addresses."""
    origins: Origins = ()
    """Web sites whose pages may connect; no others may."""
    largest_message: Count = 4_194_304
    """Bytes that a Message may have; a client that sends more is disconnected."""
    backlog: Count = 33_554_432
    """Bytes that may wait for a client to read them; beyond that it is disconnected."""
    backlogs: Count = 268_435_456
    """Bytes that may wait for all clients together; beyond that the slowest client is disconnected."""
    connections: Count = 256
    """Clients at once; further ones are refused."""
    rate: Rate = 20_000.0
    """Messages a second that a client may send over time; one that sends more is read more slowly."""
    burst: Count = 40_000
    """Messages it may send at once before that."""
    handshake: Seconds = 5.0
    """Seconds in which a new connection has to become a websocket."""


class NatsTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """NATS in the place of the websocket bus, where servers are named; see docs/nats.md."""

    servers: Names = ()
    """Where the servers are, as "nats://host:4222", or "tls://host:4222" for encrypted connections."""
    prefix: str = "hark."
    """The beginning of every subject, so that several assistants can share servers."""
    token: File | None = None
    """A file with the token that the servers need."""
    credentials: File | None = None
    """A file with the credentials of a user, as nsc writes it."""
    authority: File | None = None
    """The certificate of the servers, where it is not one that this machine trusts anyway."""
    certificate: File | None = None
    """The certificate of this client, where the servers need one."""
    key: File | None = None
    """Its key."""
