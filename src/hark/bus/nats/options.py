"""How a deployment reaches its NATS servers."""

from __future__ import annotations

import re
import ssl
from typing import Final

import msgspec

OTHER_SERVICES: Final = frozenset({"hear", "act", "speak", "schedule", "edge", "supervisor"})
"""Users of the broker that `hark run --split` starts, and that the documentation has for others."""
KNOWN_USERS: Final = OTHER_SERVICES | {"understand"}
_PREFIX: Final = re.compile(r"(?:[A-Za-z0-9_-]+\.)+")


class NatsOptions(msgspec.Struct, frozen=True):
    """Where the servers are, who we are to them, and how much may wait while they cannot be reached."""

    servers: tuple[str, ...] = ("nats://127.0.0.1:4222",)
    """One or several of a cluster: any of them will do."""
    prefix: str = "hark."
    """What every subject begins with: several assistants can share one broker."""
    name: str = "hark"
    """What the servers call this connection in their reports."""
    token: str | None = None
    user: str | None = None
    """The user that the servers know this process by. The broker answers it on subjects of its own."""
    password: str | None = None
    credentials: str | None = None
    """The file with the JWT and the seed of a user, as `nsc` writes it."""
    tls: ssl.SSLContext | None = None
    connect_within: float = 10.0
    """Seconds in which a server must have answered; then `open` says why none did."""
    retry: float = 0.1
    """Seconds between two attempts to reach the same server again."""
    regroup: float = 0.5
    """Seconds that a connection which broke is given, once it is there again, before anything is sent: the other
    processes have to find the broker too, and a Message that none of them receives is lost.
    """
    ping: float = 1.0
    """Seconds between two questions whether the server is still there; two without an answer and it is not."""
    outbox: int = 16 * 1024 * 1024
    """Bytes that may wait for the connection; beyond it the oldest Messages are dropped."""
    patience: float = 30.0
    """Seconds for which a Message may wait for it."""
    on_disk: bool = True
    """Whether the servers may keep turns and the default session on disk; else in memory."""

    @property
    def takes_turns(self) -> bool:
        """Whether this process may take utterances: a user of another service than `understand` may not."""
        return self.user is None or self.user not in OTHER_SERVICES

    @property
    def storage(self) -> str:
        """Where a stream is kept, as JetStream names it."""
        return "file" if self.on_disk else "memory"

    def __post_init__(self) -> None:
        if not self.servers:
            raise ValueError("NATS needs the address of a server")
        if _PREFIX.fullmatch(self.prefix) is None:
            raise ValueError(
                f"{self.prefix!r} is no prefix of subjects: words, each with a dot after it, as in 'hark.'"
            )
