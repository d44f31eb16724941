"""What servers send as a stream, and how they differ: read alike, or one sentence that says what is wrong."""

from __future__ import annotations

import asyncio
import gzip
import itertools
import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hark.builtin.persona import Persona
from hark.builtin.persona.markup import AnswerReader
from hark.builtin.persona.tool_calls import ToolCalls
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


def ended(reason: str) -> dict[str, Any]:
    return {"choices": [{"delta": {}, "finish_reason": reason}]}


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
    "an end in the middle of an event": (
        [event(delta(content="Hello. I was")), event(delta(content="going"))[:-20]],
        "My language model broke off.",
    ),
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
    "an event that is spread over lines": (
        [b'data: {"choices":[{"delta":\ndata: {"content":"Hello."}}]}\n\n', event(STOP), DONE],
        "Hello.",
    ),
    "one that is spread over lines that end with CRLF, cut between the two": (
        [b'data: {"choices":[{"delta":\r', b'\ndata: {"content":"Hello."}}]}\r\n\r\n', event(STOP), DONE],
        "Hello.",
    ),
    "null for an event, and an empty one": (
        [b"data: null\n\ndata: {}\n\n", event(delta(content="Hello."), STOP)],
        "Hello.",
    ),
    "characters of no text between events": ([event(delta(content="Hello.")), b"\0\n\n", DONE], "Hello."),
    "an end at the limit of tokens": (
        [event(delta(content="Hello. I was go"), ended("length")), DONE],
        "That was too long; I stopped there.",
    ),
    "an end by a filter": (
        [event(delta(content="Hello. You can mi"), ended("content_filter")), DONE],
        "My language model refused that.",
    ),
    "an end by a failure": (
        [event(delta(content="Hello. I was go"), ended("error")), DONE],
        "My language model has a problem.",
    ),
    "an end by a filter, as others call it": (
        [event(delta(content="Hello. You can mi"), ended("PROHIBITED_CONTENT")), DONE],
        "My language model refused that.",
    ),
    "an end by a server without room": (
        [event(delta(content="Hello. I was go"), ended("insufficient_system_resource")), DONE],
        "My language model has a problem.",
    ),
    "an error in an event of that name": (
        [event(delta(content="Hello. ")), b'event: error\ndata: {"message": "overloaded"}\n\n'],
        "My language model has a problem.",
    ),
    "an error in the answer, not beside it": (
        [event(delta(content="Hello. "), {"choices": [{"delta": {"content": ""}, "error": {"code": 502}}]}), DONE],
        "My language model has a problem.",
    ),
    "an end that is no text": (
        [event(delta(content="Hello."), {"choices": [{"delta": {}, "finish_reason": {"type": "stop"}}]}), DONE],
        "Hello.",
    ),
    "the whole answer again at the end": (
        [
            event(delta(content="Hello."), {"choices": [{"message": {"content": "Hello."}, "finish_reason": "stop"}]}),
            DONE,
        ],
        "Hello.",
    ),
    "an error that is called detail": (
        [event(delta(content="Hello. "), {"detail": "loading"}), DONE],
        "My language model has a problem.",
    ),
    "text in other forms": (
        [
            event(delta(content=["Hel"]), delta(content={"type": "text", "text": "lo"}), delta(content=7)),
            event(delta(content=[{"type": "output_text", "text": "."}]), STOP),
        ],
        "Hello7.",
    ),
    "half a character": ([event(delta(content="Hello %.")).replace(b"%", rb"\ud83d"), DONE], "Hello \ufffd."),
    "control characters": ([event(delta(content="Hel\0lo\x07."), STOP), DONE], "Hello."),
    "thoughts in the middle": ([event(delta(content="Hello <think>Hm.</think>there."), STOP), DONE], "Hello there."),
    "thoughts twice, in other tags": (
        [event(delta(content="<think>Hm.</think>\n<thinking>Hm.</Thinking>Hello."), STOP), DONE],
        "Hello.",
    ),
    "marks of the model's own": ([event(delta(content="Hello.<|im"), delta(content="_end|>"), STOP), DONE], "Hello."),
    "what looks like a mark": ([event(delta(content="Hello a<"), delta(content="b [AN"), STOP), DONE], "Hello a<b [AN"),
    "nothing that can be said": (
        [event(delta(content="**\U0001f600**\n---"), STOP), DONE],
        "My language model had no answer.",
    ),
    "the same again and again": (
        [event(*[delta(content="Hello. ")] * 50, STOP), DONE],
        "That was too long; I stopped there.",
    ),
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
            assert {"Hello."} >= set(answers[:-1]), kind
            assert len(answers) <= (4 if kind == "the same again and again" else 2), kind
            assert len(assistant.of("ovos.utterance.handled")) == list(STREAMS).index(kind) + 1


THOUGHTS = (
    "<think>Hm. A greeting.</think>",
    "<reasoning>Hm. A greeting.</reasoning>\n",
    "<seed:think>Hm. A greeting.</seed:think>",
    "[THINK]Hm. A greeting.[/THINK]",
    "\u25c1think\u25b7Hm. A greeting.\u25c1/think\u25b7",
    "<|START_THINKING|>Hm. A greeting.<|END_THINKING|><|START_RESPONSE|>",
    "<|begin_of_thought|>Hm. A greeting.<|end_of_thought|>",
    "<|channel>thought\nHm. A greeting.<channel|>",
    "<|channel|>analysis<|message|>Hm. A greeting.<|end|><|start|>assistant<|channel|>final<|message|>",
    "<|start|>assistant<|channel|>analysis\n<|message|>Hm. A greeting.<|end|>\n<|channel|>final\n<|message|>",
    "<|channel|>final<|message|>",
    "analysisHm. A greetingassistantfinal",
)
"""How models mark what they think, where their server leaves it in the text."""
ENDS = ("", "<|return|>", "<|im_end|>", "</s>", "<end_of_turn>", "<\uff5cend\u2581of\u2581sentence\uff5c>")


@pytest.mark.parametrize("size", [1, 7, 1_000])
async def test_thoughts_are_not_said_however_they_are_marked(size: int) -> None:
    async with talking(Adder()) as (assistant, model):
        for number, thought in enumerate(THOUGHTS):
            text = f"{thought}Hello there. Good day.{ENDS[number % len(ENDS)]}"
            if size == 1 and "analysisHm" in thought:
                continue  # words are not split by those that write it
            model.says(*(text[at : at + size] for at in range(0, len(text), size)))
            answers = await assistant.hears("tell me something", session=f"s{number}")
            assert answers == ["Hello there.", "Good day."], thought


async def test_a_thought_without_a_beginning_is_known_from_the_second_time_on() -> None:
    async with talking() as (assistant, model):
        thinking = ("Hm. They", " greet me.\n</th", "ink>\n\nHello. ", "Good day.")
        model.says(*thinking)
        assert await assistant.hears("hi there") == ["Hm.", "They greet me.", "Hello.", "Good day."]
        model.says(*thinking)
        assert await assistant.hears("hi there") == ["Hello.", "Good day."]
        model.says("It thinks ", "no longer.")
        assert await assistant.hears("hi there") == ["It thinks no longer."]
        gate = asyncio.Event()
        model.replies(ModelReply(["It is said at once. Good", " day."], gate=gate))
        said = asyncio.Event()
        assistant.bus.on("ovos.utterance.speak", lambda _message: said.set(), name="test")
        turn = assistant.say("hi there")
        await asyncio.wait_for(said.wait(), 5)
        gate.set()
        await turn.over.wait()


async def test_an_answer_that_was_complete_when_the_connection_broke_is_complete() -> None:
    async with talking() as (assistant, model):
        model.replies(ModelReply(chunks=[event(delta(content="Hello."), STOP)], fault="cut"))
        assert await assistant.hears("tell me something") == ["Hello."]


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
    "with arguments that are a text of a text": [
        piece("adder-add", json.dumps('{"a": 1, "b": 2}'), index=0, id="x"),
        piece("adder-add", json.dumps('{"a": 3, "b": 4}'), index=1, id="y"),
    ],
    "with names that are written in another way": [
        piece("functions.adder-add", '{"a": 1, "b": 2}', index=0, id="x"),
        piece(" adder.add", '{"a": 3, "b": 4}', index=1, id="y"),
    ],
    "with a mark of the model behind the name": [
        piece("adder-add<|channel|>commentary", '{"a": 1, "b": 2}', index=0, id="x"),
        piece("adder-add<|channel|>json", '{"a": 3, "b": 4}', index=1, id="y"),
    ],
    "with ids that are numbers": [
        piece("adder-add", '{"a": 1, "b": 2}', id=1),
        piece("adder-add", '{"a": 3, "b": 4}', id=2),
    ],
}
WRITTEN = [{"name": "adder-add", "arguments": {"a": 1, "b": 2}}, {"name": "adder-add", "parameters": {"a": 3, "b": 4}}]
FIRST, SECOND = map(json.dumps, WRITTEN)
OTHER_CALLS: dict[str, Sequence[dict[str, Any]]] = {
    "not in a list": [
        delta(tool_calls=piece("adder-add", WRITTEN[0]["arguments"], index=0, id="x")),
        delta(tool_calls=piece("adder-add", WRITTEN[1]["parameters"], index=1, id="y")),
    ],
    "as they were before there were several": [
        delta(function_call={"name": "adder-add", "arguments": '{"a": 1, '}),
        delta(function_call={"arguments": '"b": 2}'}),
        delta(function_call={"name": "adder-add", "arguments": '{"a": 3, "b": 4}'}),
    ],
    "as text between tags": [
        delta(content=one) for one in ("<tool", f"_call>{FIRST}</tool_", f"call>\n<tool_call>\n{SECOND}\n</tool_call>")
    ],
    "twice, in the text as well": [
        delta(content=f"<tool_call>{FIRST}</tool_call>"),
        delta(tool_calls=[piece("adder-add", WRITTEN[0]["arguments"], id="x")]),
        delta(tool_calls=[piece("adder-add", WRITTEN[1]["parameters"], id="y")]),
    ],
    "as text after a tag": [delta(content=f"[TOOL_CALLS]{json.dumps(WRITTEN)}")],
    "as text after a mark": [delta(content="<|python_"), delta(content=f"tag|>{FIRST}; {SECOND}<|eom_id|>")],
    "as text, after a thought": [
        delta(content="<think>I add.</think>"),
        delta(content=f"\n{FIRST}"),
        delta(content=SECOND),
    ],
}


A, B = '{"a": 1, "b": 2}', '{"a": 3, "b": 4}'
TEXTS = {
    "[TOOL_CALLS]": f"[TOOL_CALLS]adder-add[ARGS]{A}[TOOL_CALLS]adder-add{B}",
    "[TOOL_REQUEST]": f"[TOOL_REQUEST]{FIRST}[END_TOOL_REQUEST]\n[TOOL_REQUEST]{SECOND}[END_TOOL_REQUEST]",
    "<|tool_call|>": f"<|tool_call|>{json.dumps(WRITTEN)}",
    "<TOOLCALL>": f"<TOOLCALL>{json.dumps(WRITTEN)}</TOOLCALL>",
    "<|START_ACTION|>": f"<|START_ACTION|>{json.dumps(WRITTEN).replace('name', 'tool_name')}<|END_ACTION|>",
    "<function=name>": f"<function=adder-add>{A}</function><function=adder-add>{B}</function>",
    "parameters in tags": "".join(
        f"<tool_call>\n<function=adder-add>\n<parameter=a>\n{a}\n</parameter>\n<parameter=b>\n{b}\n</parameter>\n"
        "</function>\n</tool_call>\n"
        for a, b in ((1, 2), (3, 4))
    ),
    "parameters in tags with a namespace": "<minimax:tool_call>"
    + "".join(
        f'<invoke name="adder-add"><parameter name="a">{a}</parameter><parameter name="b">{b}</parameter></invoke>'
        for a, b in ((1, 2), (3, 4))
    )
    + "</minimax:tool_call>",
    "keys and values in tags": "".join(
        f"<tool_call>adder-add\n<arg_key>a</arg_key>\n<arg_value>{a}</arg_value>\n<arg_key>b</arg_key>\n"
        f"<arg_value>{b}</arg_value>\n</tool_call>"
        for a, b in ((1, 2), (3, 4))
    ),
    "wide marks": "<\uff5ctool\u2581calls\u2581begin\uff5c>"
    + "".join(
        f"<\uff5ctool\u2581call\u2581begin\uff5c>function<\uff5ctool\u2581sep\uff5c>adder-add\n```json\n{one}\n```"
        "<\uff5ctool\u2581call\u2581end\uff5c>"
        for one in (A, B)
    )
    + "<\uff5ctool\u2581calls\u2581end\uff5c>",
    "a section": "<|tool_calls_section_begin|>"
    + "".join(
        f"<|tool_call_begin|>functions.adder-add:{number}<|tool_call_argument_begin|>{one}<|tool_call_end|>"
        for number, one in enumerate((A, B))
    )
    + "<|tool_calls_section_end|>",
    "messages to tools": "<|channel|>analysis<|message|>I add.<|end|><|start|>assistant<|channel|>commentary "
    f"to=functions.adder-add <|constrain|>json<|message|>{A}<|call|><|start|>assistant to=functions.adder-add"
    f"<|channel|>commentary json<|message|>{B}<|call|>",
    "messages to tools without marks": f"analysisI add.assistantcommentary to=functions.adder-add json{A}"
    f"assistantcommentary to=functions.adder-add json{B}",
    "a fence": f"```json\n{json.dumps(WRITTEN)}\n```",
    "a list": json.dumps(WRITTEN),
    "Python": "[adder-add(a=1, b=2), adder-add(a=3, b=4)]",
    "Python between marks": "<|tool_call_start|>[adder-add(a=1, b=2), adder-add(a=3, b=4)]<|tool_call_end|>",
}
"""How models write calls, where their server leaves them in the text."""


PARTS = (
    "Hello. ", "a<b", "<b>", "1 < 2", "{", "[", "```json", "\n", "<", "|", ">", "adder-add", "3", FIRST, '{"a": 1}',
    "<think>", "</think>", "[THINK]", "[/THINK]", "<tool_call>", "</tool_call>", "[TOOL_CALLS]", "<function=adder-add>",
    "</function>", "<parameter=a>", "</parameter>", "<|start|>", "<|channel|>", "<|message|>", "<|end|>", "<|call|>",
    "analysis", "final", "commentary to=adder-add ", "<|channel>", "thought\n", "<channel|>", "<|im_end|>",
)  # fmt: skip


@given(st.lists(st.sampled_from(PARTS), max_size=9), st.lists(st.integers(0, 100)), st.booleans())
def test_an_answer_is_read_alike_however_it_is_cut(parts: list[str], cuts: list[int], held: bool) -> None:
    text = "".join(parts)

    def read(places: list[int]) -> tuple[list[str], list[tuple[str, str]], bool]:
        calls = ToolCalls()
        reader = AnswerReader(calls, {"adder-add": {}}, held=held)
        said = "".join(reader.read(text[begin:end]) for begin, end in itertools.pairwise((0, *places, len(text))))
        said += reader.rest()
        return said.split(), [(call.name, call.arguments) for call in calls.complete()], reader.thinks_first

    assert read(sorted(min(cut, len(text)) for cut in cuts)) == read([])


async def test_tool_calls_are_put_together_however_they_come() -> None:
    async with talking(Adder()) as (assistant, model):
        kinds = {kind: [delta(tool_calls=[one]) for one in pieces] for kind, pieces in CALLS.items()}
        texts = {
            kind: [delta(content=text[at : at + 9]) for at in range(0, len(text), 9)] for kind, text in TEXTS.items()
        }
        for kind, deltas in (kinds | OTHER_CALLS | texts).items():
            chunks = [event(*deltas), DONE]
            model.replies(ModelReply(chunks=chunks), ModelReply(["Seven."]))
            assert await assistant.hears("add them", session=kind.replace(" ", "-")) == ["Seven."]
            results = [said["content"] for said in model.requests[-1]["messages"] if said["role"] == "tool"]
            assert results == ["3", "7"], kind
            ids = [call["id"] for call in model.requests[-1]["messages"][-3]["tool_calls"]]
            assert len(set(ids)) == 2, kind


async def test_what_only_looks_like_a_call_is_said() -> None:
    async with talking(Adder()) as (assistant, model):
        texts = (
            '{"name": "Bo", "age": 7}',
            "{sighs} Well",
            '{"name": "adder-add", ',
            "[sighs] Well",
            "analysis",
            "a<b",
        )
        for number, text in enumerate(texts):
            model.says(text)
            assert " ".join(await assistant.hears("tell me something", session=f"s{number}")) == text.strip()


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
    "JSON with a mark of the byte order": (
        page(b"\xef\xbb\xbf" + json.dumps(WHOLE).encode(), "Content-Type: application/json"),
        "Hello.",
    ),
    "an answer that is not streamed, although it says so": (
        page(json.dumps(WHOLE, indent=2).encode(), "Content-Type: text/event-stream"),
        "Hello.",
    ),
    "a stream that says it is text": (page(ANSWER, "Content-Type: text/plain"), "Hello."),
    "a stream that says it is JSON": (page(b": ok\n\n" + ANSWER, "Content-Type: application/json"), "Hello."),
    "a stream without a type": (page(ANSWER), "Hello."),
    "a page that says it is a stream": (
        page(b"<html>\n<p>Welcome: log in</p></html>", "Content-Type: text/event-stream"),
        "I could not read what my language model sent.",
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


async def test_answers_are_asked_for_uncompressed() -> None:
    async with talking() as (assistant, model):
        await assistant.hears("tell me something")
        assert model.headers[0]["accept-encoding"] == "identity", "what is compressed on the way comes late"


async def test_a_stream_that_stays_open_after_its_last_event_is_not_waited_for() -> None:
    async with talking(clock=SystemClock()) as (assistant, model):
        model.replies(ModelReply(chunks=[event(delta(content="Hello."), STOP)], fault="stall"))
        assert await assistant.hears("tell me something") == ["Hello."]
        await model.closed()


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
