"""Services that transformers ask over HTTP: models behind an OpenAI-compatible server, translators."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from typing import Any, Final
from urllib.parse import urlsplit

from hark.builtin.engines.openai import OpenAIServer, OpenAIServerError, read_all
from hark.plugins import Clock
from hark.plugins.engines import Unavailable

_PAUSE: Final = 10.0
"""Seconds in which a service that failed is not asked again: users are not to wait for it in every turn."""
_PROBE: Final = 1.0
"""Seconds in which a service has to take a connection at the start; then it counts as unreachable."""


class ServiceFailed(Exception):
    """A service could not be asked, or gave an answer that is none; the text says which and why."""


class JsonService:
    """A service that takes and gives JSON. A failure is remembered for ten seconds and shown by `hark doctor`."""

    def __init__(self, url: str, key: str, timeout: float, clock: Clock) -> None:
        self._server = OpenAIServer(url, key, timeout)
        parts = urlsplit(url)
        self._address = (parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80))
        self._clock = clock
        self._lock = threading.Lock()
        self._failed_at: float | None = None
        self._failure = ""

    async def probe(self) -> None:
        """See whether the service takes connections; what is wrong is in `problem`."""
        try:
            await asyncio.to_thread(self._connect)
        except OSError as error:
            self._failure = f"{self._server} cannot be reached: {error.strerror or error}"

    def _connect(self) -> None:
        socket.create_connection(self._address, _PROBE).close()

    @property
    def problem(self) -> str:
        """What is wrong with the service, as far as is known; empty when its last answer was good."""
        return f"{self._failure}; start it, or correct url" if self._failure else ""

    def ask(self, path: str, body: dict[str, Any]) -> Any:
        """The answer to a POST of JSON; raises `ServiceFailed`. Blocks: call it on a worker thread."""
        with self._lock:
            failed_at = self._failed_at
        if failed_at is not None and self._clock.monotonic() - failed_at < _PAUSE:
            raise ServiceFailed(f"{self._failure} (it is asked again after {_PAUSE:g} s)")
        try:
            with self._server.post(path, json.dumps(body).encode(), "application/json") as answer:
                found = json.loads(read_all(answer))
        except (OpenAIServerError, ValueError) as error:
            reason = str(error) if isinstance(error, OpenAIServerError) else f"the answer of {self._server} is no JSON"
            with self._lock:
                self._failed_at, self._failure = self._clock.monotonic(), reason
            raise ServiceFailed(reason) from None
        with self._lock:
            self._failed_at, self._failure = None, ""
        return found


class ChatModel:
    """A language model behind an OpenAI-compatible server (`/chat/completions`)."""

    def __init__(self, url: str, key: str, model: str, timeout: float, clock: Clock) -> None:
        if not url:
            raise Unavailable("no model is set", 'set url, such as: url = "http://127.0.0.1:8080/v1"')
        self.service = JsonService(url, key, timeout, clock)
        self._model = model

    def answer(self, instruction: str, text: str, longest: int = 400) -> str:
        """What the model makes of `text`; raises `ServiceFailed`. `longest` is in tokens."""
        body = {
            "model": self._model,
            "messages": [{"role": "system", "content": instruction}, {"role": "user", "content": text}],
            "max_tokens": longest,
            "temperature": 0,
        }
        answer = self.service.ask("/chat/completions", body)
        try:
            content = answer["choices"][0]["message"]["content"]
        except (KeyError, IndexError, TypeError):
            content = None
        if not isinstance(content, str) or not content.strip():
            raise ServiceFailed("the model gave no text")
        return content.strip()
