"""The first contact with a NATS server."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final

from hark.bus.nats.options import NatsOptions

if TYPE_CHECKING:
    from hark.bus.nats.client import Deliver, OrderedClient

log = logging.getLogger("hark.bus")

_ATTEMPT: Final = 2
"""Seconds for one attempt."""

Told = Callable[[], Awaitable[None]]


class NoBroker(ConnectionError):
    """No server lets us in; the text says where was tried and what was answered."""


async def connected(options: NatsOptions, deliver: Deliver, lost: Told, back: Told, given_up: Told) -> OrderedClient:
    """A client that is connected, and from now on keeps up the connection by itself; raises `NoBroker`."""
    try:
        from hark.bus.nats.client import OrderedClient
    except ImportError as error:
        raise NoBroker(f"{error.name} is not installed: pip install 'hark[nats]'") from error
    client = OrderedClient(deliver)
    refused: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    said = "nobody answered"

    async def trouble(error: Exception) -> None:
        nonlocal said
        log.debug("nats: %s", error)
        if refused.done():  # what came of that says less: the server hangs up on whom it refuses
            return
        said = str(error) or type(error).__name__
        if "authoriz" in said.lower():
            refused.set_result(None)

    connecting = asyncio.ensure_future(client.connect(error_cb=trouble, **_arguments(options, lost, back, given_up)))
    await asyncio.wait({connecting, refused}, timeout=options.connect_within, return_when=asyncio.FIRST_COMPLETED)
    if connecting.done() and connecting.exception() is None:
        refused.cancel()
        return client
    refusal = refused.done()
    refused.cancel()
    while not connecting.done():  # one cancellation may be lost in `asyncio.wait_for` (Python 3.11)
        connecting.cancel()
        await asyncio.wait({connecting}, timeout=0.05)
    if not connecting.cancelled() and connecting.exception() is not None:
        said = str(connecting.exception())
    await _abandon(client)
    where = ", ".join(server.rpartition("@")[2] for server in options.servers)  # without what is secret in it
    if refusal:
        raise NoBroker(f"the NATS server at {where} does not let us in: {said}")
    raise NoBroker(f"no NATS server could be reached at {where} within {options.connect_within:g} s: {said}")


async def _abandon(client: Any) -> None:
    client._closed_cb = client._disconnected_cb = None  # it never was connected: there is nothing to tell
    await client.close()


def _arguments(options: NatsOptions, lost: Told, back: Told, given_up: Told) -> dict[str, Any]:
    return {
        "servers": list(options.servers),
        "name": options.name,
        "token": options.token,
        "user": options.user,
        "password": options.password,
        "user_credentials": options.credentials,
        "tls": options.tls,
        "connect_timeout": _ATTEMPT,
        "reconnect_time_wait": options.retry,
        "max_reconnect_attempts": -1,
        "ping_interval": options.ping,
        "disconnected_cb": lost,
        "reconnected_cb": back,
        "closed_cb": given_up,
    }
