"""Which clients are accepted, and what each of them may use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from http import HTTPStatus
from typing import Final

from picows import WSCloseCode

from hark.bus.websocket.auth import LOCAL_CLIENT, AcceptedClient, Credential, HandshakeRefused
from hark.bus.websocket.connection import ClientConnection
from hark.bus.websocket.limits import ClientUsage, ServerLimits, ThrottledLog
from hark.bus.websocket.local_processes import owners_of
from hark.model import Clock

_LOOKUPS: Final = 0.2
"""The part of the time that may be spent on looking through all programs of this machine for one that has connected."""
_UNDECIDED: Final = 64
"""Connections above the limit, for the moment in which it is decided which has to go."""


class Admission:
    """The connections of a server, and whether there is room for one more.

    Hark's own services are always accepted: other clients cannot keep them out.
    """

    def __init__(self, limits: ServerLimits, clock: Clock, log: ThrottledLog) -> None:
        self.connections: set[ClientConnection] = set()
        self.services = 0
        """Connections of Hark's own services."""
        self._limits = limits
        self._clock = clock
        self._log = log
        self._counts: Counter[Credential] = Counter()
        """Connections of each client."""
        self._usage: dict[Credential, ClientUsage] = {}
        """What the clients with a token use."""
        self._next_lookup = clock.monotonic()

    def check(self, client: AcceptedClient) -> None:
        """Raise `HandshakeRefused` where there are far too many clients, or too many with this token.

        Whether there is room for others is decided once they are connected, by `has_room`.
        """
        credential = client.credential
        if credential.permissions.private:
            return
        if len(self.connections) >= self._limits.connections + _UNDECIDED:
            raise HandshakeRefused(HTTPStatus.SERVICE_UNAVAILABLE, "too many clients")
        if credential is not LOCAL_CLIENT and self._counts[credential] >= self._limits.client_connections:
            raise HandshakeRefused(HTTPStatus.SERVICE_UNAVAILABLE, f"too many connections of {credential.name}")

    def joined(self, connection: ClientConnection) -> None:
        """It is connected."""
        self.connections.add(connection)
        self.services += connection.permissions.private
        self._counts[connection.credential] += 1

    def left(self, connection: ClientConnection) -> None:
        """It is disconnected."""
        if connection not in self.connections:
            return
        self.connections.discard(connection)
        self.services -= connection.permissions.private
        self._counts[connection.credential] -= 1
        if not self._counts[connection.credential]:
            del self._counts[connection.credential]

    def has_room(self, newcomer: ClientConnection) -> bool:
        """Whether a client that has just connected may stay.

        Where all connections are taken, or all those of local clients without a token, the client that has most gives
        one up, unless the new client would then have as many: a token is one client, and so is a local program.
        """
        if newcomer.permissions.private:
            return True
        clients = [one for one in self.connections if one.is_open]
        if len(clients) <= self._limits.connections:
            clients = [one for one in clients if not one.has_token]
            if newcomer.has_token or len(clients) <= self._limits.client_connections:
                return True
        clients = [one for one in clients if not one.permissions.private]
        self._find_owners(newcomer, clients)
        counts = Counter(one.owner or one.credential for one in clients)
        greediest, most = counts.most_common(1)[0]
        if most <= counts[newcomer.owner or newcomer.credential] or not (newcomer.owner or newcomer.has_token):
            return False
        idlest = min((one for one in clients if (one.owner or one.credential) == greediest), key=lambda one: one.active)
        self._log.warning("bus: disconnected %s: it has %d connections, and another client needs one", idlest, most)
        idlest.close(WSCloseCode.TRY_AGAIN_LATER, "another client needs the connection")
        return True

    def usage_of(self, credential: Credential) -> ClientUsage:
        """What counts against the limits of a client: for all its connections, where it has a token."""
        now = self._clock.monotonic()
        if credential is LOCAL_CLIENT:  # only connections distinguish local clients without a token
            return ClientUsage(self._limits, now)
        if credential not in self._usage:
            self._usage = {one: usage for one, usage in self._usage.items() if one in self._counts}
            self._usage[credential] = ClientUsage(self._limits, now)
        return self._usage[credential]

    def _find_owners(self, newcomer: ClientConnection, clients: Iterable[ClientConnection]) -> None:
        """Look up which local programs the connections belong to, where that is not known.

        All programs of this machine are looked through only now and then: a program that connects over and over is one
        that has connections already.
        """
        unknown = {one.link: one for one in clients if one.link is not None and not one.owner}
        if newcomer.link is None:
            return
        known = [owner for owner, _ in Counter(one.owner for one in clients if one.owner).most_common()]
        found = owners_of([newcomer.link], known) if known else {}
        now = self._clock.monotonic()
        if not found and now >= self._next_lookup:
            found = owners_of(unknown)
            took = self._clock.monotonic() - now
            self._next_lookup = now + took / _LOOKUPS
        for link, owner in found.items():
            unknown[link].owner = owner
