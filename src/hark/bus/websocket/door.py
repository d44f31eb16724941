"""Where a server listens, and whom it lets in there."""

from __future__ import annotations

import ipaddress
import ssl
from collections.abc import Sequence
from http import HTTPStatus
from typing import Final, Protocol
from urllib.parse import urlsplit

import msgspec

from hark.bus.websocket.protocol import SUBPROTOCOL
from hark.bus.websocket.rights import EVERYTHING_ALLOWED, Key, Keys

LOCAL: Final = Key("a local client", EVERYTHING_ALLOWED)
"""Whoever comes in by a door on loopback without a token."""

_BEARER: Final = "bearer "


class NotClosed(Exception):
    """A door that would let in whoever comes; the text names the remedy."""


class Refusal(Exception):
    """Somebody is not let in."""

    def __init__(self, status: HTTPStatus, why: str) -> None:
        super().__init__(why)
        self.status = status


class Entrant(msgspec.Struct, frozen=True):
    """Somebody who was let in."""

    key: Key
    speaks_hark: bool
    """Whether it is one of Hark's own clients, which follow topics; all others get everything."""


class Headers(Protocol):
    """The headers of a request, as picows gives them."""

    def getall(self, name: str, default: list[str], /) -> list[str]:
        """Every value of a header, however its name is written."""


class Door:
    """One address. On loopback it may let in whoever comes; elsewhere it needs TLS, and tokens to tell who comes."""

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = 8181,
        *,
        path: str = "/core",
        tls: ssl.SSLContext | None = None,
        keys: Keys | None = None,
        trusting: bool = True,
        hosts: Sequence[str] = (),
        origins: Sequence[str] = (),
    ) -> None:
        self.host = host
        self.port = port
        self.path = "/" + path.strip("/")
        self.tls = tls
        self.keys = keys
        self.trusting = trusting and is_loopback(host)
        """Whether one comes in here without a token."""
        self._hosts = frozenset(name.lower() for name in hosts)
        self._origins = frozenset(origin.lower() for origin in origins)

    def check(self) -> None:
        """Raise `NotClosed` where whoever comes could come in, or could listen."""
        if not is_loopback(self.host):
            if self.tls is None:
                raise NotClosed(f"{self.host} can be reached by others: it needs TLS (a certificate and its key)")
            if self.keys is None:
                raise NotClosed(f"{self.host} can be reached by others: it needs tokens")
        elif not self.trusting and self.keys is None:
            raise NotClosed(f"nobody could come in at {self.host}: it trusts nobody, and there are no tokens")

    def url(self, port: int) -> str:
        """Where clients find it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'wss' if self.tls is not None else 'ws'}://{host}:{port}{self.path}"

    def admit(self, path: bytes, headers: Headers) -> Entrant:
        """Who it is that asks to be let in; raises `Refusal`."""
        token = self._token(path.decode("latin-1"), headers)
        self._check_host(headers)
        offered = ",".join(headers.getall("Sec-WebSocket-Protocol", [])).split(",")
        return Entrant(self._key(token), SUBPROTOCOL in (name.strip() for name in offered))

    def _key(self, token: str) -> Key:
        if not token and self.trusting:
            return LOCAL
        key = self.keys.find(token) if self.keys is not None and token else None
        if key is None:
            raise Refusal(HTTPStatus.UNAUTHORIZED, "a wrong token" if token else "no token")
        return key

    def _token(self, path: str, headers: Headers) -> str:
        """The token somebody shows: in the header made for it, or, where only an address can be set, after the path.

        Not in the query, which servers and proxies on the way like to write down and which OVOS clients cannot set.
        """
        path = path.partition("?")[0]
        if path.rstrip("/") != self.path and not path.startswith(self.path.rstrip("/") + "/"):
            raise Refusal(HTTPStatus.NOT_FOUND, "a path that leads nowhere")
        for shown in headers.getall("Authorization", []):
            if shown[: len(_BEARER)].lower() == _BEARER:
                return shown[len(_BEARER) :].strip()
        return path[len(self.path.rstrip("/")) :].strip("/")

    def _check_host(self, headers: Headers) -> None:
        """Let no web page in: a page is from somewhere else, or calls this machine by a name of its own making."""
        named = headers.getall("Host", [])
        host = named[0].strip().lower() if len(named) == 1 else ""
        if not self._is_ours(_without_port(host)):
            raise Refusal(HTTPStatus.FORBIDDEN, f"it called this machine {host[:100]!r}, which is not one of its hosts")
        for origin in (origin.strip().lower() for origin in headers.getall("Origin", [])):
            # Some libraries that are no browsers send what a page of this very server would send; it has no pages.
            if origin not in self._origins and origin != f"{'https' if self.tls is not None else 'http'}://{host}":
                raise Refusal(HTTPStatus.FORBIDDEN, f"a web page of {origin[:100]!r}, which is not one of its origins")

    def _is_ours(self, host: str) -> bool:
        # A name can be made to mean this machine by whoever owns it (DNS rebinding); an address cannot.
        return host in self._hosts or host == "localhost" or _address(host) is not None


def is_loopback(host: str) -> bool:
    """Whether an address can be reached from this machine only. Of names, only localhost is known to be one."""
    address = _address(host)
    return address.is_loopback if address is not None else host == "localhost"


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _without_port(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
