"""What was said in a conversation, and what is still to come of it."""

from __future__ import annotations

from hark.app.script.device import Device, Heard


class Turns:
    """Everything that was said to Hark, by the mark that tells which Messages go back to it."""

    def __init__(self) -> None:
        self._heard: dict[str, Heard] = {}

    def begin(self, device: Device, mark: str) -> None:
        """Something is said to a device."""
        for heard in self._heard.values():
            if heard.session_id == device.session_id:
                heard.asks = False  # whoever waited may be answered by this
        device.last = self._heard[mark] = Heard(device.session_id)
        device.spoke = False

    def of(self, mark: object) -> Heard | None:
        """What was said under a mark, if that is one."""
        return self._heard.get(mark) if isinstance(mark, str) else None

    def forget(self, *, all_of_them: bool = False) -> None:
        """Forget what is over, or all of them."""
        self._heard = {mark: heard for mark, heard in self._heard.items() if heard.open and not all_of_them}

    @property
    def working(self) -> bool:
        """Whether a handler is under way that waits for nobody's answer."""
        return any(heard.open and not heard.asks for heard in self._heard.values())

    @property
    def deciding(self) -> bool:
        """Whether for something nobody was found yet to answer it."""
        return any(heard.deciding for heard in self._heard.values())
