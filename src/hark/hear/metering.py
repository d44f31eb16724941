"""Showing how loud it is."""

from __future__ import annotations

import logging
from collections.abc import Callable

from hark.model.audio import Level, level

log = logging.getLogger("hark.hear")


class Meter:
    """Shows the level of each block to whoever wants to see it, as long as that goes well."""

    def __init__(self, show: Callable[[Level], None] | None) -> None:
        self._show = show

    def hear(self, block: bytes) -> None:
        """Show a block."""
        if self._show is None:
            return
        try:
            self._show(level(block))
        except Exception:
            log.exception("whoever shows the level failed, and is shown it no longer")
            self._show = None
