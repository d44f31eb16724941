"""The tokens of clients of the bus, and the one of Hark's own services: two files, and what is done with them."""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import logging
import os
import re
import secrets
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec

from hark import hints
from hark.errors import UserError
from hark.model import Clock
from hark.model.files import read_file

log = logging.getLogger("hark.app")

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_PATTERN: Final = re.compile(r"[A-Za-z0-9_.:*-]{1,200}")
_LONGEST: Final = 200
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


class TokenError(UserError):
    """The token file cannot be used, or a request cannot be met; the text says what to do."""


class Token(msgspec.Struct, frozen=True, omit_defaults=True):
    """The name of a token and what it allows. Only a hash of the token itself is kept."""

    name: str
    sha256: str
    """A fast hash: a token has 256 random bits, which cannot be guessed. A slow hash would protect nothing and let
    any client keep the server busy."""
    made: float
    emit: tuple[str, ...] | None = None
    receive: tuple[str, ...] | None = None
    sources: tuple[str, ...] | None = None
    """What `context.source` of the client's Messages may be."""
    sessions: tuple[str, ...] | None = None
    """The sessions in which it may emit."""
    service: bool = False
    """Whether the client is one of Hark's own services."""


class _Document(msgspec.Struct):
    tokens: tuple[Token, ...] = ()


class TokenFile:
    """The token file, read again when it has changed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._tokens: tuple[Token, ...] = ()
        self._seen: tuple[int, ...] | None = None

    def read(self) -> tuple[Token, ...]:
        """The tokens in the file now; raises `TokenError`."""
        seen = _stamp(self.path)
        if seen != self._seen:
            self._tokens, self._seen = self._load() if seen is not None else (), seen
        return self._tokens

    def current(self) -> tuple[Token, ...]:
        """As `read`; a file that cannot be used has no tokens, so that no client is accepted."""
        try:
            return self.read()
        except TokenError as error:
            log.error("%s; no client is accepted with a token", error)
            self._tokens, self._seen = (), _stamp(self.path)
            return ()

    def find(self, token: str) -> Token | None:
        """The entry of a token. All entries are compared, in constant time."""
        shown = _hash(token)
        found = None
        for known in self.current():
            if hmac.compare_digest(known.sha256, shown):
                found = known
        return found

    def add(
        self,
        name: str,
        clock: Clock,
        emit: Sequence[str] | None = None,
        receive: Sequence[str] | None = None,
        *,
        sources: Sequence[str] | None = None,
        sessions: Sequence[str] | None = None,
        service: bool = False,
    ) -> str:
        """Add a token and return it; it cannot be shown again."""
        if _NAME.fullmatch(name) is None:
            raise TokenError(f"{name!r} is not a valid name: use letters, digits, '.', '_' and '-'")
        for pattern in (*(emit or ()), *(receive or ())):
            if _PATTERN.fullmatch(pattern) is None:
                raise TokenError(f"{pattern!r} is not a pattern of topics such as ovos.utterance.*")
        for value in (*(sources or ()), *(sessions or ())):
            if not value or len(value) > _LONGEST or not value.isprintable():
                raise TokenError(f"{value[:80]!r} is not a valid source or session")
        limits = (_some(emit), _some(receive), _some(sources), _some(sessions))
        if service and any(limits):
            raise TokenError("a service needs every topic, source and session: --service goes with no other limit")
        token = _new_token()
        made = Token(name, _hash(token), clock.wall(), *limits, service=service)
        with self._changing() as tokens:
            if any(known.name == name for known in tokens):
                raise TokenError(
                    f"there is a token {name} already; revoke it first: {hints.hark(f'token revoke {name}')}"
                )
            tokens.append(made)
        return token

    def revoke(self, name: str) -> None:
        """Remove a token: no client is accepted with it any more."""
        with self._changing() as tokens:
            kept = [token for token in tokens if token.name != name]
            if len(kept) == len(tokens):
                raise TokenError(f"there is no token {name}; see: {hints.hark('token list')}")
            tokens[:] = kept

    @contextmanager
    def _changing(self) -> Iterator[list[Token]]:
        """The tokens, to be changed under a lock; the file is replaced when the new one is complete."""
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = os.open(self.path.with_name(f"{self.path.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise TokenError(f"{self.path} cannot be written: {error.strerror}") from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            tokens = list(self.read())
            yield tokens
            self._write(tokens)
        finally:
            os.close(lock)

    def _write(self, tokens: Sequence[Token]) -> None:
        new = self.path.with_name(f"{self.path.name}.new")
        text = msgspec.json.format(msgspec.json.encode(_Document(tuple(tokens))), indent=1)
        try:
            new.unlink(missing_ok=True)
            descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(text + b"\n")
                file.flush()
                os.fsync(file.fileno())
            new.replace(self.path)
        except OSError as error:
            raise TokenError(f"{self.path} cannot be written: {error.strerror}") from None

    def _load(self) -> tuple[Token, ...]:
        try:
            if self.path.stat().st_mode & _OTHERS:
                raise TokenError(f"other users can read {self.path}; run: chmod 600 {self.path}")
            return msgspec.json.decode(read_file(self.path), type=_Document).tokens
        except OSError as error:
            raise TokenError(f"{self.path} cannot be read: {error.strerror}") from None
        except (msgspec.DecodeError, UnicodeError) as error:
            raise TokenError(f"{self.path} is not a token file ({error}); remove it, and create new tokens") from None


class ServiceToken:
    """The secret by which a bus knows the services of the assistant it belongs to: a file that its user alone reads.

    The processes that share a state directory share it. Whichever comes first makes it.
    """

    def __init__(self, state: Path) -> None:
        self.path = state / "service.token"
        self._token = ""
        self._seen: tuple[int, ...] | None = None

    def read(self) -> str:
        """The token; empty when there is none. Raises `TokenError`."""
        seen = _stamp(self.path)
        if seen != self._seen:
            self._token, self._seen = self._load() if seen is not None else "", seen
        return self._token

    def ensure(self) -> str:
        """The token, which is made if there is none. Raises `TokenError`."""
        token = self.read()
        if token:
            return token
        new = self.path.with_name(f"{self.path.name}.{os.getpid()}")
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            new.unlink(missing_ok=True)
            descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
            with os.fdopen(descriptor, "w") as file:
                file.write(f"{_new_token()}\n")
            try:
                with suppress(FileExistsError):  # another process was faster
                    os.link(new, self.path)
            finally:
                new.unlink()
        except OSError as error:
            raise TokenError(f"{self.path} cannot be written: {error.strerror}") from None
        return self.read()

    def fingerprint(self) -> str:
        """The hash of the token; empty when there is none that can be used."""
        try:
            token = self.read()
        except TokenError as error:
            log.error("%s; no service can connect", error)
            self._token, self._seen = "", _stamp(self.path)
            return ""
        return _hash(token) if token else ""

    def matches(self, token: str) -> bool:
        """Whether this is the token; takes as long for a wrong one."""
        return hmac.compare_digest(self.fingerprint(), _hash(token))

    def _load(self) -> str:
        try:
            if self.path.stat().st_mode & _OTHERS:
                raise TokenError(f"{self.path} is open to others; remove it, and start again")
            token = read_file(self.path).decode().strip()
        except OSError as error:
            raise TokenError(f"{self.path} cannot be read: {error.strerror}") from None
        except UnicodeError:
            token = ""
        if not token:
            raise TokenError(f"{self.path} holds no token; remove it, and start again")
        return token


def _new_token() -> str:
    return f"hark_{secrets.token_urlsafe(32)}"


def _stamp(path: Path) -> tuple[int, ...] | None:
    """Changes when the file does; none when there is no file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size, found.st_mode


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def _some(patterns: Sequence[str] | None) -> tuple[str, ...] | None:
    return tuple(patterns) if patterns else None
