"""Which bus services connect to, and the server they find there."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from hark.app.bus_address import BusAddress
from hark.app.bus_server import start_server
from hark.app.settings import settings_from
from hark.app.settings.tables import BusTable
from hark.app.tokens import TokenFile
from hark.bus import LocalBus
from hark.errors import UserError
from hark.model import SystemClock

TLS = Path(__file__).parents[1] / "bus" / "tls"
BOTH = {"bus": {"url": "ws://here/core"}, "nats": {"servers": ["nats://user:secret@a:1", "tls://b:2"], "prefix": "x."}}


def test_it_is_the_websocket_bus_unless_nats_servers_are_named() -> None:
    address = BusAddress.of(settings_from({"bus": BOTH["bus"]}))
    assert (str(address), address.is_nats) == ("ws://here/core", False)
    address = BusAddress.of(settings_from(BOTH))
    assert (str(address), address.is_nats) == ("a:1, tls://b:2", True)


def test_an_address_on_the_command_line_overrides_the_settings() -> None:
    address = BusAddress.of(settings_from(BOTH), "ws://there/core")
    assert (str(address), address.is_nats, address.url) == ("ws://there/core", False, "ws://there/core")
    address = BusAddress.of(settings_from(BOTH), "nats://c:3")
    assert (str(address), address.nats.servers, address.nats.prefix) == ("nats://c:3", ("nats://c:3",), "x.")


@pytest.mark.parametrize(
    ("bus", "url"),
    [
        ({}, "ws://127.0.0.1:8181/core"),
        ({"port": 9000}, "ws://127.0.0.1:9000/core"),
        ({"host": "localhost", "path": "bus/"}, "ws://localhost:8181/bus"),
        ({"host": "::1"}, "ws://[::1]:8181/core"),
        ({"host": "0.0.0.0"}, "wss://127.0.0.1:8181/core"),
        ({"host": "hub.local", "port": 1}, "wss://hub.local:1/core"),
        ({"url": "ws://elsewhere/core", "port": 9000}, "ws://elsewhere/core"),
    ],
)
def test_without_an_address_host_and_port_of_the_server_say_where_it_is(bus: dict[str, object], url: str) -> None:
    assert BusAddress.of(settings_from({"bus": bus})).url == url


@pytest.mark.parametrize(
    ("bus", "place"),
    [
        ({"port": 9000}, ("127.0.0.1", 9000, "/core")),
        ({"url": "ws://127.0.0.2:7000/there"}, ("127.0.0.2", 7000, "/there")),
        ({"url": "ws://127.0.0.2"}, ("127.0.0.2", 80, "/")),
    ],
)
def test_a_server_for_that_address_listens_there(bus: dict[str, object], place: tuple[str, int, str]) -> None:
    table = BusAddress.of(settings_from({"bus": bus})).server_table
    assert (table.host, table.port, table.path) == place


async def test_the_settings_of_both_sides_fit(tmp_path: Path) -> None:
    tokens = TokenFile(tmp_path / "tokens.json")
    token, plain, key = tmp_path / "token", tmp_path / "plain", tmp_path / "key.pem"
    token.write_text(tokens.add("kitchen", SystemClock(), service=True) + "\n")
    plain.write_text(tokens.add("doorbell", SystemClock()) + "\n")
    key.write_bytes((TLS / "key.pem").read_bytes())
    key.chmod(0o600)
    pair = {"certificate": str(TLS / "certificate.pem"), "key": str(key)}
    table = BusTable(port=0, remote_host="0.0.0.0", remote_port=0, **pair)
    server, (local, remote) = await start_server(LocalBus(), table, tmp_path, SystemClock())
    remote = remote.replace("0.0.0.0", "127.0.0.1")
    for client in (
        BusTable(url=local),
        BusTable(url=remote, token=str(token), authority=str(TLS / "certificate.pem")),
    ):
        bus = await BusAddress(client, state=tmp_path).connect(SystemClock())
        await bus.carrier.flush()
        await bus.close()
    for stranger in (BusTable(url=local), BusTable(url=local, token=str(plain))):
        with pytest.raises(UserError, match="service token"):
            await BusAddress(stranger, state=tmp_path / "elsewhere").connect(SystemClock())
        bus = await BusAddress(stranger).connect(SystemClock(), private=False)
        await bus.close()
    await server.close()


@pytest.mark.parametrize(
    ("table", "text"),
    [
        (BusTable(url="http://127.0.0.1"), "is not the address of a bus"),
        (BusTable(url="localhost"), "'localhost' is not the address of a bus"),
        (BusTable(url="ws://"), "is not the address of a bus"),
        (BusTable(url="ws://localhost:port/core"), "is not the address of a bus"),
        (BusTable(token="/nowhere"), "token: /nowhere cannot be read"),
        (BusTable(url="wss://127.0.0.1/core", authority="/nowhere"), "authority: /nowhere is not a certificate"),
        (BusTable(url="wss://127.0.0.1/core", authority=str(TLS / "key.pem")), "is not a certificate"),
    ],
)
async def test_settings_that_lead_nowhere_are_reported(table: BusTable, text: str) -> None:
    with pytest.raises(UserError, match=text):
        await BusAddress(table).connect(SystemClock())


async def test_a_web_server_is_not_taken_for_a_bus() -> None:
    def refuse(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.0 404 File not found\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(refuse, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(UserError, match=rf"what listens at ws://127\.0\.0\.1:{port}/core is no bus"):
            await BusAddress(BusTable(port=port)).connect(SystemClock())


async def test_a_bus_that_is_not_there_is_reported() -> None:
    with pytest.raises(UserError, match=r"no bus at ws://127\.0\.0\.1:1/core"):
        await BusAddress(BusTable(port=1)).connect(SystemClock(), patience=0.0)
