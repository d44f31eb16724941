"""What servers send as a stream, and how they differ: read alike, or one sentence that says what is wrong."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Sequence
from typing import Any

import pytest

from hark.builtin.persona import Persona
from hark.model import SystemClock
from hark.plugins import Toolbox, tool
from hark.testing import Assistant
from hark.testing.model_server import ModelReply
from persona_talk import PIPELINE, talking

STOP = {"choices": [{"delta": {}, "finish_reason": "stop"}]}
DONE = b"data: [DONE]\n\n"


def event(*events: Any, end: str = "\n\n") -> bytes:
    """Events as a server writes them."""
    return b"".join(f"data: {json.dumps(one, ensure_ascii=False)}{end}".encode() for one in events)


def delta(**fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": None}]}


def piece(name: str | None = None, arguments: Any = None, **fields: Any) -> dict[str, Any]:
    """A piece of a tool call."""
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    return {**fields, "function": function}


def in_bytes(data: bytes) -> list[bytes]:
    return [data[at : at + 1] for at in range(len(data))]


STREAMS: dict[str, tuple[Sequence[bytes], str]] = {
    "lines that end with CRLF": ([event(delta(content="Hello."), STOP, end="\r\n\r\n"), DONE], "Hello."),
    "no space after the colon": ([event(delta(content="Hello."), STOP).replace(b": {", b":{", 1), DONE], "Hello."),
    "comments and other fields": (
        [b": ping\n\nevent: message\nid: 7\nretry: 10\n", event(delta(content="Hello.")), b": ping\n\n", DONE],
        "Hello.",
    ),
    "characters that are split over chunks": (
        [*in_bytes(event(delta(content="Ein Bär für 李雷."))), DONE],
        "Ein Bär für 李雷.",
    ),
    "lines that end with CR": ([event(delta(content="Hello."), STOP, end="\r\r"), DONE], "Hello."),
    "a mark of the byte order": ([b"\xef\xbb\xbf", event(delta(content="Hello."), STOP), DONE], "Hello."),
    "no end of the last line": ([event(delta(content="Hello."), STOP)[:-2]], "Hello."),
    "no end of the line after [DONE]": ([event(delta(content="Hello.")), DONE[:-2]], "Hello."),
    "bytes that are no UTF-8": ([event(delta(content="Hello %!")).replace(b"%", b"\xff"), DONE], "Hello \ufffd!"),
    "no [DONE] after the last event": ([event(delta(content="Hello."), STOP)], "Hello."),
    "no last event before [DONE]": ([event(delta(content="Hello.")), DONE], "Hello."),
    "an end without either": ([event(delta(content="Hello. I was"))], "My language model broke off."),
    "an event with the usage only": (
        [event(delta(content="Hello."), STOP, {"choices": [], "usage": {"total_tokens": 9}}), DONE],
        "Hello.",
    ),
    "null wherever there is nothing": (
        [
            event(
                delta(role="assistant", content=None, tool_calls=None, refusal=None),
                {"choices": None, "error": None},
                {"choices": [{"delta": None, "finish_reason": None}]},
                delta(content="Hello."),
                STOP,
            ),
            DONE,
        ],
        "Hello.",
    ),
    "thoughts in a field of their own": (
        [event(delta(reasoning_content="Hm. They greet me."), delta(reasoning="Hm."), delta(content="Hello.")), DONE],
        "Hello.",
    ),
    "thoughts as parts of the text": (
        [
            event(
                delta(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}]),
                delta(content=[{"type": "text", "text": "Hello."}]),
            ),
            DONE,
        ],
        "Hello.",
    ),
    "thoughts in tags that are split": (
        [event(*(delta(content=one) for one in ("<th", "ink>Hm. ", "They</thi", "nk>\n\nHel", "lo."))), DONE],
        "Hello.",
    ),
    "thoughts that are longer than an answer may be": (
        [event(delta(content="<think>"), *[delta(content="Hm. " * 500)] * 5, delta(content="</think>Hello.")), DONE],
        "Hello.",
    ),
    "a refusal in a field of its own": ([event(delta(content=None, refusal="I will not."), STOP), DONE], "I will not."),
    "nothing but thoughts": (
        [event(delta(reasoning_content="Hm.")), DONE],
        "My language model had no answer.",
    ),
    "an error in the middle": (
        [event(delta(content="Hello. "), {"error": {"message": "out of memory"}}), DONE],
        "My language model has a problem.",
    ),
    "an error in a field of that name, as of llama.cpp": (
        [event(delta(content="Hello. ")), b'error: {"code": 400, "message": "too much"}\n\n'],
        "My language model has a problem.",
    ),
    "brackets without end": ([b"data: " + b"[" * 100_000 + b"\n\n", DONE], "I could not read what my language model"),
    "tool calls without end": (
        [event(*(delta(tool_calls=[piece("f", "{}", index=number)]) for number in range(300))), DONE],
        "That was too long; I stopped there.",
    ),
}


async def test_streams_of_all_kinds_are_read() -> None:
    async with talking() as (assistant, model):
        for kind, (chunks, said) in STREAMS.items():
            model.replies(ModelReply(chunks=chunks))
            answers = await assistant.hears("tell me something", session=kind.replace(" ", "-"))
            assert said in answers[-1], kind
            assert len(answers) == (2 if answers[0] == "Hello." != said else 1), kind


class Adder(Toolbox):
    id = "adder"

    @tool
    def add(self, a: int, b: int) -> int:
        """Add two numbers."""
        return a + b


CALLS: dict[str, Sequence[dict[str, Any]]] = {
    "in pieces, one after the other": [
        piece("adder-add", "", index=0, id="x"),
        piece(None, '{"a": 1', index=0),
        piece(None, ', "b": 2}', index=0),
        piece("adder-add", '{"a": 3, "b": 4}', index=1, id="y"),
    ],
    "in pieces that take turns": [
        piece("adder-add", '{"a": 1', index=0, id="x"),
        piece("adder-add", '{"a": 3', index=1, id="y"),
        piece(None, ', "b": 2}', index=0),
        piece(None, ', "b": 4}', index=1),
    ],
    "with gaps between their numbers": [
        piece("adder-add", '{"a": 1, "b": 2}', index=3, id="x"),
        piece("adder-add", '{"a": 3, "b": 4}', index=9, id="y"),
    ],
    "all with one number": [
        piece("adder-add", '{"a": 1, "b": 2}', index=0, id="x"),
        piece("adder-add", '{"a": 3, "b": 4}', index=0, id="y"),
    ],
    "without numbers and names": [piece("adder-add", '{"a": 1, "b": 2}'), piece("adder-add", '{"a": 3, "b": 4}')],
    "with null for a number": [
        piece("adder-add", '{"a": 1, "b": 2}', index=None, id="x"),
        piece("adder-add", '{"a": 3, "b": 4}', index=None, id="y"),
    ],
    "with the name in every piece": [
        piece("adder-add", '{"a": 1,', index=0, id="x"),
        piece("adder-add", ' "b": 2}', index=0, id="x"),
        piece("adder-add", '{"a": 3, "b": 4}', index=1, id="y"),
    ],
    "with numbers that are texts": [
        piece("adder-add", '{"a": 1, "b": 2}', index="0", id="x"),
        piece("adder-add", '{"a": 3, "b": 4}', index="1", id="y"),
    ],
    "with arguments that are an object": [
        piece("adder-add", {"a": 1, "b": 2}, index=0, id="x"),
        piece("adder-add", {"a": 3, "b": 4}, index=1, id="y"),
    ],
}


async def test_tool_calls_are_put_together_however_they_come() -> None:
    async with talking(Adder()) as (assistant, model):
        for kind, pieces in CALLS.items():
            chunks = [event(*(delta(tool_calls=[one]) for one in pieces)), DONE]
            model.replies(ModelReply(chunks=chunks), ModelReply(["Seven."]))
            assert await assistant.hears("add them", session=kind.replace(" ", "-")) == ["Seven."]
            results = [said["content"] for said in model.requests[-1]["messages"] if said["role"] == "tool"]
            assert results == ["3", "7"], kind
            ids = [call["id"] for call in model.requests[-1]["messages"][-3]["tool_calls"]]
            assert len(set(ids)) == 2, kind


async def test_arguments_that_are_no_json_are_not_sent_back_as_such() -> None:
    async with talking(Adder()) as (assistant, model):
        wrong = ['{"a": 1', "[1, 2]", '{"a": NaN}', '{"a": "\\ud800"}', '{"a":' * 50_000, "add 1 and 2", "null"]
        model.replies(ModelReply(tools=[("adder-add", one) for one in wrong]), ModelReply(["No."]))
        assert await assistant.hears("add them") == ["No."]
        *_, called, first, _two, _three, _four, _five, _six, last = model.requests[-1]["messages"]
        assert first["content"] == last["content"] == "Error: the arguments are not a JSON object"
        assert {call["function"]["arguments"] for call in called["tool_calls"]} == {"{}"}


def page(body: bytes, *headers: str) -> bytes:
    """A response as a server writes it that closes the connection after each."""
    lines = ["HTTP/1.0 200 OK", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


ANSWER = event(delta(content="Hello.")) + DONE
WHOLE = {"choices": [{"message": {"role": "assistant", "content": "Hello."}, "finish_reason": "stop"}]}
PAGES: dict[str, tuple[bytes, str]] = {
    "HTTP 1.0": (page(ANSWER, "Content-Type: text/event-stream"), "Hello."),
    "a type in capitals": (page(ANSWER, "Content-Type: Text/Event-Stream; charset=UTF-8"), "Hello."),
    "compressed": (
        page(gzip.compress(ANSWER), "Content-Type: text/event-stream", "Content-Encoding: gzip"),
        "Hello.",
    ),
    "not compressed, although it says so": (
        page(ANSWER, "Content-Type: text/event-stream", "Content-Encoding: gzip"),
        "I could not read what my language model sent.",
    ),
    "less than it promised, after the end of the answer": (
        page(ANSWER, "Content-Type: text/event-stream", "Content-Length: 9999"),
        "Hello.",
    ),
    "an answer that is not streamed": (page(json.dumps(WHOLE).encode(), "Content-Type: application/json"), "Hello."),
    "an error with the status 200": (
        page(b'{"error": {"message": "the model is loading"}}', "Content-Type: application/json"),
        "My language model has a problem.",
    ),
    "JSON of another kind": (
        page(b'{"status": "ok"}', "Content-Type: application/json"),
        "I could not read what my language model sent.",
    ),
    "lines of JSON": (
        page(b'{"message": {"content": "Hel"}}\n{"done": true}\n', "Content-Type: application/x-ndjson"),
        "I could not read what my language model sent.",
    ),
}


@pytest.mark.parametrize("kind", PAGES)
async def test_responses_of_all_kinds_are_read(kind: str) -> None:
    response, said = PAGES[kind]

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(response)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        table = {"assistant": {"pipeline": PIPELINE}, "plugins": {"persona": {"endpoint": url, "model": "m"}}}
        async with Assistant(Persona(), settings=table, clock=SystemClock()) as assistant:
            turn = assistant.say("tell me something")
            await turn.over.wait()
            assert turn.spoken == [said]
            if kind == "an error with the status 200":
                assert "the model reported an error: the model is loading" in assistant.why()
