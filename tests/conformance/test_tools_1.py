"""OVOS-TOOLS-1: toolboxes and their tools on the bus."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from typing import Annotated, Any

import pytest

from hark.model import Message, Session
from hark.plugins import MalformedTool, Plugin, Tool, Toolbox, tool
from hark.plugins.tools import read_tool
from hark.spec import topics
from hark.testing import Assistant, settle

DISCOVER, CALL = topics.PERSONA_TOOLS_DISCOVER, topics.PERSONA_TOOLS_CALL
LIST, GET, INVOKE, RELOAD = topics.TOOLS_LIST, topics.TOOLS_GET, topics.TOOLS_INVOKE, topics.TOOLS_RELOAD
FIELDS = {"name": str, "description": str, "argument_schema": dict, "output_schema": dict, "toolbox_id": str}


class WordNet(Toolbox):
    """Words and what they mean."""

    id = "wordnet"
    quick = True  # inline: answers come without waiting for a thread

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.extra: list[Tool] = []

    async def refresh(self) -> None:
        self.ran.append("refresh")

    def tools(self) -> list[Tool]:
        return [*super().tools(), *self.extra]

    @tool
    def define(self, word: Annotated[str, "an English word"], most: int = 1) -> list[str]:
        """What a word means."""
        self.ran.append(f"define {word}")
        return [f"{word} is a word"][:most]

    @tool
    def nothing(self) -> None:
        """Do nothing."""

    @tool
    async def fail(self) -> str:
        """Fail."""
        raise LookupError("no dictionary")

    @tool
    def lie(self) -> int:
        """Say something else."""
        return "four"  # type: ignore[return-value]

    @tool
    def count(self) -> int:
        """Count the words."""
        return 7


class Abacus(Toolbox):
    id = "abacus"
    quick = True

    def __init__(self) -> None:
        self.counted = 0

    @tool
    def count(self) -> int:
        """Count the beads."""
        self.counted += 1
        return 3


class Bus:
    """Requests to an assistant, and what is answered."""

    def __init__(self, assistant: Assistant) -> None:
        self.assistant = assistant

    async def send(self, topic: str, data: dict[str, Any] | None = None, **context: Any) -> list[Message]:
        """Every answer to one request."""
        answered = topics.response_topic(CALL) if topic == topics.old_tools_call("wordnet") else f"{topic}.response"
        answers = {answered, f"{topic}.response"}
        before = len(self.assistant.messages)
        self.assistant.bus.emit(Message(topic, data or {}, context, Session("kitchen")))
        await settle()
        await self.assistant.bus.settled()
        await settle()
        return [message for message in self.assistant.messages[before:] if message.type in answers]

    async def one(self, topic: str, data: dict[str, Any] | None = None) -> Any:
        """The data of the only answer."""
        (answer,) = await self.send(topic, data)
        return answer.data


@pytest.fixture
def words() -> WordNet:
    return WordNet()


@pytest.fixture
async def bus(words: WordNet) -> AsyncIterator[Bus]:
    async with Assistant(words, Abacus()) as assistant:
        yield Bus(assistant)


def call(name: str = "define", box: str = "wordnet", **kwargs: Any) -> dict[str, Any]:
    return {"toolbox_id": box, "name": name, "kwargs": kwargs}


@pytest.mark.spec("TOOLS-1/2.a", "TOOLS-1/4.a", "TOOLS-1/5.a", "TOOLS-1/7.a")
async def test_every_topic_of_the_table_is_answered_once(bus: Bus) -> None:
    assert len(await bus.send("ovos.persona.tools.discover")) == 2
    for topic, data in (
        ("ovos.persona.tools.call", call(word="dog")),
        ("ovos.tools.list", {}),
        ("ovos.tools.get", {"name": "define"}),
        ("ovos.tools.invoke", {"name": "define", "args": {"word": "dog"}}),
        ("ovos.tools.reload", {}),
    ):
        (answer,) = await bus.send(topic, data)
        assert answer.type == f"{topic}.response"


@pytest.mark.spec("TOOLS-1/2.b")
@pytest.mark.parametrize("topic", [DISCOVER, CALL, LIST, GET, INVOKE, RELOAD])
async def test_an_answer_goes_back_to_where_the_request_came_from(bus: Bus, topic: str) -> None:
    data = {"toolbox_id": "wordnet", "name": "define"}
    for answer in await bus.send(topic, data, source="me", destination="you", own_key=7):
        assert (answer.context["source"], answer.context["destination"]) == ("you", "me")
        assert answer.context["own_key"] == 7
        assert answer.session_id == "kitchen"


@pytest.mark.spec("TOOLS-1/3.a")
def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(MalformedTool, match="again are both the tool 'count'"):

        class Twice(Toolbox):
            id = "twice"

            @tool
            def count(self) -> int:
                return 1

            @tool(name="count")
            def again(self) -> int:
                return 2


@pytest.mark.spec("TOOLS-1/3.b")
async def test_a_name_in_two_toolboxes_is_two_tools(bus: Bus) -> None:
    assert (await bus.one(CALL, call("count")))["result"] == 7
    assert (await bus.one(CALL, call("count", "abacus")))["result"] == 3


@pytest.mark.spec("TOOLS-1/3.c")
@pytest.mark.parametrize("wrong", ["a.b", "a:b", ""])
async def test_an_id_with_dots_or_colons_is_refused(wrong: str) -> None:
    box: Plugin = type("Wrong", (Toolbox,), {"id": wrong})()
    async with Assistant(box) as assistant:
        assert [refusal.kind for refusal in assistant.runtime.refusals] == ["toolbox"]
        assert await Bus(assistant).send(DISCOVER) == []


@pytest.mark.spec("TOOLS-1/3.c")
async def test_the_id_is_the_same_after_a_restart() -> None:
    ids = []
    for _ in range(2):
        async with Assistant(Abacus()) as assistant:
            ids.append((await Bus(assistant).one(DISCOVER))["toolbox_id"])
    assert ids == ["abacus", "abacus"]


@pytest.mark.spec("TOOLS-1/3.d")
async def test_a_second_toolbox_of_one_id_is_refused() -> None:
    async with Assistant(Abacus(), Abacus()) as assistant:
        (refusal,) = assistant.runtime.refusals
        assert "'abacus' already" in refusal.reason
        assert len(await Bus(assistant).send(DISCOVER)) == 1


@pytest.mark.spec("TOOLS-1/3.d")
async def test_a_toolbox_of_another_host_with_the_same_id_is_reported(
    bus: Bus, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR, logger="hark.act"):
        bus.assistant.bus.emit(Message(f"{DISCOVER}.response", {"toolbox_id": "wordnet", "tools": []}))
        await settle()
        await bus.send(DISCOVER)
    assert [record.getMessage() for record in caplog.records] == [
        "another program on the bus has a toolbox 'wordnet' too; rename one of the two"
    ]


@pytest.mark.spec("TOOLS-1/3.e")
async def test_a_definition_has_its_five_fields(bus: Bus) -> None:
    listed = [*(await bus.one(LIST))["tools"], *(await bus.one(RELOAD))["tools"]]
    found = [one for answer in await bus.send(DISCOVER) for one in answer.data["tools"]]
    for definition in (*listed, *found, await bus.one(GET, {"name": "define"})):
        assert {name: type(definition[name]) for name in FIELDS if name in definition}.keys() == FIELDS.keys()
        assert all(isinstance(definition[name], kind) for name, kind in FIELDS.items())
    schema = (await bus.one(GET, {"name": "define"}))["argument_schema"]
    assert schema["type"] == "object"
    assert schema["required"] == ("word",)
    assert schema["properties"]["word"] == {"type": "string", "description": "an English word"}
    assert (await bus.one(GET, {"name": "define"}))["output_schema"] == {"type": "array", "items": {"type": "string"}}


@pytest.mark.spec("TOOLS-1/4.1.a")
async def test_discover_is_answered_once_per_toolbox(bus: Bus) -> None:
    assert [answer.data["toolbox_id"] for answer in await bus.send(DISCOVER)] == ["wordnet", "abacus"]
    async with Assistant() as empty:
        assert await Bus(empty).send(DISCOVER) == []


@pytest.mark.spec("TOOLS-1/4.1.b", "TOOLS-1/5.e")
@pytest.mark.parametrize("topic", [DISCOVER, RELOAD])
async def test_tools_are_looked_for_before_they_are_listed(bus: Bus, words: WordNet, topic: str) -> None:
    def shout(text: str) -> str:
        return text.upper()

    words.extra.append(read_tool(shout, "shout"))
    answers = await bus.send(topic)
    assert "refresh" in words.ran
    assert "shout" in [one["name"] for answer in answers for one in answer.data["tools"]]


@pytest.mark.spec("TOOLS-1/4.1.c")
async def test_the_payload_of_discover_is_not_read(bus: Bus) -> None:
    plain = [answer.data for answer in await bus.send(DISCOVER)]
    odd = [answer.data for answer in await bus.send(DISCOVER, {"toolbox_id": 7, "tools": {"a": [None]}})]
    assert odd == plain


@pytest.mark.spec("TOOLS-1/4.2.b", "TOOLS-1/4.2.m")
async def test_a_call_without_arguments_needs_no_kwargs(bus: Bus) -> None:
    assert await bus.one(CALL, {"toolbox_id": "wordnet", "name": "count"}) == {"toolbox_id": "wordnet", "result": 7}


@pytest.mark.spec("TOOLS-1/4.2.c", "TOOLS-1/4.2.d", "TOOLS-1/4.2.e", "TOOLS-1/4.2.f")
@pytest.mark.parametrize("box", ["WordNet", "word", "wordnet ", "thesaurus", "", None, 7, ["wordnet"]])
async def test_a_call_for_another_toolbox_is_met_with_silence(bus: Bus, words: WordNet, box: Any) -> None:
    assert await bus.send(CALL, {"toolbox_id": box, "name": "define", "kwargs": {"word": "dog"}}) == []
    assert await bus.send(CALL, {"name": "define", "kwargs": {"word": "dog"}}) == []
    assert "define dog" not in words.ran


@pytest.mark.spec("TOOLS-1/4.2.g", "TOOLS-1/4.2.h", "TOOLS-1/4.2.m")
@pytest.mark.parametrize(
    ("name", "kwargs", "key"),
    [
        ("define", {"word": "dog"}, "result"),
        ("nothing", {}, "result"),
        ("fail", {}, "error"),
        ("lie", {}, "error"),
        ("define", {"word": 7}, "error"),
        ("unheard", {}, "error"),
    ],
)
async def test_the_owner_answers_once_with_a_result_or_an_error(
    bus: Bus, name: str, kwargs: dict[str, Any], key: str
) -> None:
    (answer,) = await bus.send(CALL, call(name, **kwargs))
    assert answer.data.keys() == {"toolbox_id", key}
    assert answer.data["toolbox_id"] == "wordnet"


@pytest.mark.spec("TOOLS-1/4.2.h")
async def test_a_result_of_null_is_a_result(bus: Bus) -> None:
    assert await bus.one(CALL, call("nothing")) == {"toolbox_id": "wordnet", "result": None}


@pytest.mark.spec("TOOLS-1/4.2.i")
async def test_a_tool_that_raises_is_an_error_with_class_and_message(bus: Bus) -> None:
    assert (await bus.one(CALL, call("fail")))["error"] == "LookupError: no dictionary"


@pytest.mark.spec("TOOLS-1/4.2.j")
@pytest.mark.parametrize("kwargs", [{"word": 7}, {}, {"word": "dog", "most": "two"}, {"word": "dog", "how": "loud"}])
async def test_arguments_that_do_not_fit_run_nothing(bus: Bus, words: WordNet, kwargs: dict[str, Any]) -> None:
    answer = await bus.one(CALL, call(**kwargs))
    assert answer["error"].startswith("the arguments do not fit: ")
    assert not [what for what in words.ran if what.startswith("define")]


@pytest.mark.spec("TOOLS-1/4.2.k")
async def test_a_result_that_does_not_fit_is_an_error(bus: Bus) -> None:
    answer = await bus.one(CALL, call("lie"))
    assert answer["error"] == "the result does not fit: Expected `int`, got `str`"


@pytest.mark.spec("TOOLS-1/4.2.l")
async def test_an_unknown_tool_of_a_hosted_toolbox_is_an_error(bus: Bus) -> None:
    assert (await bus.one(CALL, call("unheard")))["error"] == "unknown tool 'unheard'"
    assert (await bus.one(CALL, {"toolbox_id": "wordnet"}))["error"] == "Missing required field: 'name'"


@pytest.mark.spec("TOOLS-1/5.b", "TOOLS-1/5.i")
async def test_both_surfaces_show_one_set(bus: Bus) -> None:
    listed = {(one["toolbox_id"], one["name"]) for one in (await bus.one(LIST))["tools"]}
    found = {(a.data["toolbox_id"], one["name"]) for a in await bus.send(DISCOVER) for one in a.data["tools"]}
    assert listed == found
    assert len(listed) == 6


@pytest.mark.spec("TOOLS-1/5.c", "TOOLS-1/5.f", "TOOLS-1/5.g")
async def test_get_describes_one_tool_or_says_why_not(bus: Bus) -> None:
    assert (await bus.one(GET, {"name": "define"}))["toolbox_id"] == "wordnet"
    assert await bus.one(GET, {"name": "unheard"}) == {"error": "Unknown tool: 'unheard'"}
    assert await bus.one(GET) == {"error": "Missing required field: 'name'"}


@pytest.mark.spec("TOOLS-1/5.d", "TOOLS-1/5.f", "TOOLS-1/5.g")
async def test_invoke_repeats_the_name(bus: Bus) -> None:
    assert await bus.one(INVOKE, {"name": "nothing"}) == {"name": "nothing", "result": None}
    answer = await bus.one(INVOKE, {"name": "define", "args": {"word": "dog"}})
    assert answer == {"name": "define", "result": ("dog is a word",)}
    assert await bus.one(INVOKE, {"name": "unheard"}) == {"name": "unheard", "error": "Unknown tool: 'unheard'"}
    assert (await bus.one(INVOKE))["error"] == "Missing required field: 'name'"


@pytest.mark.spec("TOOLS-1/5.h")
async def test_a_name_with_two_owners_is_never_picked() -> None:
    abacus = Abacus()
    async with Assistant(WordNet(), abacus) as assistant:
        bus = Bus(assistant)
        ambiguous = "Ambiguous tool name: 'count' (toolboxes: abacus, wordnet)"
        assert await bus.one(GET, {"name": "count"}) == {"error": ambiguous}
        assert await bus.one(INVOKE, {"name": "count"}) == {"name": "count", "error": ambiguous}
    assert abacus.counted == 0


@pytest.mark.spec("TOOLS-1/6.a")
async def test_the_old_topic_of_a_toolbox_works_and_is_reported(bus: Bus, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="hark.act"):
        answer = await bus.one("ovos.persona.tools.wordnet.call", {"name": "count"})
    assert answer == {"toolbox_id": "wordnet", "result": 7}
    assert "ovos.persona.tools.call" in caplog.text
