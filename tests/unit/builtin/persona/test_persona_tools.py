"""The tools that a model wants called while it answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from hark.builtin.persona import Persona
from hark.builtin.persona.tools import ToolDefinition, ToolError
from hark.plugins import Session, Toolbox, Turn, tool
from hark.skills import Skill, intent
from hark.spec import topics
from hark.testing.model_server import ModelReply, ModelServer
from persona_talk import talking


class Lamps:
    """A source with one tool."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Mapping[str, Any], str]] = []
        self.called = asyncio.Event()

    def offered(self, session: Session, lang: str) -> Sequence[ToolDefinition]:
        schema = {"type": "object", "properties": {"lamp": {"type": "string"}}}
        return [ToolDefinition("switch", f"Switches a lamp ({lang})", schema)]

    async def call(self, name: str, arguments: Mapping[str, Any], turn: Turn) -> str:
        self.calls.append((name, arguments, turn.session.session_id))
        self.called.set()
        if arguments.get("lamp") == "broken":
            raise ToolError("that lamp is broken")
        if arguments.get("lamp") == "slow":
            await asyncio.Event().wait()
        return str(arguments.get("answer", "done"))


def _persona() -> tuple[Persona, Lamps]:
    persona, lamps = Persona(), Lamps()
    persona.tools = lamps
    return persona, lamps


async def test_the_result_of_a_tool_goes_back_to_the_model_and_its_answer_is_said() -> None:
    persona, lamps = _persona()
    async with talking(persona=persona) as (assistant, model):
        model.replies(
            ModelReply(["One moment. "], tools=[("switch", {"lamp": "desk"})]), ModelReply(["The lamp is on."])
        )
        assert await assistant.hears("make it bright") == ["One moment.", "The lamp is on."]
        assert lamps.calls == [("switch", {"lamp": "desk"}, "default")]
        first, second = model.requests
        assert first["tools"][0]["function"]["name"] == "switch"
        wanted, result = second["messages"][-2:]
        assert wanted["tool_calls"][0]["function"] == {"name": "switch", "arguments": '{"lamp": "desk"}'}
        assert result == {"role": "tool", "tool_call_id": wanted["tool_calls"][0]["id"], "content": "done"}
        assert "tool switch" in assistant.why()
        assert len(assistant.of("ovos.utterance.handled")) == 1


async def test_the_next_turn_remembers_the_tools_that_were_called() -> None:
    persona, _ = _persona()
    async with talking(persona=persona) as (assistant, model):
        model.replies(ModelReply(tools=[("switch", {})]), ModelReply(["On."]))
        await assistant.hears("make it bright")
        await assistant.hears("thank you so much")
        roles = [said["role"] for said in model.requests[-1]["messages"]]
        assert roles == ["system", "user", "assistant", "tool", "assistant", "user"]


async def test_user_and_model_take_turns_also_after_a_failure() -> None:
    persona, _ = _persona()
    async with talking(persona=persona) as (assistant, model):
        model.replies(ModelReply(tools=[("switch", {})]), ModelReply(status=401))
        assert await assistant.hears("make it bright") == ["My language model does not accept my key."]
        await assistant.hears("and now")
        roles = [said["role"] for said in model.requests[-1]["messages"]]
        assert roles == ["system", "user", "assistant", "tool", "assistant", "user"]


async def test_a_model_that_takes_no_tools_is_told_their_answers_as_text() -> None:
    persona, _ = _persona()
    async with ModelServer() as second, talking(persona=persona, second={"endpoint": second.url}) as (assistant, model):
        model.replies(ModelReply(["I will. "], tools=[("switch", {})]), ModelReply(status=401), ModelReply(status=401))
        second.fails(400)
        second.says("It is on.")
        assert await assistant.hears("make it bright") == ["I will.", "It is on."]
        assert await assistant.hears("thank you so much") == ["You said: thank you so much"]
        (_, *told) = second.requests[-1]["messages"]
        assert [(said["role"], said["content"]) for said in told] == [
            ("user", "make it bright\n[switch: done]"),
            ("assistant", "It is on."),
            ("user", "thank you so much"),
        ]


async def test_a_model_for_which_the_conversation_is_too_long_is_asked_without_it() -> None:
    persona, _ = _persona()
    async with talking(persona=persona) as (assistant, model):
        await assistant.hears("one thing")
        model.replies(*[ModelReply(["it exceeds the context"], status=400)] * 2)
        assert await assistant.hears("two things") == ["You said: two things"]
        assert [len(request["messages"]) for request in model.requests] == [2, 4, 4, 2]
        assert "tools" in model.requests[-1]
        await assistant.hears("three things")
        told = [said["content"] for said in model.requests[-1]["messages"][1:]]
        assert told == ["two things", "You said: two things", "three things"]


async def test_a_model_is_told_what_was_wrong_with_its_call() -> None:
    persona, lamps = _persona()
    async with talking(persona=persona) as (assistant, model):
        wrong = [("switch", "{"), ("switch", "[1]"), ("open_door", {}), ("switch", {"lamp": "broken"})]
        model.replies(ModelReply(tools=wrong), ModelReply(["Sorry."]))
        assert await assistant.hears("make it bright") == ["Sorry."]
        results = [said["content"] for said in model.requests[-1]["messages"] if said["role"] == "tool"]
        assert results == [
            "Error: the arguments are not a JSON object",
            "Error: the arguments are not a JSON object",
            "Error: there is no tool open_door",
            "Error: that lamp is broken",
        ]
        assert len(lamps.calls) == 1


async def test_a_model_that_goes_on_wanting_tools_has_to_answer_in_the_end() -> None:
    persona, lamps = _persona()
    async with talking(persona=persona, tools={"rounds": 2}) as (assistant, model):
        again = ModelReply(tools=[("switch", {})])
        model.replies(again, again, ModelReply(["Enough."]))
        assert await assistant.hears("make it bright") == ["Enough."]
        assert ["tools" in request for request in model.requests] == [True, True, False]
        assert len(lamps.calls) == 2


async def test_a_model_that_wants_tools_it_was_not_offered_ends_the_turn_too() -> None:
    persona, lamps = _persona()
    async with talking(persona=persona, tools={"rounds": 1}) as (assistant, model):
        model.replies(*[ModelReply(tools=[("switch", {})])] * 3)
        assert await assistant.hears("make it bright") == ["My language model had no answer."]
        assert len(lamps.calls) == 1


async def test_long_results_are_cut_and_calls_are_counted() -> None:
    persona, lamps = _persona()
    async with talking(persona=persona, tools={"characters": 10, "calls": 1}) as (assistant, model):
        model.replies(ModelReply(tools=[("switch", {"answer": "x" * 50}), ("switch", {})]), ModelReply(["Yes."]))
        await assistant.hears("make it bright")
        results = [said["content"] for said in model.requests[-1]["messages"] if said["role"] == "tool"]
        assert results == ["x" * 10 + " [40 more characters are left out]", "Error: too many tools at once"]
        assert len(lamps.calls) == 1


async def test_a_tool_that_takes_too_long_is_given_up() -> None:
    persona, _ = _persona()
    async with talking(persona=persona, tools={"seconds": 20.0}) as (assistant, model):
        model.replies(ModelReply(tools=[("switch", {"lamp": "slow"})]), ModelReply(["It took too long."]))
        turn = assistant.say("make it bright")
        await model.asked()
        while not turn.over.is_set():
            await assistant.clock.advance(5.0)
        assert turn.spoken == ["It took too long."]
        assert "took more than 20 s" in json.dumps(model.requests[-1])


async def test_stopping_the_turn_stops_the_tool() -> None:
    persona, lamps = _persona()
    async with talking(persona=persona) as (assistant, model):
        model.replies(ModelReply(tools=[("switch", {"lamp": "slow"})]))
        turn = assistant.say("make it bright")
        await lamps.called.wait()
        await assistant.hears("stop")
        await asyncio.wait_for(turn.over.wait(), 5)
        assert len(assistant.of("ovos.utterance.handled")) == 2
        assert len(model.requests) == 1


class Echo(Skill):
    """A skill that has the model asked again."""

    id = "echo.skill"

    def __init__(self) -> None:
        self.called = 0

    @intent("ask somebody else")
    def ask(self, turn: Turn) -> None:
        """Ask somebody who knows better."""
        self.called += 1
        turn.emit(topics.UTTERANCE_HANDLE, {"utterances": ["what is it"], "lang": turn.lang})


async def test_a_tool_that_has_the_model_asked_again_comes_to_an_end() -> None:
    echo = Echo()
    async with talking(echo) as (assistant, model):
        model.replies(*[ModelReply(tools=[("echo-ask", {})]) for _ in range(100)])
        await assistant.hears("who knows")
        for _ in range(500):  # the model is a server, which answers in its own time
            if len(assistant.of(topics.UTTERANCE_HANDLED)) == len(assistant.of(topics.UTTERANCE_HANDLE)):
                break
            await asyncio.sleep(0.01)
        assert echo.called == 5, "as often as there are rounds; the model that it asks has no tools"
        handled = [message.utterance_id for message in assistant.of(topics.UTTERANCE_HANDLED)]
        assert len(handled) == len(set(handled)) == len(assistant.of(topics.UTTERANCE_HANDLE))


class Library(Toolbox):
    id = "library"

    @tool
    def book(self) -> str:
        """A whole book."""
        return "x" * 10_000_000

    @tool
    async def catalogue(self) -> list[dict[str, int]]:
        """All books."""
        return [{"number": number} for number in range(100_000)]


async def test_a_result_of_megabytes_goes_neither_over_the_bus_nor_to_the_model() -> None:
    async with talking(Library()) as (assistant, model):
        model.replies(ModelReply(tools=[("library-book", {}), ("library-catalogue", {})]), ModelReply(["Too much."]))
        assert await assistant.hears("read me everything") == ["Too much."]
        book, catalogue = [said["content"] for said in model.requests[1]["messages"] if said["role"] == "tool"]
        assert book == "Error: the result is too long: 10000000 bytes, at most 1000000"
        assert catalogue.startswith("Error: the result is too long")


async def test_a_hundred_calls_at_once_are_answered_and_few_are_done() -> None:
    persona, lamps = _persona()
    async with talking(persona=persona) as (assistant, model):
        calls = [("switch" if number % 2 else "no_such_tool", {}) for number in range(100)]
        model.replies(ModelReply(tools=calls), ModelReply(["Light everywhere."]))
        assert await assistant.hears("light, please") == ["Light everywhere."]
        results = [said["content"] for said in model.requests[1]["messages"] if said["role"] == "tool"]
        assert len(results) == 100
        assert results.count("Error: there is no tool no_such_tool") == 50
        assert len(lamps.calls) == 4, "of the first eight"


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "registry.example/library/phi does not support tools"),
        (400, "the request exceeds the available context size"),
        (500, "tools param requires --jinja flag"),
    ],
    ids=["a model without tools", "a context that is too short for them", "a server without templates for tools"],
)
async def test_a_model_that_takes_no_tools_is_asked_without_them(status: int, message: str) -> None:
    persona, _ = _persona()
    async with talking(persona=persona) as (assistant, model):
        model.replies(ModelReply([message], status=status), ModelReply(["Blue."]))
        assert await assistant.hears("which colour is the sky") == ["Blue."]
        assert ["tools" in request for request in model.requests] == [True, False]
        assert message in assistant.why()
        assert "asked without tools, because" in persona.problem()
        assert await assistant.hears("why is that so") == ["You said: why is that so"]
        assert "tools" not in model.requests[-1]
        await assistant.clock.advance(601)
        await assistant.hears("and at night")
        assert "tools" in model.requests[-1]
        assert persona.problem() == ""


async def test_a_model_that_refuses_for_another_reason_is_offered_tools_again() -> None:
    persona, _ = _persona()
    async with talking(persona=persona) as (assistant, model):
        model.fails(402)
        model.fails(402)
        assert await assistant.hears("which colour is the sky") == ["My language model refused that."]
        await assistant.hears("and at night")
        assert ["tools" in request for request in model.requests] == [True, False, True]


async def test_why_says_how_much_of_the_tools_is_sent() -> None:
    persona, _ = _persona()
    async with talking(persona=persona) as (assistant, model):
        await assistant.hears("which colour is the sky")
        size = len(json.dumps(model.requests[0]["tools"], separators=(",", ":")))
        assert f"0 earlier exchanges, 1 tool ({size} characters)" in assistant.why()
