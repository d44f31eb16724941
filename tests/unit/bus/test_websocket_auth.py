"""Which clients a server accepts, and what they may do."""

from __future__ import annotations

import ssl
from typing import Any

import pytest
from multidict import CIMultiDict
from picows import WSInvalidStatusError
from websocket_fixtures import connected, eventually, raw, serving

from hark.bus import LocalBus
from hark.bus.websocket import (
    BusUnavailable,
    Credential,
    Endpoint,
    EndpointError,
    Permissions,
    ServerLimits,
    WebSocketCarrier,
    WebSocketServer,
)
from hark.bus.websocket.auth import HandshakeRefused, is_loopback
from hark.model import Message, SystemClock
from hark.testing import FakeClock

TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)


class Tokens:
    """Credentials by their tokens."""

    def __init__(self, **tokens: Permissions) -> None:
        self.known = {token: Credential(token, permissions) for token, permissions in tokens.items()}

    def find(self, token: str) -> Credential | None:
        return self.known.get(token)

    def is_valid(self, credential: Credential) -> bool:
        return credential in self.known.values()


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("192.168.1.2", False),
        ("localhost.example", False),
        ("hub.local", False),
        ("", False),
    ],
)
async def test_beyond_loopback_an_endpoint_needs_tls_and_tokens(host: str, local: bool) -> None:
    assert is_loopback(host) is local
    if not local:
        for incomplete in ({}, {"tls": TLS}, {"credentials": Tokens(a=Permissions())}):
            endpoint = Endpoint(host, 0, **incomplete)  # type: ignore[arg-type]
            with pytest.raises(EndpointError, match="can be reached from other machines"):
                await WebSocketServer(LocalBus(), [endpoint], ServerLimits(), SystemClock()).start()
        Endpoint(host, 0, tls=TLS, credentials=Tokens(a=Permissions())).check()
    else:
        Endpoint(host, 0).check()
        with pytest.raises(EndpointError, match="no client could connect"):
            Endpoint(host, 0, needs_token=True).check()


def accepted(endpoint: Endpoint, path: str = "/core", host: str = "127.0.0.1:8181", **headers: str) -> str:
    """The name of the client, or the status with which it is refused."""
    found: Any = CIMultiDict({"Host": host, **{name.replace("_", "-"): value for name, value in headers.items()}})
    try:
        return endpoint.authenticate(path.encode(), found).credential.name
    except HandshakeRefused as refusal:
        return str(int(refusal.status))


LOCAL = "a local client"


@pytest.mark.parametrize(
    ("host", "client"),
    [
        ("127.0.0.1:8181", LOCAL),
        ("localhost:8181", LOCAL),
        ("LOCALHOST", LOCAL),
        ("[::1]:8181", LOCAL),
        ("hub.local:8181", LOCAL),
        ("evil.example:8181", "403"),
        ("127.0.0.1.evil.example", "403"),
        ("localhost.evil.example", "403"),
        ("[::1", "403"),
        ("", "403"),
        (" ", "403"),
        ("user@evil.example", "403"),
        ("x@127.0.0.1", "403"),
        ("x@127.0.0.1:8181", "403"),
        ("evil.example@localhost", "403"),
        ("127.0.0.1/evil.example", "403"),
        ("127.0.0.1?x", "403"),
        ("127.0.0.1#x", "403"),
        ("127.0.0.1:8181:8182", "403"),
        ("127.0.0.1:port", "403"),
        ("[127.0.0.1", "403"),
    ],
)
def test_a_host_name_that_is_not_ours_is_refused(host: str, client: str) -> None:
    assert accepted(Endpoint(hosts=["Hub.local"]), host=host) == client


def test_several_host_headers_are_refused() -> None:
    headers = CIMultiDict([("Host", "127.0.0.1"), ("Host", "evil.example")])
    with pytest.raises(HandshakeRefused):
        Endpoint().authenticate(b"/core", headers)


@pytest.mark.parametrize(
    ("origin", "client"),
    [
        ("http://127.0.0.1:8181", LOCAL),  # what the library of OVOS clients sends
        ("https://panel.example", LOCAL),
        ("HTTPS://panel.example", LOCAL),
        ("http://panel.example", "403"),
        ("https://127.0.0.1:8181", "403"),
        ("http://127.0.0.1:8080", "403"),
        ("http://127.0.0.1", "403"),
        ("http://localhost:8181", "403"),
        ("https://evil.example", "403"),
        ("null", "403"),
        ("file://", "403"),
        ("", "403"),
    ],
)
def test_a_web_page_is_refused(origin: str, client: str) -> None:
    assert accepted(Endpoint(origins=["https://panel.example"]), Origin=origin) == client


@pytest.mark.parametrize(
    ("path", "header", "client"),
    [
        ("/core", "Bearer right", "right"),
        ("/core", "bearer  right ", "right"),
        ("/core/right", "", "right"),
        ("/core/right/", "", "right"),
        ("/core/wrong", "Bearer right", "right"),
        ("/core/right", "Bearer wrong", "401"),
        ("/core", "", "401"),
        ("/core/", "", "401"),
        ("/core?token=right", "", "401"),
        ("/core", "Basic right", "401"),
        ("/core", "Bearer", "401"),
        ("/core", "Bearer ", "401"),
        ("/core", "Bearer wrong", "401"),
        ("/coreright", "", "404"),
        ("/", "Bearer right", "404"),
        ("/core/../right", "Bearer wrong", "401"),
    ],
)
def test_where_a_token_is_needed_only_a_valid_one_is_accepted(path: str, header: str, client: str) -> None:
    endpoint = Endpoint("192.168.1.2", tls=TLS, credentials=Tokens(right=Permissions()))
    headers = {"Authorization": header} if header else {}
    assert accepted(endpoint, path, "192.168.1.2:8181", **headers) == client


def test_on_loopback_no_token_is_accepted_but_a_wrong_one_is_not() -> None:
    endpoint = Endpoint(credentials=Tokens(right=Permissions()))
    assert [accepted(endpoint, f"/core/{token}") for token in ("", "right", "wrong")] == [LOCAL, "right", "401"]
    assert accepted(Endpoint(credentials=Tokens(right=Permissions()), needs_token=True)) == "401"
    assert accepted(Endpoint(), "/core/any") == "401"


@pytest.mark.parametrize(
    ("patterns", "topic", "allowed"),
    [
        (None, "any.thing", True),
        (("ovos.utterance.*",), "ovos.utterance.handle", True),
        (("ovos.utterance.*",), "ovos.utterance", False),
        (("ovos.utterance.*",), "xovos.utterance.handle", False),
        (("a.b",), "a.b", True),
        (("a.b",), "aXb", False),
        (("a.b",), "a.b.c", False),
        (("x", "*:go"), "skill.id:go", True),
        (("*",), "any.thing", True),
        ((), "any.thing", False),
    ],
)
def test_a_pattern_allows_the_topics_that_fit(patterns: tuple[str, ...] | None, topic: str, allowed: bool) -> None:
    assert (Permissions(emit=patterns).refusal(Message(topic)) is None) is allowed
    assert Permissions(receive=patterns).may_receive(topic) is allowed


async def test_a_client_emits_and_receives_what_it_may(caplog: pytest.LogCaptureFixture) -> None:
    rights = Permissions(emit=("test.said",), receive=("test.told",))
    heard: list[tuple[str, str]] = []
    tokens = Tokens(guest=rights)
    async with (
        serving(credentials=tokens) as (_, url),
        connected(url) as host,
        connected(url, token="guest") as guest,
    ):
        ovos = await raw(f"{url}/guest")
        for name, bus in (("host", host), ("guest", guest)):
            for topic in ("test.said", "test.told", "test.secret"):
                bus.on(topic, lambda message, name=name: heard.append((name, message.type)))  # type: ignore[misc]
            bus.tap(lambda message, name=name: heard.append((f"{name}'s tap", message.type)))  # type: ignore[misc]
        await host.carrier.flush()
        await guest.carrier.flush()
        for bus in (guest, host):
            for topic in ("test.said", "test.told", "test.secret"):
                bus.emit(Message(topic))
            await bus.carrier.flush()
        ovos.send(b'{"type":"test.secret","type":"test.said","data":{"ovos":true}}')
        ovos.send(b'{"type":"test.said","type":"test.secret"}')
        frames = await ovos.until(lambda frames: len(frames) >= 2)
        await eventually(lambda: heard.count(("host", "test.said")) == 3)
        await host.carrier.flush()
        await guest.carrier.flush()
        await ovos.end()
    assert [topic for who, topic in heard if who == "guest"] == ["test.told"]
    assert [topic for who, topic in heard if who == "guest's tap"] == ["test.told"]
    told = sorted(topic for who, topic in heard if who == "host")
    assert told == ["test.said", "test.said", "test.said", "test.secret", "test.told"]
    assert [frame for frame in frames[1:] if b"told" not in frame] == []
    assert "not allowed by the token" in caplog.text
    assert "may not receive test.said" in caplog.text


async def test_a_revoked_token_disconnects_within_a_second() -> None:
    clock = FakeClock()
    tokens = Tokens(guest=Permissions(), other=Permissions())
    async with serving(clock, credentials=tokens) as (server, url):
        guest, other, local = await raw(f"{url}/guest"), await raw(f"{url}/other"), await raw(url)
        await eventually(lambda: len(server) == 3)
        del tokens.known["guest"]
        tokens.known["other"] = Credential("other", Permissions(emit=()))
        await clock.advance(0.9)
        await eventually(lambda: len(server) == 1)
        await eventually(guest.closed.is_set)
        assert (guest.close_code, other.close_code) == (1008, 1008)
        with pytest.raises(WSInvalidStatusError):
            await raw(f"{url}/guest")
        await local.end()


async def test_refusals_say_what_to_do() -> None:
    async with serving(credentials=Tokens(guest=Permissions())) as (server, url):
        with pytest.raises(BusUnavailable, match="hark token add NAME"):
            await WebSocketCarrier(url, SystemClock(), token="wrong").open(lambda _f, _w: None)
        with pytest.raises(WSInvalidStatusError) as caught:
            await raw(url, Origin="https://evil.example")
        assert caught.value.response is not None
        assert caught.value.response.status == 403
        assert len(server) == 0
