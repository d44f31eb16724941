"""The way to NATS as the settings have it."""

from __future__ import annotations

from pathlib import Path

import pytest

from hark.app.nats_connection import connected_to_nats, options_of
from hark.app.settings.tables import NatsTable
from hark.errors import UserError
from hark.model import Message, SystemClock
from hark.testing.nats_server import NatsServer

TLS = Path(__file__).parents[1] / "bus" / "nats_tls"


async def test_a_bus_where_the_settings_say(nats_server: NatsServer) -> None:
    bus = await connected_to_nats(NatsTable(servers=(nats_server.url,), prefix="settings."), SystemClock())
    heard: list[str] = []
    bus.on("a", lambda message: heard.append(message.type))
    bus.emit(Message("a"))
    await bus.carrier.flush()
    assert heard == ["a"]
    await bus.close()


def test_what_is_in_files_is_read(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("sesame\n")
    cert, key = str(TLS / "cert.pem"), str(TLS / "key.pem")
    options = options_of(NatsTable(servers=("nats://a",), token=str(token), authority=cert, certificate=cert, key=key))
    assert options.token == "sesame"
    assert options.tls is not None
    assert options_of(NatsTable(servers=("tls://127.0.0.1",))).tls is not None
    assert options_of(NatsTable(servers=("nats://localhost",))).tls is None


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (NatsTable(servers=("nats://a",), token="/no/such/file"), r"\[nats\] token: .* cannot be read"),
        (NatsTable(servers=("nats://localhost",), authority=__file__), "certificates cannot be used"),
        (NatsTable(servers=("nats://localhost",), prefix="no prefix"), "no prefix"),
    ],
)
def test_what_cannot_be_used_is_named(table: NatsTable, said: str) -> None:
    with pytest.raises(UserError, match=said):
        options_of(table)


@pytest.mark.parametrize(
    "server", ["nats://broker.example:4222", "tls://10.0.0.7", "broker.example:4222", "nats://[2001:db8::1]"]
)
def test_a_broker_beyond_this_machine_needs_credentials(server: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"is not on this machine, .* set token, user and password"):
        options_of(NatsTable(servers=("nats://127.0.0.1", server)))
    token = tmp_path / "token"
    token.write_text("sesame")
    assert options_of(NatsTable(servers=(server,), token=str(token))).token == "sesame"


def test_credentials_in_an_address_will_do() -> None:
    assert options_of(NatsTable(servers=("nats://hark:sesame@broker.example",))).servers


@pytest.mark.parametrize("server", ["nats://127.0.0.1:4222", "nats://localhost", "nats://[::1]:4222"])
def test_a_broker_on_this_machine_does_not(server: str) -> None:
    assert options_of(NatsTable(servers=(server,))).token is None
