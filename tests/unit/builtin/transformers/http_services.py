"""A server on this machine that speaks the protocols of LibreTranslate and of OpenAI-compatible models."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[[str, dict[str, Any]], dict[str, Any]]
"""The answer to a request: its path and its body."""


class Refused(Exception):
    """Answered with this status and text."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class _PatientServer(ThreadingHTTPServer):
    allow_reuse_address = True
    request_queue_size = 256
    """The standard library lets five connections wait; contracts ask fifty times at once."""


class LocalService:
    """The server: its address, what it was asked, and whether it is alive."""

    def __init__(self, answer: Answer) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self._answer = answer
        self._server: ThreadingHTTPServer | None = None
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Listen, at the same port as before."""
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                service.asked.append((self.path, body))
                try:
                    status, answer = 200, service._answer(self.path, body)
                except Refused as refused:
                    status, answer = refused.status, {"error": str(refused)}
                data = json.dumps(answer).encode()
                with suppress(BrokenPipeError):  # a client that was not willing to wait
                    self.send_response(status)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data)

            def log_message(self, *_arguments: object) -> None:
                """Quiet."""

        self._server = _PatientServer(("127.0.0.1", self.port), Handler)
        self.port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def stop(self) -> None:
        server, self._server = self._server, None
        if server is not None:
            server.shutdown()
            server.server_close()


@contextmanager
def serving(answer: Answer) -> Iterator[LocalService]:
    """A running server with these answers."""
    service = LocalService(answer)
    service.start()
    try:
        yield service
    finally:
        service.stop()


SPANISH = {
    "qué hora es": "what time is it",
    "di hola": "say hello",
    "di el pan cuesta 3 €": "say the bread costs 3 €",
    "hello": "hola",
    "the bread costs 3 €": "el pan cuesta 3 €",
    "What size?": "¿Qué tamaño?",
    "grande": "large",
    "ordered: large": "pedido: grande",
    "pide una pizza": "order a pizza",
}


def libretranslate(path: str, body: dict[str, Any]) -> dict[str, Any]:
    """As LibreTranslate answers POST /translate."""
    if path != "/translate":
        raise Refused(404, "not found")
    for field in ("q", "source", "target"):
        if field not in body:
            raise Refused(400, f"Invalid request: missing {field} parameter")
    if {body["source"], body["target"]} != {"en", "es"}:
        raise Refused(400, f"{body['source']} is not supported")
    return {"translatedText": SPANISH.get(body["q"], body["q"])}


def chat(reply: Callable[[str, str], str]) -> Answer:
    """As an OpenAI-compatible server answers POST /v1/chat/completions; `reply` gets instruction and text."""

    def answer(path: str, body: dict[str, Any]) -> dict[str, Any]:
        if path != "/v1/chat/completions":
            raise Refused(404, "not found")
        system, user = (message["content"] for message in body["messages"])
        content = reply(system, user)
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "model": body["model"],
            "choices": [
                {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}},
            ],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }

    return answer
