"""Reading files that others have made."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from hark.app.tokens import ServiceToken, TokenError, TokenFile
from hark.errors import UserError
from hark.intents.locale import MalformedResource, read_lines
from hark.model.files import read_file
from hark.testing.scripts.errors import ScriptError
from hark.testing.scripts.parser import read_script
from hark.tools.convert.files import read_sidecar


def test_a_file_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 100)
    assert read_file(tmp_path / "a", 100) == b"x" * 100
    with pytest.raises(OSError, match="more than 99 bytes") as refused:
        read_file(tmp_path / "a", 99)
    assert refused.value.errno == errno.EFBIG
    with pytest.raises(FileNotFoundError):
        read_file(tmp_path / "b")
    with pytest.raises(IsADirectoryError):
        read_file(tmp_path)


@pytest.mark.parametrize("kind", ["a FIFO", "a device"])
def test_what_waits_for_its_writer_or_never_ends_is_refused_by_name(tmp_path: Path, kind: str) -> None:
    def make(name: str) -> Path:
        path = tmp_path / name
        os.mkfifo(path, 0o600) if kind == "a FIFO" else path.symlink_to("/dev/zero")
        return path

    with pytest.raises(OSError, match="no file but a FIFO or a device"):
        read_file(make("any"))
    with pytest.raises(MalformedResource, match=r"hi\.intent: .*no file but"):
        read_lines(make("hi.intent"))
    with pytest.raises(ScriptError, match=r"talk\.hark: .*no file but"):
        read_script(make("talk.hark"))
    make("hassil.json")
    with pytest.raises(UserError, match=r"hassil\.json .*no file but"):
        read_sidecar(tmp_path)
    if kind == "a FIFO":  # others can read /dev/zero, which is refused before
        with pytest.raises(TokenError, match=r"tokens\.json .*no file but"):
            TokenFile(make("tokens.json")).read()
        make("service.token")
        with pytest.raises(TokenError, match=r"service\.token .*no file but"):
            ServiceToken(tmp_path).read()


def test_what_a_shell_pipes_is_read(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.write(writer, b"hark says: hello")
    os.close(writer)
    assert read_file(Path(f"/dev/fd/{reader}")) == b"hark says: hello"
    os.close(reader)
