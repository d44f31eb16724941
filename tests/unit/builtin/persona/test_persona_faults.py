"""Every way in which a model can fail: the turn ends once, and one short sentence says what is wrong."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hark.builtin.persona import Persona
from hark.testing import Assistant
from hark.testing.model_server import ModelReply, ModelServer
from persona_talk import PIPELINE, talking

BUSY = "My language model is too busy at the moment."
CUT = "My language model broke off."
PROXY = "The network does not let me reach my language model."
SERVER = "My language model has a problem."
GARBAGE = "I could not read what my language model sent."

Script = Callable[[ModelServer], None]


async def _answers(assistant: Assistant, text: str = "tell me something") -> list[str]:
    """What is said, with the time that retries need passing."""
    turn = assistant.say(text)
    for _ in range(200):
        if turn.over.is_set():
            break
        await assistant.clock.advance(0.5)
        await asyncio.sleep(0.01)
    assert turn.over.is_set(), assistant.why()
    return list(turn.spoken)


@pytest.mark.parametrize(
    ("script", "said", "why", "requests"),
    [
        pytest.param(lambda m: m.fails(401), "My language model does not accept my key.", "key", 1, id="401"),
        pytest.param(lambda m: m.fails(403), "My language model does not accept my key.", "key", 1, id="403"),
        pytest.param(lambda m: m.fails(404), "My language model is not there.", "not_found", 1, id="404"),
        pytest.param(lambda m: m.fails(400), "My language model refused that.", "refused", 1, id="400"),
        pytest.param(
            lambda m: m.fails(407), "The network does not let me reach my language model.", "proxy", 1, id="407"
        ),
        pytest.param(lambda m: m.fails(429, retry_after="60"), BUSY, "busy", 1, id="429 with a long retry-after"),
        pytest.param(lambda m: [m.fails(429, retry_after="1") for _ in range(2)], BUSY, "busy", 2, id="429 twice"),
        pytest.param(lambda m: [m.fails(503) for _ in range(2)], SERVER, "server", 2, id="5xx"),
        pytest.param(lambda m: [m.breaks("cut") for _ in range(2)], CUT, "cut", 2, id="cut before the first piece"),
        pytest.param(lambda m: [m.breaks("hang up") for _ in range(2)], CUT, "cut", 2, id="hangs up"),
        pytest.param(lambda m: m.breaks("garbage"), GARBAGE, "garbage", 1, id="garbage"),
        pytest.param(lambda m: m.breaks("not a stream"), GARBAGE, "garbage", 1, id="wrong content type"),
        pytest.param(lambda m: m.breaks("huge"), "That was too long; I stopped there.", "too_long", 1, id="huge"),
        pytest.param(lambda m: m.breaks("stall"), "My language model stopped answering.", "stalled", 1, id="stall"),
        pytest.param(lambda m: m.says(), "My language model had no answer.", "silent", 1, id="empty"),
    ],
)
async def test_a_failure_is_said_once_and_shown_in_why(script: Script, said: str, why: str, requests: int) -> None:
    async with talking(stall_timeout=0.3) as (assistant, model):
        script(model)
        assert await _answers(assistant) == [said]
        assert f"{why}: " in assistant.why() or why == "silent"
        assert len(model.requests) == requests
        assert len(assistant.of("ovos.utterance.handled")) == 1
        assert len(assistant.of("ovos.intent.handler.complete")) == 1
        # The next turn is as good as any, and nothing of the failed one is remembered.
        model.says("Well again.")
        assert await _answers(assistant) == ["Well again."]
        assert len(model.requests[-1]["messages"]) == 2


async def test_what_was_complete_is_said_before_the_trouble() -> None:
    async with talking() as (assistant, model):
        model.breaks("cut", "Well.", " Then", " it was", " ra")
        assert await _answers(assistant) == ["Well.", CUT]
        assert len(model.requests) == 1, "an answer that has begun is not begun again"


async def test_an_endless_answer_is_cut_off_and_the_connection_closed() -> None:
    async with talking(longest_answer=200) as (assistant, model):
        model.breaks("endless")
        answers = await _answers(assistant)
        assert answers[-1] == "That was too long; I stopped there."
        assert sum(map(len, answers[:-1])) <= 200
        await asyncio.wait_for(model.closed(), 5)


async def test_a_stream_that_keeps_sending_nothing_ends_too() -> None:
    async with talking(answer_timeout=0.2) as (assistant, model):
        model.replies(ModelReply(fault="keep alive"))
        assert await _answers(assistant) == ["That was too long; I stopped there."]


async def test_a_server_that_is_busy_for_a_moment_is_asked_again() -> None:
    async with talking() as (assistant, model):
        model.fails(429, retry_after="2")
        model.says("Here I am.")
        assert await _answers(assistant) == ["Here I am."]
        assert assistant.clock.monotonic() >= 2.0


async def _with_endpoint(url: str, **more: Any) -> tuple[list[str], str]:
    table = {"endpoint": url, **more}
    settings = {"assistant": {"pipeline": PIPELINE}, "plugins": {"persona": table}}
    async with Assistant(Persona(), settings=settings) as assistant:
        answers = await _answers(assistant)
        assert len(assistant.of("ovos.utterance.handled")) == 1
        return answers, assistant.why()


async def test_a_refused_connection() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but nothing listens
        answers, why = await _with_endpoint(f"http://127.0.0.1:{taken.getsockname()[1]}/v1")
    assert answers == ["I cannot reach my language model."]
    assert "unreachable: " in why


async def test_a_name_that_is_not_known() -> None:
    answers, why = await _with_endpoint("http://model.invalid/v1")
    assert answers == ["I cannot find the server of my language model."]
    assert "unknown_host: " in why


async def test_a_certificate_that_cannot_be_trusted(tmp_path: Path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"]
    await asyncio.to_thread(
        subprocess.run, [*made, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = await asyncio.start_server(lambda _reader, writer: writer.close(), "127.0.0.1", 0, ssl=context)
    async with server:
        answers, why = await _with_endpoint(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")
    assert answers == ["The connection to my language model is not secure."]
    assert "certificate: " in why


async def test_a_proxy_that_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        answers, why = await _with_endpoint("https://model.invalid/v1")
    assert answers == ["The network does not let me reach my language model."]
    assert "proxy: " in why


async def test_a_model_on_this_machine_is_not_reached_through_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    async with talking() as (assistant, _model):
        assert await _answers(assistant, "hello there") == ["You said: hello there"]


async def test_a_redirect_is_not_followed_and_the_key_stays_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_KEY", "sk-secret-0123456789")
    async with ModelServer() as elsewhere, talking(key_variable="MODEL_KEY") as (assistant, model):
        there = {"location": f"{elsewhere.url}/chat/completions?key=sk-secret-0123456789"}
        model.replies(ModelReply(status=307, headers=there))
        assert await _answers(assistant) == ["My language model refused that."]
        assert f"redirects to {elsewhere.url.removesuffix('/v1')}, which is not followed" in assistant.why()
        assert "sk-secret" not in assistant.why()
        assert elsewhere.requests == []


async def test_an_error_in_a_stream_does_not_show_the_key(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    key = "sk-secret-0123456789"
    monkeypatch.setenv("MODEL_KEY", key)
    async with talking(key_variable="MODEL_KEY") as (assistant, model):
        for before in range(370, 395):  # the message is cut somewhere here
            error = json.dumps({"error": {"message": f"{'x' * before}{key} is not valid"}})
            model.replies(ModelReply(chunks=[f"data: {error}\n\n".encode()]))
            model.replies(ModelReply(chunks=[f"data: {error}\n\n".encode()]))
            assert await _answers(assistant) == [SERVER]
            assert "sk-s" not in assistant.why()
        assert "sk-s" not in caplog.text


async def test_an_endpoint_may_have_a_query_and_the_path_of_chats(caplog: pytest.LogCaptureFixture) -> None:
    async with ModelServer() as model:
        answers, _ = await _with_endpoint(f"{model.url}/chat/completions?api-version=1")
        assert answers == ["You said: tell me something"]
        answers, why = await _with_endpoint(model.url.replace("/v1", "/api"))
        assert answers == ["My language model is not there."]
        assert "does the endpoint have to end with /v1?" in why
        settings = {"plugins": {"persona": {"endpoint": f"{model.url}?api_key=sk-secret"}}}
        async with Assistant(Persona(), settings=settings):
            assert "holds a key (api_key); put it into a key_file instead" in caplog.text
            assert "sk-secret" not in caplog.text


async def test_a_second_endpoint_stands_in_and_is_asked_first_for_a_while() -> None:
    async with ModelServer() as second:
        table = {"endpoint": second.url, "model": "spare"}
        async with talking(second=table) as (assistant, model):
            model.fails(503)
            model.fails(503)
            second.says("I am the second.")
            assert await _answers(assistant) == ["I am the second."]
            assert second.requests[0]["model"] == "spare"
            assert f"sent to {second.url.removesuffix('/v1')}, spare" in assistant.why()
            second.says("Still me.")
            assert await _answers(assistant) == ["Still me."]
            assert len(model.requests) == 2
            await assistant.clock.advance(60.0)
            model.says("The first is back.")
            assert await _answers(assistant) == ["The first is back."]


async def test_a_model_that_fails_does_not_hold_up_other_turns() -> None:
    async with talking(stall_timeout=30.0) as (assistant, model):
        model.breaks("stall")
        stalled = assistant.say("tell me something", session="one")
        await model.asked()
        model.says("Quick.")
        assert await assistant.hears("tell me something", session="two") == ["Quick."]
        assert not stalled.over.is_set()
        await assistant.hears("stop", session="one")
        await asyncio.wait_for(stalled.over.wait(), 5)


async def test_the_sentence_is_in_the_language_of_the_turn() -> None:
    async with ModelServer() as model:
        settings = {
            "assistant": {"pipeline": PIPELINE, "langs": ["de-DE"]},
            "plugins": {"persona": {"endpoint": model.url}},
        }
        async with Assistant(Persona(), settings=settings) as assistant:
            model.fails(401)
            assert await assistant.hears("wer bin ich", lang="de-DE") == [
                "Mein Sprachmodell nimmt meinen Schlüssel nicht an."
            ]
