"""Which hosts are near: to them a key may be sent without TLS, and to this machine without the proxy."""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import Final

_SECRET: Final = re.compile(r"key|token|secret|password|signature|authorization", re.IGNORECASE)


def is_this_machine(host: str) -> bool:
    """Whether a host is the one that Hark runs on."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def is_local(host: str) -> bool:
    """Whether a host is this machine or in the local network."""
    if is_this_machine(host) or host.endswith((".local", ".lan", ".home.arpa")) or "." not in host:
        return True
    try:
        return ip_address(host.strip("[]")).is_private
    except ValueError:
        return False


def is_secret(name: str) -> bool:
    """Whether a header or a field of a query of this name holds a key."""
    return _SECRET.search(name) is not None
