"""The file with the tokens."""

from __future__ import annotations

import stat
import threading
from pathlib import Path

import pytest

from hark.app.bus_server import TokenCredentials, endpoints
from hark.app.settings.tables import BusTable
from hark.app.tokens import ServiceToken, TokenError, TokenFile
from hark.cli import main
from hark.errors import UserError
from hark.testing import FakeClock

CLOCK = FakeClock()
TLS = Path(__file__).parents[1] / "bus" / "tls"


@pytest.fixture
def file(tmp_path: Path) -> TokenFile:
    return TokenFile(tmp_path / "state" / "tokens.json")


def private_key(folder: Path) -> Path:
    """A copy of the key that its owner alone can read, as version control does not keep it."""
    key = folder / "key.pem"
    key.write_bytes((TLS / "key.pem").read_bytes())
    key.chmod(0o600)
    return key


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
    credentials = TokenCredentials(elsewhere, ServiceToken(file.path.parent))
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
    assert "no client is accepted with a token" in caplog.text


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
        endpoints(BusTable(host=everywhere), file, ServiceToken(tmp_path))
    pair = {"certificate": str(TLS / "certificate.pem"), "key": str(private_key(tmp_path))}
    with pytest.raises(UserError, match="hark token add NAME"):
        endpoints(BusTable(remote_host=everywhere, **pair), file, ServiceToken(tmp_path))
    file.add("kitchen", CLOCK)
    local, remote = endpoints(BusTable(remote_host=everywhere, **pair), file, ServiceToken(tmp_path))
    assert (local.tls, local.needs_token, local.url(1)) == (None, False, "ws://127.0.0.1:1/core")
    assert (remote.needs_token, remote.url(2)) == (True, "wss://0.0.0.0:2/core")
    assert remote.tls is not None
    with pytest.raises(UserError, match="not a certificate and its key"):
        endpoints(
            BusTable(remote_host=everywhere, certificate=pair["key"], key=pair["key"]), file, ServiceToken(tmp_path)
        )
    with pytest.raises(UserError, match="not a certificate and its key"):
        endpoints(
            BusTable(remote_host=everywhere, certificate=str(tmp_path / "none"), key=pair["key"]),
            file,
            ServiceToken(tmp_path),
        )


def test_a_second_address_of_this_machine_is_secured_where_it_can_be(file: TokenFile, tmp_path: Path) -> None:
    pair = {"certificate": str(TLS / "certificate.pem"), "key": str(private_key(tmp_path))}
    file.add("kitchen", CLOCK)
    _, plain = endpoints(BusTable(remote_host="127.0.0.1"), file, ServiceToken(tmp_path))
    assert (plain.tls, plain.needs_token) == (None, False)
    _, secured = endpoints(BusTable(remote_host="127.0.0.1", **pair), file, ServiceToken(tmp_path))
    assert (secured.needs_token, secured.url(2)) == (True, "wss://127.0.0.1:2/core")


def test_asking_everybody_needs_tokens_to_ask_for(file: TokenFile, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="hark token add NAME"):
        endpoints(BusTable(ask_everybody=True), file, ServiceToken(tmp_path))
    file.add("kitchen", CLOCK)
    [endpoint] = endpoints(BusTable(ask_everybody=True), file, ServiceToken(tmp_path))
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


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o622])
def test_a_key_that_others_can_read_is_refused_with_the_remedy(file: TokenFile, tmp_path: Path, mode: int) -> None:
    file.add("kitchen", CLOCK)
    key = private_key(tmp_path)
    table = BusTable(remote_host="0.0.0.0", certificate=str(TLS / "certificate.pem"), key=str(key))
    endpoints(table, file, ServiceToken(tmp_path))
    key.chmod(mode)
    with pytest.raises(UserError, match=f"chmod 600 {key}"):
        endpoints(table, file, ServiceToken(tmp_path))


def test_a_token_is_bound_to_sources_and_sessions(file: TokenFile, tmp_path: Path) -> None:
    token = file.add("bedroom", CLOCK, sources=["bed"], sessions=["one", "two"])
    credential = TokenCredentials(TokenFile(file.path), ServiceToken(tmp_path)).find(token)
    assert credential is not None
    assert (credential.permissions.sources, credential.permissions.sessions) == (("bed",), ("one", "two"))
    assert not credential.permissions.private
    for wrong in ([""], ["x" * 201], ["a\nb"]):
        with pytest.raises(TokenError, match="not a valid source or session"):
            file.add("hall", CLOCK, sessions=wrong)


def test_a_token_for_a_service_has_no_other_limit(file: TokenFile, tmp_path: Path) -> None:
    credential = TokenCredentials(file, ServiceToken(tmp_path)).find(file.add("speak", CLOCK, service=True))
    assert credential is not None
    assert credential.permissions.private
    with pytest.raises(TokenError, match="goes with no other limit"):
        file.add("act", CLOCK, sources=["x"], service=True)


def test_the_token_of_services_is_made_once_and_read_by_its_user_alone(file: TokenFile, tmp_path: Path) -> None:
    service = ServiceToken(tmp_path / "state")
    assert service.read() == ""
    credentials = TokenCredentials(file, service)
    assert credentials.find("") is None
    token = service.ensure()
    assert (ServiceToken(tmp_path / "state").ensure(), service.ensure()) == (token, token)
    assert stat.S_IMODE(service.path.stat().st_mode) == 0o600
    assert [path.name for path in service.path.parent.iterdir()] == ["service.token"]
    credential = credentials.find(token)
    assert credential is not None
    assert credential.permissions.private
    assert credentials.is_valid(credential)
    service.path.unlink()
    assert not credentials.is_valid(credential)
    assert credentials.find(token) is None


@pytest.mark.parametrize("damage", ["open", "empty"])
def test_a_token_of_services_that_is_damaged_is_not_accepted(damage: str, file: TokenFile, tmp_path: Path) -> None:
    service = ServiceToken(tmp_path)
    token = service.ensure()
    if damage == "open":
        service.path.chmod(0o644)
    else:
        service.path.write_text("")
    with pytest.raises(TokenError, match="remove it"):
        ServiceToken(tmp_path).ensure()
    assert TokenCredentials(file, ServiceToken(tmp_path)).find(token) is None
    assert TokenCredentials(file, ServiceToken(tmp_path)).find("") is None
