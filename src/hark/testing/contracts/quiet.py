"""Noticing input and output, by what Python itself reports."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

_LOUD: Final = ("open", "socket.connect", "socket.getaddrinfo", "subprocess.Popen", "os.system", "time.sleep",
                "sqlite3.connect", "urllib.Request")  # fmt: skip
"""Audit events of what a quick plugin must not do."""

_listening: set[tuple[int, _Heard]] = set()
_installed = threading.Event()


class _Heard(list[str]):
    __hash__ = object.__hash__  # type: ignore[assignment]


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if event in _LOUD and _listening:
        for thread, heard in tuple(_listening):
            if thread == threading.get_ident():
                heard.append(f"{event} {arguments[0] if arguments else ''!s:.80}".strip())


@contextmanager
def listening() -> Iterator[list[str]]:
    """What this thread reads, writes, connects to or waits for meanwhile."""
    if not _installed.is_set():
        _installed.set()
        sys.addaudithook(_hook)  # for good: Python lets nobody take one off again
    heard = _Heard()
    entry = (threading.get_ident(), heard)
    _listening.add(entry)
    try:
        yield heard
    finally:
        _listening.discard(entry)
