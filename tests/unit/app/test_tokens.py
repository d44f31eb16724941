"""The file with the tokens."""

from __future__ import annotations

import stat
import threading
from pathlib import Path

import pytest

from hark.app.bus_server import TokenCredentials, endpoints
from hark.app.settings.tables import BusTable
from hark.app.tokens import TokenError, TokenFile
from hark.cli.main import main
from hark.errors import UserError
from hark.testing import FakeClock

CLOCK = FakeClock()
TLS = Path(__file__).parents[1] / "bus" / "tls"


@pytest.fixture
def file(tmp_path: Path) -> TokenFile:
    return TokenFile(tmp_path / "state" / "tokens.json")


def test_a_token_is_known_again_and_is_not_in_the_file(file: TokenFile) -> None:
    token = file.add("kitchen", CLOCK, ["ovos.utterance.*"])
    other = file.add("hall", CLOCK)
    assert len(token) > 40
    found = file.find(token)
    assert found is not None
    assert (found.name, found.emit, found.receive) == ("kitchen", ("ovos.utterance.*",), None)
    for wrong in ("", token[:-1], token + "x", token.upper(), found.sha256, "\udcff"):
        assert file.find(wrong) is None
    text = file.path.read_text()
    assert token not in text
    assert other not in text
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600


def test_another_process_sees_what_was_changed(file: TokenFile) -> None:
    elsewhere = TokenFile(file.path)
    assert elsewhere.read() == ()
    token = file.add("kitchen", CLOCK)
    credentials = TokenCredentials(elsewhere)
    credential = credentials.find(token)
    assert credential is not None
    assert credentials.is_valid(credential)
    file.revoke("kitchen")
    assert not credentials.is_valid(credential)
    assert credentials.find(token) is None
    assert credentials.find(file.add("kitchen", CLOCK)) != credential, "a new token with the same name is another one"
    assert not credentials.is_valid(credential)


@pytest.mark.parametrize("name", ["", "a b", "../x", "x" * 65, "-x", "é"])
def test_names_are_plain(file: TokenFile, name: str) -> None:
    with pytest.raises(TokenError, match="is not a valid name"):
        file.add(name, CLOCK)


def test_mistakes_are_told_with_their_remedy(file: TokenFile) -> None:
    file.add("kitchen", CLOCK)
    with pytest.raises(TokenError, match="hark token revoke kitchen"):
        file.add("kitchen", CLOCK)
    with pytest.raises(TokenError, match="hark token list"):
        file.revoke("hall")
    with pytest.raises(TokenError, match="is not a pattern of topics"):
        file.add("hall", CLOCK, ["a b"])
    assert [token.name for token in file.read()] == ["kitchen"]


@pytest.mark.parametrize("damage", ["no json", '{"tokens": 7}', '{"tokens": [{"name": "x"}]}', "\xff"])
def test_a_damaged_file_lets_nobody_in(file: TokenFile, damage: str, caplog: pytest.LogCaptureFixture) -> None:
    token = file.add("kitchen", CLOCK)
    file.path.write_text(damage, "latin-1")
    with pytest.raises(TokenError, match="is not a token file"):
        file.read()
    assert file.find(token) is None
    assert "no token is accepted" in caplog.text


def test_a_file_that_is_open_to_others_lets_nobody_in(file: TokenFile) -> None:
    token = file.add("kitchen", CLOCK)
    file.path.chmod(0o640)
    with pytest.raises(TokenError, match="chmod 600"):
        file.read()
    assert file.find(token) is None
    file.path.chmod(0o600)
    assert file.find(token) is not None


def test_two_at_once_lose_nothing(file: TokenFile) -> None:
    def add(first: int) -> None:
        for number in range(first, first + 10):
            TokenFile(file.path).add(f"client-{number}", CLOCK)

    threads = [threading.Thread(target=add, args=(first,)) for first in (0, 10, 20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(token.name for token in file.read()) == sorted(f"client-{number}" for number in range(30))


def test_beyond_loopback_each_thing_that_is_missing_is_named(file: TokenFile, tmp_path: Path) -> None:
    everywhere = "0.0.0.0"
    with pytest.raises(UserError, match="set certificate and key"):
        endpoints(BusTable(host=everywhere), file)
    pair = {"certificate": str(TLS / "certificate.pem"), "key": str(TLS / "key.pem")}
    with pytest.raises(UserError, match="hark token add NAME"):
        endpoints(BusTable(remote_host=everywhere, **pair), file)
    file.add("kitchen", CLOCK)
    local, remote = endpoints(BusTable(remote_host=everywhere, **pair), file)
    assert (local.tls, local.needs_token, local.url(1)) == (None, False, "ws://127.0.0.1:1/core")
    assert (remote.needs_token, remote.url(2)) == (True, "wss://0.0.0.0:2/core")
    assert remote.tls is not None
    with pytest.raises(UserError, match="not a certificate and its key"):
        endpoints(BusTable(remote_host=everywhere, certificate=pair["key"], key=pair["key"]), file)
    with pytest.raises(UserError, match="not a certificate and its key"):
        endpoints(BusTable(remote_host=everywhere, certificate=str(tmp_path / "none"), key=pair["key"]), file)


def test_asking_everybody_needs_tokens_to_ask_for(file: TokenFile) -> None:
    with pytest.raises(UserError, match="hark token add NAME"):
        endpoints(BusTable(ask_everybody=True), file)
    file.add("kitchen", CLOCK)
    [endpoint] = endpoints(BusTable(ask_everybody=True), file)
    assert endpoint.needs_token


@pytest.mark.parametrize("first", [True, False])
def test_where_the_state_is_may_be_said_first_or_last(
    first: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["--state", str(tmp_path)]

    def typed(*words: str) -> int:
        return main(["token", *where, *words] if first else ["token", *words, *where])

    assert typed("add", "kitchen") == 0
    capsys.readouterr()
    assert typed("list") == 0
    assert capsys.readouterr().out.startswith("kitchen ")
    assert typed("revoke", "kitchen") == 0
