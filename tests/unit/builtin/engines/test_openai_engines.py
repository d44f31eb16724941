"""Engines behind an OpenAI-compatible server; a small one stands in for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from hark.builtin.engines.openai import OpenAIRecogniser, OpenAIServer, OpenAIServerError, OpenAIVoice
from hark.model import Audio
from hark.model.wav import read_wav
from hark.plugins.engines import Unavailable

SOUND = Audio(b"\x01\x02" * 800, 16_000)


class FakeServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.status = 200
        self.answer: bytes = b'{"text": " Turn on the light. "}'
        self.asked: list[tuple[str, dict[str, str], bytes]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    server: FakeServer

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked.append((self.path, {k.lower(): v for k, v in self.headers.items()}, body))
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(self.server.answer)))
        self.end_headers()
        self.wfile.write(self.server.answer)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[FakeServer]:
    made = FakeServer()
    thread = Thread(target=made.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield made
    made.shutdown()
    made.server_close()
    thread.join(2)


def recogniser(server: FakeServer, **settings: Any) -> OpenAIRecogniser:
    engine = OpenAIRecogniser()
    engine.settings = OpenAIRecogniser.Settings(url=server.url, **settings)
    engine.load()
    return engine


def voice(server: FakeServer, **settings: Any) -> OpenAIVoice:
    engine = OpenAIVoice()
    engine.settings = OpenAIVoice.Settings(url=server.url, **settings)
    engine.load()
    return engine


def test_speech_goes_there_and_text_comes_back(server: FakeServer) -> None:
    engine = recogniser(server, key="k-1", prompt="Hark, Roomba", model="tiny")
    assert engine.transcribe(SOUND, "en-US").utterances == ("Turn on the light.",)
    [(path, headers, body)] = server.asked
    assert path == "/v1/audio/transcriptions"
    assert headers["authorization"] == "Bearer k-1"
    edge = headers["content-type"].partition("boundary=")[2].encode()
    parts = {part.split(b'name="')[1].split(b'"')[0]: part.partition(b"\r\n\r\n")[2][:-2] for part in body.split(b"--" + edge)[1:-1]}  # fmt: skip  # noqa: E501
    assert read_wav(parts.pop(b"file")) == SOUND
    assert parts == {b"model": b"tiny", b"language": b"en", b"response_format": b"json", b"prompt": b"Hark, Roomba"}
    assert engine.about() == f"tiny at {server.url.removesuffix('/v1')}"


def test_no_text_is_nothing_said(server: FakeServer) -> None:
    server.answer = b'{"text": ""}'
    assert recogniser(server).transcribe(SOUND, "en").utterances == ()


@pytest.mark.parametrize("answer", [b"<html>", b"[]", b'{"text": 7}', b"{}"])
def test_an_answer_that_is_none_is_a_failure(server: FakeServer, answer: bytes) -> None:
    server.answer = answer
    with pytest.raises(OpenAIServerError, match="not a transcription"):
        recogniser(server).transcribe(SOUND, "en")


def test_a_refusal_is_reported_in_the_servers_words_without_the_key(server: FakeServer) -> None:
    server.status, server.answer = 401, json.dumps({"error": {"message": "wrong key"}}).encode()
    with pytest.raises(OpenAIServerError, match="401 Unauthorized: wrong key") as caught:
        recogniser(server, key="k-secret").transcribe(SOUND, "en")
    assert "k-secret" not in str(caught.value)
    assert "k-secret" not in repr(recogniser(server, key="k-secret").settings)


def test_redirects_are_not_followed(server: FakeServer) -> None:
    server.status = 302
    with pytest.raises(OpenAIServerError, match="302"):
        recogniser(server).transcribe(SOUND, "en")


def test_a_server_that_is_not_there_is_a_failure(server: FakeServer) -> None:
    engine = recogniser(server)
    server.shutdown()
    server.server_close()
    with pytest.raises(OpenAIServerError, match="cannot be reached"):
        engine.transcribe(SOUND, "en")


def test_languages_can_be_limited(server: FakeServer) -> None:
    assert recogniser(server).serves("tlh")
    assert not recogniser(server, langs=("de",)).serves("en-US")


def test_a_voice_speaks_as_the_sound_comes(server: FakeServer) -> None:
    server.answer = b"\x01\x02" * 10_000
    engine = voice(server, voices=("nova", "echo"))
    pieces = list(engine.stream("Hello.", "en-US"))
    assert b"".join(piece.samples for piece in pieces) == server.answer
    assert len(pieces) > 1
    wanted = json.loads(server.asked[0][2])
    assert wanted == {"model": "tts-1", "input": "Hello.", "response_format": "pcm", "voice": "nova", "speed": 1.0}
    assert engine.synthesize("Hello.", "en-US", "echo").samples == server.answer
    assert json.loads(server.asked[1][2])["voice"] == "echo"
    assert engine.voices("en") == ("nova", "echo")
    assert engine.synthesize("  ", "en").samples == b""
    assert len(server.asked) == 2


def test_half_a_sample_at_the_end_is_left_out(server: FakeServer) -> None:
    server.answer = b"\x01\x02\x03"
    assert voice(server).synthesize("Hello.", "en").samples == b"\x01\x02"


def test_an_odd_voice_language_has_no_voices(server: FakeServer) -> None:
    assert voice(server, langs=("de",)).voices("en") == ()


@pytest.mark.parametrize("host", ["127.0.0.1", "192.168.1.7", "localhost", "speech.local", "[::1]"])
def test_a_key_may_be_sent_within_the_local_network(host: str) -> None:
    assert host in str(OpenAIServer(f"http://{host}:8000/v1", "key", 1.0))


def test_a_key_is_not_sent_unencrypted() -> None:
    with pytest.raises(Unavailable, match="unencrypted"):
        OpenAIServer("http://api.example.org/v1", "key", 1.0)
    assert "https://api.example.org" in str(OpenAIServer("https://api.example.org/v1", "key", 1.0))
    assert "http://api.example.org" in str(OpenAIServer("http://api.example.org/v1", "", 1.0))
