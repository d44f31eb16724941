"""One request to a server that speaks HTTP, with the standard library: no redirects, no proxies, nothing hidden."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from ipaddress import ip_address
from typing import Final
from urllib.parse import SplitResult, urlsplit

from hark.plugins.engines import Unavailable

_MOST: Final = 64 * 1024 * 1024
"""Bytes of an answer that are read at most."""
_TOLD: Final = 300
"""Letters of an error that are passed on."""


class ServerError(Exception):
    """The server could not be reached, took too long or refused; the text says which."""


class Server:
    """A server by its address, such as "http://127.0.0.1:8000/v1"; raises `Unavailable` for one that will not do."""

    def __init__(self, url: str, key: str, timeout: float) -> None:
        parts = urlsplit(url.rstrip("/"))
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise Unavailable(f"{url!r} is no address of a server", 'such as: url = "http://127.0.0.1:8000/v1"')
        if key and parts.scheme == "http" and not _is_near(parts.hostname):
            raise Unavailable("a key would travel through the network in the open", "use an https address, or no key")
        self._parts = parts
        self._key = key
        self._timeout = timeout

    def __str__(self) -> str:
        return f"{self._parts.scheme}://{self._parts.netloc.rpartition('@')[2]}"

    @contextmanager
    def post(self, path: str, body: bytes, kind: str) -> Iterator[HTTPResponse]:
        """The answer to a POST, open for reading; raises `ServerError`."""
        headers = {"Content-Type": kind, "User-Agent": "hark"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        connection = self._connection(self._parts)
        try:
            connection.request("POST", self._parts.path + path, body, headers)
            answer = connection.getresponse()
            if answer.status != 200:
                raise ServerError(f"{self} answered {answer.status} {answer.reason}: {_said(answer)}".rstrip(": "))
            yield answer
        except TimeoutError:
            raise ServerError(f"{self} took longer than {self._timeout:g} s") from None
        except (OSError, HTTPException) as error:
            raise ServerError(f"{self} cannot be reached: {str(error) or type(error).__name__}") from error
        finally:
            connection.close()

    def _connection(self, parts: SplitResult) -> HTTPConnection:
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        return kind(parts.hostname or "", parts.port, timeout=self._timeout)


def whole(answer: HTTPResponse) -> bytes:
    """All of an answer; raises `ServerError` when there is no end to it."""
    body = answer.read(_MOST + 1)
    if len(body) > _MOST:
        raise ServerError(f"it answered more than {_MOST} bytes")
    return body


def form(fields: Mapping[str, str], name: str, file: bytes) -> tuple[bytes, str]:
    """The body and type of a form with one WAV file in it."""
    edge = "hark-form-edge-b1946ac92492d2347c6235b4d2611184"
    lines: list[bytes] = []
    for field, value in fields.items():
        lines.append(f'--{edge}\r\nContent-Disposition: form-data; name="{field}"\r\n\r\n{value}\r\n'.encode())
    head = f'--{edge}\r\nContent-Disposition: form-data; name="{name}"; filename="speech.wav"\r\n'
    lines += [head.encode(), b"Content-Type: audio/wav\r\n\r\n", file, f"\r\n--{edge}--\r\n".encode()]
    return b"".join(lines), f"multipart/form-data; boundary={edge}"


def _said(answer: HTTPResponse) -> str:
    """What the server says about its refusal, shortened."""
    text = answer.read(4 * _TOLD).decode("utf-8", "replace").strip()
    try:
        error = json.loads(text)["error"]
        text = str(error["message"] if isinstance(error, dict) else error)
    except (ValueError, KeyError, TypeError):
        pass
    return " ".join(text.split())[:_TOLD]


def _is_near(host: str) -> bool:
    """Whether a host is this machine or in this house."""
    try:
        address = ip_address(host)
    except ValueError:
        return "." not in host or host.endswith((".local", ".lan", ".home.arpa"))
    return address.is_loopback or address.is_private or address.is_link_local
