"""Stopping a process by signal."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from types import FrameType
from typing import Final

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def on_stop_signal(stop: Callable[[], None]) -> None:
    """Call `stop` on the event loop at the first signal to end this process; the second signal ends it.

    Not by `loop.add_signal_handler`: where a plugin blocks the loop, the second signal would come to nothing as well.
    """
    loop = asyncio.get_running_loop()
    # The parent process may ignore some of them, as nohup does.
    heeded = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]

    def signalled(received: int, _frame: FrameType | None) -> None:
        for number in heeded:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
        if loop.is_closed():
            signal.raise_signal(received)
        else:
            loop.call_soon_threadsafe(stop)

    for number in heeded:
        signal.signal(number, signalled)
