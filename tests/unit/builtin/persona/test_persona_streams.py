"""What servers send as a stream, and how they differ: read alike, or one sentence that says what is wrong."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from hark.plugins import Toolbox, tool
from hark.testing.model_server import ModelReply
from persona_talk import talking

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
    "nothing but thoughts": (
        [event(delta(reasoning_content="Hm.")), DONE],
        "My language model had no answer.",
    ),
    "an error in the middle": (
        [event(delta(content="Hello. "), {"error": {"message": "out of memory"}}), DONE],
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
            assert len(answers) == (2 if "error in the middle" in kind or "without either" in kind else 1), kind


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
