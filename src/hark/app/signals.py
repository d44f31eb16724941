"""Stopping a process by signal."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from typing import Final

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def on_stop_signal(stop: Callable[[], None]) -> None:
    """Call `stop` at the first signal to end this process; the second signal ends it."""
    loop = asyncio.get_running_loop()
    # The parent process may ignore some of them, as nohup does.
    heeded = [name for name in _SIGNALS if signal.getsignal(name) is not signal.SIG_IGN]

    def signalled() -> None:
        for name in heeded:
            loop.remove_signal_handler(name)
        stop()

    for name in heeded:
        loop.add_signal_handler(name, signalled)
