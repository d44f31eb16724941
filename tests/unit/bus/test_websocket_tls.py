"""The bus over TLS, with a certificate that is good for nothing else."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest
from bus_fixtures import keep, note
from websocket_fixtures import connected, eventually, serving

from hark.bus.websocket import BusUnavailable, Credential, WebSocketCarrier
from hark.model import SystemClock

FILES = Path(__file__).parent / "tls"


def server_side() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(FILES / "certificate.pem", FILES / "key.pem")
    return context


class OneToken:
    def find(self, token: str) -> Credential | None:
        return Credential("satellite") if token == "right" else None

    def is_valid(self, credential: Credential) -> bool:
        return True


async def test_a_client_that_knows_the_certificate_talks_over_tls() -> None:
    client_side = ssl.create_default_context(cafile=FILES / "certificate.pem")
    async with serving(tls=server_side(), credentials=OneToken()) as (server, url):
        assert url.startswith("wss://")
        heard: list[int] = []
        async with (
            connected(url, tls=client_side, token="right") as one,
            connected(f"{url}/right", tls=client_side) as other,
        ):
            other.on("test.note", keep(heard))
            await other.carrier.flush()
            for n in range(500):
                one.emit(note(n, x="x" * 2_000))
            await one.carrier.flush()
            await other.carrier.flush()
            assert heard == list(range(500))
        with pytest.raises(BusUnavailable, match="needs a token"):
            await WebSocketCarrier(url, SystemClock(), tls=client_side, token="wrong").open(lambda _f, _w: None)
        await eventually(lambda: len(server) == 0)


async def refusal(url: str, tls: ssl.SSLContext | None = None) -> str:
    with pytest.raises(BusUnavailable) as refused:
        await WebSocketCarrier(url, SystemClock(), patience=0.0, tls=tls).open(lambda _f, _w: None)
    return str(refused.value)


async def test_a_client_that_does_not_know_the_certificate_goes_away_and_says_so() -> None:
    async with serving(tls=server_side(), credentials=OneToken()) as (server, url):
        reason = await refusal(url, ssl.create_default_context())
        assert "its certificate is not trusted here (self-signed certificate)" in reason
        assert "authority in [bus]" in reason
        assert len(server) == 0


async def test_tls_on_one_side_only_is_named() -> None:
    async with serving(tls=server_side(), credentials=OneToken()) as (server, url):
        assert "does that port expect TLS (wss://)?" in await refusal(url.replace("wss:", "ws:"))
        assert len(server) == 0
    async with serving() as (_, url):
        assert "that port does not use TLS" in await refusal(url.replace("ws:", "wss:"), ssl.create_default_context())
