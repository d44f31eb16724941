"""Where a server listens, which clients it accepts there, and what they may emit and receive."""

from __future__ import annotations

import ipaddress
import re
import ssl
from collections.abc import Iterable, Sequence
from functools import lru_cache
from http import HTTPStatus
from typing import Final, Protocol

import msgspec

from hark.bus.websocket.protocol import SUBPROTOCOL
from hark.model import Message
from hark.model.text_cache import cached_by_text
from hark.spec import topics
from hark.spec.names import SOURCE

_BEARER: Final = "bearer "
_HOST: Final = re.compile(r"(?:\[(?P<address>[0-9a-f:.]+)\]|(?P<name>[a-z0-9._-]+))(?::[0-9]{1,5})?")
"""No user, no path: other parsers may read another host in those."""


class Permissions(msgspec.Struct, frozen=True):
    """What a client may emit and receive. None is no restriction."""

    emit: tuple[str, ...] | None = None
    """Topics: patterns in which `*` stands for anything."""
    receive: tuple[str, ...] | None = None
    """Topics, in the same way."""
    sources: tuple[str, ...] | None = None
    """What `context.source` of its Messages may be; a Message without one is refused."""
    sessions: tuple[str, ...] | None = None
    """The sessions of its Messages; a Message without one belongs to `default`."""
    private: bool = False
    """Whether it is one of Hark's own services, for which the topics that begin with `hark.` are."""

    @property
    def are_limited(self) -> bool:
        """Whether Messages of the client may be refused for what is in them, and not only for a private topic."""
        return self.emit is not None or self.sources is not None or self.sessions is not None

    def refusal(self, message: Message) -> str | None:
        """Why the server drops a Message of the client; None when the client may emit it.

        Whether it is about a skill of another client is for `SkillOwners` to say.
        """
        if not self.private and topics.is_private(message.type) and message.type != topics.HANDLER_DONE:
            return "its topic is for Hark's own services"
        if self.emit is not None and not _matches(message.type, self.emit):
            return "its topic is not allowed by the token"
        if self.sources is not None and message.context.get(SOURCE) not in self.sources:
            return "its source is not one of the token's"
        if self.sessions is not None and message.session_id not in self.sessions:
            return "its session is not one of the token's"
        return None

    def may_receive(self, topic: str) -> bool:
        """Whether the server sends a Message on this topic to the client."""
        if not self.private and topics.is_private(topic):
            return False
        return self.receive is None or _matches(topic, self.receive)


class Credential(msgspec.Struct, frozen=True):
    """What a token stands for: the client it was made for, and what that may do."""

    name: str
    permissions: Permissions = Permissions()
    fingerprint: str = ""
    """Distinguishes it from an earlier or later one with the same name."""


class CredentialStore(Protocol):
    """The tokens that an endpoint accepts."""

    def find(self, token: str) -> Credential | None:
        """The credential of a token. Takes as long for a wrong one as for a right one."""

    def is_valid(self, credential: Credential) -> bool:
        """Whether a credential that was found before is still accepted, with the same permissions."""


LOCAL_CLIENT: Final = Credential("a local client")
"""Every client that connects on loopback without a token."""


class EndpointError(Exception):
    """An endpoint cannot be used; the text says why."""

    def __init__(self, endpoint: Endpoint, text: str, *, port_taken: bool = False) -> None:
        super().__init__(text)
        self.endpoint = endpoint
        self.port_taken = port_taken


class HandshakeRefused(Exception):
    """A client is not accepted, and the HTTP status that says so."""

    def __init__(self, status: HTTPStatus, why: str) -> None:
        super().__init__(why)
        self.status = status


class AcceptedClient(msgspec.Struct, frozen=True):
    """What is known about a client from its handshake."""

    credential: Credential
    speaks_hark: bool
    """Whether it says which topics it follows; all others get everything."""


class RequestHeaders(Protocol):
    """The headers of a request, as picows gives them."""

    def getall(self, name: str, default: list[str], /) -> list[str]:
        """Every value of a header, in whichever case its name is written."""


class Endpoint:
    """An address to listen at. On loopback it may accept every client; elsewhere it needs TLS and tokens."""

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = 8181,
        *,
        path: str = "/core",
        tls: ssl.SSLContext | None = None,
        credentials: CredentialStore | None = None,
        needs_token: bool = False,
        hosts: Sequence[str] = (),
        origins: Sequence[str] = (),
    ) -> None:
        self.host = host
        self.port = port
        self.path = "/" + path.strip("/")
        self.tls = tls
        self.credentials = credentials
        self.needs_token = needs_token or not is_loopback(host)
        self._hosts = frozenset(name.lower() for name in hosts)
        self._origins = frozenset(origin.lower() for origin in origins)

    def check(self) -> None:
        """Raise `EndpointError` where every client would be accepted, others could listen in, or no client could
        connect.
        """
        if not is_loopback(self.host):
            if self.tls is None:
                raise EndpointError(
                    self, f"{self.host} can be reached from other machines: it needs TLS (a certificate and its key)"
                )
            if self.credentials is None:
                raise EndpointError(self, f"{self.host} can be reached from other machines: it needs tokens")
        elif self.needs_token and self.credentials is None:
            raise EndpointError(self, f"no client could connect at {self.host}: it needs tokens, and there are none")

    def url(self, port: int) -> str:
        """The address for clients."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'wss' if self.tls is not None else 'ws'}://{host}:{port}{self.path}"

    def authenticate(self, path: bytes, headers: RequestHeaders) -> AcceptedClient:
        """Check the request of a new client; raises `HandshakeRefused`."""
        token = self._token(path.decode("latin-1"), headers)
        self._check_host(headers)
        offered = ",".join(headers.getall("Sec-WebSocket-Protocol", [])).split(",")
        return AcceptedClient(self._credential(token), SUBPROTOCOL in (name.strip() for name in offered))

    def _credential(self, token: str) -> Credential:
        if not token and not self.needs_token:
            return LOCAL_CLIENT
        credential = self.credentials.find(token) if self.credentials is not None and token else None
        if credential is None:
            raise HandshakeRefused(HTTPStatus.UNAUTHORIZED, "a wrong token" if token else "no token")
        return credential

    def _token(self, path: str, headers: RequestHeaders) -> str:
        """The token of a request: in the header made for it, or, where only an address can be set, after the path.

        Not in the query, which servers and proxies on the way like to log and which OVOS clients cannot set.
        """
        path = path.partition("?")[0]
        if path.rstrip("/") != self.path and not path.startswith(self.path.rstrip("/") + "/"):
            raise HandshakeRefused(HTTPStatus.NOT_FOUND, "an unknown path")
        for value in headers.getall("Authorization", []):
            if value[: len(_BEARER)].lower() == _BEARER:
                return value[len(_BEARER) :].strip()
        return path[len(self.path.rstrip("/")) :].strip("/")

    def _check_host(self, headers: RequestHeaders) -> None:
        """Refuse web pages: a page has another origin, or reached this machine under a name of its own choice."""
        named = headers.getall("Host", [])
        host = named[0].strip().lower() if len(named) == 1 else ""
        if not self._is_own_host(_without_port(host)):
            raise HandshakeRefused(HTTPStatus.FORBIDDEN, f"host {host[:100]!r} is not one of hosts in [bus]")
        for origin in (origin.strip().lower() for origin in headers.getall("Origin", [])):
            # Some libraries that are no browsers send what a page of this very server would send; it has no pages.
            if origin not in self._origins and origin != f"{'https' if self.tls is not None else 'http'}://{host}":
                raise HandshakeRefused(
                    HTTPStatus.FORBIDDEN, f"a web page of {origin[:100]!r}, which is not one of origins in [bus]"
                )

    def _is_own_host(self, host: str) -> bool:
        # A name can be made to mean this machine by its owner (DNS rebinding); an address cannot.
        return host in self._hosts or host == "localhost" or _ip_address(host) is not None


def is_loopback(host: str) -> bool:
    """Whether an address can be reached from this machine only. Of names, only localhost is known to be one."""
    address = _ip_address(host)
    return address.is_loopback if address is not None else host == "localhost"


def _ip_address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _without_port(host: str) -> str:
    """The host of a Host header, or nothing where that is not `host` or `host:port` (RFC 9110 §7.2)."""
    found = _HOST.fullmatch(host)
    return found["address"] or found["name"] if found is not None else ""


@cached_by_text(8_192)
def _matches(topic: str, patterns: tuple[str, ...]) -> bool:
    return _expression(patterns).fullmatch(topic) is not None


@lru_cache(maxsize=256)
def _expression(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(re.escape(pattern).replace(r"\*", ".*") for pattern in patterns) or r"(?!)")
