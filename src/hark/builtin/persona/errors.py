"""What goes wrong with a model, and what servers say about it."""

from __future__ import annotations

import json
from typing import Any, Final, Literal

Trouble = Literal[
    "address", "unreachable", "unknown_host", "certificate", "key", "not_found", "busy", "server", "cut", "stalled",
    "garbage", "too_long", "proxy", "refused", "silent",
]  # fmt: skip
"""What can go wrong; each has a sentence of its own to say."""

_LONGEST_ERROR: Final = 400
"""Characters of an error that are passed on."""


class ChatError(Exception):
    """A model that could not answer: `trouble` says how, the text says it for people who operate it."""

    def __init__(self, trouble: Trouble, text: str, retry_after: float | None = None, *, status: int = 200) -> None:
        super().__init__(text)
        self.trouble = trouble
        self.retry_after = retry_after
        """Seconds after which the server wants to be asked again, if it said so."""
        self._status = status

    @property
    def may_pass(self) -> bool:
        """Whether it will help to ask elsewhere first for a while."""
        return self.trouble in ("unreachable", "busy", "server", "cut", "stalled", "proxy", "unknown_host")

    @property
    def may_pass_soon(self) -> bool:
        """Whether it may help to ask again at once."""
        return self.trouble in ("busy", "server", "cut")

    @property
    def may_be_about_tools(self) -> bool:
        """Whether it may help to ask without tools: not every model takes them, and they make a request long."""
        return self._is_refusal or (self.trouble in ("server", "not_found") and "tool" in str(self).lower())

    @property
    def may_be_about_length(self) -> bool:
        """Whether it may help to ask without what was said before."""
        return self._is_refusal or (self.trouble == "server" and "context" in str(self).lower())

    @property
    def _is_refusal(self) -> bool:
        return self.trouble == "refused" and self._status >= 400

    def shorten(self, key: str) -> None:
        """Cut the text, and take the key out first: a server may have sent back what it was sent."""
        text = str(self).replace(key, "(key)") if key else str(self)
        self.args = (text[:_LONGEST_ERROR],)


def error_message(error: Any) -> str:
    """What a server says in its error, in one of the ways in which they do."""
    while isinstance(error, dict) and (inner := error.get("error") or error.get("message") or error.get("detail")):
        error = inner
    return " ".join((error if isinstance(error, str) else json.dumps(error, ensure_ascii=False)).split())
