"""From the settings to the bus."""

from __future__ import annotations

from pathlib import Path

import pytest

from hark.app.connecting import ConnectionTrouble, carrier
from hark.app.doors import listen
from hark.app.settings.bus_tables import BusTable
from hark.app.tokens import TokenFile
from hark.model import SystemClock

TLS = Path(__file__).parents[1] / "bus" / "tls"


async def test_the_settings_of_both_sides_fit(tmp_path: Path) -> None:
    tokens = TokenFile(tmp_path / "tokens.json")
    token = tmp_path / "token"
    token.write_text(tokens.add("kitchen", SystemClock()) + "\n")
    pair = {"certificate": str(TLS / "certificate.pem"), "key": str(TLS / "key.pem")}
    table = BusTable(port=0, remote_host="0.0.0.0", remote_port=0, **pair)
    server, (local, remote) = await listen(table, tokens, SystemClock())
    remote = remote.replace("0.0.0.0", "127.0.0.1")
    for client in (
        BusTable(url=local),
        BusTable(url=remote, token=str(token), authority=str(TLS / "certificate.pem")),
    ):
        way = carrier(client, SystemClock())
        await way.open(lambda _frame, _way: None)
        await way.flush()
        await way.close()
    await server.close()


@pytest.mark.parametrize(
    ("table", "told"),
    [
        (BusTable(url="http://127.0.0.1"), "is no address"),
        (BusTable(token="/nowhere"), "token: /nowhere cannot be read"),
        (BusTable(url="wss://127.0.0.1/core", authority="/nowhere"), "authority: /nowhere is no certificate"),
        (BusTable(url="wss://127.0.0.1/core", authority=str(TLS / "key.pem")), "is no certificate"),
    ],
)
async def test_what_leads_nowhere_is_told(table: BusTable, told: str) -> None:
    with pytest.raises(ConnectionTrouble, match=told):
        carrier(table, SystemClock())
