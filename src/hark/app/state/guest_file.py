"""Who is connected to a bus, on disk: when it is killed, the next one waits for them."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

log = logging.getLogger("hark.app")

_decode = msgspec.json.Decoder(list[str]).decode


class GuestFile:
    """See `GuestBook` for what it promises: `bus-PORT.json` in a state directory, names that mean nothing elsewhere."""

    def __init__(self, directory: Path, port: int) -> None:
        self._path = directory / f"bus-{port}.json"
        self._new = self._path.with_suffix(".new")
        self._is_broken = False

    def read(self) -> frozenset[str]:
        """As promised by `GuestBook`; of a file that makes no sense, nobody was there."""
        try:
            return frozenset(_decode(self._path.read_bytes()))
        except FileNotFoundError:
            return frozenset()
        except (OSError, msgspec.DecodeError, UnicodeError) as error:
            log.warning("who was connected to the bus cannot be read from %s: %s", self._path, error)
            return frozenset()

    def write(self, present: Iterable[str]) -> None:
        """As promised by `GuestBook`. A disk that takes nothing is told of once."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with open(os.open(self._new, flags, 0o600), "wb") as file:  # noqa: PTH123 - the mode from the first moment on
                file.write(msgspec.json.encode(sorted(present)))
            self._new.replace(self._path)
        except OSError as error:
            if not self._is_broken:
                log.warning("who is connected to the bus cannot be noted in %s: %s", self._path, error)
            self._is_broken = True
