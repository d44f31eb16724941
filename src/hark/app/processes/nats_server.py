"""The NATS server that `hark run --split` starts: configuration, credentials and health."""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import socket
import stat
import sys
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec

from hark import hints
from hark.app.processes.broker_users import SUPERVISOR, USERS, authorization
from hark.app.settings.tables import NatsTable
from hark.errors import UserError

_PROBE_LIMIT: Final = 1.0
"""Seconds in which a server that is well says hello."""
_STORE_LIMIT: Final = "512MB"
"""More than all streams and buckets together may hold: the server refuses streams beyond it."""
_MAX_PAYLOAD: Final = 4_259_840
"""Bytes: the largest Message of the websocket server, and room for headers."""

# Asks the kernel for SIGTERM when the supervisor dies (PR_SET_PDEATHSIG, which exec keeps), then becomes the server.
_EXECUTE: Final = """\
import ctypes, os, sys
ctypes.CDLL(None).prctl(1, 15)
if os.getppid() == int(sys.argv[1]):
    os.execv(sys.argv[2], sys.argv[2:])
"""


class LocalBroker:
    """A `nats-server` on loopback, with a random port and its store in the state directory.

    It has a user for each service, with a random password: see `broker_users`.

    Everything is written when it is made; `command` starts it, as often as it must be.
    """

    def __init__(self, state: Path, *, on_disk: bool = True, prefix: str = "hark.") -> None:
        """Raises `UserError` where there is no server to start, or its files cannot be written.

        Where turns are not to be kept `on_disk`, the store is in a file system in memory: it survives the server.
        """
        self._server = server_binary()
        self._folder = state / "nats"
        self._store = self._folder if on_disk else memory_folder(state)
        self._port = _free_port()
        passwords = {user: secrets.token_urlsafe(32) for user in USERS}
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            if on_disk:
                self._forget_older_session(state / "session.json")
            else:
                shutil.rmtree(self._folder / "jetstream", ignore_errors=True)
            (self._folder / "token").unlink(missing_ok=True)  # of an older version
            for user, password in passwords.items():
                self._write(f"{user}.password", password)
            self._write("server.conf", self._configuration(authorization(passwords, prefix)))
        except OSError as error:
            raise UserError(f"{self._folder} cannot be used for the NATS server: {error.strerror}") from None

    @property
    def url(self) -> str:
        """The address, without a password."""
        return f"nats://127.0.0.1:{self._port}"

    def password_file(self, user: str = SUPERVISOR) -> Path:
        """The file with the password of a user of the broker, which only this user of the machine can read."""
        return self._folder / f"{user}.password"

    def command(self, parent: int) -> list[str]:
        """What starts the server as a child of the process `parent`, whose end it does not outlive."""
        become = [sys.executable, "-I", "-S", "-c", _EXECUTE, str(parent)]
        return [*become, self._server, "-c", str(self._folder / "server.conf")]

    def table(self, table: NatsTable, user: str = SUPERVISOR) -> NatsTable:
        """The settings of a client of this server."""
        password = str(self.password_file(user))
        return msgspec.structs.replace(
            table, servers=(self.url,), user=user, password=password, token=None, credentials=None
        )

    async def is_well(self) -> bool:
        """Whether it greets a client; one that is stopped takes connections and says nothing."""
        try:
            async with asyncio.timeout(_PROBE_LIMIT):
                reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
                try:
                    return (await reader.readline()).startswith(b"INFO ")
                finally:
                    writer.close()
                    with suppress(OSError):
                        await writer.wait_closed()
        except (OSError, TimeoutError, ValueError):
            return False

    def clean_up(self) -> None:
        """Delete a store in memory; the server has ended."""
        if self._store != self._folder:
            shutil.rmtree(self._store, ignore_errors=True)

    def _forget_older_session(self, file: Path) -> None:
        """Begin with the default session in the file where that was written later than the server's own."""
        if file.exists():
            for stream in self._folder.glob("jetstream/*/streams/KV_*-session"):
                if all(block.stat().st_mtime < file.stat().st_mtime for block in stream.glob("msgs/*.blk")):
                    shutil.rmtree(stream)

    def _write(self, name: str, text: str) -> None:
        file = self._folder / name
        file.unlink(missing_ok=True)
        file.touch(mode=0o600)
        file.write_text(text)

    def _configuration(self, users: str) -> str:
        return f"""\
listen: 127.0.0.1:{self._port}
max_payload: {_MAX_PAYLOAD}
logtime: false
{users}
jetstream {{
  store_dir: {msgspec.json.encode(str(self._store)).decode()}
  max_file: {_STORE_LIMIT}
  sync_interval: 1s
}}
"""


def server_binary() -> str:
    """Where the server is; raises `UserError`, which names the remedy."""
    beside = Path(sys.executable).parent / "nats-server"
    found = str(beside) if beside.exists() else shutil.which("nats-server")
    if found is None:
        raise UserError(
            f"several processes need a NATS server, and there is none here: {hints.install_extra('nats')}, install "
            "nats-server in another way, or name one that runs elsewhere with servers in [nats]"
        )
    return found


def memory_folder(state: Path) -> Path:
    """A folder of this user in memory, always the same for a state directory; raises `UserError`."""
    parent = Path(os.environ.get("XDG_RUNTIME_DIR") or "/dev/shm")  # noqa: S108 - its owner is checked
    name = sha256(str(state.resolve()).encode()).hexdigest()[:16]
    folder = parent / f"hark-{name}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError as error:
        raise UserError(f"{folder} cannot be used for what [trace] disk keeps off the disk: {error.strerror}") from None
    if found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) != 0o700 or not stat.S_ISDIR(found.st_mode):
        raise UserError(f"{folder} is not a folder of this user alone; delete it")
    return folder


def is_worth_reporting(line: str) -> bool:
    """Whether a line of the server's log is more than a note of its daily work."""
    # The passwords are random, new at each start, and in a file that only this user can read.
    return not any(known in line for known in ("[INF]", "[DBG]", "[TRC]", "Plaintext passwords detected"))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
